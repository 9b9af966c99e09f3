//! Checks every fixture with its variables and buffers at other addresses that fulfil the assumptions of its report:
//! the findings must stay the same.

#[path = "../../../weft-core/tests/placements/moved.rs"]
mod moved;

use std::collections::BTreeSet;
use std::fs;

use moved::Dice;
use weft_core::finding::{Code, Finding, Report, Role};
use weft_core::flow::Placement;
use weft_core::{check_placed, ptx};
use weft_fixture_tests::files;
use weft_fixture_tests::language::Fixture;

const TIMES: u64 = 3;

/// A finding: code, sites, and the numbers of racing pairs of threads within warps and between warps.
type Found = (Code, BTreeSet<(u32, Role)>, Option<(u64, u64)>);

fn findings(report: &Report) -> BTreeSet<Found> {
    let told = |finding: &Finding| {
        let sites = finding.sites.iter().map(|site| (site.ptx.line, site.role)).collect();
        let pairs = finding.pairs.map(|own| (own.within_warps, own.between_warps));
        (finding.code, sites, pairs)
    };
    report.findings.iter().map(told).collect()
}

#[test]
fn fixtures_do_not_depend_on_places() {
    let fixtures = files::fixtures().expect("the folder is part of the checkout");
    let (mut kernels, mut moves) = (0, 0);
    for (seed, path) in (0..).zip(fixtures) {
        let text = fs::read_to_string(&path).expect("fixtures are text");
        let fixture = Fixture::parse(&text, &path).expect("the header is right");
        let (module, mut launch) = (ptx::parse(&text), fixture.launch());
        // Trials are complete checks, of which each would be repeated.
        launch.options.witness = 0;
        for kernel in module.kernels() {
            let program = weft_core::link(&module, kernel, &launch, &Placement::default())
                .expect("fixtures link");
            let report = |placement: &Placement| {
                check_placed(&module, kernel, &launch, placement).expect("the launch fits")
            };
            let first = report(&Placement::default());
            if first.block.is_none() {
                // Nothing was run.
                continue;
            }
            let mut dice = Dice(seed);
            kernels += 1;
            for _ in 0..TIMES {
                // Moves buffers by a small distance only, since sums of open values are compared with addresses near
                // the pointer.
                let placement = moved::moved(&program, &first, &mut dice, 1);
                let other = report(&placement);
                let name = format!("{} in {} with {placement:?}", first.kernel, path.display());
                assert_eq!(findings(&first), findings(&other), "{name}");
                assert_eq!(first.assumptions, other.assumptions, "{name}");
                assert_eq!(first.coverage, other.coverage, "{name}");
                moves += usize::from(placement != Placement::default());
            }
        }
    }
    assert!(kernels > 200 && moves > 2 * kernels, "{moves} of {kernels} times {TIMES}");
}
