//! A check with a lower limit covers less and reports so (`limit`): its verdict is that of the full check, or open.

use std::fs;

use weft_core::finding::{Code, Verdict};
use weft_core::launch::{Launch, Limit};
use weft_core::ptx;
use weft_fixture_tests::files;
use weft_fixture_tests::language::Fixture;

#[test]
fn less_is_never_more() {
    let (mut open, mut same) = (0, 0);
    for path in files::fixtures().expect("the folder is part of the checkout") {
        let text = fs::read_to_string(&path).expect("fixtures are text");
        let launch = Fixture::parse(&text, &path).expect("the header is right").launch();
        let module = ptx::parse(&text);
        for kernel in module.kernels() {
            let verdict = |limit: Limit| {
                let mut launch = Launch { limit, ..launch.clone() };
                // The search for witnesses proves nothing if it finds nothing, whatever its limits are.
                launch.options.witness = 0;
                let report = weft_core::check(&module, kernel, &launch).expect("the launch fits");
                let is_limited = report.findings.iter().any(|own| own.code == Code::Limit);
                (report.block.is_some(), report.verdict(), is_limited)
            };
            let (is_run, whole, _) = verdict(launch.limit);
            if !is_run {
                continue;
            }
            let few = [20, 100, 500, 2500, 20_000]
                .map(|instructions| Limit { instructions, ..launch.limit });
            let little =
                [1 << 9, 1 << 12, 1 << 15, 1 << 18].map(|memory| Limit { memory, ..launch.limit });
            for limit in few.into_iter().chain(little) {
                let (_, own, is_limited) = verdict(limit);
                let name = path.display();
                // A part of a run proves nothing about the rest, and its verdict must not contradict that of the full
                // check.
                assert!(own == whole || own == Verdict::Open, "{name}: {own:?} with {limit:?}");
                assert!(own == whole || is_limited, "{name}: not said why, with {limit:?}");
                *(if is_limited { &mut open } else { &mut same }) += 1;
            }
        }
    }
    assert!(open > 200 && same > 200, "{open} limited, {same} not");
}
