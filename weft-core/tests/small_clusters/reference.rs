//! Judges a list of commands by its happens-before, event by event.

use std::collections::BTreeSet;

use weft_core::finding::Code;

use crate::command::{AGENTS, Command, Scope, Word};
use crate::{Found, Wrong};

/// Something that happens: the number of the command, and the agent. What a copy does and when its agent issues it are two
/// events, and so is that a warp arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Of(usize, usize),
    /// The copy of a command has written in a cta.
    Copied(usize, usize),
    /// The threads of a cta began, if that is known from a barrier of the cluster in front of the list.
    Began(usize),
}

type Past = BTreeSet<Event>;

/// What an agent knows.
#[derive(Clone, Debug, Default)]
struct Knowledge {
    /// What happens before, as memory is ordered.
    known: Past,
    /// The same, and what has caused it besides.
    caused: Past,
    /// What it has made ready for a `.relaxed` arrival.
    ready: Past,
    /// Its own initializations.
    inits: Past,
}

/// What happens, each event with what happens before it; and what the agents know in the end.
struct History {
    pasts: Vec<(Event, Knowledge)>,
    agents: [Knowledge; AGENTS.len()],
}

/// An access of a command: the event, the word and whether it is written, and how.
#[derive(Clone, Copy, Debug)]
struct Access {
    event: Event,
    at: usize,
    agent: usize,
    word: Word,
    writes: bool,
    /// The object of a command instead of a word.
    object: Option<usize>,
    scope: Option<Scope>,
    copies: bool,
}

/// Returns what is wrong with a list. `meets`: whether a barrier of the cluster stands in front of it.
pub(crate) fn judge(commands: &[Command], meets: bool) -> Found {
    let history = history(commands, meets);
    let accesses: Vec<Access> = (0..commands.len()).flat_map(|at| of(commands, at)).collect();
    let before =
        |event: Event| &history.pasts.iter().find(|(own, _)| *own == event).expect("it happens").1;
    let mut found = Found::new();
    for (number, after) in accesses.iter().enumerate() {
        for first in &accesses[..number] {
            if let Some(code) = conflict(commands, &history, first, after) {
                let wrong = Wrong::Pair([first.at, after.at]);
                found.insert((wrong, code));
            }
        }
        let (own, home) = (AGENTS[after.agent].0, after.word.0);
        if own == home {
            continue;
        }
        let began = |event: &Event| match event {
            Event::Of(_, agent) => AGENTS[*agent].0 == home,
            Event::Began(cta) => *cta == home,
            Event::Copied(..) => false,
        };
        if !before(after.event).caused.iter().any(began) {
            found.insert((Wrong::Before(after.at), Code::ClusterLifetime));
        }
        let there = (0..AGENTS.len()).filter(|agent| AGENTS[*agent].0 == home);
        if !there.into_iter().any(|agent| history.agents[agent].caused.contains(&after.event)) {
            found.insert((Wrong::After(after.at), Code::ClusterLifetime));
        }
    }
    found
}

/// Whether something that a command did has caused what an agent does behind a list.
pub(crate) fn happens(commands: &[Command], agent: usize, at: usize) -> bool {
    let history = history(commands, true);
    let by = commands[at].agent().expect("one agent does it");
    history.agents[agent].caused.contains(&Event::Of(at, by))
}

/// The accesses of a command.
fn of(commands: &[Command], at: usize) -> Vec<Access> {
    let access = |agent: usize, word: Word, writes: bool| Access {
        event: Event::Of(at, agent),
        at,
        agent,
        word,
        writes,
        object: None,
        scope: None,
        copies: false,
    };
    let home = |object: usize| AGENTS[commands[object].agent().expect("one agent does it")].0;
    let at_object = |agent: usize, object: usize| Access {
        object: Some(object),
        ..access(agent, (home(object), 0), true)
    };
    match commands[at] {
        Command::Store(agent, word) => vec![access(agent, word, true)],
        Command::Load(agent, word) => vec![access(agent, word, false)],
        Command::Add(agent, word, scope) => {
            vec![Access { scope: Some(scope), ..access(agent, word, true) }]
        }
        Command::Init(agent) => vec![at_object(agent, at)],
        Command::Arrive(agent, object) | Command::Await(agent, object) => {
            vec![Access { scope: Some(Scope::Cluster), ..at_object(agent, object) }]
        }
        Command::Receive(agent, _, slot) => {
            let to = |cta| Access {
                event: Event::Copied(at, cta),
                copies: true,
                ..access(agent, (cta, slot), true)
            };
            commands[at].targets().into_iter().map(to).collect()
        }
        Command::Send(agent, from, to) => {
            let side = |word, writes| Access {
                event: Event::Copied(at, to.0),
                copies: true,
                ..access(agent, word, writes)
            };
            vec![side((AGENTS[agent].0, from), false), side(to, true)]
        }
        _ => Vec::new(),
    }
}

