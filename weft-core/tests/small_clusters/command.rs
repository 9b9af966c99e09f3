//! What the threads of a cluster of two ctas do, command by command.

use crate::dice::Dice;

/// The threads that do something, by cta and thread: the first lane of each of two warps of each cta.
pub(crate) const AGENTS: [(usize, u32); 4] = [(0, 0), (0, 32), (1, 0), (1, 32)];
/// Number of words of shared memory in each cta, each with 16 bytes.
pub(crate) const SLOTS: usize = 2;
/// The most commands of a kernel; that all meet at the barrier of the cluster counts as one.
const MOST: usize = 14;

/// A word: its cta, and its number there.
pub(crate) type Word = (usize, usize);

/// The threads that an atomic is strong for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Cta,
    Cluster,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// An agent writes a word.
    Store(usize, Word),
    /// An agent reads a word.
    Load(usize, Word),
    /// An agent adds to a word atomically.
    Add(usize, Word, Scope),
    /// An agent executes `fence.acq_rel.cluster`.
    Fence(usize),
    /// An agent executes `fence.proxy.async`.
    FenceProxies(usize),
    /// An agent initializes an mbarrier object of this command's own in its cta, for one arrival.
    Init(usize),
    /// An agent executes `fence.mbarrier_init`.
    FenceInits(usize),
    /// An agent arrives at the object of an earlier command.
    Arrive(usize, usize),
    /// An agent waits for the phase of the object of an earlier command.
    Await(usize, usize),
    /// The threads of a cta meet at `bar.sync`.
    Meet(usize),
    /// The warp of an agent arrives at the barrier of the cluster; the flag says `.relaxed`.
    ClusterArrive(usize, bool),
    /// The warp of an agent waits for it.
    ClusterWait(usize),
    /// An agent copies global memory to the word of this number in some ctas, a bit for each, and arrives in each at an
    /// mbarrier object of this copy's own, which expects the bytes.
    Receive(usize, u32, usize),
    /// An agent copies the word of a number in its cta to a word, likewise.
    Send(usize, usize, Word),
    /// An agent waits for the phase of the object of a copy in its cta.
    AwaitCopy(usize, usize),
}

impl Command {
    /// The agent that executes the command.
    pub(crate) const fn agent(self) -> Option<usize> {
        match self {
            Self::Store(agent, _)
            | Self::Load(agent, _)
            | Self::Add(agent, ..)
            | Self::Fence(agent)
            | Self::FenceProxies(agent)
            | Self::Init(agent)
            | Self::FenceInits(agent)
            | Self::Arrive(agent, _)
            | Self::Await(agent, _)
            | Self::ClusterArrive(agent, _)
            | Self::ClusterWait(agent)
            | Self::Receive(agent, ..)
            | Self::Send(agent, ..)
            | Self::AwaitCopy(agent, _) => Some(agent),
            Self::Meet(_) => None,
        }
    }

    /// The ctas that a copy writes to.
    pub(crate) fn targets(self) -> Vec<usize> {
        match self {
            Self::Receive(_, mask, _) => (0..2).filter(|cta| mask >> cta & 1 == 1).collect(),
            Self::Send(_, _, to) => vec![to.0],
            _ => Vec::new(),
        }
    }
}

/// What a warp has to do next at the barrier of the cluster.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Arrive,
    Wait,
    See,
}

/// A list of commands while it is made: run in its order, no command waits for a later one.
pub(crate) struct Maker {
    pub(crate) commands: Vec<Command>,
    turns: [Turn; AGENTS.len()],
    /// Whether it has copies.
    may_copy: bool,
    /// Whether it has atomics; otherwise it has fences of all memory. With both, threads might order each other through
    /// memory, which is not followed.
    may_add: bool,
}

impl Maker {
    fn push(&mut self, command: Command) {
        match command {
            Command::ClusterArrive(agent, _) => {
                self.turns[agent] = Turn::Wait;
                if self.turns.iter().all(|turn| *turn == Turn::Wait) {
                    self.turns = [Turn::See; AGENTS.len()];
                }
            }
            Command::ClusterWait(agent) => self.turns[agent] = Turn::Arrive,
            _ => {}
        }
        self.commands.push(command);
    }

    /// The next turn of a warp at the barrier of the cluster, if it has not to wait for others.
    fn turn(&self, agent: usize, is_relaxed: bool) -> Option<Command> {
        match self.turns[agent] {
            Turn::Arrive if !self.turns.contains(&Turn::See) => {
                Some(Command::ClusterArrive(agent, is_relaxed))
            }
            Turn::See => Some(Command::ClusterWait(agent)),
            _ => None,
        }
    }

