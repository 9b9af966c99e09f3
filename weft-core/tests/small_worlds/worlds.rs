//! The small worlds: programs on which the judges must agree, within given bounds and in a fixed order.
//!
//! *Skeletons* have barrier commands only. They are enumerated along the schedule that always runs the first runnable
//! agent: a command is chosen when that schedule first needs it. If the schedule faults or blocks, the program is
//! complete as it is, and continuations are not enumerated: commands that the schedule never reaches cannot undo the
//! fault or the deadlock, so all those programs have the same verdict. Two symmetries are used:
//! - barriers are named in the order in which the schedule first uses them;
//! - agents are in the lexical order of their commands without barrier names (so that renaming barriers does not affect
//!   it); all programs with equal agents in this order are enumerated.
//!
//! *Accesses* are added to the smaller skeletons that are well-synchronized: a conflicting pair on one location, at
//! every two places of two agents. `random.rs` has larger random worlds with more accesses.

use crate::machine::{Command, Program, State, Step};
use crate::model;

/// The bounds of skeletons.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    agents: usize,
    /// Commands of one agent.
    commands: usize,
    /// Commands of all agents together.
    total: usize,
    barriers: u8,
    /// Maximum count of a command; the minimum is 1.
    count: u8,
}

/// Bounds with two barriers and counts from 1 to 3, whatever the number of agents: a count larger than that is a fault.
const fn bounds(agents: usize, commands: usize, total: usize) -> Bounds {
    Bounds { agents, commands, total, barriers: 2, count: 3 }
}

/// The skeletons of the suite: all of one and two agents with four commands each, and all of three agents with up to
/// three commands each and seven in total.
const SKELETONS: [Bounds; 3] = [bounds(1, 4, 4), bounds(2, 4, 8), bounds(3, 3, 7)];
/// The skeletons to which accesses are added.
const WITH_ACCESSES: [Bounds; 2] = [bounds(2, 3, 6), bounds(3, 2, 6)];
/// All skeletons of three agents with three commands each, and those with four commands each and eight in total.
const DEEP_SKELETONS: [Bounds; 2] = [bounds(3, 3, 9), bounds(3, 4, 8)];
const DEEP_WITH_ACCESSES: [Bounds; 1] = [bounds(3, 3, 6)];

/// Calls `f` with every world of the suite: the skeletons, then the small well-synchronized ones with accesses.
pub(crate) fn for_each_world(f: impl FnMut(&Program)) {
    for_each(&SKELETONS, &WITH_ACCESSES, f);
}

/// Calls `f` with the worlds that take minutes.
pub(crate) fn for_each_deep_world(f: impl FnMut(&Program)) {
    for_each(&DEEP_SKELETONS, &DEEP_WITH_ACCESSES, f);
}

fn for_each(skeletons: &[Bounds], with_accesses: &[Bounds], mut f: impl FnMut(&Program)) {
    for &bounds in skeletons {
        for_each_skeleton(bounds, &mut f);
    }
    for &bounds in with_accesses {
        for_each_skeleton(bounds, |skeleton| {
            if model::check(skeleton).well_synchronized {
                for_each_access_pair(skeleton, &mut f);
            }
        });
    }
}

/// Calls `f` with every skeleton within the bounds that has exactly that number of agents.
fn for_each_skeleton(bounds: Bounds, mut f: impl FnMut(&Program)) {
    let program = Program { agents: vec![Vec::new(); bounds.agents] };
    let mut partial = Partial { bounds, program, ended: vec![false; bounds.agents], barriers: 0 };
    partial.extend(State::default(), &mut f);
}

/// A partially chosen skeleton.
struct Partial {
    bounds: Bounds,
    program: Program,
    /// Agents that get no more commands.
    ended: Vec<bool>,
    /// Barriers in use.
    barriers: u8,
}

