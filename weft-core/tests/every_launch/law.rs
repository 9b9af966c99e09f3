//! The law: a proof for every launch holds in sampled runs.

use std::ops::Range;

use weft_core::finding::{Code, ProvedFor, Report, Verdict};
use weft_core::launch::requires::Requirement;
use weft_core::launch::{Launch, Limit};
use weft_core::{check, ptx};

use crate::dice::Dice;
use crate::required;
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
    /// The kernels that are proved, but not without their requirements.
    pub(crate) required: usize,
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

/// A kernel, and the requirements that it is proved under.
struct LawKernel<'a> {
    seed: u64,
    text: &'a str,
    module: &'a ptx::Module,
    requires: &'a [Requirement],
}

impl LawKernel<'_> {
    /// Runs launches that a proof is about; those that do not fulfil the requirements are left out.
    fn holds_in_samples(
        &self,
        (report, proved): (&Report, ProvedFor),
        (samples, dice): (usize, &mut Dice),
        tally: &mut Tally,
    ) {
        let Self { seed, text, module, requires } = *self;
        let sample = Sample::of(report);
        for _ in 0..samples {
            let mut launch = sample.within(dice, proved);
            if !required::fulfil(&mut launch, requires) {
                continue;
            }
            tally.runs += 1;
            let words: Vec<String> = requires.iter().map(ToString::to_string).collect();
            assert!(
                !is_defective(module, &launch),
                "seed {seed} is proved for {} with {words:?}, but races under {launch:?}:\n{text}",
                proved.sentence()
            );
        }
    }
}

/// Tries to prove the kernel that a seed gives under random requirements; if that succeeds, samples launches that fulfil them.
fn compare_required((seed, text): (u64, String), samples: usize, tally: &mut Tally) {
    let module = ptx::parse(&text);
    let kernel = module.kernels().next().expect("the text has a kernel");
    let mut dice = Dice::new(seed ^ 0x5eed);
    let requires = required::some(&mut dice);
    let launch = Launch { requires: requires.clone(), ..Launch::default() };
    // Requirements might exclude each other.
    let Ok(report) = check(&module, kernel, &limited(launch)) else { return };
    let Some(proved) = report.proved.filter(|_| report.verdict() == Verdict::Clean) else {
        tally.open += usize::from(report.verdict() != Verdict::Clean);
        return;
    };
    tally.proved += 1;
    let without = check(&module, kernel, &limited(Launch::default())).expect("the kernel links");
    tally.required += usize::from(without.verdict() != Verdict::Clean);
    let kernel = LawKernel { seed, text: &text, module: &module, requires: &requires };
    kernel.holds_in_samples((&report, proved), (samples, &mut dice), tally);
}

/// Compares the kernels of all seeds under random requirements.
pub(crate) fn run_required(kernel: fn(u64) -> String, seeds: Range<u64>, samples: usize) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        compare_required((seed, kernel(seed)), samples, &mut tally);
    }
    tally
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
    let kernel = LawKernel { seed, text: &text, module: &module, requires: &[] };
    kernel.holds_in_samples((&report, proved), (samples, &mut dice), tally);
}

/// Compares the kernels of all seeds.
pub(crate) fn run(kernel: fn(u64) -> String, seeds: Range<u64>, samples: usize) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        compare((seed, kernel(seed)), samples, &mut tally);
    }
    tally
}
