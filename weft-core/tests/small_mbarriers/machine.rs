//! The machine that runs kernels: each agent is a thread of its own, and a wait blocks while it fails.

use crate::kernel::{
    Agent, Command, Kernel, MAX_AGENTS, MAX_COMMANDS, OBJECTS, Object, Target, peek_of,
};
use crate::model::Event;
use crate::object::{Mbarrier, Misuse, Phase};

/// A state between two commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// For each agent, the index of its next command.
    at: [u8; MAX_AGENTS],
    pub(crate) objects: [Mbarrier; OBJECTS],
    /// The phases of each agent's last arrivals.
    tokens: [[Phase; OBJECTS]; MAX_AGENTS],
    /// For each agent and command: the phase that a peek has seen complete, if it has.
    pub(crate) peeked: [[Option<Phase>; MAX_COMMANDS]; MAX_AGENTS],
    /// For each agent, the copies that it has issued and that have not happened, one bit for each of its commands.
    copying: [u16; MAX_AGENTS],
    /// Likewise, the arrivals that follow copies.
    following: [u16; MAX_AGENTS],
}

impl State {
    pub(crate) fn at(&self, agent: usize) -> usize {
        self.at[agent].into()
    }

    /// Whether a command has happened: an asynchronous copy some time after it was issued.
    pub(crate) fn has_happened(&self, (agent, at): Event) -> bool {
        self.at(agent) > at && self.copying[agent] >> at & 1 == 0
    }

    /// The copies and arrivals that have been issued and have not happened.
    pub(crate) fn outstanding(&self) -> Vec<Event> {
        let of = |agent: usize| {
            let both = self.copying[agent] | self.following[agent];
            (0..MAX_COMMANDS).filter(move |at| both >> at & 1 == 1).map(move |at| (agent, at))
        };
        (0..MAX_AGENTS).flat_map(of).collect()
    }
}

/// Returns the phase that an agent sees complete if it is the one that it asks for.
fn complete(
    state: &State,
    agent: usize,
    object: Object,
    target: Target,
) -> Result<Option<Phase>, Misuse> {
    let own = state.objects[object];
    let is_complete = match target {
        Target::Parity(parity) => own.is_complete(parity),
        Target::Token => match own.phase - state.tokens[agent][object] {
            0 => false,
            1 => true,
            _ => return Err(Misuse::Token),
        },
    };
    Ok(is_complete.then_some(own.phase - 1))
}

/// What an attempt to execute a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The agent has ended, or must wait.
    Blocked,
    /// The command was executed. For commands on mbarriers, the phase that it belongs to, or whose completion a wait
    /// observed.
    Went(Option<Phase>),
    Fault(Misuse),
}

pub(crate) struct Machine<'k> {
    pub(crate) kernel: &'k Kernel,
    pub(crate) agents: Vec<Agent>,
}

impl<'k> Machine<'k> {
    pub(crate) fn new(kernel: &'k Kernel) -> Self {
        let agents = kernel.agents();
        assert!(agents.len() <= MAX_AGENTS, "too many lanes: {kernel:?}");
        Self { kernel, agents }
    }

    pub(crate) fn start(&self) -> State {
        let objects = self.kernel.counts.map(Mbarrier::new);
        State {
            at: [0; MAX_AGENTS],
            objects,
            tokens: [[0; OBJECTS]; MAX_AGENTS],
            peeked: [[None; MAX_COMMANDS]; MAX_AGENTS],
            copying: [0; MAX_AGENTS],
            following: [0; MAX_AGENTS],
        }
    }

