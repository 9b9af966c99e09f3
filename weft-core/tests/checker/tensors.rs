//! Tests which tensor maps a launch can state, and which boxes follow from what phases of mbarriers expect.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use weft_core::finding::{Assumption, Code, Report, Verdict};
use weft_core::launch::{Arg, Dim3, Fields, Launch, TensorBox};
use weft_core::{CheckError, check, ptx};

fn tensor(bytes: u32) -> Arg {
    Arg::Tensor(TensorBox { bytes })
}

fn fields(fields: &[(u64, Arg)]) -> Arg {
    Arg::Fields(Fields { bytes: None, fields: fields.iter().cloned().collect() })
}

/// Checks a kernel with this body, which has two tensor maps and two mbarriers with one arrival each, under a launch of so
/// many threads and ctas.
fn run_under(
    params: &str,
    body: &str,
    (block, grid): (u32, u32),
    args: &[(usize, Arg)],
) -> Result<Report, CheckError> {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k({params})\n{{\n\
         .reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n\
         .shared .align 128 .b8 tile[4096];\n.shared .align 8 .b64 first;\n.shared .align 8 .b64 second;\n\
         mov.u32 %r1, %tid.x;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra READY;\n\
         mbarrier.init.shared.b64 [first], 1;\nmbarrier.init.shared.b64 [second], 1;\n\
         READY:\nbar.sync 0;\n{body}\nret;\n}}\n"
    );
    let module = ptx::parse(&text);
    assert!(module.errors.is_empty(), "{:?}\n{text}", module.errors);
    let launch = Launch {
        block: Some(Dim3::line(block).into()),
        grid: Some(Dim3::line(grid).into()),
        args: args.iter().cloned().collect(),
        ..Launch::default()
    };
    check(&module, module.kernel("k").unwrap(), &launch)
}

const MAPS: &str = ".param .align 64 .b8 a[128], .param .align 64 .b8 b[128]";

/// As `run_under`, for the tensor maps `a` at `%rd1` and `b` at `%rd2`.
fn run(body: &str, sizes: (u32, u32), args: &[(usize, Arg)]) -> Report {
    let maps = "mov.b64 %rd1, a;\ncvta.param.u64 %rd1, %rd1;\nmov.b64 %rd2, b;\ncvta.param.u64 %rd2, %rd2;";
    run_under(MAPS, &format!("{maps}\n{body}"), sizes, args).unwrap()
}

fn expect(object: &str, bytes: u32) -> String {
    format!("mbarrier.arrive.expect_tx.shared.b64 _, [{object}], {bytes};\n")
}

fn load(to: u32, map: u32, object: &str) -> String {
    format!(
        "cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes [tile+{to}], [%rd{map}, {{0}}], [{object}];\n"
    )
}

fn wait(label: &str, object: &str, parity: u32) -> String {
    format!(
        "{label}:\nmbarrier.try_wait.parity.shared.b64 %p2, [{object}], {parity};\n@!%p2 bra {label};\n"
    )
}

/// The boxes that a report assumes, in bytes.
fn boxes(report: &Report) -> Vec<u64> {
    let of = |assumption: &Assumption| match assumption {
        Assumption::Boxes(all) => all.iter().map(|(_, bytes)| *bytes).collect(),
        _ => Vec::new(),
    };
    report.assumptions.iter().flat_map(of).collect()
}

#[test]
fn tensor_maps_fit_parameters() {
    let cases: &[(&str, Arg, &str)] = &[
        (".param .u32 x", tensor(16), "it is no tensor map and no pointer to one"),
        (".param .f64 x", tensor(16), "it is no tensor map and no pointer to one"),
        (
            ".param .align 64 .b8 x[64]",
            tensor(16),
            "the structure has 64 bytes, so no tensor map at byte 0",
        ),
        (
            ".param .align 64 .b8 x[256]",
            fields(&[(192, tensor(16))]),
            "the structure has 256 bytes, so no tensor map at byte 192",
        ),
        (
            ".param .align 64 .b8 x[256]",
            fields(&[(32, tensor(16))]),
            "a tensor map begins at a multiple of 64 bytes, not at byte 32",
        ),
    ];
    for (params, arg, expected) in cases {
        let error = run_under(params, "", (32, 1), &[(0, arg.clone())]).unwrap_err().to_string();
        let expected = format!("argument 0 (`x`) does not fit the parameter: {expected}");
        assert_eq!(error, expected);
    }
    for (params, arg) in [
        (".param .u64 x", tensor(16)),
        (".param .align 64 .b8 x[128]", tensor(16)),
        (".param .align 64 .b8 x[192]", fields(&[(64, tensor(16))])),
    ] {
        assert!(run_under(params, "", (32, 1), &[(0, arg)]).is_ok(), "{params}");
    }
}

