//! Compares the proofs for every input with the runs of the fixtures: what is proved has no race and no defect of a
//! barrier in any run.

use std::collections::BTreeMap;
use std::fs;

use weft_core::finding::{Code, ProvedFor, Report};
use weft_core::launch::{Arg, Dim3, ExtentBound, Fields, Launch};
use weft_core::ptx;
use weft_fixture_tests::files;
use weft_fixture_tests::language::Fixture;

/// The findings that contradict a proof.
const EXCLUDED: [Code; 10] = [
    Code::Deadlock,
    Code::RegisterPool,
    Code::BarrierRecycling,
    Code::BarrierCount,
    Code::BarrierDivergence,
    Code::SharedRace,
    Code::GlobalRace,
    Code::AsyncRace,
    Code::UnorderedStrong,
    Code::WarpMask,
];

fn holds_for(proved: ProvedFor, report: &Report) -> bool {
    let is_in = |bounds: [ExtentBound; 3], Dim3 { x, y, z }: Dim3| {
        bounds.into_iter().zip([x, y, z]).all(|(bound, extent)| match bound {
            ExtentBound::Is(only) => extent == only,
            ExtentBound::UpTo(most) => extent <= most,
        })
    };
    let is_meant = |block: Dim3| {
        is_in(proved.block, block) && (!proved.of_whole_warps || block.x.is_multiple_of(32))
    };
    report.block.is_some_and(is_meant) && is_in(proved.grid, report.grid)
}

/// Returns what an argument says about the buffers that arguments share, which a proof without it assumes not to exist.
fn pointers(arg: &Arg) -> Option<Arg> {
    match arg {
        Arg::Within(_) | Arg::Tensor(_) => Some(arg.clone()),
        Arg::Fields(Fields { fields, .. }) => {
            let fields = fields.iter().filter_map(|(at, field)| Some((*at, pointers(field)?)));
            let fields: BTreeMap<_, _> = fields.collect();
            (!fields.is_empty()).then_some(Arg::Fields(Fields { bytes: None, fields }))
        }
        Arg::Integer(_) | Arg::Float(_) | Arg::Buffer(_) => None,
    }
}

#[test]
fn what_is_proved_for_every_input_has_no_defect_in_a_run() {
    let (mut proofs, mut defects) = (0, 0);
    for path in files::fixtures().expect("the folder is part of the checkout") {
        let text = fs::read_to_string(&path).expect("fixtures are text");
        let fixture = Fixture::parse(&text, &path).expect("the header is right");
        let module = ptx::parse(&text);
        let mut launch = fixture.launch();
        launch.options.witness = 0;
        let args = launch.args.iter().filter_map(|(at, arg)| Some((*at, pointers(arg)?)));
        let open = Launch { args: args.collect(), ..launch.clone() };
        let any = Launch { block: None, grid: None, ..open.clone() };
        for kernel in module.kernels() {
            let report = weft_core::check(&module, kernel, &launch).expect("the launch fits");
            let found: Vec<Code> = report
                .findings
                .iter()
                .map(|finding| finding.code)
                .filter(|code| EXCLUDED.contains(code))
                .collect();
            defects += usize::from(!found.is_empty());
            let mut tries = vec![&launch, &open, &any];
            tries.dedup();
            for tried in tries {
                let proved = weft_core::prove_every_input(&module, kernel, tried);
                let Some(proved) = proved.expect("it links") else { continue };
                proofs += 1;
                let name =
                    format!("{} in {} for {}", report.kernel, path.display(), proved.sentence());
                assert!(found.is_empty() || !holds_for(proved, &report), "{name}: {found:?}");
            }
        }
    }
    assert!(proofs > 100 && defects > 100, "{proofs} proofs, {defects} kernels with defects");
}