    /// Lets all warps that can arrive at the barrier of the cluster, and then wait for it, each `.relaxed` or not.
    fn meet(&mut self, mut is_relaxed: impl FnMut() -> bool) {
        for _ in 0..2 {
            for agent in 0..AGENTS.len() {
                if let Some(command) = self.turn(agent, is_relaxed()) {
                    self.push(command);
                }
            }
        }
    }

    /// Lets all warps come to an end with the barrier of the cluster.
    fn close(&mut self) {
        while self.turns.iter().any(|turn| *turn != Turn::Arrive) {
            for agent in 0..AGENTS.len() {
                if self.turns[agent] == Turn::Arrive && !self.turns.contains(&Turn::Wait) {
                    continue;
                }
                if let Some(command) = self.turn(agent, false) {
                    self.push(command);
                }
            }
        }
    }
}

/// Returns a random list of commands. `may_copy`: whether it has copies. `happens`: whether something that the command of a
/// number did has caused what an agent does behind a list.
pub(crate) fn list(
    dice: &mut Dice,
    may_copy: bool,
    happens: impl Fn(&[Command], usize, usize) -> bool,
) -> Vec<Command> {
    let count = 3 + below(dice, MOST - 2);
    let turns = [Turn::Arrive; AGENTS.len()];
    let may_add = dice.chance(50);
    let mut maker = Maker { commands: Vec::new(), turns, may_copy, may_add };
    let relaxed = dice.pick(&[0, 50, 90]);
    let (mut made, mut tries) = (0, 0);
    while made < count && tries < 200 {
        tries += 1;
        if dice.chance(10) {
            maker.meet(|| dice.chance(relaxed));
            made += 1;
            continue;
        }
        let is_relaxed = dice.chance(relaxed);
        if let Some(next) = next(dice, &maker, is_relaxed, &happens) {
            maker.push(next);
            made += 1;
        }
    }
    maker.close();
    if dice.chance(50) {
        (0..AGENTS.len()).for_each(|agent| maker.push(Command::ClusterArrive(agent, false)));
        (0..AGENTS.len()).for_each(|agent| maker.push(Command::ClusterWait(agent)));
    }
    maker.commands
}

fn next(
    dice: &mut Dice,
    maker: &Maker,
    is_relaxed: bool,
    happens: &impl Fn(&[Command], usize, usize) -> bool,
) -> Option<Command> {
    let agent = dice.pick(&[0, 1, 2, 3]);
    let (cta, _) = AGENTS[agent];
    let word = (below(dice, 2), below(dice, SLOTS));
    let of = |is_it: &dyn Fn(&Command) -> bool| -> Vec<usize> {
        let all = 0..maker.commands.len();
        all.filter(|at| is_it(&maker.commands[*at])).collect()
    };
    let one =
        |dice: &mut Dice, all: Vec<usize>| (!all.is_empty()).then(|| all[below(dice, all.len())]);
    Some(match below(dice, 26) {
        0..=2 => Command::Store(agent, word),
        3..=4 => Command::Load(agent, word),
        5 if maker.may_add => Command::Add(agent, word, Scope::Cta),
        6 if maker.may_add => Command::Add(agent, word, Scope::Cluster),
        5..=7 if !maker.may_add => Command::Fence(agent),
        8..=10 => Command::Meet(cta),
        11..=16 => maker.turn(agent, is_relaxed)?,
        17 => Command::Init(agent),
        18 => Command::FenceInits(agent),
        19 => {
            let objects = of(&|own| matches!(own, Command::Init(_)));
            let object = one(dice, objects)?;
            let is_used = of(&|own| matches!(own, Command::Arrive(_, of) if *of == object));
            let is_ready = is_used.is_empty() && happens(&maker.commands, agent, object);
            is_ready.then_some(Command::Arrive(agent, object))?
        }
        20 => {
            let arrived = of(&|own| matches!(own, Command::Arrive(..)));
            let Command::Arrive(_, object) = maker.commands[one(dice, arrived)?] else { None? };
            let owner = maker.commands[object].agent()?;
            let is_near = AGENTS[owner].0 == cta && happens(&maker.commands, agent, object);
            is_near.then_some(Command::Await(agent, object))?
        }
        21 if maker.may_copy => Command::FenceProxies(agent),
        22 if maker.may_copy => Command::Receive(agent, dice.pick(&[1, 2, 3, 3]), word.1),
        23 if maker.may_copy => Command::Send(agent, below(dice, SLOTS), word),
        24..=25 if maker.may_copy => {
            let copies = of(&|own| own.targets().contains(&cta));
            Command::AwaitCopy(agent, one(dice, copies)?)
        }
        _ => None?,
    })
}

fn below(dice: &mut Dice, count: usize) -> usize {
    dice.roll(u32::try_from(count).expect("few")) as usize
}
