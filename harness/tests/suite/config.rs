//! Tests of `weft.toml`: the settings that a kernel gets, and the error messages.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use weft_core::finding::{Code, Finding, Role, Site, SourceLine};
use weft_core::launch::{Arg, Atomics, Buffer, Dim3, Dimensions, Fields};
use weft_core::ptx::{Position, Span};
use weft_harness::config::{Config, NamedLaunch};
use weft_harness::name::KernelName;
use weft_harness::signature::ParameterNames;

const FULL: &str = r#"
ptx = ["kernels/*.ptx"]

[default]
block = 256
grid = 4
atomics = "unique"

[[kernel]]
name = "^reduce"
block = [16, 16]
shared = 4096
args = { 2 = 1024, 3 = { u16 = [1, 0x0203] }, 4 = "buffer", 5 = -1.5 }
allow = [{ code = "benign-race", at = "rtm.cu:120", reason = "every thread stores the same halo" }]

[[kernel]]
name = "reduce1|unused\\("
shared = 8
args = { 2 = 7 }

[[kernel.launch]]
label = "one-warp"
block = 32

[[kernel.launch]]
label = "args"
args = { 4 = 1 }
"#;

fn parse(text: &str) -> Config {
    Config::parse(text, Path::new("weft.toml")).unwrap()
}

/// Returns the launches of a kernel with the parameters `n` and `w`.
fn launches(config: &Config, kernel: &str) -> Vec<NamedLaunch> {
    let ptx = ["n", "w"].map(str::to_owned).to_vec();
    let names = ParameterNames { ptx, ..ParameterNames::default() };
    config.launches(&KernelName::new(kernel), &names).unwrap()
}

fn error(text: &str) -> String {
    Config::parse(text, Path::new("weft.toml")).unwrap_err().to_string()
}

#[test]
fn later_tables_override_key_by_key() {
    let config = parse(FULL);
    let plain = launches(&config, "reduce0");
    assert_eq!(plain.len(), 1);
    assert_eq!((plain[0].label.as_deref(), plain[0].launch.shared), (None, Some(4096)));
    assert_eq!(plain[0].launch.block, Some(Dim3 { x: 16, y: 16, z: 1 }.into()));
    assert_eq!(plain[0].launch.grid, Some(Dim3::line(4).into()));
    assert_eq!(plain[0].launch.options.atomics, Atomics::Unique);
    assert_eq!(plain[0].launch.args[&3], Arg::Buffer(Buffer { contents: Some(vec![1, 0, 3, 2]) }));
    assert_eq!(plain[0].launch.args[&5], Arg::Float(-1.5));

    let both = launches(&config, "reduce1");
    assert_eq!(
        both.iter().map(|own| own.label.as_deref().unwrap()).collect::<Vec<_>>(),
        ["one-warp", "args"]
    );
    assert_eq!(
        (both[0].launch.block, both[0].launch.shared),
        (Some(Dim3::line(32).into()), Some(8))
    );
    assert_eq!(both[0].launch.args[&2], Arg::Integer(7));
    assert_eq!(both[1].launch.args[&4], Arg::Integer(1));
    assert_eq!(both[1].allow.len(), 1);

    assert_eq!(launches(&config, "other")[0].launch.block, Some(Dim3::line(256).into()));
    assert_eq!(launches(&Config::default(), "other")[0].launch.block, None);
}

#[test]
fn a_table_without_kernels_is_named() {
    let dead = parse(FULL).dead_entries(&[KernelName::new("reduce0")]);
    assert_eq!(dead.len(), 1);
    assert!(dead[0].to_string().starts_with("weft.toml:17:1: no kernel"), "{}", dead[0]);
    assert!(
        parse(FULL)
            .dead_entries(&[KernelName::new("_Z6reducei"), KernelName::new("_Z6unusedi")])
            .is_empty()
    );
}

