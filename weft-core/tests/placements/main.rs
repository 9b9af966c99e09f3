//! Tests that findings do not depend on the addresses of variables and buffers, as long as these have the alignments
//! that declarations and the report's assumptions state. Each kernel is random and computes with addresses.

mod arithmetic;
mod moved;
mod named;

use std::collections::BTreeSet;

use moved::Dice;
use weft_core::finding::{Assumption, Code, Report, Role, Verdict};
use weft_core::flow::{self, Placement};
use weft_core::launch::{Dim3, Launch, Limit};
use weft_core::{check_placed, ptx};

/// Number of placements for each kernel.
const TIMES: u64 = 5;
const LIMIT: Limit = Limit { instructions: 1 << 20, memory: 1 << 26 };
/// Number of kernels.
const SEEDS: u64 = 4000;

type Found = (Verdict, BTreeSet<(Code, Vec<(u32, Role)>)>, Vec<Assumption>);

fn found(report: &Report) -> Found {
    let sites = |finding: &weft_core::finding::Finding| {
        finding.sites.iter().map(|site| (site.ptx.line, site.role)).collect()
    };
    let findings = report.findings.iter().map(|finding| (finding.code, sites(finding)));
    (report.verdict(), findings.collect(), report.assumptions.clone())
}

/// Counts kernels by what they assume about addresses: nothing, an alignment, one place, and that shared memory begins
/// at 0.
#[derive(Debug, Default)]
struct Tally {
    nothing: usize,
    aligned: usize,
    places: usize,
    from_zero: usize,
}

fn hold(seeds: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let text = arithmetic::kernel(seed);
        let module = ptx::parse(&text);
        assert!(module.errors.is_empty(), "{:?}\n{text}", module.errors);
        let kernel = module.kernel("k").expect("the text declares it");
        let program = flow::build(&module, kernel).expect("it links");
        let launch = Launch {
            block: Some(Dim3::line(32).into()),
            shared: Some(256),
            limit: LIMIT,
            ..Launch::default()
        };
        let report = |placement: &Placement| {
            check_placed(&module, kernel, &launch, placement).expect("the launch fits")
        };
        let first = report(&Placement::default());
        let mut dice = Dice(seed);
        for _ in 0..TIMES {
            let placement = moved::moved(&program, &first, &mut dice, 16);
            let other = report(&placement);
            assert_eq!(found(&first), found(&other), "{seed} {placement:?}\n{text}");
        }
        let has = |of: fn(&Assumption) -> bool| first.assumptions.iter().any(of);
        let places = has(|own| matches!(own, Assumption::Places(_)));
        let from_zero = has(|own| matches!(own, Assumption::SharedFromZero));
        let aligned = has(|own| matches!(own, Assumption::Aligned(_)));
        tally.places += usize::from(places);
        tally.from_zero += usize::from(from_zero);
        tally.aligned += usize::from(aligned);
        tally.nothing += usize::from(!(places || from_zero || aligned));
    }
    tally
}

#[test]
fn places_do_not_matter() {
    let tally = hold(0..SEEDS);
    let is_told = tally.aligned > 800 && tally.places > 1200 && tally.from_zero > 400;
    assert!(tally.nothing > 1500 && is_told, "{tally:?}");
}
