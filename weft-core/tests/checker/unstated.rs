//! Tests of what is chosen where nobody states a block or a grid, and of what a verdict then says.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use weft_core::finding::{Assumption, Code, Report, Verdict};
use weft_core::launch::requires::parse;
use weft_core::launch::{Arg, Buffer, Dim3, Dimensions, Launch};
use weft_core::{BlockSource, KnownBlock, check, known_block, ptx};

const HEAD: &str = ".version 7.0\n.target sm_80\n.address_size 64\n";

/// Returns the block of a kernel with this directive that reads the thread's index in the given dimensions.
fn block(directive: &str, read: [bool; 3], launch: &Launch) -> Option<KnownBlock> {
    let moves = ["x", "y", "z"].map(|part| format!("mov.u32 %r, %tid.{part};\n"));
    let moves = [0, 1, 2].map(|at| if read[at] { &*moves[at] } else { "" }).concat();
    let text =
        format!("{HEAD}.visible .entry k()\n{directive}\n{{\n.reg .u32 %r;\n{moves}ret;\n}}\n");
    let module = ptx::parse(&text);
    known_block(&module, module.kernel("k").unwrap(), launch).unwrap()
}

fn dim([x, y, z]: [u32; 3]) -> Dim3 {
    Dim3 { x, y, z }
}

#[test]
fn a_guess_is_within_the_bound_and_has_the_dimensions_of_the_kernel() {
    let launch = Launch::default();
    for most in (1..=1100).chain([2048, u32::MAX]) {
        for bits in 0..8_u8 {
            let read = [0, 1, 2].map(|part| bits >> part & 1 == 1);
            let guess = block(&format!(".maxntid {most}, 1, 1"), read, &launch).unwrap();
            assert_eq!(guess.source, BlockSource::Guessed);
            let bound = u64::from(most).min(Dim3::MAX_THREADS);
            let Dim3 { x, y, z } = guess.size;
            assert!(guess.size.misfit(Dim3::MAX_BLOCK).is_none(), "{most} {read:?}: {guess:?}");
            // A guess of one dimension, or of whole rows, uses the whole bound.
            let is_whole = guess.size.count() == bound;
            assert!(is_whole || bound % 64 != 0, "{most} {read:?}: {guess:?}");
            assert!(guess.size.count() <= bound, "{most} {read:?}: {guess:?}");
            let is_split = [x, y, z].map(|extent| extent > 1);
            if bound >= 128 && bound.is_multiple_of(64) && bits != 0 {
                assert!(read.iter().zip(is_split).all(|(read, split)| !read || split), "{guess:?}");
            }
        }
    }
    let guess = |directive: &str, read: [bool; 3]| block(directive, read, &launch).unwrap().size;
    let plane = [true, true, false];
    for (directive, read, size) in [
        (".maxntid 128", [true, false, false], [128, 1, 1]),
        (".maxntid 128", plane, [32, 4, 1]),
        (".maxntid 64", plane, [32, 2, 1]),
        (".maxntid 32", plane, [32, 1, 1]),
        (".maxntid 100", plane, [100, 1, 1]),
        (".maxntid 128", [false, true, false], [1, 128, 1]),
        (".maxntid 128", [true, false, true], [32, 1, 4]),
        (".maxntid 128", [true, true, true], [32, 2, 2]),
        (".maxntid 16, 8", plane, [16, 8, 1]),
        (".maxntid 16, 8", [true, false, false], [16, 8, 1]),
    ] {
        assert_eq!(guess(directive, read), dim(size), "{directive} {read:?}");
    }
}

#[test]
fn what_is_stated_is_no_guess() {
    let of = |directive: &str, block_stated: Option<Dimensions>| {
        let launch = Launch { block: block_stated, ..Launch::default() };
        block(directive, [true, true, false], &launch)
    };
    let known = |size: [u32; 3], source: BlockSource| Some(KnownBlock { size: dim(size), source });
    let is = |size: [u32; 3]| Some(Dimensions::Is(dim(size)));
    assert_eq!(of(".maxntid 128", is([64, 1, 1])), known([64, 1, 1], BlockSource::Stated));
    assert_eq!(of(".reqntid 64", None), known([64, 1, 1], BlockSource::Required));
    assert_eq!(of(".reqntid 64", Some(Dimensions::Any)), known([64, 1, 1], BlockSource::Required));
    assert_eq!(of(".maxntid 128", Some(Dimensions::Any)), None);
    assert_eq!(of("", None), None);
}

/// Checks a kernel with blocks of 64 threads that stores its cta's index into the element `at` of `out`.
fn store(at: &str, launch: Launch) -> Report {
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 out)\n{{\n.reg .u32 %t, %c, %at;\n.reg .b64 %out, %o;\n\
         ld.param.u64 %out, [out];\ncvta.to.global.u64 %out, %out;\nmov.u32 %t, %tid.x;\n{at}\n\
         mul.wide.u32 %o, %at, 4;\nadd.u64 %out, %out, %o;\nst.global.u32 [%out], %c;\nret;\n}}\n"
    );
    let module = ptx::parse(&text);
    assert!(module.errors.is_empty(), "{:?}", module.errors);
    let launch = Launch { block: Some(Dimensions::Is(Dim3::line(64))), ..launch };
    check(&module, module.kernel("k").unwrap(), &launch).unwrap()
}

