//! Checks many small kernels with mbarriers against the reference. Run by name, in release mode.

#![allow(dead_code, reason = "the modules serve the test suite too")]

mod compare;
mod copies;
#[path = "../small_kernels/dice.rs"]
mod dice;
mod generate;
mod kernel;
mod machine;
mod model;
mod mutate;
mod object;
mod order;
mod print;
mod reference;
mod run;
mod suite;

use generate::Theme;
use suite::Least;

/// Numbers of the kernels of each theme, beyond those of the test suite.
const KERNELS: std::ops::Range<u64> = 1_000_000..1_100_000;

#[test]
fn deep_random_commands() {
    let tally = suite::run(Theme::Random, KERNELS);
    let least = Least { clean: 13_000, races: 3_600, broken: 50_000, uncertain: 20_000 };
    assert!(tally.decides(least), "{tally:?}");
}

#[test]
fn deep_rounds_of_arrivals_and_waits() {
    let tally = suite::run(Theme::Rounds, KERNELS);
    let least = Least { clean: 22_000, races: 18_500, broken: 21_500, uncertain: 31_000 };
    assert!(tally.decides(least), "{tally:?}");
}

#[test]
fn deep_pipelines() {
    let tally = suite::run(Theme::Pipeline, KERNELS);
    let least = Least { clean: 58_500, races: 6_000, broken: 19_000, uncertain: 10_000 };
    assert!(tally.decides(least), "{tally:?}");
}

#[test]
fn deep_asynchronous_copies() {
    let tally = suite::run(Theme::Copies, KERNELS);
    let least = Least { clean: 28_000, races: 16_500, broken: 21_000, uncertain: 24_000 };
    assert!(tally.decides(least), "{tally:?}");
}

/// The two ways of judging a kernel agree.
#[test]
fn one_schedule_speaks_for_all_in_depth() {
    for theme in [Theme::Random, Theme::Rounds, Theme::Pipeline, Theme::Copies] {
        suite::judge(theme, 2_000_000..2_500_000);
    }
}
