//! Tests of the buffers that a launch states: which arguments can point into them, and what a verdict then assumes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use weft_core::finding::{Assumption, Code, Report, Verdict};
use weft_core::launch::{Allocation, Arg, Buffer, Dim3, Fields, Launch, Within};
use weft_core::{CheckError, check, prove_every_input, ptx};

fn text(params: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k({params})\n{{\n\
         .reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<16>;\n\
         mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd9, %r1, 4;\n{body}\nDONE: ret;\n}}\n"
    )
}

fn within(buffer: &str, offset: u64) -> Arg {
    Arg::Within(Within { buffer: buffer.to_owned(), offset })
}

fn fields(fields: &[(u64, Arg)]) -> Arg {
    Arg::Fields(Fields { bytes: None, fields: fields.iter().cloned().collect() })
}

fn sized(size: u64) -> Allocation {
    Allocation { size: Some(size), ..Allocation::default() }
}

/// Returns a launch with buffers `a` and `b` of 1024 bytes.
fn launch(args: &[Arg]) -> Launch {
    let buffers = ["a", "b"].map(|name| (name.to_owned(), sized(1024)));
    let args = args.iter().cloned().enumerate().collect();
    let mut launch = Launch { args, buffers: buffers.into(), ..Launch::default() };
    (launch.block, launch.grid) = (Some(Dim3::line(64).into()), Some(Dim3::line(1).into()));
    launch.options.witness = 0;
    launch
}

fn run_under(params: &str, body: &str, launch: &Launch) -> Result<Report, CheckError> {
    let text = text(params, body);
    let module = ptx::parse(&text);
    assert!(module.errors.is_empty(), "{:?}\n{text}", module.errors);
    check(&module, module.kernel("k").unwrap(), launch)
}

fn run(params: &str, body: &str, args: &[Arg]) -> Report {
    run_under(params, body, &launch(args)).unwrap()
}

fn reason(params: &str, args: &[Arg]) -> String {
    run_under(params, "", &launch(args)).unwrap_err().to_string()
}

const TWO: &str = ".param .u64 x, .param .u64 y";
/// Each thread copies a word from `x` to `y`.
const COPY: &str = "ld.param.u64 %rd1, [x];\nld.param.u64 %rd2, [y];\nadd.u64 %rd1, %rd1, %rd9;\nadd.u64 %rd2, %rd2, %rd9;\n\
                    ld.global.u32 %r2, [%rd1];\nst.global.u32 [%rd2], %r2;";

#[test]
fn pointers_fit_parameters_and_buffers() {
    let cases: &[(&str, Arg, &str)] = &[
        (
            ".param .u64 x",
            within("c", 0),
            "argument 0 (`x`) does not fit the parameter: there is no buffer `c` in `buffers`; did you mean `a`?",
        ),
        (
            ".param .u64 x",
            within("a", 1025),
            "argument 0 (`x`) does not fit the parameter: the offset 1025 is beyond the 1024 bytes of buffer `a`",
        ),
        (
            ".param .u32 x",
            within("a", 0),
            "argument 0 (`x`) does not fit the parameter: it is a number of 4 bytes, not a pointer",
        ),
        (
            ".param .f64 x",
            within("a", 0),
            "argument 0 (`x`) does not fit the parameter: it is a floating-point number, not a pointer",
        ),
        (
            ".param .u64 .ptr .shared .align 4 x",
            within("a", 0),
            "argument 0 (`x`) does not fit the parameter: it is declared to point to shared memory",
        ),
        (
            ".param .align 8 .b8 x[16]",
            within("a", 0),
            "argument 0 (`x`) does not fit the parameter: it is a structure; give the fields of it that are pointers",
        ),
        (
            ".param .align 8 .b8 x[16]",
            fields(&[(9, within("a", 0))]),
            "argument 0 (`x`) does not fit the parameter: the structure has 16 bytes, so no pointer at byte 9",
        ),
        (
            ".param .align 8 .b8 x[16]",
            fields(&[(0, within("a", 0)), (4, within("a", 0))]),
            "argument 0 (`x`) does not fit the parameter: the pointer at byte 4 overlaps the one before",
        ),
        (
            ".param .align 8 .b8 x[16]",
            fields(&[(8, within("c", 0))]),
            "argument 0 (`x`) does not fit the parameter: the pointer at byte 8: there is no buffer `c`",
        ),
    ];
    for (params, arg, expected) in cases {
        let found = reason(params, std::slice::from_ref(arg));
        assert!(found.starts_with(expected), "{found:?} instead of {expected:?}");
    }
    // Right behind the end is a place; no access is needed for a pointer to be one.
    assert!(run_under(".param .u64 x", "", &launch(&[within("a", 1024)])).is_ok());
    assert!(
        run_under(".param .align 8 .b8 x[16]", "", &launch(&[fields(&[(8, within("a", 0))])]))
            .is_ok()
    );
}