impl Partial {
    /// Runs the schedule to the next agent that needs a command, and tries all its commands and its end.
    fn extend(&mut self, state: State, f: &mut impl FnMut(&Program)) {
        let Some(agent) =
            (0..self.bounds.agents).find(|&agent| !self.ended[agent] && !state.blocked(agent))
        else {
            return f(&self.program);
        };
        self.ended[agent] = true;
        if self.in_order() {
            self.extend(state, f);
        }
        self.ended[agent] = false;
        let total: usize = self.program.agents.iter().map(Vec::len).sum();
        if self.program.agents[agent].len() < self.bounds.commands && total < self.bounds.total {
            self.choices().into_iter().for_each(|command| self.choose(state, agent, command, f));
        }
    }

    /// Continues with `command` as the next command of the agent.
    fn choose(
        &mut self,
        mut state: State,
        agent: usize,
        command: Command,
        f: &mut impl FnMut(&Program),
    ) {
        let barriers = self.barriers;
        self.barriers = barriers.max(barrier(command) + 1);
        self.program.agents[agent].push(command);
        if self.in_order() {
            match state.step(self.bounds.agents, agent, command) {
                Step::Fault => f(&self.program),
                Step::Went | Step::Completed(_) => self.extend(state, f),
            }
        }
        self.program.agents[agent].pop();
        self.barriers = barriers;
    }

    /// Returns the barrier commands on the barriers in use and on the next one.
    fn choices(&self) -> Vec<Command> {
        let mut commands = Vec::new();
        for barrier in 0..self.bounds.barriers.min(self.barriers + 1) {
            for count in 1..=self.bounds.count {
                commands.push(Command::Arrive { barrier, count });
                commands.push(Command::Sync { barrier, count });
            }
        }
        commands
    }

    /// Whether the chosen commands do not contradict the order of agents.
    fn in_order(&self) -> bool {
        (1..self.bounds.agents).all(|agent| self.pair_in_order(agent - 1, agent))
    }

    fn pair_in_order(&self, first: usize, second: usize) -> bool {
        for index in 0..=self.bounds.commands {
            match (self.key(first, index), self.key(second, index)) {
                (Some(x), Some(y)) if x != y => return x < y,
                (Some(Key::End) | None, _) | (_, None) => return true,
                _ => {}
            }
        }
        true
    }

    /// Returns the sort key of a command; `None` if it is not chosen yet.
    fn key(&self, agent: usize, index: usize) -> Option<Key> {
        match self.program.agents[agent].get(index) {
            Some(&Command::Sync { count, .. }) => Some(Key::Sync(count)),
            Some(&Command::Arrive { count, .. }) => Some(Key::Arrive(count)),
            Some(Command::Read(_) | Command::Write(_)) | None => {
                self.ended[agent].then_some(Key::End)
            }
        }
    }
}

/// A barrier command without its barrier, or the end of an agent.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Sync(u8),
    Arrive(u8),
    End,
}

fn barrier(command: Command) -> u8 {
    match command {
        Command::Sync { barrier, .. } | Command::Arrive { barrier, .. } => barrier,
        Command::Read(_) | Command::Write(_) => 0,
    }
}

/// The kinds of conflicting accesses.
const CONFLICTS: [(Command, Command); 3] = [
    (Command::Write(0), Command::Write(0)),
    (Command::Write(0), Command::Read(0)),
    (Command::Read(0), Command::Write(0)),
];

/// Calls `f` with the skeleton extended by a pair of conflicting accesses at every two places of two agents.
fn for_each_access_pair(skeleton: &Program, f: &mut impl FnMut(&Program)) {
    for (first, second) in agent_pairs(skeleton.agents.len()) {
        for (i, j) in places(skeleton.agents[first].len(), skeleton.agents[second].len()) {
            for (x, y) in CONFLICTS {
                let mut program = skeleton.clone();
                program.agents[first].insert(i, x);
                program.agents[second].insert(j, y);
                f(&program);
            }
        }
    }
}

fn agent_pairs(agents: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..agents).flat_map(move |first| (first + 1..agents).map(move |second| (first, second)))
}

fn places(first: usize, second: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..=first).flat_map(move |i| (0..=second).map(move |j| (i, j)))
}
