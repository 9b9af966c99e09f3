//! Small kernels: the check with inputs open, with inputs given, and a reference that knows nothing of either must agree.
//!
//! Each kernel is random, printed as PTX, and checked with some of its inputs open. Then contents are given for what was
//! open, from a small domain, and an interpreter written from the rules (`machine.rs`) runs the kernel with each of them,
//! in every order of its atomics. Held against this:
//!
//! - *Nothing open is ever called clean*: if the check says clean, no inputs and no order have a defect. It may take for
//!   granted that accesses at open addresses hit memory and are aligned, and says so.
//! - *Nothing maybe is ever called defect*: if it says defect, all inputs and all orders have one, and each race that it
//!   names is there in all of them.
//! - With the inputs given, the check and the reference agree, race by race. Open may only be what rests on memory that
//!   nobody wrote or on the order of atomics.
//!
//! How many kernels are decided at least is part of each test, so that none becomes idle.
//!
//! `cargo test --release --test deep_kernels` tries half a million, for an hour.

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

/// A run proves and refutes at least so much, and leaves at most so much open.
fn assert_decided(tally: &Tally, least: Least) {
    assert!(tally.decides(least), "{tally:?}, but expected {least:?}");
}

#[test]
fn open_branches_and_addresses() {
    let tally = suite::run(Theme::Plain, 0..2000, 5);
    let least = Least { clean: 1191, clean_on_open: 352, defect: 486, given: 8800 };
    assert_decided(&tally, least);
}

#[test]
fn several_barriers_and_warps() {
    let tally = suite::run(Theme::Barriers, 0..1000, 4);
    let least = Least { clean: 475, clean_on_open: 131, defect: 364, given: 3677 };
    assert_decided(&tally, least);
}

#[test]
fn atomics_in_every_order() {
    let tally = suite::run(Theme::Atomics(Atomics::Abstract), 0..1500, 4);
    let least = Least { clean: 934, clean_on_open: 303, defect: 327, given: 5492 };
    assert_decided(&tally, least);
}

#[test]
fn atomics_that_count_as_plain_accesses() {
    let tally = suite::run(Theme::Atomics(Atomics::Off), 0..1000, 3);
    let least = Least { clean: 465, clean_on_open: 142, defect: 383, given: 2849 };
    assert_decided(&tally, least);
}

#[test]
fn places_taken_from_counters() {
    let tally = suite::run(Theme::Tickets(Atomics::Abstract), 0..1000, 3);
    let least = Least { clean: 19, clean_on_open: 12, defect: 210, given: 851 };
    assert_decided(&tally, least);
}

/// The same kernels as above.
#[test]
fn places_taken_from_counters_whose_values_never_repeat() {
    let tally = suite::run(Theme::Tickets(Atomics::Unique), 0..1000, 3);
    let least = Least { clean: 19, clean_on_open: 12, defect: 210, given: 851 };
    assert_decided(&tally, least);
}