#[test]
fn bytes_of_a_structure_are_known_but_for_those_of_its_maps() {
    // A branch over the barrier is decided by one word of the structure, whose bytes 64 to 191 are a map.
    let params = ".param .align 64 .b8 x[256]";
    let given =
        Arg::Fields(Fields { bytes: Some(vec![0; 256]), fields: [(64, tensor(16))].into() });
    for (at, verdict) in
        [(60, Verdict::Clean), (64, Verdict::Open), (188, Verdict::Open), (192, Verdict::Clean)]
    {
        let body = format!(
            "ld.param.u32 %r2, [x+{at}];\nadd.u32 %r2, %r2, %r1;\nsetp.gt.u32 %p1, %r2, 40;\n@%p1 bra END;\n\
             bar.sync 1, 32;\nEND:"
        );
        let report = run_under(params, &body, (32, 1), &[(0, given.clone())]).unwrap();
        assert_eq!(report.verdict(), verdict, "at {at}: {:?}", report.findings);
    }
}

#[test]
fn sizes_of_boxes_are_multiples_of_16_that_fit_shared_memory() {
    let all = [0, 8, 16, 24, 232_448, 232_464, u64::MAX].map(TensorBox::of);
    let of = |bytes| Some(TensorBox { bytes });
    assert_eq!(all, [None, None, of(16), None, of(232_448), None, None]);
}

#[test]
fn a_box_follows_from_one_that_follows() {
    // The first phase has one box of `a`; the second has two of `a` and one of `b`.
    let (later, end) = (wait("FIRST", "first", 0), wait("SECOND", "second", 0));
    let copies = expect("first", 512)
        + &load(0, 1, "first")
        + &expect("second", 2048)
        + &load(512, 1, "second")
        + &load(1024, 1, "second")
        + &load(2048, 2, "second");
    let body = format!("@%p1 bra FIRST;\n{copies}{later}{end}ld.shared.u32 %r2, [tile+3068];");
    for grid in [1, 5] {
        let report = run(&body, (64, grid), &[]);
        assert_eq!(report.verdict(), Verdict::Clean, "{:?}", report.findings);
        assert_eq!(boxes(&report), [512, 1024]);
    }
}

#[test]
fn a_phase_that_nobody_waits_for_yet_might_lack_copies() {
    // The second box of `b` comes after the wait for `a`.
    let body = |wait_here: &str| {
        expect("first", 512)
            + &load(0, 1, "first")
            + &expect("second", 2048)
            + &load(1024, 2, "second")
            + &wait("FIRST", "first", 0)
            + &load(2048, 2, "second")
            + wait_here
            + &wait("SECOND", "second", 0)
            + "ld.shared.u32 %r2, [tile+1024];"
    };
    let report = run(&body(""), (1, 1), &[]);
    assert_eq!(report.verdict(), Verdict::Clean, "{:?}", report.findings);
    assert_eq!(boxes(&report), [512, 1024]);
    // If other threads wait for both boxes from the start, it seems to be one: that leaves bytes over.
    let report = run(&format!("@%p1 bra SECOND;\n{}", body("")), (64, 1), &[]);
    assert_eq!(report.verdict(), Verdict::Open, "{:?}", report.findings);
    assert!(report.findings.iter().all(|own| own.code == Code::DependsOnInput));
    let report = run(&format!("@%p1 bra SECOND;\n{}", body("")), (64, 1), &[(1, tensor(1024))]);
    assert_eq!(report.verdict(), Verdict::Clean, "{:?}", report.findings);
}

#[test]
fn defects_do_not_wait_for_boxes() {
    // The named barrier expects more threads than there are, whatever the box is.
    let body = format!(
        "@%p1 bra END;\n{}{}bar.sync 1, 64;\nEND:\n",
        expect("first", 512),
        load(0, 1, "first")
    );
    let report = run(&body, (32, 1), &[]);
    let codes: Vec<_> = report.findings.iter().map(|own| own.code).collect();
    assert!(codes.contains(&Code::BarrierCount), "{codes:?}");
}

#[test]
fn a_wait_in_vain_with_boxes_that_fit_is_a_deadlock() {
    // The box fills its phase; nothing completes the next one.
    let body = expect("first", 512)
        + &load(0, 1, "first")
        + &wait("FIRST", "first", 0)
        + &wait("NEXT", "first", 1);
    let report = run(&body, (1, 1), &[]);
    assert_eq!(report.findings.first().map(|own| own.code), Some(Code::Deadlock));
    assert_eq!(boxes(&report), [512]);
}