/// What is wrong with two accesses, of which the first one is by the earlier command.
fn conflict(
    commands: &[Command],
    history: &History,
    first: &Access,
    after: &Access,
) -> Option<Code> {
    let past =
        |event: Event| &history.pasts.iter().find(|(own, _)| *own == event).expect("it happens").1;
    let overlaps = first.word == after.word && first.object == after.object;
    if !overlaps || !first.writes && !after.writes {
        return None;
    }
    let is_near = AGENTS[first.agent].0 == AGENTS[after.agent].0;
    let holds = |own: &Access| match own.scope {
        Some(Scope::Cta) => is_near,
        Some(Scope::Cluster) => true,
        None => false,
    };
    if holds(first) && holds(after) {
        return None;
    }
    let known = &past(after.event).known;
    if first.at == after.at {
        // A copy that reads what it writes.
        return Some(Code::AsyncRace);
    }
    if !known.contains(&first.event) {
        let copies = first.copies || after.copies;
        return Some(if copies { Code::AsyncRace } else { Code::SharedRace });
    }
    let is_fence = |event: &Event| matches!(event, Event::Of(at, _) if matches!(commands[*at], Command::FenceProxies(_)));
    let is_fenced = |fence: &Event| past(*fence).known.contains(&first.event);
    let is_unfenced = after.copies
        && !first.copies
        && !known.iter().filter(|event| is_fence(event)).any(is_fenced);
    is_unfenced.then_some(Code::ProxyFence)
}

/// Returns what happens.
fn history(commands: &[Command], meets: bool) -> History {
    let mut agents: [Knowledge; AGENTS.len()] = Default::default();
    if meets {
        for agent in &mut agents {
            agent.caused.extend([Event::Began(0), Event::Began(1)]);
        }
    }
    let mut pasts: Vec<(Event, Knowledge)> = Vec::new();
    // What was passed on in the current and in the last generation of the barrier of the cluster.
    let (mut current, mut last, mut arrived) = (Knowledge::default(), Knowledge::default(), 0);
    for (at, command) in commands.iter().enumerate() {
        if let Command::Meet(cta) = *command {
            let there: Vec<usize> =
                (0..AGENTS.len()).filter(|agent| AGENTS[*agent].0 == cta).collect();
            for agent in &there {
                happen(&mut pasts, &mut agents[*agent], Event::Of(at, *agent));
            }
            let mut all = Knowledge::default();
            there.iter().for_each(|agent| all.learn(&agents[*agent]));
            there.iter().for_each(|agent| agents[*agent].learn(&all));
            continue;
        }
        let agent = command.agent().expect("one agent does it");
        let own = Event::Of(at, agent);
        match *command {
            Command::Fence(_) => {
                happen(&mut pasts, &mut agents[agent], own);
                let known = agents[agent].known.clone();
                agents[agent].ready.extend(known);
            }
            Command::Init(_) => {
                happen(&mut pasts, &mut agents[agent], own);
                agents[agent].inits.insert(own);
            }
            Command::FenceInits(_) => {
                happen(&mut pasts, &mut agents[agent], own);
                let inits = agents[agent].inits.clone();
                agents[agent].ready.extend(inits);
            }
            Command::ClusterArrive(_, is_relaxed) => {
                happen(&mut pasts, &mut agents[agent], own);
                current.caused.extend(agents[agent].caused.iter().copied());
                let passed = if is_relaxed { &agents[agent].ready } else { &agents[agent].known };
                current.known.extend(passed.iter().copied());
                arrived += 1;
                if arrived == AGENTS.len() {
                    (last, current, arrived) =
                        (std::mem::take(&mut current), Knowledge::default(), 0);
                }
            }
            Command::ClusterWait(_) => {
                agents[agent].learn(&last);
                happen(&mut pasts, &mut agents[agent], own);
            }
            Command::Await(_, object) => {
                let is_it =
                    |other: &Command| matches!(other, Command::Arrive(_, of) if *of == object);
                let by = commands.iter().position(is_it).expect("it came before");
                let arriver = commands[by].agent().expect("one agent does it");
                // The access to the object comes before what the wait sees.
                happen(&mut pasts, &mut agents[agent], own);
                agents[agent].learn_of(&pasts, &[Event::Of(by, arriver)]);
            }
            Command::Receive(..) | Command::Send(..) => {
                happen(&mut pasts, &mut agents[agent], own);
                let copied = command.targets().into_iter().map(|cta| Event::Copied(at, cta));
                pasts.extend(copied.map(|event| (event, agents[agent].clone())));
            }
            Command::AwaitCopy(_, copy) => {
                let issuer = commands[copy].agent().expect("one agent does it");
                agents[agent].learn_of(&pasts, &[Event::Of(copy, issuer)]);
                agents[agent].knows(Event::Copied(copy, AGENTS[agent].0));
                happen(&mut pasts, &mut agents[agent], own);
            }
            _ => happen(&mut pasts, &mut agents[agent], own),
        }
    }
    History { pasts, agents }
}

/// Lets an event happen to an agent.
fn happen(pasts: &mut Vec<(Event, Knowledge)>, agent: &mut Knowledge, event: Event) {
    pasts.push((event, agent.clone()));
    agent.knows(event);
}

impl Knowledge {
    fn knows(&mut self, event: Event) {
        self.known.insert(event);
        self.caused.insert(event);
    }

    fn learn(&mut self, other: &Self) {
        self.known.extend(other.known.iter().copied());
        self.caused.extend(other.caused.iter().copied());
    }

    /// Learns of events, and what happens before them.
    fn learn_of(&mut self, pasts: &[(Event, Self)], events: &[Event]) {
        for event in events {
            let past = &pasts.iter().find(|(own, _)| own == event).expect("it came before").1;
            self.learn(&past.clone());
            self.knows(*event);
        }
    }
}
