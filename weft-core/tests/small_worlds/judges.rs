//! Compares all judges of a program with each other.

use crate::machine::Program;
use crate::model::{self, Pairs, Verdict};
use crate::relation::{self, Judgement, Schedule};
use crate::streaming;

/// Counts the worlds, those that are well-synchronized, and those of them that race.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) worlds: usize,
    pub(crate) well_synchronized: usize,
    pub(crate) racing: usize,
}

impl Tally {
    pub(crate) fn add(&mut self, verdict: &Verdict) {
        self.worlds += 1;
        self.well_synchronized += usize::from(verdict.well_synchronized);
        self.racing += usize::from(verdict.well_synchronized && !verdict.races.is_empty());
    }
}

/// Asserts that all judges agree on the program; returns the verdict.
pub(crate) fn agree(program: &Program) -> Verdict {
    let explored = model::explore(program);
    let verdict = explored.verdict;
    let expected = verdict.well_synchronized.then_some(&verdict.races);
    if let Some(races) = expected {
        assert_eq!(races, &explored.adjacent, "two notions of a race, on {program:?}");
    }
    for (name, schedule) in [
        ("lowest", relation::lowest as Schedule),
        ("highest", relation::highest),
        ("in turn", relation::in_turn),
    ] {
        let judgement = relation::judge(program, schedule);
        assert_eq!(
            ordered(&judgement),
            expected,
            "{judgement:?} on schedule `{name}` of {program:?}"
        );
    }
    let streaming =
        [streaming::Schedule::Lowest, streaming::Schedule::InTurn, streaming::Schedule::Highest];
    // One schedule for each program keeps the suite fast; the choice depends on the program.
    let commands: usize = program.agents.iter().map(Vec::len).sum();
    let schedule = streaming[commands % streaming.len()];
    let judged = streaming::judge(program, schedule);
    assert_eq!(judged.as_ref(), expected, "streaming, {schedule:?}, on {program:?}");
    verdict
}

fn ordered(judgement: &Judgement) -> Option<&Pairs> {
    match judgement {
        Judgement::Ordered(races) => Some(races),
        Judgement::Deadlock | Judgement::Error | Judgement::Recycling => None,
    }
}
