//! The machine: named barriers exactly as in the small-step rules of the Weft paper (PLDI 2015, §3).
//!
//! Takes a [`Program`], straight-line commands of a few agents, and steps a [`State`] of it. An agent is a unit of
//! arrival (a warp), so counts are in agents. An agent that joins a generation twice counts twice.
//!
//! The paper has rules for a barrier that is full and not yet recycled, among them the error that one participant too
//! many arrives. Here the arrival that fills a barrier also resets it, in one step, so that no state has a full
//! barrier.

/// The most agents a program may have.
pub(crate) const MAX_AGENTS: usize = 5;
/// The most barriers a program may name, from 0.
pub(crate) const MAX_BARRIERS: usize = 3;
/// Number of places of an agent: one before each of its commands, of which there are at most seven, and the end.
pub(crate) const PLACES: usize = 8;

/// One command of an agent (§3, the grammar).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Command {
    /// Joins the barrier's generation and waits until it completes.
    Sync { barrier: u8, count: u8 },
    /// Joins the barrier's generation and continues.
    Arrive { barrier: u8, count: u8 },
    /// Reads a location.
    Read(u8),
    /// Writes a location.
    Write(u8),
}

/// The commands of every agent, in program order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) agents: Vec<Vec<Command>>,
}

/// Identifies a command: (agent, index in the agent).
pub(crate) type CmdId = (usize, usize);

/// A set of commands: bit `PLACES * agent + index`.
pub(crate) type Commands = u64;

/// The set that holds one command.
pub(crate) fn only((agent, index): CmdId) -> Commands {
    1 << (PLACES * agent + index)
}

/// One use of a barrier, from its first arrival on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Generation {
    pub(crate) barrier: u8,
    /// How many generations of this barrier completed before it.
    pub(crate) ordinal: u8,
    pub(crate) members: Commands,
}

/// A barrier between two steps: idle if `count` is 0, otherwise configured and not full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Barrier {
    count: u8,
    completed: u8,
    members: Commands,
}

/// The effect of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Went,
    Completed(Generation),
    /// A count that is 0, larger than the number of agents, or not the configured one.
    Fault,
}

/// A configuration of the machine (§3): the position of each agent, and the barriers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct State {
    next: [u8; MAX_AGENTS],
    barriers: [Barrier; MAX_BARRIERS],
}

impl State {
    /// Returns the index of the agent's next command; that of a blocked agent is its sync.
    pub(crate) fn next(&self, agent: usize) -> usize {
        usize::from(self.next[agent])
    }

    /// Whether the agent has joined a generation at its next command and waits for it.
    pub(crate) fn blocked(&self, agent: usize) -> bool {
        let here = only((agent, self.next(agent)));
        self.barriers.iter().any(|b| b.members & here != 0)
    }

    /// Whether the agent can step.
    pub(crate) fn runnable(&self, program: &Program, agent: usize) -> bool {
        self.next(agent) < program.agents[agent].len() && !self.blocked(agent)
    }

    /// Whether every agent has executed all of its commands.
    pub(crate) fn finished(&self, program: &Program) -> bool {
        program
            .agents
            .iter()
            .enumerate()
            .all(|(agent, commands)| self.next(agent) == commands.len())
    }

    /// Executes the agent's next command, which is `command`. The agent must not be blocked.
    pub(crate) fn step(&mut self, agents: usize, agent: usize, command: Command) -> Step {
        let here = only((agent, self.next(agent)));
        match command {
            Command::Read(_) | Command::Write(_) => {
                self.next[agent] += 1;
                Step::Went
            }
            Command::Arrive { barrier, count } => {
                self.next[agent] += 1;
                self.join(agents, barrier, count, here)
            }
            Command::Sync { barrier, count } => self.join(agents, barrier, count, here),
        }
    }

    /// Joins the barrier's generation. The first command configures the generation, the last one completes it.
    fn join(&mut self, agents: usize, barrier: u8, count: u8, command: Commands) -> Step {
        let state = &mut self.barriers[usize::from(barrier)];
        let invalid = count == 0 || usize::from(count) > agents;
        if invalid || (state.count != 0 && state.count != count) {
            return Step::Fault;
        }
        state.count = count;
        state.members |= command;
        if state.members.count_ones() == u32::from(count) {
            self.complete(barrier)
        } else {
            Step::Went
        }
    }

    /// Completes the generation: its blocked agents resume, and the barrier becomes idle.
    fn complete(&mut self, barrier: u8) -> Step {
        let state = &mut self.barriers[usize::from(barrier)];
        let generation = Generation { barrier, ordinal: state.completed, members: state.members };
        *state = Barrier { completed: state.completed + 1, ..Barrier::default() };
        for (agent, next) in self.next.iter_mut().enumerate() {
            let here = only((agent, usize::from(*next)));
            *next += u8::from(generation.members & here != 0);
        }
        Step::Completed(generation)
    }

    /// Returns the generations that have begun and are not complete.
    pub(crate) fn incomplete(&self) -> impl Iterator<Item = Generation> {
        let begun = (0u8..).zip(&self.barriers).filter(|(_, b)| b.count != 0);
        begun.map(|(barrier, b)| Generation { barrier, ordinal: b.completed, members: b.members })
    }
}

/// Returns every pair of conflicting accesses: same location, different agents, at least one write.
pub(crate) fn conflicts(program: &Program) -> Vec<(CmdId, CmdId)> {
    let mut accesses = Vec::new();
    for (agent, commands) in program.agents.iter().enumerate() {
        for (index, command) in commands.iter().enumerate() {
            match command {
                Command::Read(at) => accesses.push(((agent, index), at, false)),
                Command::Write(at) => accesses.push(((agent, index), at, true)),
                Command::Sync { .. } | Command::Arrive { .. } => {}
            }
        }
    }
    let mut pairs = Vec::new();
    for (i, x) in accesses.iter().enumerate() {
        let conflict =
            accesses[i + 1..].iter().filter(|y| x.0.0 != y.0.0 && x.1 == y.1 && (x.2 || y.2));
        pairs.extend(conflict.map(|y| (x.0, y.0)));
    }
    pairs
}
