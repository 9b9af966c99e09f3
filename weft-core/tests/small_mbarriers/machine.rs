//! The machine that runs kernels: each agent is a thread of its own, and a wait blocks while it fails.

use crate::kernel::{
    Agent, Command, Kernel, MAX_AGENTS, MAX_COMMANDS, OBJECTS, Object, Target, peek_of,
};
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
}

impl State {
    pub(crate) fn at(&self, agent: usize) -> usize {
        self.at[agent].into()
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
        }
    }

    pub(crate) fn commands(&self, agent: usize) -> &'k [Command] {
        &self.kernel.groups[self.agents[agent].group].commands
    }

    pub(crate) fn next(&self, state: &State, agent: usize) -> Option<Command> {
        self.commands(agent).get(state.at(agent)).copied()
    }

    pub(crate) fn is_finished(&self, state: &State) -> bool {
        (0..self.agents.len()).all(|agent| self.next(state, agent).is_none())
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
            Command::Read(_) | Command::Write(_) => None,
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
}
