//! Runs a kernel under one schedule, with a vector clock for each command.

use crate::dice::Dice;
use crate::kernel::{Arrival, Command, Kernel, MAX_AGENTS, MAX_COMMANDS, OBJECTS, Object, peek_of};
use crate::machine::{Machine, State, Step};
use crate::model::Event;
use crate::object::{Misuse, Phase};

/// What happens before some point.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    /// For each agent, the number of its commands.
    commands: [u8; MAX_AGENTS],
    /// Likewise, with those that are causes although they are ordered before no memory access: what comes before an
    /// arrival that follows copies.
    causes: [u8; MAX_AGENTS],
    /// For each agent, the asynchronous copies that are complete, one bit for each of its commands.
    copies: [u16; MAX_AGENTS],
}

impl Clock {
    fn has(&self, (agent, at): Event) -> bool {
        usize::from(self.commands[agent]) > at
    }

    fn is_caused_by(&self, (agent, at): Event) -> bool {
        usize::from(self.causes[agent]) > at
    }
}

fn join(clock: &mut Clock, other: Clock) {
    for (own, other) in clock.commands.iter_mut().zip(other.commands) {
        *own = (*own).max(other);
    }
    for (own, other) in clock.causes.iter_mut().zip(other.causes) {
        *own = (*own).max(other);
    }
    for (own, other) in clock.copies.iter_mut().zip(other.copies) {
        *own |= other;
    }
}

/// The copies among the first commands of an agent, as many as `count`.
fn copies(commands: &[Command], count: usize) -> u16 {
    let copies = commands[..count].iter().enumerate();
    let copies = copies.filter(|(_, command)| matches!(command, Command::Copy(_)));
    copies.fold(0, |all, (at, _)| all | 1 << at)
}

/// How a schedule ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Finished,
    Stuck,
    Fault(Misuse),
}

/// An executed command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Executed {
    pub(crate) event: Event,
    pub(crate) command: Command,
    /// The phase that a command on an mbarrier belongs to, or whose completion a wait observed.
    pub(crate) phase: Option<Phase>,
    /// What happens before the command begins.
    before: Clock,
    /// What happens before the command ends, itself included.
    clock: Clock,
}

impl Executed {
    /// Whether the other command is a cause of the end of this one.
    pub(crate) fn knows(&self, other: Event) -> bool {
        self.clock.is_caused_by(other)
    }

    /// Whether what the other command accesses is accessed before the end of this one: an asynchronous copy happens
    /// some time after its command.
    pub(crate) fn follows(&self, other: &Self) -> bool {
        let (agent, at) = other.event;
        match other.command {
            Command::Copy(_) => self.clock.copies[agent] >> at & 1 == 1,
            _ => self.clock.has(other.event),
        }
    }

    /// Whether the other command is a cause of the beginning of this one.
    pub(crate) fn begins_after(&self, other: Event) -> bool {
        self.before.is_caused_by(other)
    }
}

/// What a wait acquires: the PTX manual can be read in two ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acquires {
    /// What was released by the arrivals of the phase whose completion it observes.
    Phase,
    /// What was released by these and all earlier arrivals: each arrival extends the release sequences before it.
    AllPhases,
}

/// One schedule of a kernel.
pub(crate) struct Run {
    pub(crate) end: End,
    pub(crate) executed: Vec<Executed>,
    /// The waits at which agents are stuck, each with the phase that it waits for.
    pub(crate) blocked: Vec<Executed>,
    pub(crate) last: State,
}

impl Run {
    pub(crate) fn of(&self, event: Event) -> Option<&Executed> {
        self.executed.iter().find(|own| own.event == event)
    }
}

/// What happens next.
#[derive(Clone, Copy, Debug)]
enum Turn {
    /// The next command of an agent.
    Agent(usize),
    /// An asynchronous copy, or an arrival that follows copies.
    Outstanding(Event),
}

