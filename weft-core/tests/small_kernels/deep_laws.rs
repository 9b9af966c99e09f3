//! Checks the laws on a quarter of a million small kernels. Run by name, in release mode.

#![allow(dead_code, reason = "the modules serve other tests too")]

mod barriers;
mod cases;
mod checked;
mod clocks;
mod code;
mod compare;
mod dice;
mod generate;
mod independent;
mod judge;
mod kernel;
mod machine;
mod memory;
mod orders;
mod print;
mod rewrite;
mod schedules;
mod subject;
mod transform;

use compare::Law;
use generate::Theme;
use kernel::Atomics;

/// Numbers of the cases of each theme, beyond those of the test suite.
const CASES: std::ops::Range<u64> = 1_000_000..1_005_000;

const THEMES: [Theme; 9] = [
    Theme::Plain,
    Theme::Flow,
    Theme::Chosen,
    Theme::Races,
    Theme::Barriers,
    Theme::Bypass,
    Theme::Atomics(Atomics::Abstract),
    Theme::Atomics(Atomics::Off),
    Theme::Tickets(Atomics::Unique),
];

fn hold(law: Law) {
    let kernels = THEMES.map(|theme| compare::hold(law, theme, CASES));
    assert!(kernels.iter().all(|tally| tally.same > 0 || tally.made < 500), "{kernels:?}");
}

#[test]
fn deep_schedules() {
    let kernels = THEMES.map(|theme| schedules::hold(theme, CASES));
    assert!(kernels.iter().all(|tally| tally.clean > 0 && tally.same > 0), "{kernels:?}");
}

#[test]
fn deep_names() {
    hold(Law::Names);
}

#[test]
fn deep_independent_instructions() {
    hold(Law::Independent);
}

#[test]
fn deep_roles() {
    hold(Law::Roles);
}

#[test]
fn deep_vectors() {
    hold(Law::Vectors);
}

#[test]
fn deep_loops() {
    hold(Law::Loops);
}

#[test]
fn deep_calls() {
    hold(Law::Calls);
    hold(Law::Results);
}

#[test]
fn deep_memory() {
    hold(Law::Memory);
}

#[test]
fn deep_barriers() {
    hold(Law::BarrierMore);
    hold(Law::BarrierLess);
}