#[test]
fn fields_of_a_structure_are_put_over_what_is_given_before() {
    let config = parse(
        "[[kernel]]\nname = \"k\"\nargs = { 4 = { 16 = \"buffer\", 24 = 7 }, 5 = { u8 = [0, 0] }, 6 = { 0 = 1 } }\n\
         [[kernel.launch]]\nlabel = \"a\"\n\
         args = { 4.24 = 8, 4.32 = { u32 = [1] }, 5 = { 1 = 2 }, 6 = { u8 = [3] } }",
    );
    let launch = &launches(&config, "k")[0].launch;
    let contents = |bytes: &[u8]| Arg::Buffer(Buffer { contents: Some(bytes.to_vec()) });
    let fields = |bytes: Option<&[u8]>, fields: &[(u64, Arg)]| {
        let bytes = bytes.map(<[u8]>::to_vec);
        Arg::Fields(Fields { bytes, fields: fields.iter().cloned().collect() })
    };
    let open = Arg::Buffer(Buffer::default());
    let all = [(16, open), (24, Arg::Integer(8)), (32, contents(&[1, 0, 0, 0]))];
    assert_eq!(launch.args[&4], fields(None, &all));
    assert_eq!(launch.args[&5], fields(Some(&[0, 0]), &[(1, Arg::Integer(2))]));
    assert_eq!(launch.args[&6], contents(&[3]));
}

/// Each case is a text and the start of its error message.
fn assert_errors(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let found = error(text);
        assert!(found.starts_with(expected), "{text:?} gives {found:?} instead of {expected:?}");
    }
}

#[test]
fn errors_in_the_settings_of_a_launch_name_the_place_and_what_to_write() {
    assert_errors(&[
        (
            "[default]\nblok = 1",
            "weft.toml:2:1: unknown key `blok`; did you mean `block`? the keys here are `block`, `grid`",
        ),
        ("[default]\n  block = 0", "weft.toml:2:11: a block of 0 threads"),
        ("[default]\nblock = [64, 32]", "weft.toml:2:9: a block of 2048 threads"),
        (
            "[default]\nblock = []",
            "weft.toml:2:9: `block` takes a positive number, an array of one to three",
        ),
        (
            "[default]\ngrid = [65536, 65536]",
            "weft.toml:2:8: a grid of 65536 in y, where a device takes 1 to 65535",
        ),
        (
            "[default]\ngrid = [65538, 65535]",
            "weft.toml:2:8: a grid of 4295032830 ctas: at most 4294967295 can be checked",
        ),
        (
            "[default]\nblock = [1, 1, 128]",
            "weft.toml:2:9: a block of 128 in z, where a device takes 1 to 64: `block` takes at most [1024, 1024, 64]",
        ),
        ("[default]\nblock = 64\0", "weft.toml:2:11: a control character, U+0000; remove it"),
        ("\"\\u001b\" = 1", "weft.toml:1:1: unknown key `\\u{1b}`"),
        ("[default]\ngrid = \"4\"", "weft.toml:2:8: `grid` takes a positive number"),
        ("[default]\natomics = true", "weft.toml:2:11: `atomics` takes `\"auto\"`"),
        ("[default\nblock = 1", "weft.toml:1:9: "),
    ]);
}

#[test]
fn errors_in_patterns_and_entries_name_the_place_and_what_to_write() {
    assert_errors(&[
        (
            "blok = 1",
            "weft.toml:1:1: unknown key `blok`; the keys here are `ptx`, `default`, `kernel`",
        ),
        ("[default]\nargs = { 1 = 2 }", "weft.toml:2:1: `args` belongs to a `[[kernel]]`"),
        ("ptx = \"a\"", "weft.toml:1:7: `ptx` takes an array of file patterns"),
        ("ptx = [\"a/***\"]", "weft.toml:1:8: not a file pattern"),
        (
            "[kernel]\nname = \"a\"",
            "weft.toml:1:1: `kernel` takes tables, one for each kind of kernel: write `[[kernel]]`, not a table",
        ),
        ("[[kernel]]\nblock = 1", "weft.toml:1:1: `name` is missing"),
        (
            "[[kernel]]\nname = \"a(\"",
            "weft.toml:2:8: `name` is not a regular expression: unclosed group",
        ),
        (
            "[[kernel]]\nname = \"(a{1000}){1000}\"",
            "weft.toml:2:8: `name` is not a regular expression: Compiled regex exceeds size limit",
        ),
    ]);
}

