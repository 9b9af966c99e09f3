//! Small kernels with critical sections: the check proves no kernel that has a race in some order in which its threads get the
//! locks.
//!
//! The reference (`reference.rs`) tries all orders; the check looks for the places where a thread surely has a lock.

#[path = "../small_kernels/dice.rs"]
mod dice;
mod draw;
mod kernel;
mod reference;

use std::ops::Range;

use dice::Dice;
use kernel::Kernel;
use reference::judge;
use weft_core::finding::{Class, Code, Report, Verdict};
use weft_core::launch::{Dim3, Launch, Limit};
use weft_core::ptx;

/// How many kernels there were, by what was found.
#[derive(Debug, Default)]
struct Tally {
    /// With a race in some execution.
    racing: u32,
    clean: u32,
    /// Of these, those that would race if the locks ordered nothing.
    clean_by_locks: u32,
    /// Without a race, but open.
    missed: u32,
    /// With too many executions for the reference.
    unknown: u32,
}

fn check(kernel: &Kernel) -> Report {
    let text = kernel.print();
    let module = ptx::parse(&text);
    assert!(module.errors.is_empty(), "{:?} in\n{text}", module.errors);
    let line = |extent| Some(Dim3::line(extent).into());
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
        // Strong accesses in no order are no data race of PTX. If some thread waits forever, all is right.
        let mut defects =
            report.findings.iter().filter(|found| found.code.class() == Class::Defect);
        let is_only_strong = defects.all(|found| found.code == Code::UnorderedStrong);
        let (ends, races) = (judgement.ends, judgement.races);
        let is_right = match verdict {
            Verdict::Clean => !races,
            Verdict::Open => true,
            Verdict::Defect => races || !ends || is_only_strong,
        };
        assert!(
            is_right,
            "seed {seed}: {verdict:?}, {judgement:?}\n{kernel:?}\n{}",
            kernel.print()
        );
        tally.racing += u32::from(races);
        let is_clean = verdict == Verdict::Clean;
        tally.clean += u32::from(is_clean);
        tally.clean_by_locks += u32::from(is_clean && judge(&kernel, false).races);
        tally.missed += u32::from(verdict == Verdict::Open && ends && !races);
    }
    tally
}

#[test]
fn what_is_clean_has_no_race_in_any_order() {
    let tally = tally(0..800);
    assert!(tally.clean_by_locks > 200 && tally.racing > 120, "{tally:?}");
}
