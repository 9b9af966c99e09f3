//! Small kernels in which ctas count themselves and the last one reads what the others left: the check proves those without
//! races, and no other.
//!
//! The reference (`reference.rs`) looks for patterns and fences event by event, as the PTX manual states causality order; the
//! check keeps clocks.

#[path = "../small_kernels/dice.rs"]
mod dice;
mod reference;
mod step;

use dice::Dice;
use step::{Kernel, Step};
use weft_core::finding::Verdict;
use weft_core::launch::{Dim3, Launch};
use weft_core::ptx;

fn verdict(kernel: &Kernel) -> Verdict {
    let text = kernel.print();
    let module = ptx::parse(&text);
    assert!(module.errors.is_empty(), "{:?} in\n{text}", module.errors);
    let line = |extent| Some(Dim3::line(extent).into());
    let launch = Launch { block: line(64), grid: line(kernel.ctas), ..Launch::default() };
    let entry = module.kernels().next().expect("there is one");
    let report = weft_core::check(&module, entry, &launch)
        .unwrap_or_else(|error| unreachable!("{error} in\n{text}"));
    report.verdict()
}

#[test]
fn the_last_cta_reads_what_the_others_released() {
    let (mut clean, mut racing, mut open) = (0, 0, 0);
    for seed in 0..3000 {
        let kernel = Kernel::random(&mut Dice::new(seed));
        let races = reference::races(&kernel);
        let verdict = verdict(&kernel);
        // Of some races it is not sure that they happen: they are open. So is what only some lanes of a store release.
        let is_partial = |step: &Step| matches!(step, Step::Store(set) if set & 3 == 3);
        let is_exact = !kernel.steps.iter().any(is_partial);
        let is_right = match verdict {
            Verdict::Clean => !races,
            Verdict::Open => races || !is_exact,
            Verdict::Defect => races,
        };
        assert!(is_right, "seed {seed}: {verdict:?}, {races}\n{kernel:?}\n{}", kernel.print());
        clean += u32::from(verdict == Verdict::Clean);
        racing += u32::from(verdict == Verdict::Defect);
        open += u32::from(verdict == Verdict::Open);
    }
    assert!(clean > 500 && racing > 500, "{clean} clean, {racing} racing, {open} open");
}