#[test]
fn buffers_have_to_be_possible() {
    let with = |buffer: Allocation| Launch {
        buffers: [("a".to_owned(), buffer)].into(),
        ..launch(&[within("a", 0)])
    };
    let pointer = |at: u64, buffer: &str| Allocation {
        pointers: [(at, Within { buffer: buffer.to_owned(), offset: 0 })].into(),
        ..sized(64)
    };
    let cases = [
        (
            Allocation { contents: vec![Some(1); 65], ..sized(64) },
            "buffer `a`: it has 64 bytes, but 65 bytes of contents are given; give a size of at least 65",
        ),
        (pointer(57, "a"), "buffer `a`: the pointer at byte 57 is at no multiple of 8"),
        (pointer(64, "a"), "buffer `a`: it has 64 bytes, but 72 bytes of contents are given"),
        (pointer(0, "b"), "buffer `a`: there is no buffer `b`"),
        (pointer(1 << 40, "a"), "buffer `a`: contents up to byte 1099511627784 are given"),
        (sized((1 << 40) + 1), "buffer `a`: a buffer of 1099511627777 bytes"),
    ];
    for (buffer, expected) in cases {
        let error = run_under(".param .u64 x", "", &with(buffer)).unwrap_err();
        assert_eq!(error.setting(), Some("buffers"));
        let found = error.to_string();
        assert!(found.starts_with(expected), "{found:?} instead of {expected:?}");
    }
    assert!(run_under(".param .u64 x", "", &with(pointer(56, "a"))).is_ok());
}

#[test]
fn stated_buffers_are_apart_by_statement_and_others_by_assumption() {
    let own = Arg::Buffer(Buffer::default());
    let cases = [
        (vec![within("a", 0), within("b", 0)], false),
        (vec![within("a", 0), within("a", 512)], false),
        (vec![within("a", 0), own.clone()], true),
        (vec![within("a", 0)], true),
        (vec![own.clone(), own], true),
    ];
    for (args, is_assumed) in cases {
        let report = run(TWO, COPY, &args);
        assert_eq!(report.verdict(), Verdict::Clean, "{args:?}");
        let assumes = report.assumptions.contains(&Assumption::DisjointBuffers);
        assert_eq!(assumes, is_assumed, "{args:?}: {:?}", report.assumptions);
    }
    // A proof for every block and grid is about the same buffers.
    let text = text(TWO, COPY);
    let module = ptx::parse(&text);
    let kernel = module.kernel("k").unwrap();
    let proves = |args: &[Arg]| {
        let launch = Launch { block: None, ..launch(args) };
        prove_every_input(&module, kernel, &launch).unwrap().is_some()
    };
    assert!(proves(&[within("a", 0), within("b", 4)]));
    assert!(proves(&[within("a", 8), within("a", 8)]));
    assert!(!proves(&[within("a", 0), within("a", 4)]));
}

#[test]
fn a_pointer_that_is_loaded_in_halves_leads_where_the_launch_says() {
    let params = ".param .align 8 .b8 s[16], .param .u64 y";
    let body = "ld.param.u32 %r3, [s+8];\nld.param.u32 %r4, [s+12];\nmov.b64 %rd1, {%r3, %r4};\nld.param.u64 %rd2, [y];\n\
                add.u64 %rd1, %rd1, %rd9;\nadd.u64 %rd2, %rd2, %rd9;\nld.global.u32 %r2, [%rd1];\nst.global.u32 [%rd2], %r2;";
    let verdict = |offset: u64| {
        let held = fields(&[(8, within("a", 0))]);
        run(params, body, &[held, within("a", offset)]).verdict()
    };
    assert_eq!((verdict(4), verdict(512)), (Verdict::Defect, Verdict::Clean));
    // Without a run, nothing is proved of such an address.
    let text = text(params, body);
    let module = ptx::parse(&text);
    let launch = launch(&[fields(&[(8, within("a", 0))]), within("b", 0)]);
    let proved = prove_every_input(&module, module.kernel("k").unwrap(), &launch).unwrap();
    assert!(proved.is_none());
}

#[test]
fn the_order_of_pointers_into_one_buffer_is_known() {
    // Only if `x` is below `y`, threads store to one word.
    let body = "ld.param.u64 %rd1, [x];\nld.param.u64 %rd2, [y];\nsetp.ge.u64 %p1, %rd1, %rd2;\n@%p1 bra DONE;\n\
                st.global.u32 [%rd2], %r1;";
    let below = run(TWO, body, &[within("a", 0), within("a", 8)]);
    let above = run(TWO, body, &[within("a", 8), within("a", 8)]);
    let has_race = |report: &Report| report.findings.iter().any(|own| own.code == Code::GlobalRace);
    assert!(has_race(&below) && !has_race(&above), "{below:#?}");
    let places =
        |report: &Report| report.assumptions.iter().any(|own| matches!(own, Assumption::Places(_)));
    assert!(!places(&below) && !places(&above), "{:?}", below.assumptions);
    // Which of two buffers comes first, the launch does not say.
    let apart = run(TWO, body, &[within("a", 0), within("b", 0)]);
    assert!(places(&apart) && apart.verdict() != Verdict::Clean, "{:?}", apart.assumptions);
}

