//! Small worlds: independent judges of barrier programs must agree on every small program.
//!
//! `model.rs` explores every schedule; `relation.rs` builds the paper's happens-before on one schedule. That they agree
//! is the paper's theorem, here including cases that its Figure 4 leaves open: generations of arrivals only, and
//! incomplete last generations. `streaming.rs` is the judge under test: the project's own barriers, order and shadows,
//! online, on one schedule.
//!
//! The space of 3 agents x 4 commands x 2 barriers with counts 1 to 3 has some 10^13 programs. It is reduced by
//! symmetry (agents, barrier names) and by choosing a command only when the schedule reaches it. With three agents,
//! programs have up to three commands each and seven in total. `cargo test --release --test deep_worlds` extends this
//! to four each and eight in total, which takes minutes.

#![allow(dead_code, reason = "the modules serve the long run too")]

mod judges;
mod machine;
mod model;
mod random;
mod relation;
mod streaming;
mod worlds;

use judges::{Tally, agree};
use machine::{Command, Program};
use model::{Pairs, Verdict};

#[test]
fn every_small_world() {
    let mut tally = Tally::default();
    worlds::for_each_world(|program| tally.add(&agree(program)));
    assert_eq!(tally, Tally { worlds: 4_414_649, well_synchronized: 320_044, racing: 159_162 });
}

#[test]
fn random_larger_worlds() {
    let mut tally = Tally::default();
    random::random_worlds(2015, 30_000).for_each(|program| tally.add(&agree(&program)));
    assert_eq!(tally, Tally { worlds: 30_000, well_synchronized: 7_713, racing: 3_990 });
}

/// Enumerates all programs of two agents with up to two commands, without using symmetries or early ends.
#[test]
fn nothing_hides_in_the_reductions() {
    let agents = short_agents();
    let mut tally = Tally::default();
    for first in &agents {
        for second in &agents {
            tally.add(&agree(&Program { agents: vec![first.clone(), second.clone()] }));
        }
    }
    assert_eq!(tally, Tally { worlds: 157 * 157, well_synchronized: 707, racing: 0 });
}

/// Returns all agents of up to two commands, on two barriers, with counts from 1 to 3.
fn short_agents() -> Vec<Vec<Command>> {
    let mut commands = Vec::new();
    for (barrier, count) in [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3)] {
        commands.extend([Command::Sync { barrier, count }, Command::Arrive { barrier, count }]);
    }
    let mut agents = vec![vec![]];
    agents.extend(commands.iter().map(|&only| vec![only]));
    agents.extend(
        commands.iter().flat_map(|&first| commands.iter().map(move |&second| vec![first, second])),
    );
    agents
}

fn verdict(agents: &[&[Command]]) -> Verdict {
    agree(&Program { agents: agents.iter().map(|commands| commands.to_vec()).collect() })
}

const fn sync(barrier: u8, count: u8) -> Command {
    Command::Sync { barrier, count }
}

const fn arrive(barrier: u8, count: u8) -> Command {
    Command::Arrive { barrier, count }
}

#[test]
fn producer_and_consumer() {
    let safe = verdict(&[&[Command::Write(0), arrive(0, 2)], &[sync(0, 2), Command::Read(0)]]);
    assert!(safe.well_synchronized && safe.races.is_empty());
    let early = verdict(&[&[arrive(0, 2), Command::Write(0)], &[sync(0, 2), Command::Read(0)]]);
    assert_eq!(early.races, Pairs::from([((0, 1), (1, 1))]));
}

#[test]
fn counts_are_checked_when_they_are_executed() {
    for wrong in [0, 3] {
        assert!(verdict(&[&[arrive(0, wrong)], &[]]).error);
        assert!(!verdict(&[&[sync(0, 2), arrive(0, wrong)], &[]]).error);
    }
    assert!(verdict(&[&[arrive(0, 2)], &[arrive(0, 1)]]).error);
}

#[test]
fn only_a_waiting_agent_is_stuck() {
    assert!(verdict(&[&[sync(0, 2)], &[]]).deadlock);
    assert!(verdict(&[&[arrive(0, 2)], &[]]).well_synchronized);
}

/// Tests the cases that the paper's figure leaves open: generations of arrivals only, and an incomplete last
/// generation.
#[test]
fn corners_of_recycling() {
    let recycles = |agents: &[&[Command]]| verdict(agents).well_synchronized;
    assert!(recycles(&[&[arrive(0, 1), arrive(0, 1)]]));
    assert!(!recycles(&[&[arrive(0, 1)], &[arrive(0, 1)]]));
    assert!(
        !recycles(&[&[arrive(0, 2), arrive(0, 2)], &[arrive(0, 2)]]),
        "the last one is left over, but which?"
    );
    assert!(recycles(&[&[arrive(0, 2), sync(1, 2), arrive(0, 2)], &[arrive(0, 2), sync(1, 2)]]));
    assert!(!recycles(&[
        &[arrive(0, 2), sync(1, 2), arrive(0, 2)],
        &[arrive(0, 2), arrive(1, 2), arrive(0, 2)]
    ]));
}