/// Runs a kernel under a random schedule.
pub(crate) fn run(kernel: &Kernel, acquires: Acquires, dice: &mut Dice) -> Run {
    let machine = Machine::new(kernel);
    let clocks = [Clock::default(); MAX_AGENTS];
    let mut runner = Runner {
        acquires,
        clocks,
        released: Default::default(),
        is_certain: [[false; MAX_COMMANDS]; MAX_AGENTS],
    };
    let mut run =
        Run { end: End::Stuck, executed: Vec::new(), blocked: Vec::new(), last: machine.start() };
    loop {
        let agents = (0..machine.agents.len()).map(Turn::Agent);
        let outstanding = run.last.outstanding().into_iter().map(Turn::Outstanding);
        let mut turns: Vec<Turn> = agents.chain(outstanding).collect();
        let moved = loop {
            if turns.is_empty() {
                break None;
            }
            let sides = u32::try_from(turns.len()).expect("few turns");
            let turn = turns.swap_remove(dice.roll(sides) as usize);
            let mut next = run.last;
            let step = match turn {
                Turn::Agent(agent) => machine.step(&mut next, agent),
                Turn::Outstanding(event) => machine.happen(&mut next, event),
            };
            match step {
                Step::Blocked => {}
                step => break Some((turn, next, step)),
            }
        };
        match moved {
            None => {
                run.end = if machine.is_finished(&run.last) { End::Finished } else { End::Stuck };
                run.blocked = runner.blocked(&machine, &run.last);
                return run;
            }
            Some((.., Step::Fault(misuse))) => return Run { end: End::Fault(misuse), ..run },
            Some((turn, next, Step::Went(phase))) => {
                match turn {
                    Turn::Agent(agent) => runner.record(&machine, &mut run, agent, phase),
                    Turn::Outstanding(event) => runner.happened(&machine, &mut run, event, phase),
                }
                run.last = next;
            }
            Some((_, _, Step::Blocked)) => unreachable!("blocked agents are not chosen"),
        }
    }
}

struct Runner {
    acquires: Acquires,
    clocks: [Clock; MAX_AGENTS],
    /// For each mbarrier and each phase from 0, what its arrivals released.
    released: [Vec<Clock>; OBJECTS],
    /// For each agent and command: whether it is a peek that succeeds in every schedule.
    is_certain: [[bool; MAX_COMMANDS]; MAX_AGENTS],
}

impl Runner {
    /// Records the next command of an agent, or of all agents of its group if they synchronize, before they move on.
    fn record(&mut self, machine: &Machine<'_>, run: &mut Run, agent: usize, phase: Option<Phase>) {
        let command = machine.next(&run.last, agent).expect("it went");
        let (command, phase) = self.peeked(machine, run, agent, (command, phase));
        let members: Vec<usize> = match command {
            Command::WarpSync => machine.group(agent).collect(),
            _ => vec![agent],
        };
        let before = self.clocks[agent];
        let mut clock = Clock::default();
        for &member in &members {
            self.clocks[member].commands[member] += 1;
            self.clocks[member].causes[member] += 1;
            join(&mut clock, self.clocks[member]);
        }
        match (command, phase) {
            (Command::Arrive(Arrival { object, releases: true, .. }), Some(phase)) => {
                let phase = usize::try_from(phase).expect("arrivals are in phases from 0");
                join(self.released(object, phase), clock);
            }
            (Command::WaitCopies, _) => {
                clock.copies[agent] |= copies(machine.commands(agent), run.last.at(agent));
            }
            (Command::Wait { object, acquires: true, .. }, Some(phase)) => {
                let first = if self.acquires == Acquires::Phase { phase } else { 0 };
                for phase in first.max(0)..=phase {
                    let phase = usize::try_from(phase).expect("from 0");
                    if let Some(released) = self.released[object].get(phase) {
                        join(&mut clock, *released);
                    }
                }
            }
            _ => {}
        }
        for member in members {
            self.clocks[member] = clock;
            let event = (member, run.last.at(member));
            run.executed.push(Executed { event, command, phase, before, clock });
        }
    }

