//! Small kernels in which threads wait until a flag or a counter has a value: the check proves no kernel that has a race in
//! some execution in which all waits end.
//!
//! The reference (`reference.rs`) tries all executions, and follows the rules of the PTX manual event by event; the check
//! runs the kernel and keeps clocks.

#[path = "../small_kernels/dice.rs"]
mod dice;
mod draw;
mod reference;
mod step;

use std::ops::Range;

use dice::Dice;
use reference::judge;
use step::Kernel;
use weft_core::finding::{Class, Code, Report, Verdict};
use weft_core::launch::{Dim3, Launch, Limit};
use weft_core::ptx;

/// How many kernels there were, by what was found.
#[derive(Debug, Default)]
struct Tally {
    /// With a race in some execution.
    racing: u32,
    /// Clean, and there is an execution.
    clean: u32,
    /// Of these, those that would race without their waits.
    clean_by_waits: u32,
    /// Without a race, but open.
    missed: u32,
    /// In which some wait never ends.
    endless: u32,
    /// With too many executions for the reference.
    unknown: u32,
}

fn check(kernel: &Kernel) -> Report {
    let text = kernel.print();
    let module = ptx::parse(&text);
    assert!(module.errors.is_empty(), "{:?} in\n{text}", module.errors);
    let line = |extent| Some(Dim3::line(extent).into());
    // Loops on weak loads run to the limit.
    let limit = Limit { instructions: 1 << 18, ..Limit::default() };
    let (block, grid) = (line(kernel.block), line(kernel.ctas));
    let launch = Launch { block, grid, limit, ..Launch::default() };
    let entry = module.kernels().next().expect("there is one");
    weft_core::check(&module, entry, &launch)
        .unwrap_or_else(|error| unreachable!("{error} in\n{text}"))
}

/// Checks one kernel for each seed.
fn tally(seeds: Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let kernel = draw::kernel(&mut Dice::new(seed));
        let judgement = judge(&kernel, true);
        if judgement.is_unknown() {
            tally.unknown += 1;
            continue;
        }
        let report = check(&kernel);
        let verdict = report.verdict();
        // Strong accesses in no order are no data race of PTX. If some wait never ends, all is right.
        let mut defects =
            report.findings.iter().filter(|found| found.code.class() == Class::Defect);
        let is_only_strong = defects.all(|found| found.code == Code::UnorderedStrong);
        let (ends, races) = (judgement.executions > 0, judgement.races);
        let is_right = match verdict {
            Verdict::Clean => !races,
            Verdict::Open => true,
            Verdict::Defect => races || !ends || is_only_strong,
        };
        let text = || kernel.print();
        assert!(is_right, "seed {seed}: {verdict:?}, {judgement:?}\n{kernel:?}\n{}", text());
        tally.racing += u32::from(races);
        tally.endless += u32::from(!ends);
        let is_clean = verdict == Verdict::Clean && ends;
        tally.clean += u32::from(is_clean);
        tally.clean_by_waits += u32::from(is_clean && judge(&kernel, false).races);
        tally.missed += u32::from(verdict == Verdict::Open && ends && !races);
    }
    tally
}

#[test]
fn what_is_clean_has_no_race_in_any_execution() {
    let tally = tally(1000..1450);
    assert!(tally.clean_by_waits > 60 && tally.racing > 120, "{tally:?}");
}
