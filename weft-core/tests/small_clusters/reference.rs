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
#[derive(Default)]
struct History {
    pasts: Vec<(Event, Knowledge)>,
    agents: [Knowledge; AGENTS.len()],
    /// What the warps have passed on that have arrived in the current generation of the barrier of the cluster.
    current: Knowledge,
    /// Number of these warps.
    arrived: usize,
    /// What was passed on in the last generation.
    last: Knowledge,
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
        // What a copy to another place reads has to last as well.
        let is_source = after.copies && !after.writes;
        if own == home && !is_source {
            continue;
        }
        let began = |event: &Event| match event {
            Event::Of(_, agent) => AGENTS[*agent].0 == home,
            Event::Began(cta) => *cta == home,
            Event::Copied(..) => false,
        };
        if own != home && !before(after.event).caused.iter().any(began) {
            found.insert((Wrong::Before(after.at), Code::ClusterLifetime));
        }
        let there = (0..AGENTS.len()).filter(|agent| AGENTS[*agent].0 == home);
        // An arrival is done once it has caused something, other accesses once memory is ordered behind them.
        let knows = |agent: usize| {
            let Knowledge { known, caused, .. } = &history.agents[agent];
            if after.object.is_some() { caused } else { known }.contains(&after.event)
        };
        if !there.into_iter().any(knows) {
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

/// Returns what happens. `meets`: whether a barrier of the cluster stands in front of the list.
fn history(commands: &[Command], meets: bool) -> History {
    let mut history = History::default();
    if meets {
        for agent in &mut history.agents {
            agent.caused.extend([Event::Began(0), Event::Began(1)]);
        }
    }
    for at in 0..commands.len() {
        match commands[at].agent() {
            Some(agent) => history.act(commands, at, agent),
            None => history.meet(commands[at], at),
        }
    }
    history
}

impl History {
    fn happen(&mut self, agent: usize, event: Event) {
        self.pasts.push((event, self.agents[agent].clone()));
        self.agents[agent].knows(event);
    }

    /// Lets the threads of a cta meet.
    fn meet(&mut self, command: Command, at: usize) {
        let is_there = |agent: &usize| command == Command::Meet(AGENTS[*agent].0);
        let there: Vec<usize> = (0..AGENTS.len()).filter(is_there).collect();
        let mut all = Knowledge::default();
        for agent in &there {
            self.happen(*agent, Event::Of(at, *agent));
            all.learn(&self.agents[*agent]);
        }
        for agent in there {
            self.agents[agent].learn(&all);
        }
    }

    /// Lets an agent execute a command.
    fn act(&mut self, commands: &[Command], at: usize, agent: usize) {
        let own = Event::Of(at, agent);
        if commands[at] == Command::ClusterWait(agent) {
            self.agents[agent].learn(&self.last.clone());
        }
        if let Command::AwaitCopy(_, copy) = commands[at] {
            self.learn_of(agent, Event::Of(copy, commands[copy].agent().expect("one does it")));
            self.agents[agent].knows(Event::Copied(copy, AGENTS[agent].0));
        }
        self.happen(agent, own);
        let knowledge = &mut self.agents[agent];
        match commands[at] {
            Command::Fence(_) => knowledge.ready.extend(knowledge.known.iter().copied()),
            Command::Init(_) => drop(knowledge.inits.insert(own)),
            Command::FenceInits(_) => knowledge.ready.extend(knowledge.inits.iter().copied()),
            Command::ClusterArrive(_, is_relaxed) => self.arrive(agent, is_relaxed),
            Command::Await(_, object) => {
                // The access to the object comes before what the wait sees.
                let is_it =
                    |other: &Command| matches!(other, Command::Arrive(_, of) if *of == object);
                let by = commands.iter().position(is_it).expect("it came before");
                self.learn_of(agent, Event::Of(by, commands[by].agent().expect("one does it")));
            }
            Command::Receive(..) | Command::Send(..) => {
                let past = knowledge.clone();
                let targets = commands[at].targets().into_iter();
                self.pasts.extend(targets.map(|cta| (Event::Copied(at, cta), past.clone())));
            }
            _ => {}
        }
    }

    /// Lets the warp of an agent arrive at the barrier of the cluster.
    fn arrive(&mut self, agent: usize, is_relaxed: bool) {
        let Knowledge { known, caused, ready, .. } = &self.agents[agent];
        self.current.caused.extend(caused.iter().copied());
        self.current.known.extend(if is_relaxed { ready } else { known }.iter().copied());
        self.arrived += 1;
        if self.arrived == AGENTS.len() {
            self.arrived = 0;
            self.last = std::mem::take(&mut self.current);
        }
    }

    /// Lets an agent learn of an event, and what happens before it.
    fn learn_of(&mut self, agent: usize, event: Event) {
        let past = self.pasts.iter().find(|(own, _)| *own == event).expect("it came before");
        self.agents[agent].learn(&past.1);
        self.agents[agent].knows(event);
    }
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
}