    pub(crate) fn commands(&self, agent: usize) -> &'k [Command] {
        &self.kernel.groups[self.agents[agent].group].commands
    }

    pub(crate) fn next(&self, state: &State, agent: usize) -> Option<Command> {
        self.commands(agent).get(state.at(agent)).copied()
    }

    pub(crate) fn is_finished(&self, state: &State) -> bool {
        let has_ended = |agent| self.next(state, agent).is_none();
        (0..self.agents.len()).all(has_ended) && state.outstanding().is_empty()
    }

    /// Returns all agents of an agent's group.
    pub(crate) fn group(&self, agent: usize) -> impl Iterator<Item = usize> {
        let group = self.agents[agent].group;
        (0..self.agents.len()).filter(move |other| self.agents[*other].group == group)
    }

    /// Returns the phase for which an agent does not wait because a peek has seen it complete; a number of no phase if the
    /// peek was at another object than the wait.
    pub(crate) fn skipped(&self, state: &State, agent: usize, object: Object) -> Option<Phase> {
        let commands = self.commands(agent);
        let peek = peek_of(commands, state.at(agent))?;
        let phase = state.peeked[agent][peek]?;
        Some(if commands[peek].object() == Some(object) { phase } else { Phase::MIN })
    }

    /// Returns the phase for which an agent waits, if it waits: the current one or one before.
    pub(crate) fn asked(state: &State, agent: usize, object: Object, target: Target) -> Phase {
        let own = state.objects[object];
        match target {
            Target::Parity(parity) => own.phase - Phase::from(own.is_complete(parity)),
            Target::Token => state.tokens[agent][object],
        }
    }

    /// Executes the next command of an agent, if it does not block.
    pub(crate) fn step(&self, state: &mut State, agent: usize) -> Step {
        let Some(command) = self.next(state, agent) else { return Step::Blocked };
        let phase = match command {
            Command::Copy(_) => {
                state.copying[agent] |= 1 << state.at[agent];
                None
            }
            Command::Follow { object, is_expected } => {
                state.following[agent] |= 1 << state.at[agent];
                (!is_expected).then(|| state.objects[object].join())
            }
            Command::WaitCopies if state.copying[agent] != 0 => return Step::Blocked,
            Command::Read(_) | Command::Write(_) | Command::WaitCopies => None,
            Command::WarpSync => {
                if self.group(agent).any(|other| state.at[other] != state.at[agent]) {
                    return Step::Blocked;
                }
                self.group(agent).for_each(|other| state.at[other] += 1);
                return Step::Went(None);
            }
            Command::Peek { object, target, .. } => match complete(state, agent, object, target) {
                Err(misuse) => return Step::Fault(misuse),
                Ok(seen) => {
                    state.peeked[agent][state.at(agent)] = seen;
                    seen
                }
            },
            Command::Wait { object, target, .. } => match self.skipped(state, agent, object) {
                Some(phase) => Some(phase),
                None => match complete(state, agent, object, target) {
                    Err(misuse) => return Step::Fault(misuse),
                    Ok(None) => return Step::Blocked,
                    Ok(seen) => seen,
                },
            },
            Command::Arrive(_) | Command::Expect { .. } | Command::Complete { .. } => {
                let object = command.object().expect("it is about an mbarrier");
                match state.objects[object].apply(command) {
                    Err(misuse) => return Step::Fault(misuse),
                    Ok(phase) => {
                        if matches!(command, Command::Arrive(_)) {
                            state.tokens[agent][object] = phase;
                        }
                        Some(phase)
                    }
                }
            }
        };
        state.at[agent] += 1;
        Step::Went(phase)
    }

    /// Lets a copy or an arrival happen that has been issued, if it can: an arrival follows all copies before it.
    pub(crate) fn happen(&self, state: &mut State, (agent, at): Event) -> Step {
        let bit = 1 << at;
        if state.copying[agent] & bit != 0 {
            state.copying[agent] &= !bit;
            return Step::Went(None);
        }
        if state.copying[agent] & (bit - 1) != 0 {
            return Step::Blocked;
        }
        state.following[agent] &= !bit;
        let command = self.commands(agent)[at];
        let object = command.object().expect("it arrives at an mbarrier");
        match state.objects[object].apply(command) {
            Ok(phase) => Step::Went(Some(phase)),
            Err(misuse) => Step::Fault(misuse),
        }
    }
}
