//! Small kernels: the check with open inputs, the check with given inputs, and an independent reference must agree.
//!
//! Each kernel is random, printed as PTX, and checked with some inputs open. Then the open inputs get values from a
//! small domain, and an interpreter that implements the rules directly (`machine.rs`) runs the kernel with each of
//! these values, in every order of its atomics. The following must hold:
//!
//! - *Nothing open is ever called clean*: if the verdict is clean, no inputs and no order of atomics have a defect. The
//!   check can assume that accesses at open addresses are within memory and aligned, if its report lists that.
//! - *Nothing uncertain is ever called defect*: if the verdict is defect, all inputs and all orders have a defect, and
//!   each reported race exists in all of them; if a finding is stated for one order only, all inputs have it in some
//!   order.
//! - With given inputs, the check and the reference agree race by race. Only what depends on memory that nothing wrote
//!   or on the order of atomics can stay open.
//!
//! Each test states the minimum number of kernels that must be decided, so that no test is vacuous.
//!
//! `cargo test --release --test deep_kernels` tries a quarter of a million kernels, which takes minutes.

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
use judge::{Least, Tally};
use kernel::Atomics;

/// Asserts that a run proves and refutes at least this many kernels, and leaves at most this many open.
fn assert_decided(tally: &Tally, least: Least) {
    assert!(tally.decides(least), "{tally:?}, but expected {least:?}");
}

#[test]
fn open_branches_and_addresses() {
    let tally = suite::run(Theme::Plain, 0..2000, 5);
    let least = Least { clean: 1205, clean_on_open: 371, defect: 552, given: 8780 };
    assert_decided(&tally, least);
}

#[test]
fn values_that_something_open_decides() {
    let tally = suite::run(Theme::Flow, 0..4000, 5);
    let least = Least { clean: 1278, clean_on_open: 884, defect: 1137, given: 16975 };
    assert_decided(&tally, least);
}

#[test]
fn pointers_to_one_of_two_buffers() {
    let tally = suite::run(Theme::Chosen, 0..2500, 5);
    let least = Least { clean: 1355, clean_on_open: 454, defect: 738, given: 11039 };
    assert_decided(&tally, least);
}

#[test]
fn values_that_are_read_while_they_are_written() {
    let tally = suite::run(Theme::Races, 0..1500, 4);
    let least = Least { clean: 69, clean_on_open: 21, defect: 1046, given: 5547 };
    assert_decided(&tally, least);
}

#[test]
fn copies_that_are_waited_for() {
    let tally = suite::run(Theme::Copies, 0..2000, 4);
    let least = Least { clean: 744, clean_on_open: 272, defect: 920, given: 7415 };
    assert_decided(&tally, least);
}

#[test]
fn several_barriers_and_warps() {
    let tally = suite::run(Theme::Barriers, 0..1000, 4);
    let least = Least { clean: 484, clean_on_open: 141, defect: 403, given: 3663 };
    assert_decided(&tally, least);
}

#[test]
fn barriers_that_lanes_go_around() {
    let tally = suite::run(Theme::Bypass, 0..3000, 4);
    let least = Least { clean: 1639, clean_on_open: 571, defect: 472, given: 11028 };
    assert_decided(&tally, least);
}

#[test]
fn atomics_in_every_order() {
    let tally = suite::run(Theme::Atomics(Atomics::Abstract), 0..1500, 4);
    let least = Least { clean: 950, clean_on_open: 324, defect: 379, given: 5463 };
    assert_decided(&tally, least);
}

#[test]
fn atomics_that_count_as_plain_accesses() {
    let tally = suite::run(Theme::Atomics(Atomics::Off), 0..1000, 3);
    let least = Least { clean: 478, clean_on_open: 158, defect: 415, given: 2846 };
    assert_decided(&tally, least);
}

#[test]
fn places_taken_from_counters() {
    let tally = suite::run(Theme::Tickets(Atomics::Abstract), 0..1000, 3);
    let least = Least { clean: 52, clean_on_open: 45, defect: 232, given: 991 };
    assert_decided(&tally, least);
}

#[test]
fn numbers_handed_on_in_loops() {
    let tally = suite::run(Theme::Queues(Atomics::Abstract), 0..1000, 3);
    let least = Least { clean: 284, clean_on_open: 197, defect: 191, given: 1829 };
    assert_decided(&tally, least);
}

/// The same kernels as in the test above.
#[test]
fn numbers_that_never_repeat_handed_on_in_loops() {
    let tally = suite::run(Theme::Queues(Atomics::Auto), 0..1000, 3);
    let least = Least { clean: 307, clean_on_open: 220, defect: 217, given: 2132 };
    assert_decided(&tally, least);
}

#[test]
fn counters_with_relaxed_loads_and_stores() {
    let tally = suite::run(Theme::Relaxed(Atomics::Unique), 0..600, 3);
    let least = Least { clean: 66, clean_on_open: 60, defect: 167, given: 810 };
    assert_decided(&tally, least);
}

/// The same kernels as in the test of indices drawn from counters.
#[test]
fn places_taken_from_counters_whose_values_never_repeat() {
    let tally = suite::run(Theme::Tickets(Atomics::Unique), 0..1000, 3);
    let least = Least { clean: 104, clean_on_open: 97, defect: 286, given: 1391 };
    assert_decided(&tally, least);
}
