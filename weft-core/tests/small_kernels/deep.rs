//! Hundreds of thousands of small kernels. Run by name, in release.

mod barriers;
mod cases;
mod checked;
mod clocks;
mod code;
mod dice;
mod generate;
mod judge;
mod kernel;
mod machine;
mod memory;
mod orders;
mod print;
mod shrink;
mod suite;

use generate::Theme;
use judge::Least;
use kernel::Atomics;

/// Cases of each kind, behind those of the short run.
const CASES: std::ops::Range<u64> = 1_000_000..1_100_000;

fn run(theme: Theme, inputs: usize, least: Least) {
    let tally = suite::run(theme, CASES, inputs);
    assert!(tally.decides(least), "{tally:?}, but expected {least:?}");
}

#[test]
fn deep_plain() {
    let least = Least { clean: 58_000, clean_on_open: 16_000, defect: 23_000, given: 1_000_000 };
    run(Theme::Plain, 16, least);
}

#[test]
fn deep_flow() {
    let least = Least { clean: 27_000, clean_on_open: 17_000, defect: 25_000, given: 800_000 };
    run(Theme::Flow, 16, least);
}

#[test]
fn deep_barriers() {
    let least = Least { clean: 46_000, clean_on_open: 12_000, defect: 34_000, given: 500_000 };
    run(Theme::Barriers, 6, least);
}

#[test]
fn deep_atomics() {
    let least = Least { clean: 58_000, clean_on_open: 16_000, defect: 20_000, given: 400_000 };
    run(Theme::Atomics(Atomics::Abstract), 6, least);
}

#[test]
fn deep_atomics_off() {
    let least = Least { clean: 44_000, clean_on_open: 12_000, defect: 35_000, given: 400_000 };
    run(Theme::Atomics(Atomics::Off), 6, least);
}

#[test]
fn deep_tickets() {
    let least = Least { clean: 1_500, clean_on_open: 800, defect: 18_000, given: 80_000 };
    run(Theme::Tickets(Atomics::Abstract), 4, least);
    run(Theme::Tickets(Atomics::Unique), 4, least);
}