    /// What the arrivals of a phase released.
    fn released(&mut self, object: Object, phase: usize) -> &mut Clock {
        let released = &mut self.released[object];
        released.resize(released.len().max(phase + 1), Clock::default());
        &mut released[phase]
    }

    /// Records that an asynchronous copy has happened, or an arrival that follows copies: it releases these.
    fn happened(
        &mut self,
        machine: &Machine<'_>,
        run: &mut Run,
        event: Event,
        phase: Option<Phase>,
    ) {
        let (agent, at) = event;
        let commands = machine.commands(agent);
        let (Command::Follow { object, is_expected }, Some(phase)) = (commands[at], phase) else {
            return;
        };
        let own = run.executed.iter_mut().find(|own| own.event == event);
        let own = own.expect("it has been issued");
        own.phase = Some(phase);
        let causes = own.clock.causes;
        let phase = usize::try_from(phase).expect("arrivals are in phases from 0");
        if is_expected {
            join(self.released(object, phase), Clock { causes, ..Clock::default() });
        }
        self.released(object, phase).copies[agent] |= copies(commands, at);
    }

    /// Returns what a command counts as, and the phase that it belongs to or waits for. A peek that succeeds in every
    /// schedule is a wait, and the wait that it leaves out is none. Any other peek might fail, so its lane knows that the
    /// phase is complete only once it would have waited.
    fn peeked(
        &mut self,
        machine: &Machine<'_>,
        run: &Run,
        agent: usize,
        (command, phase): (Command, Option<Phase>),
    ) -> (Command, Option<Phase>) {
        let at = run.last.at(agent);
        match command {
            Command::Peek { object, target, acquires } => {
                let awaited = phase.unwrap_or(run.last.objects[object].phase);
                let is_certain = phase.is_some() && self.is_known(run, agent, object, awaited);
                self.is_certain[agent][at] = is_certain;
                let wait = Command::Wait { object, target, acquires };
                (if is_certain { wait } else { command }, Some(awaited))
            }
            Command::Wait { object, target, acquires } => {
                let commands = machine.commands(agent);
                let Some(peek) = peek_of(commands, at) else { return (command, phase) };
                if self.is_certain[agent][peek] {
                    return (command, None);
                }
                let is_relaxed = matches!(commands[peek], Command::Peek { acquires: false, .. });
                let acquires = acquires && !is_relaxed;
                let asked = Machine::asked(&run.last, agent, object, target);
                (Command::Wait { object, target, acquires }, Some(asked))
            }
            _ => (command, phase),
        }
    }

    /// Whether an agent knows that a phase is complete.
    fn is_known(&self, run: &Run, agent: usize, object: Object, phase: Phase) -> bool {
        let clock = self.clocks[agent];
        let is_before = |own: &Executed| {
            // When an arrival that follows copies has happened, only a wait tells.
            !matches!(own.command, Command::Follow { .. }) && clock.is_caused_by(own.event)
        };
        let of = |own: &&Executed| {
            let is_peek = matches!(own.command, Command::Peek { .. });
            !is_peek && own.command.object() == Some(object) && own.phase == Some(phase)
        };
        let all = || run.executed.iter().filter(of);
        let is_wait = |own: &&Executed| matches!(own.command, Command::Wait { .. });
        all().filter(is_wait).any(is_before) || all().filter(|own| !is_wait(own)).all(is_before)
    }

    /// Returns the waits at which agents stand.
    fn blocked(&self, machine: &Machine<'_>, state: &State) -> Vec<Executed> {
        let waits = (0..machine.agents.len()).filter_map(|agent| {
            let command = machine.next(state, agent)?;
            let Command::Wait { object, .. } = command else { return None };
            let (event, phase) = ((agent, state.at(agent)), Some(state.objects[object].phase));
            let clock = self.clocks[agent];
            Some(Executed { event, command, phase, before: clock, clock })
        });
        waits.collect()
    }
}