#[test]
fn errors_in_arguments_name_the_place_and_what_to_write() {
    assert_errors(&[
        (
            "[[kernel]]\nname = \"a\"\nargs = { 01 = 1 }",
            "weft.toml:3:10: `args` takes a table from names or positions",
        ),
        (
            "[[kernel]]\nname = \"a\"\nargs = { \"a b\" = 1 }",
            "weft.toml:3:10: `args` takes a table from names or positions",
        ),
        (
            "[[kernel]]\nname = \"a\"\nargs = { 1 = \"buf\" }",
            "weft.toml:3:14: `args.1` takes a number",
        ),
        (
            "[[kernel]]\nname = \"a\"\nargs = { 1 = { u8 = [256] } }",
            "weft.toml:3:22: 256 does not fit u8",
        ),
        (
            "[[kernel]]\nname = \"a\"\nargs = { 1 = { 8 = \"buf\" } }",
            "weft.toml:3:20: `args.1.8` takes a number, `\"buffer\"`, a buffer with contents",
        ),
        (
            "[[kernel]]\nname = \"a\"\nargs = { 1 = { 8 = { 0 = 1 } } }",
            "weft.toml:3:22: unknown key `0`; the keys here are `u8`",
        ),
        (
            "[[kernel]]\nname = \"a\"\nargs = { 1 = { 08 = 1 } }",
            "weft.toml:3:16: unknown key `08`; the keys here are `u8`",
        ),
        (
            "[[kernel]]\nname = \"a\"\nargs = { 1 = { u8 = [1], u16 = [1], 0 = 1 } }",
            "weft.toml:3:14: `args.1` takes a number, `\"buffer\"`, a buffer with contents",
        ),
        (
            "[[kernel]]\nname = \"a\"\nargs = { 1 = {} }",
            "weft.toml:3:14: `args.1` takes a number, `\"buffer\"`, a buffer with contents",
        ),
        (
            "[[kernel]]\nname = \"a\"\nargs = { 1 = { u9 = [1] } }",
            "weft.toml:3:16: unknown key `u9`",
        ),
    ]);
}

#[test]
fn errors_in_allows_and_labels_name_the_place_and_what_to_write() {
    assert_errors(&[
        (
            "[[kernel]]\nname = \"a\"\nallow = [{ code = \"x\", reason = \"r\" }]",
            "weft.toml:3:19: there is no code `x`",
        ),
        (
            "[[kernel]]\nname = \"a\"\nallow = [{ code = \"limit\" }]",
            "weft.toml:3:10: `reason` is missing",
        ),
        (
            "[[kernel]]\nname = \"a\"\nallow = [{ code = \"limit\", reason = \" \" }]",
            "weft.toml:3:37: `reason` takes",
        ),
        (
            "[[kernel]]\nname = \"a\"\n[[kernel.launch]]\nlabel = \"\"",
            "weft.toml:4:9: `label` takes a word",
        ),
        (
            "[[kernel]]\nname = \"a\"\n[[kernel.launch]]\nlabel = \"b\"\n[[kernel.launch]]\nlabel = \"b\"",
            "weft.toml:6:9: the label `b` is taken by the launch in line 4",
        ),
    ]);
}

#[test]
fn a_file_that_is_not_utf_8_is_named_with_the_place() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("latin.toml");
    std::fs::write(&path, b"[default]\nblock = 64 # caf\xe9\n").unwrap();
    let error = Config::read(&path).unwrap_err().to_string();
    assert!(
        error.contains("latin.toml:2:17: the file is not UTF-8; save it as such\n  |\n2 | "),
        "{error}"
    );
}

#[test]
fn errors_show_their_lines_and_come_together() {
    let text =
        "[defualt]\nblock = 1\n[[kernel]]\nname = \"a\"\nblok = 3\n[[kernel]]\nblock = 4096\n";
    let error = Config::parse(text, Path::new("weft.toml")).unwrap_err().to_string();
    let expected = [
        "weft.toml:1:2: unknown key `defualt`; did you mean `default`? ",
        "\n  |\n1 | [defualt]\n  |  ^^^^^^^\nweft.toml:5:1: unknown key `blok`; did you mean `block`? ",
        "\n  |\n5 | blok = 3\n  | ^^^^\nweft.toml:7:9: a block of 4096 threads",
        "\n  |\n7 | block = 4096\n  |         ^^^^",
    ];
    let mut rest = error.as_str();
    for part in expected {
        let at = rest.find(part).unwrap_or_else(|| panic!("no {part:?} in {error}"));
        rest = &rest[at + part.len()..];
    }
    assert_eq!(rest, "");
}

