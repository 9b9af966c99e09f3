//! Laws of small kernels: relations between the report on a kernel and the report on a kernel derived from it, or on
//! the same kernel run in another way. Kernels are random; every other one has all its inputs given.
//!
//! - *Schedules*: the findings do not depend on the schedule of the warps (see `schedules.rs` for the exact law).
//! - *Names*: renaming registers and predicates does not change the findings.
//! - *Independent instructions*: exchanging two independent instructions does not change the findings.
//! - *Roles*: exchanging the roles of threads, by an exclusive or on the thread index, does not change the findings.
//! - *Vectors*: an access of two words has the races of its two halves.
//! - *Loops*: a loop whose first iteration is unrolled in front of it has the same races.
//! - *Calls*: moving computations into functions, called after another function that overwrites its own copies of the
//!   arguments, does not change the races.
//! - *Memory*: keeping registers in local memory does not change the races.
//! - *Results*: what holds for an open result of a function holds for an open argument.
//! - *A barrier more*: an additional barrier that all threads reach adds no race.
//! - *A barrier less*: removing a barrier removes no race.
//!
//! Findings are compared only if barriers are sound, and either nothing races or no load decides anything: a value that
//! is read while it is written can differ in another run. In all other cases the verdict must still not change between
//! clean and defect. The laws of barriers apply only if no thread stops at an open value, which would cut off its
//! accesses.
//!
//! Each test states the minimum number of kernels that its law must decide, so that no law is vacuous.
//!
//! `cargo test --release --test deep_laws` tries a quarter of a million kernels, which takes minutes.

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

/// The themes, and the number of kernels of each.
const CASES: [(Theme, u64); 9] = [
    (Theme::Plain, 150),
    (Theme::Flow, 60),
    (Theme::Chosen, 60),
    (Theme::Races, 100),
    (Theme::Copies, 100),
    (Theme::Barriers, 200),
    (Theme::Atomics(Atomics::Abstract), 100),
    (Theme::Atomics(Atomics::Off), 60),
    (Theme::Tickets(Atomics::Unique), 20),
];

/// Checks a law on `times` times as many kernels; the law must require equality for at least `least` of them.
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
fn registers_are_kept_in_memory() {
    hold(Law::Memory, 1, 350);
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
