//! Checks a quarter of a million small kernels against the reference. Run by name, in release mode.

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

/// Numbers of the cases of each theme, beyond those of the test suite.
const CASES: std::ops::Range<u64> = 1_000_000..1_040_000;

fn run(theme: Theme, inputs: usize, least: Least) {
    let tally = suite::run(theme, CASES, inputs);
    assert!(tally.decides(least), "{tally:?}, but expected {least:?}");
}

#[test]
fn deep_plain() {
    let least = Least { clean: 23_200, clean_on_open: 6_400, defect: 9_200, given: 400_000 };
    run(Theme::Plain, 16, least);
}

#[test]
fn deep_flow() {
    let least = Least { clean: 10_800, clean_on_open: 6_800, defect: 10_000, given: 320_000 };
    run(Theme::Flow, 16, least);
}

#[test]
fn deep_copies() {
    let least = Least { clean: 14_000, clean_on_open: 4_800, defect: 18_000, given: 240_000 };
    run(Theme::Copies, 8, least);
}

#[test]
fn deep_barriers() {
    let least = Least { clean: 18_400, clean_on_open: 4_800, defect: 13_600, given: 200_000 };
    run(Theme::Barriers, 6, least);
}

#[test]
fn deep_bypass() {
    let least = Least { clean: 20_000, clean_on_open: 6_400, defect: 5_600, given: 140_000 };
    run(Theme::Bypass, 6, least);
}

#[test]
fn deep_atomics() {
    let least = Least { clean: 23_200, clean_on_open: 6_400, defect: 8_000, given: 160_000 };
    run(Theme::Atomics(Atomics::Abstract), 6, least);
}

#[test]
fn deep_atomics_off() {
    let least = Least { clean: 17_600, clean_on_open: 4_800, defect: 14_000, given: 160_000 };
    run(Theme::Atomics(Atomics::Off), 6, least);
}

#[test]
fn deep_tickets() {
    let least = Least { clean: 600, clean_on_open: 320, defect: 7_200, given: 32_000 };
    run(Theme::Tickets(Atomics::Abstract), 4, least);
    run(Theme::Tickets(Atomics::Unique), 4, least);
}