#[test]
fn the_manifest_may_hold_it_instead_but_not_too() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("weft-config");
    std::fs::create_dir_all(&dir).unwrap();
    let (file, manifest) = (dir.join("weft.toml"), dir.join("Cargo.toml"));
    let _ = std::fs::remove_file(&file);
    std::fs::write(&manifest, "[package]\nname = \"x\"\n").unwrap();
    assert!(Config::find(&dir).unwrap().path.is_none());

    std::fs::write(
        &manifest,
        "[package]\nname = \"x\"\n[package.metadata.weft]\ndefault.block = 64\n",
    )
    .unwrap();
    assert_eq!(Config::find(&dir).unwrap().default.block, Some(Dim3::line(64).into()));

    std::fs::write(&file, "[default]\nblock = 32\n").unwrap();
    assert!(Config::find(&dir).unwrap_err().to_string().contains("keep one of the two"));
}

#[test]
fn an_allow_fits_code_and_line_of_any_site() {
    let allow = launches(&parse(FULL), "reduce0")[0].allow[0].clone();
    let site = |file: &str, line| Site {
        role: Role::Write,
        ptx: Position { line: 9, column: 1 },
        span: Span::default(),
        source: vec![SourceLine { file: file.to_owned(), line, column: 0 }],
        threads: Vec::new(),
        label: String::new(),
    };
    let finding = |code, site| Finding {
        code,
        check: None,
        message: String::new(),
        sites: vec![site],
        notes: Vec::new(),
        help: None,
        pairs: None,
    };
    assert!(allow.matches(&finding(Code::BenignRace, site("src/rtm.cu", 120)), "x.ptx"));
    assert!(!allow.matches(&finding(Code::BenignRace, site("src/xrtm.cu", 120)), "x.ptx"));
    assert!(!allow.matches(&finding(Code::BenignRace, site("rtm.cu", 12)), "x.ptx"));
    assert!(!allow.matches(&finding(Code::SharedRace, site("rtm.cu", 120)), "x.ptx"));
}

#[test]
fn any_block_and_grid_are_words() {
    let text = "[default]\nblock = \"any\"\ngrid = \"any\"\n[[kernel]]\nname = \"k\"\nblock = 64\n";
    let config = parse(text);
    let launch = |name| launches(&config, name).remove(0).launch;
    let any = Some(Dimensions::Any);
    assert_eq!((launch("other").block, launch("other").grid), (any, any));
    assert_eq!((launch("k").block, launch("k").grid), (Some(Dim3::line(64).into()), any));
    assert_errors(&[(
        "[default]\ngrid = \"all\"",
        "weft.toml:2:8: `grid` takes a positive number, an array of one to three, such as `256` or `[16, 16]`, or \
         `\"any\"`, not the string \"all\"",
    )]);
}

#[test]
fn requirements_add_up() {
    let text = "[[kernel]]\nname = \"k\"\nrequires = [\"n<=0x400\", 'pow2(#1)']\n[[kernel.launch]]\nlabel = \"a\"\n\
                requires = [\"n > 1 && w == n\"]\n[[kernel.launch]]\nlabel = \"b\"\n";
    let launches = launches(&parse(text), "k");
    let words = |at: usize| -> Vec<String> {
        launches[at].launch.requires.iter().map(ToString::to_string).collect()
    };
    assert_eq!(words(0), ["n <= 1024", "pow2(#1)", "n > 1 && w == n"]);
    assert_eq!(words(1), ["n <= 1024", "pow2(#1)"]);
}

#[test]
fn errors_in_requirements_name_the_place() {
    let kernel = |line: &str| format!("[[kernel]]\nname = \"k\"\nrequires = {line}");
    let cases = [
        ("\"n < 4\"", "weft.toml:3:12: `requires` takes an array of conditions"),
        ("[4]", "weft.toml:3:13: `requires` takes an array of conditions"),
        (
            "[\"n < 4\", \"n = 4\"]",
            "weft.toml:3:25: `requires`: `=` has no meaning here; for equality",
        ),
        ("['é < 4']", "weft.toml:3:14: `requires`: expected a condition"),
        ("[\"n < 4 \\u0026 \"]", "weft.toml:3:13: `requires`: `&` has no meaning here"),
        ("[\"\"\"n < \"\"\"]", "weft.toml:3:13: `requires`: expected a number"),
    ];
    for (line, expected) in cases {
        assert_errors(&[(&kernel(line), expected)]);
    }
    assert_errors(&[(
        "[default]\nrequires = [\"n < 4\"]",
        "weft.toml:2:1: `requires` belongs to a `[[kernel]]`",
    )]);
}
