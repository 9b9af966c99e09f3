//! The judge under test: the project's own barriers, order and shadows, run on one schedule of a program.
//!
//! An agent is modelled as a warp with one lane, so that a count of agents is 32 times as many threads.

use std::collections::{BTreeMap, BTreeSet};

use weft_core::emulate::{
    Access, AccessKind, Arrival, BarrierId, BarrierUse, Barriers, CtaRank, PerWarp, Symbolics,
    Value, WarpId, WarpSet,
};
use weft_core::flow::Pc;
use weft_core::order::Order;
use weft_core::ptx::Space;
use weft_core::race::{Conflict, CtaHistory, Pairs as Racing, Shadow, Watched};

use crate::machine::{CmdId, Command, PLACES, Program};
use crate::model::Pairs;

/// Returns the races of a well-synchronized program; `None` if the program is not well-synchronized.
pub(crate) fn judge(program: &Program, schedule: Schedule) -> Option<Pairs> {
    let mut decided = Decided { shadow: Shadow::within(u64::MAX) };
    run(program, schedule, &mut decided)?;
    let bytes: BTreeSet<u64> = decided.shadow.racing().keys().copied().collect();
    let watched = Watched { shared: bytes.clone(), global: BTreeSet::new() };
    let mut explained = Explained {
        history: CtaHistory::within(u64::MAX, &watched),
        pairs: Racing::within(u64::MAX, u64::MAX),
        symbolics: Symbolics::default(),
    };
    run(program, schedule, &mut explained)?;
    let pairs = explained.pairs();
    assert_eq!(locations(program, &pairs), bytes, "the two passes differ on {program:?}");
    Some(pairs)
}

/// The order in which runnable agents step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Schedule {
    /// The agent with the lowest number.
    Lowest,
    /// The agent with the highest number.
    Highest,
    /// One step of each agent in turn.
    InTurn,
}

fn locations(program: &Program, pairs: &Pairs) -> BTreeSet<u64> {
    let location = |&(agent, index): &CmdId| match program.agents[agent][index] {
        Command::Read(location) | Command::Write(location) => u64::from(location) * 4,
        Command::Sync { .. } | Command::Arrive { .. } => unreachable!("only accesses race"),
    };
    pairs.iter().flat_map(|(a, _)| location(a)..location(a) + 4).collect()
}

trait Pass {
    fn access(&mut self, access: &Access<'_>, order: &Order);
}

struct Decided {
    shadow: Shadow,
}

impl Pass for Decided {
    fn access(&mut self, access: &Access<'_>, order: &Order) {
        self.shadow.access(access, order);
    }
}

struct Explained {
    history: CtaHistory,
    pairs: Racing,
    symbolics: Symbolics,
}

impl Pass for Explained {
    fn access(&mut self, access: &Access<'_>, order: &Order) {
        self.history.access(access, 0, order, &self.symbolics, &mut self.pairs);
    }
}

impl Explained {
    fn pairs(&self) -> Pairs {
        let id = |pc: Pc| (pc.index() / PLACES, pc.index() % PLACES);
        let mut pairs = Pairs::new();
        for (_, pair) in self.pairs.iter() {
            assert_eq!(pair.conflict, Conflict::Race);
            let (a, b) = (id(pair.example.first.pc), id(pair.example.second.pc));
            pairs.insert((a.min(b), a.max(b)));
        }
        pairs
    }
}

/// The state of a run.
struct Run<'p> {
    program: &'p Program,
    next: Vec<usize>,
    /// For each waiting agent, its barrier.
    waits: BTreeMap<usize, BarrierId>,
    live: WarpSet,
    barriers: Barriers,
    order: Order,
}

/// Runs a program to its end; `None` if it deadlocks, misuses a barrier or recycles one unsafely.
fn run(program: &Program, schedule: Schedule, pass: &mut impl Pass) -> Option<()> {
    let agents = program.agents.len();
    let mut run = Run {
        program,
        next: vec![0; agents],
        waits: BTreeMap::new(),
        live: (0..agents).map(WarpId::new).collect(),
        barriers: Barriers::new(agents as u64),
        order: Order::new(&PerWarp::new(agents, |_| 1)),
    };
    let mut turn = 0;
    while run.live != WarpSet::EMPTY {
        let runs =
            |agent: &usize| run.live.has(WarpId::new(*agent)) && !run.waits.contains_key(agent);
        let agent = match schedule {
            Schedule::Lowest => (0..agents).find(runs),
            Schedule::Highest => (0..agents).rev().find(runs),
            Schedule::InTurn => (0..agents).map(|at| (turn + at) % agents).find(runs),
        }?;
        turn = agent + 1;
        run.step(agent, pass)?;
    }
    Some(())
}

impl Run<'_> {
    fn step(&mut self, agent: usize, pass: &mut impl Pass) -> Option<()> {
        let index = self.next[agent];
        self.next[agent] += 1;
        let pc = Pc(u32::try_from(agent * PLACES + index).unwrap_or(u32::MAX));
        match self.program.agents[agent].get(index) {
            None => {
                self.live.remove(WarpId::new(agent));
                self.order.exit(WarpId::new(agent), 1);
            }
            Some(Command::Sync { barrier, count }) => {
                self.arrive(agent, pc, *barrier, *count, BarrierUse::Sync)?;
            }
            Some(Command::Arrive { barrier, count }) => {
                self.arrive(agent, pc, *barrier, *count, BarrierUse::Arrive)?;
            }
            Some(Command::Read(location)) => self.access(agent, pc, *location, false, pass),
            Some(Command::Write(location)) => self.access(agent, pc, *location, true, pass),
        }
        Some(())
    }

    fn arrive(
        &mut self,
        agent: usize,
        pc: Pc,
        barrier: u8,
        count: u8,
        how: BarrierUse,
    ) -> Option<()> {
        let threads = Some(u64::from(count) * 32);
        let (warp, barrier) =
            (WarpId::new(agent), BarrierId::named(CtaRank::default(), u64::from(barrier))?);
        let is_complete = self.barriers.arrive(warp, pc, barrier, threads, how, self.live).ok()?;
        let waits = how == BarrierUse::Sync;
        if self.order.arrive(Arrival { warp, barrier, waits, releases: u32::MAX, pc }).is_some() {
            return None;
        }
        if waits {
            self.waits.insert(agent, barrier);
        }
        if is_complete {
            self.order.complete(barrier);
            self.waits.retain(|_, own| *own != barrier);
        }
        Some(())
    }

    fn access(&mut self, agent: usize, pc: Pc, location: u8, writes: bool, pass: &mut impl Pass) {
        let addresses = Value::uniform(u64::from(location) * 4);
        let kind = AccessKind { writes, ..AccessKind::default() };
        let (space, bytes) = (Space::Shared, 4);
        let access = Access {
            warp: WarpId::new(agent),
            issuer: None,
            lanes: 1,
            pc,
            space,
            addresses: &addresses,
            bytes,
            kind,
            reads: !writes,
            stored: &[],
            condition: None,
            variable: None,
            is_representative: false,
            class: None,
            decides: false,
            seen: None,
            synchronizes: false,
        };
        pass.access(&access, &self.order);
    }
}
