//! Explores every schedule of a kernel. Each reachable state is visited once, without any reduction.

use std::collections::{BTreeSet, HashSet};

use crate::kernel::{Command, Kernel, MAX_AGENTS, MAX_COMMANDS};
use crate::machine::{Machine, State, Step};
use crate::object::{Misuse, Phase};

/// A command of an agent.
pub(crate) type Event = (usize, usize);
/// Pairs of commands, in each the one of the lower agent first.
pub(crate) type Pairs = BTreeSet<(Event, Event)>;

/// The possible behaviours of all schedules of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Behaviours {
    /// In some schedule, all agents end.
    pub(crate) finishes: bool,
    /// In some schedule, agents wait for ever.
    pub(crate) deadlock: bool,
    /// The misuses at which some schedule stops.
    pub(crate) misuses: Vec<Misuse>,
    /// Whether two schedules put a command on an mbarrier into different phases, or let a wait observe different ones.
    pub(crate) mixed: bool,
    /// Conflicting accesses that happen in both orders; meaningful only if all schedules finish.
    pub(crate) opposed: Pairs,
}

impl Behaviours {
    /// Whether all schedules finish, with all commands in the same phases.
    pub(crate) fn is_well_synchronized(&self) -> bool {
        self.is_settled() && self.finishes
    }

    /// Whether all schedules end in the same way, with all commands in the same phases.
    pub(crate) fn is_settled(&self) -> bool {
        let ends = [self.finishes, self.deadlock, !self.misuses.is_empty()];
        !self.mixed && ends.into_iter().filter(|end| *end).count() == 1
    }
}

/// Returns the pairs of accesses to one word, at least one of them a write, by different agents or the first one an
/// asynchronous copy.
pub(crate) fn conflicts(machine: &Machine<'_>) -> Vec<(Event, Event)> {
    let accesses = machine.agents.iter().enumerate().flat_map(|(agent, own)| {
        let commands = machine.commands(agent).iter().enumerate();
        commands.filter_map(move |(at, command)| {
            let (word, writes) = command.access(own.thread)?;
            Some(((agent, at), word, writes, matches!(command, Command::Copy(_))))
        })
    });
    let accesses: Vec<_> = accesses.collect();
    let mut found = Vec::new();
    for (number, (first, word, writes, is_copy)) in accesses.iter().enumerate() {
        for (second, other_word, other_writes, _) in &accesses[number + 1..] {
            if (first.0 != second.0 || *is_copy) && word == other_word && (*writes || *other_writes)
            {
                found.push((*first, *second));
            }
        }
    }
    found
}

/// Visits every state that some schedule reaches.
pub(crate) fn explore(kernel: &Kernel) -> Behaviours {
    let machine = Machine::new(kernel);
    let conflicts = conflicts(&machine);
    let mut search = Search {
        phases: [[None; MAX_COMMANDS]; MAX_AGENTS],
        found: Behaviours::default(),
        orders: vec![[false; 2]; conflicts.len()],
    };
    let mut seen = HashSet::from([machine.start()]);
    let mut open = vec![machine.start()];
    while let Some(state) = open.pop() {
        for ((x, y), seen) in conflicts.iter().zip(&mut search.orders) {
            let executed = |event: &Event| state.has_happened(*event);
            // Every state is part of a schedule that finishes, if all do.
            seen[0] |= executed(x) && !executed(y);
            seen[1] |= executed(y) && !executed(x);
        }
        let after = search.successors(&machine, &state);
        open.extend(after.into_iter().filter(|next| seen.insert(*next)));
    }
    let opposed = conflicts.iter().zip(&search.orders).filter(|(_, orders)| **orders == [true; 2]);
    search.found.opposed = opposed.map(|(pair, _)| *pair).collect();
    search.found
}

struct Search {
    /// The phase of each command, once some schedule has executed it.
    phases: [[Option<Phase>; MAX_COMMANDS]; MAX_AGENTS],
    found: Behaviours,
    /// For each pair of conflicting accesses, whether one, and whether the other can come first.
    orders: Vec<[bool; 2]>,
}

impl Search {
    /// Returns the states after one step; records how a schedule ends.
    fn successors(&mut self, machine: &Machine<'_>, state: &State) -> Vec<State> {
        let mut after = Vec::new();
        let mut is_stuck = true;
        let agents = (0..machine.agents.len()).map(|agent| ((agent, state.at(agent)), false));
        let outstanding = state.outstanding().into_iter().map(|event| (event, true));
        for (event, is_outstanding) in agents.chain(outstanding) {
            let mut next = *state;
            let step = if is_outstanding {
                machine.happen(&mut next, event)
            } else {
                machine.step(&mut next, event.0)
            };
            match step {
                Step::Blocked => continue,
                Step::Fault(misuse) => {
                    if !self.found.misuses.contains(&misuse) {
                        self.found.misuses.push(misuse);
                    }
                }
                Step::Went(phase) => {
                    if let Some(phase) = phase {
                        let known = &mut self.phases[event.0][event.1];
                        self.found.mixed |= *known.get_or_insert(phase) != phase;
                    }
                    after.push(next);
                }
            }
            is_stuck = false;
        }
        if is_stuck {
            let is_finished = machine.is_finished(state);
            self.found.finishes |= is_finished;
            self.found.deadlock |= !is_finished;
        }
        after
    }
}