#[test]
fn the_distance_of_pointers_into_one_buffer_leads_to_the_other() {
    // `x + (y - x)` is `y`.
    let body = "ld.param.u64 %rd1, [x];\nld.param.u64 %rd2, [y];\nsub.u64 %rd3, %rd2, %rd1;\nadd.u64 %rd4, %rd1, %rd3;\n\
                add.u64 %rd4, %rd4, %rd9;\nadd.u64 %rd2, %rd2, %rd9;\nld.global.u32 %r2, [%rd2+4];\nst.global.u32 [%rd4], %r2;";
    let report = run(TWO, body, &[within("a", 0), within("a", 256)]);
    assert_eq!(report.verdict(), Verdict::Defect);
    let found: Vec<Code> = report.findings.iter().map(|own| own.code).collect();
    assert_eq!(found, [Code::GlobalRace]);
}

#[test]
fn buffers_begin_at_multiples_of_256() {
    let body = |multiple: u64| {
        format!(
            "ld.param.u64 %rd1, [x];\nand.b64 %rd3, %rd1, {};\nsetp.ne.u64 %p1, %rd3, 0;\n@%p1 bra DONE;\n\
             st.global.u32 [%rd1], %r1;",
            multiple - 1
        )
    };
    let aligned = |multiple: u64, offset: u64| {
        let report = run(".param .u64 x", &body(multiple), &[within("a", offset)]);
        let assumes = report.assumptions.iter().any(|own| matches!(own, Assumption::Aligned(_)));
        (report.verdict(), assumes)
    };
    assert_eq!(aligned(256, 0), (Verdict::Defect, false));
    assert_eq!(aligned(16, 16), (Verdict::Defect, false));
    // No thread does anything.
    assert_eq!(aligned(16, 8), (Verdict::Open, false));
    assert_eq!(aligned(512, 0), (Verdict::Defect, true));
}

#[test]
fn contents_are_known_where_they_are_given() {
    // Threads below the word at the start of `x` store to one word of `y`.
    let body = "ld.param.u64 %rd1, [x];\nld.param.u64 %rd2, [y];\nld.global.u32 %r3, [%rd1];\nsetp.ge.u32 %p1, %r1, %r3;\n\
                @%p1 bra DONE;\nst.global.u32 [%rd2], %r1;";
    let verdict = |contents: &[Option<u8>], offset: u64| {
        let mut launch = launch(&[within("a", offset), within("b", 0)]);
        let known = Allocation { contents: contents.to_vec(), ..sized(1024) };
        launch.buffers.insert("a".to_owned(), known);
        run_under(TWO, body, &launch).unwrap().verdict()
    };
    let word = |value: u8| [Some(value), Some(0), Some(0), Some(0)];
    let [one, two] = [word(1), word(2)];
    assert_eq!((verdict(&one, 0), verdict(&two, 0)), (Verdict::Clean, Verdict::Defect));
    assert_eq!(verdict(&[], 0), Verdict::Open);
    let behind = [[None; 4], one].concat();
    assert_eq!((verdict(&behind, 0), verdict(&behind, 4)), (Verdict::Open, Verdict::Clean));
    // One byte of a word is open.
    let part = [Some(1), None, Some(0), Some(0)];
    assert_eq!(verdict(&part, 0), Verdict::Open);
    // Nothing is known behind the contents.
    assert_eq!(verdict(&one, 4), Verdict::Open);
}

#[test]
fn a_requirement_about_a_pointer_into_a_buffer_is_an_error() {
    let mut launch = launch(&[within("a", 0)]);
    launch.requires = vec![weft_core::launch::requires::parse("#0 > 4").unwrap()];
    let error = run_under(".param .u64 x", "", &launch).unwrap_err().to_string();
    assert!(error.contains("`x` is a pointer"), "{error}");
}

#[test]
fn buffers_that_nothing_points_into_are_told() {
    let mut launch = launch(&[fields(&[(0, within("a", 0))])]);
    assert_eq!(launch.unused_buffers(), ["b"]);
    let pointers = BTreeMap::from([(0, Within { buffer: "b".to_owned(), offset: 8 })]);
    let holds = Allocation { pointers, ..sized(64) };
    launch.buffers.insert("b".to_owned(), holds.clone());
    assert_eq!(launch.unused_buffers(), ["b"], "a pointer to itself is no use");
    launch.buffers.insert("a".to_owned(), holds);
    assert!(launch.unused_buffers().is_empty());
}
