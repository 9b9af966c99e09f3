//! Small kernels with mbarriers: the check and an independent reference must agree.
//!
//! Each kernel is random: up to four lanes of two warps, with up to ten commands each on two mbarriers and two words of
//! shared memory. The reference judges it in two ways, which must agree with each other:
//!
//! - `model.rs` explores every schedule, by the rules of the PTX manual for the object (`object.rs`). It finds deadlocks,
//!   misuse, commands that belong to different phases in two schedules, and accesses that happen in both orders.
//! - `order.rs` judges one schedule by its happens-before: whether it speaks for all schedules, and which accesses race.
//!
//! Where a rule can be read in several ways that lead to different verdicts, `reference.rs` leaves the verdict open.

#![allow(dead_code, reason = "the modules serve the long run too")]

mod compare;
mod copies;
#[path = "../small_kernels/dice.rs"]
mod dice;
mod generate;
mod kernel;
mod known;
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

/// The two ways of judging a kernel agree, and each verdict occurs.
#[test]
fn one_schedule_speaks_for_all() {
    let themes = [
        (Theme::Random, Least { clean: 380, races: 120, broken: 2150, uncertain: 750 }),
        (Theme::Rounds, Least { clean: 900, races: 700, broken: 850, uncertain: 1200 }),
        (Theme::Pipeline, Least { clean: 2300, races: 220, broken: 780, uncertain: 400 }),
        (Theme::Copies, Least { clean: 1150, races: 700, broken: 850, uncertain: 950 }),
    ];
    for (theme, least) in themes {
        let tally = suite::judge(theme, 0..4000);
        assert!(tally.contains(least), "{theme:?} {tally:?}");
    }
}

#[test]
fn random_commands() {
    let tally = suite::run(Theme::Random, 0..2000);
    let least = Least { clean: 190, races: 60, broken: 1020, uncertain: 370 };
    assert!(tally.decides(least), "{tally:?}");
}

#[test]
fn rounds_of_arrivals_and_waits() {
    let tally = suite::run(Theme::Rounds, 0..2000);
    let least = Least { clean: 450, races: 340, broken: 420, uncertain: 600 };
    assert!(tally.decides(least), "{tally:?}");
}

#[test]
fn asynchronous_copies() {
    let tally = suite::run(Theme::Copies, 0..2000);
    let least = Least { clean: 580, races: 350, broken: 430, uncertain: 490 };
    assert!(tally.decides(least), "{tally:?}");
}

#[test]
fn pipelines() {
    let tally = suite::run(Theme::Pipeline, 0..1500);
    let least = Least { clean: 860, races: 80, broken: 250, uncertain: 140 };
    assert!(tally.decides(least), "{tally:?}");
}
