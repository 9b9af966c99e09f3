//! Laws of small kernels: what the check says of a kernel, and what it says of one made of it, or of the same one run in
//! another way. Each kernel is random; every other one has all its inputs given.
//!
//! - *Schedules*: what is found does not depend on which warp runs when (`schedules.rs` says what exactly).
//! - *Names*: with other names of registers and predicates everything is found as before.
//! - *Independent instructions*: where two that do not depend on each other change places, everything is found as before.
//! - *Roles*: where each thread does what another one did, by an exclusive or on its index, everything is found as before.
//! - *Vectors*: an access of two words races with what its two halves race with.
//! - *Loops*: a loop whose first round stands before it has the races that it had.
//! - *Calls*: what a function computes from copies that another one has written before is what it was.
//! - *Results*: what is said of a function's result that nobody knows is said of an argument that is open.
//! - *A barrier more*: a barrier that all threads come to adds no race.
//! - *A barrier less*: without one of its barriers a kernel has all the races that it had.
//!
//! "As before" holds where barriers are sound, and nothing races or nothing that is read decides what happens: what is
//! read while it is written may be another value in another run. Whatever that is, clean never turns into defect. The laws
//! of barriers hold where no thread stops at something open, since that cuts its accesses off.
//!
//! How many kernels each law decides at least is part of each test, so that none becomes idle.
//!
//! `cargo test --release --test deep_laws` tries a quarter of a million, for minutes.

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

/// What is tried, and how many kernels of each.
const CASES: [(Theme, u64); 8] = [
    (Theme::Plain, 150),
    (Theme::Flow, 60),
    (Theme::Chosen, 60),
    (Theme::Races, 100),
    (Theme::Barriers, 200),
    (Theme::Atomics(Atomics::Abstract), 100),
    (Theme::Atomics(Atomics::Off), 60),
    (Theme::Tickets(Atomics::Unique), 20),
];

/// Holds a law for so many times as many kernels; all that is as before has to be so in `least` of them.
fn hold(law: Law, times: u64, least: usize) {
    let kernels = CASES.map(|(theme, count)| compare::hold(law, theme, 0..times * count));
    let same: usize = kernels.iter().map(|tally| tally.same).sum();
    assert!(same >= least, "{same} decided, but expected {least}: {kernels:?}");
}

#[test]
fn schedules_do_not_matter() {
    let kernels = CASES.map(|(theme, count)| schedules::hold(theme, 0..2 * count));
    let sum = |of: fn(&schedules::Tally) -> usize| kernels.iter().map(of).sum::<usize>();
    let (clean, same) = (sum(|tally| tally.clean), sum(|tally| tally.same));
    assert!(clean >= 420 && same >= 680, "{kernels:?}");
}

#[test]
fn names_do_not_matter() {
    hold(Law::Names, 1, 590);
}

#[test]
fn independent_instructions_change_places() {
    hold(Law::Independent, 1, 350);
}

#[test]
fn threads_change_roles() {
    hold(Law::Roles, 1, 340);
}

#[test]
fn vectors_are_their_halves() {
    hold(Law::Vectors, 6, 250);
}

#[test]
fn the_first_round_of_a_loop_stands_before_it() {
    hold(Law::Loops, 3, 220);
}

#[test]
fn calls_take_copies() {
    hold(Law::Calls, 1, 370);
}

#[test]
fn results_that_nobody_knows_are_open() {
    hold(Law::Results, 1, 160);
}

#[test]
fn a_barrier_more_adds_no_race() {
    hold(Law::BarrierMore, 1, 340);
}

#[test]
fn a_barrier_less_removes_no_race() {
    hold(Law::BarrierLess, 2, 330);
}
