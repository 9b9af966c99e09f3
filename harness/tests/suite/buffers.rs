//! Tests of `buffers` in `weft.toml`: what a kernel gets, and the errors.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;

use weft_core::launch::{Allocation, Arg, Fields, Launch, Within};
use weft_harness::config::{Config, ConfigError, NamedLaunch};
use weft_harness::name::KernelName;
use weft_harness::signature::ParameterNames;

fn launches(text: &str) -> Result<Vec<NamedLaunch>, ConfigError> {
    let text = format!("[[kernel]]\nname = \"k\"\n{text}");
    let config = Config::parse(&text, Path::new("weft.toml"))?;
    let names = ParameterNames { kernel: "k".into(), ..ParameterNames::default() };
    config.launches(&KernelName::new("k"), &names)
}

fn launch(text: &str) -> Launch {
    launches(text).unwrap().remove(0).launch
}

fn within(buffer: &str, offset: u64) -> Within {
    Within { buffer: buffer.to_owned(), offset }
}

#[test]
fn buffers_have_sizes_contents_and_pointers() {
    let text = "buffers = { a = { size = \"1 KiB\", u8 = [1, 2], 4 = { u16 = [3] }, 8 = { in = \"b\", offset = 3 } }, b = { u8 = \
                [7, 8, 9] }, c = {}, d = { 2 = { u8 = [5] }, u8 = [1, 2, 3, 4] } }\n\
                args = { 0 = { in = \"a\" }, 1 = { in = \"b\", offset = 3 }, 2 = { 8 = { in = \"c\", offset = 1 }, 0 = 7 }, 3 = { in = \"d\" } }";
    let launch = launch(text);
    let a = Allocation {
        size: Some(1024),
        contents: vec![Some(1), Some(2), None, None, Some(3), Some(0)],
        pointers: [(8, within("b", 3))].into(),
    };
    let known = |bytes: &[u8]| Allocation {
        size: Some(bytes.len() as u64),
        contents: bytes.iter().copied().map(Some).collect(),
        ..Allocation::default()
    };
    let all = [
        ("a", a),
        ("b", known(&[7, 8, 9])),
        ("c", Allocation::default()),
        ("d", known(&[1, 2, 5, 4])),
    ];
    let all: BTreeMap<String, Allocation> = all.map(|(name, own)| (name.to_owned(), own)).into();
    assert_eq!(launch.buffers, all);
    assert_eq!(launch.args[&0], Arg::Within(within("a", 0)));
    assert_eq!(launch.args[&1], Arg::Within(within("b", 3)));
    let fields = [(0, Arg::Integer(7)), (8, Arg::Within(within("c", 1)))].into();
    assert_eq!(launch.args[&2], Arg::Fields(Fields { bytes: None, fields }));
}

#[test]
fn later_tables_replace_buffers_one_by_one() {
    let text = "buffers = { a = { size = 8 }, b = { size = 16 } }\nargs = { 0 = { in = \"a\" }, 1 = { in = \"b\" } }\n\
                [[kernel.launch]]\nlabel = \"one\"\nbuffers = { b = { size = 32 } }\n\
                [[kernel.launch]]\nlabel = \"two\"\nargs = { 0 = { in = \"b\", offset = 8 } }";
    let all = launches(text).unwrap();
    let size = |at: usize, name: &str| all[at].launch.buffers[name].size;
    assert_eq!((size(0, "a"), size(0, "b"), size(1, "b")), (Some(8), Some(32), Some(16)));
    // The second launch does not use `a`, but the first does.
    assert_eq!(all[1].launch.args[&0], Arg::Within(within("b", 8)));
}

/// Asserts that each text is refused with an error that begins as it should.
fn assert_errors(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let found = launches(text).unwrap_err().to_string();
        assert!(found.starts_with(expected), "{text:?} gives {found:?} instead of {expected:?}");
    }
}

#[test]
fn buffers_that_cannot_be_are_errors_that_name_the_place_and_what_to_write() {
    assert_errors(&[
        (
            "args = { 0 = { in = \"a\" } }",
            "weft.toml:3:10: there is no buffer `a` in `buffers`; the launch states none",
        ),
        (
            "buffers = { image = {} }\nargs = { 0 = { in = \"image\" }, 1 = { 8 = { in = \"imgae\" } } }",
            "weft.toml:4:32: there is no buffer `imgae` in `buffers`; did you mean `image`?",
        ),
        (
            "buffers = { a = { size = 8 } }\nargs = { 0 = { in = \"a\", offset = 9 } }",
            "weft.toml:4:10: the offset 9 is beyond the 8 bytes of buffer `a`; give at most 8, or a larger size",
        ),
        (
            "buffers = { a = { size = 3, u32 = [1] } }\nargs = { 0 = { in = \"a\" } }",
            "weft.toml:3:13: buffer `a`: it has 3 bytes, but 4 bytes of contents are given; give a size of at least 4",
        ),
        (
            "buffers = { a = { size = 12, 8 = { in = \"a\" } } }\nargs = { 0 = { in = \"a\" } }",
            "weft.toml:3:13: buffer `a`: it has 12 bytes, but 16 bytes of contents are given",
        ),
        (
            "buffers = { a = { 4 = { in = \"a\" } } }\nargs = { 0 = { in = \"a\" } }",
            "weft.toml:3:13: buffer `a`: the pointer at byte 4 is at no multiple of 8",
        ),
        (
            "buffers = { a = { 8 = { in = \"b\" } } }\nargs = { 0 = { in = \"a\" } }",
            "weft.toml:3:13: buffer `a`: there is no buffer `b` in `buffers`; did you mean `a`?",
        ),
        (
            "buffers = { a = { 67108864 = { u8 = [1] } } }\nargs = { 0 = { in = \"a\" } }",
            "weft.toml:3:19: buffer `a`: contents up to byte 67108865 are given: at most 67108864 can be",
        ),
        (
            "buffers = { a = { size = \"2000 GiB\" } }\nargs = { 0 = { in = \"a\" } }",
            "weft.toml:3:13: buffer `a`: a buffer of 2147483648000 bytes: at most 1099511627776 can be checked",
        ),
        (
            "buffers = { a = {}, b = { 0 = { in = \"b\" } } }\nargs = { 0 = { in = \"a\" } }",
            "weft.toml:3:21: nothing points into buffer `b`; give an argument such as `args = { x = { in = \"b\" } }`, or remove",
        ),
        (
            "buffers = { a = {} }\n[[kernel.launch]]\nlabel = \"l\"",
            "weft.toml:3:13: nothing points into buffer `a`",
        ),
    ]);
}

#[test]
fn errors_in_the_tables_of_buffers_name_the_place_and_what_to_write() {
    assert_errors(&[
        ("buffers = { a = 8 }", "weft.toml:3:17: `buffers.a` takes a table such as `{ size = 4096"),
        (
            "buffers = { a = { sise = 8 } }",
            "weft.toml:3:19: unknown key `sise`; did you mean `size`? the keys here are `u8`",
        ),
        ("buffers = { a = { 8 = 1 } }", "weft.toml:3:23: `buffers.a.8` takes contents such as"),
        (
            "buffers = { \"a b\" = {} }",
            "weft.toml:3:13: `buffers` takes names of letters, digits, `_` and `-`",
        ),
        (
            "args = { 0 = { in = \"a\", ofset = 8 } }",
            "weft.toml:3:26: unknown key `ofset`; did you mean `offset`? the keys here are `in`, `offset`",
        ),
        ("args = { 0 = { offset = 8 } }", "weft.toml:3:14: `args.0` takes a number, `\"buffer\"`"),
    ]);
}
