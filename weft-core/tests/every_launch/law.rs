//! The law: a proof for every launch holds in sampled runs.

use std::ops::Range;

use weft_core::finding::{Assumption, Code, Verdict};
use weft_core::launch::{Launch, Limit};
use weft_core::{check, ptx};

use crate::dice::Dice;
use crate::sample::Sample;

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

/// What was compared.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) proved: usize,
    pub(crate) open: usize,
    pub(crate) runs: usize,
    /// The kernels without a proof that have a defect in some sampled run.
    pub(crate) defective: usize,
}

/// Runs few instructions, and looks for no witness.
fn limited(mut launch: Launch) -> Launch {
    launch.limit = Limit { instructions: 1 << 14, memory: 1 << 28 };
    launch.options.witness = 0;
    launch
}

/// Whether a sampled run has a defect that a proof excludes.
fn is_defective(module: &ptx::Module, launch: &Launch) -> bool {
    let kernel = module.kernels().next().expect("the text has a kernel");
    let report = check(module, kernel, &limited(launch.clone())).expect("the launch fits");
    report.findings.iter().any(|finding| EXCLUDED.contains(&finding.code))
}

/// Tries to prove the kernel that a seed gives. If that succeeds, samples launches that the proof is about; otherwise a quarter as
/// many.
fn compare((seed, text): (u64, String), samples: usize, tally: &mut Tally) {
    let module = ptx::parse(&text);
    let kernel = module.kernels().next().expect("the text has a kernel");
    let report = check(&module, kernel, &limited(Launch::default())).expect("the kernel links");
    let mut dice = Dice::new(seed);
    if report.verdict() != Verdict::Clean {
        tally.open += 1;
        let is_found =
            (0..samples).any(|_| is_defective(&module, &Sample::any(&mut dice).launch()));
        tally.defective += usize::from(is_found);
        return;
    }
    tally.proved += 1;
    let Some(proved) = report.proved else { return };
    let takes = |wanted: &Assumption| report.assumptions.contains(wanted);
    let sample = Sample {
        is_small: takes(&Assumption::UnwrappedIndices),
        is_nonzero: takes(&Assumption::NonzeroDivisors),
    };
    for _ in 0..samples {
        let launch = sample.within(&mut dice, proved);
        tally.runs += 1;
        assert!(
            !is_defective(&module, &launch),
            "seed {seed} is proved for {}, but races under {launch:?}:\n{text}",
            proved.sentence()
        );
    }
}

/// Compares the kernels of all seeds.
pub(crate) fn run(kernel: fn(u64) -> String, seeds: Range<u64>, samples: usize) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        compare((seed, kernel(seed)), samples, &mut tally);
    }
    tally
}