const OWN_ROW: &str = "mov.u32 %c, %ctaid.x;\nmad.lo.u32 %at, %c, 64, %t;";
const SQUARE_ROW: &str =
    "mov.u32 %c, %ctaid.x;\nmul.lo.u32 %at, %c, %c;\nmad.lo.u32 %at, %at, 64, %t;";
const SAME_ROW: &str = "mov.u32 %c, %ctaid.x;\nmov.u32 %at, %t;";

#[test]
fn a_verdict_without_a_grid_says_which_grids_it_holds_for() {
    let says = |report: &Report, assumption: &Assumption| report.assumptions.contains(assumption);
    let (one, two) = (Assumption::OneCta, Assumption::OrdinaryGrid([2, 1, 1]));
    let every = store(OWN_ROW, Launch::default());
    assert_eq!(every.verdict(), Verdict::Clean);
    assert!(every.proved.is_some() && !says(&every, &one) && !says(&every, &two));
    let ordinary = store(SQUARE_ROW, Launch::default());
    assert_eq!((ordinary.verdict(), ordinary.stats.ctas), (Verdict::Clean, 2));
    assert!(ordinary.proved.is_none() && !says(&ordinary, &one) && says(&ordinary, &two));
    // All ctas do the same: nothing is said of several.
    let alike = store("mov.u32 %c, 0;\nmov.u32 %at, %t;", Launch::default());
    assert_eq!((alike.verdict(), alike.stats.ctas), (Verdict::Clean, 1));
    assert!(alike.proved.is_none() && says(&alike, &one));
    // A buffer that is too short for several ctas says that one is meant.
    let short = Arg::Buffer(Buffer { contents: Some(vec![0; 256]) });
    let meant = store(SQUARE_ROW, Launch { args: [(0, short)].into(), ..Launch::default() });
    assert_eq!((meant.verdict(), meant.stats.ctas), (Verdict::Clean, 1));
    assert!(says(&meant, &one));
}

#[test]
fn no_defect_rests_on_a_grid_that_nobody_states() {
    let mut launch = Launch::default();
    launch.options.any_inputs = true;
    for witness in [0, 8] {
        launch.options.witness = witness;
        let report = store(SAME_ROW, launch.clone());
        let codes: Vec<Code> = report.findings.iter().map(|finding| finding.code).collect();
        assert_eq!(codes, [Code::RaceForInput]);
        assert!(report.findings[0].notes.iter().any(|note| note.contains("`grid = 1`")));
    }
    let grid = Some(Dimensions::Is(Dim3::line(2)));
    assert_eq!(store(SAME_ROW, Launch { grid, ..launch }).verdict(), Verdict::Defect);
}

/// Each thread stores to its element of an array with room for `room` threads, and loads that of its neighbour behind a barrier.
fn neighbours(room: u32, launch: &Launch) -> Report {
    let text = format!(
        "{HEAD}.visible .entry k()\n{{\n.reg .u32 %t, %a, %b;\n.shared .align 4 .b8 tile[{}];\n\
         mov.u32 %t, %tid.x;\nmov.u32 %b, tile;\nmad.lo.u32 %a, %t, 4, %b;\nst.shared.u32 [%a], %t;\nbar.sync 0;\n\
         xor.b32 %t, %t, 1;\nmad.lo.u32 %a, %t, 4, %b;\nld.shared.u32 %t, [%a];\nret;\n}}\n",
        4 * room
    );
    let module = ptx::parse(&text);
    assert!(module.errors.is_empty(), "{:?}\n{text}", module.errors);
    check(&module, module.kernel("k").unwrap(), launch).unwrap()
}

#[test]
fn a_proof_for_every_block_is_about_blocks_that_shared_memory_has_room_for() {
    let proved = |room: u32| {
        let report = neighbours(room, &Launch::default());
        assert_eq!(report.verdict(), Verdict::Clean, "{room}: {:#?}", report.findings);
        report.proved.unwrap().sentence()
    };
    // 1024 threads fill the larger array; of the ordinary blocks, one of 128 threads fits the smaller one.
    assert!(proved(1024).starts_with("every block of one dimension, "), "{}", proved(1024));
    assert!(proved(200).starts_with("every block of one dimension up to 128, "), "{}", proved(200));
    let requiring = |room: u32, condition: &str| {
        let requires = vec![parse(condition).unwrap()];
        neighbours(room, &Launch { requires, ..Launch::default() })
    };
    assert_eq!(requiring(200, "block.x <= 200").verdict(), Verdict::Clean);
    for condition in ["block.x >= 201", "block.x > 700"] {
        let report = requiring(200, condition);
        let first = &report.findings[0];
        assert_eq!(
            (report.verdict(), first.code),
            (Verdict::Open, Code::RaceForInput),
            "{condition}"
        );
        assert!(
            first.message.contains("shared variables") && first.message.contains("if block ="),
            "{first:?}"
        );
        assert_eq!(report.proved, None);
    }
}
