//! Records a trace of one cta: every access of every thread, with the point at which it happens.

use std::collections::BTreeMap;

use weft_core::emulate::{
    Access, AccessKind, AgentWork, Arrival, AwaitedSignal, BarrierExit, BarrierId, BulkGroup,
    CopyAgent, CopyCommand, CtaRank, Events, Fault, FaultKind, Fence, Iteration, LaneMask,
    MbarrierEvent, MbarrierId, MbarrierStep, OpenAccess, OrderQuery, ProxyFence, SentSignal,
    SignalKey, Symbolics, WARP, WarpId, lanes,
};
use weft_core::flow::{Pc, PlaceId, Program};
use weft_core::ptx::Space;

use super::barriers::Barriers;
use super::copies::Copies;
use super::phases::Phases;
use super::relation::{Point, Relation};
use super::{MOST_POINTS, MOST_TOUCHES};

/// An access of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Touch {
    pub(crate) pc: Pc,
    pub(crate) thread: usize,
    pub(crate) point: Point,
    /// What is behind the access is behind this point. For a thread it is the same; the agent of a copy passes on nothing
    /// that the thread knew.
    pub(crate) done: Point,
    /// Whether it is one of the async proxy.
    pub(crate) is_in_async: bool,
    pub(crate) kind: AccessKind,
    pub(crate) is_global: bool,
    pub(crate) address: u64,
    pub(crate) bytes: u32,
}

/// The trace of one cta.
pub(crate) struct Record<'p> {
    program: &'p Program,
    pub(crate) relation: Relation,
    pub(crate) barriers: Barriers,
    /// For each thread its current point; `None` once it has ended, and while it waits at a barrier.
    here: Vec<Option<Point>>,
    has_ended: Vec<bool>,
    pub(crate) touches: Vec<Touch>,
    /// For each thread, its copies in flight.
    copies: Vec<Copies>,
    /// For each agent, the bulk copies that their thread has not waited for.
    bulk: BTreeMap<WarpId, Copies>,
    /// The bulk copy, or the like, that was issued last: the point that it is at, and the one that says that it is done.
    copy: Option<(Point, Point)>,
    is_copy_in_async: bool,
    /// The points that say that something asynchronous is done.
    dones: Vec<Point>,
    /// For each agent, such a point of its last work.
    done: BTreeMap<WarpId, Point>,
    /// For each thread, its copies that mbarriers might follow.
    followed: Vec<Vec<Point>>,
    /// For each mbarrier object, its last phases.
    phases: BTreeMap<MbarrierId, Phases>,
    /// For each iteration of a loop, the point of each thread when it began the iteration.
    rounds: BTreeMap<Iteration, Vec<Option<Point>>>,
    /// The barriers whose generation has to complete next.
    due: Vec<BarrierId>,
    /// Where threads executed fences between the proxies.
    pub(crate) fences: Vec<Point>,
    /// Whether some thread aborted the launch.
    pub(crate) has_trapped: bool,
}

impl<'p> Record<'p> {
    pub(crate) fn new(program: &'p Program, threads: usize) -> Self {
        let mut relation = Relation::default();
        let here = (0..threads).map(|_| Some(relation.behind(&[]))).collect();
        Self {
            program,
            relation,
            barriers: Barriers::new(threads.div_ceil(WARP)),
            here,
            has_ended: vec![false; threads],
            touches: Vec::new(),
            copies: vec![Copies::default(); threads],
            bulk: BTreeMap::new(),
            copy: None,
            is_copy_in_async: false,
            dones: Vec::new(),
            done: BTreeMap::new(),
            followed: vec![Vec::new(); threads],
            phases: BTreeMap::new(),
            rounds: BTreeMap::new(),
            due: Vec::new(),
            fences: Vec::new(),
            has_trapped: false,
        }
    }

    /// Returns the points of work that an agent does in order, at its beginning and when it is done. It is behind the agent's earlier
    /// work, and once it is done, so is everything asynchronous that its thread knew to be done.
    fn work_in_order(&mut self, agent: WarpId, here: &[Point]) -> (Point, Point) {
        let last = self.done.get(&agent).copied();
        let copy = self.relation.behind(&[here, last.as_slice()].concat());
        let is_known = |done: &Point| here.iter().any(|here| self.relation.holds(*done, *here));
        let known: Vec<Point> = self.dones.iter().copied().filter(is_known).chain(last).collect();
        let done = self.relation.behind(&known);
        (copy, done)
    }

    /// Adds what a bulk copy accesses that a thread has issued.
    fn bulk_access(&mut self, access: &Access<'_>, thread: usize) {
        let (point, done) = self.copy.expect("an agent has taken the copy over");
        let (pc, kind, bytes) = (access.pc, access.kind, access.bytes);
        let is_global = access.space == Space::Global;
        for lane in lanes(access.lanes) {
            let address = access.addresses.bits_of(lane);
            self.touches.push(Touch {
                pc,
                thread,
                point,
                done,
                is_in_async: self.is_copy_in_async,
                kind,
                is_global,
                address,
                bytes,
            });
        }
    }

    fn live(&self, warp: WarpId) -> Vec<usize> {
        let first = warp.index() * WARP;
        let threads = first..(first + WARP).min(self.here.len());
        threads.filter(|thread| !self.has_ended[*thread]).collect()
    }

    fn is_live(&self, warp: WarpId) -> bool {
        !self.live(warp).is_empty()
    }

    /// Whether a bound is reached, from which on the trace is incomplete.
    pub(crate) fn is_full(&self) -> bool {
        self.relation.len() >= MOST_POINTS || self.touches.len() >= MOST_TOUCHES
    }

    /// Whether all threads have ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.iter().all(|ended| *ended)
    }

    /// Updates `due` after an event.
    fn settle(&mut self) {
        let is_due = |barrier: &BarrierId| {
            self.barriers.is_due(*barrier, |warp| self.is_live(warp)) == Some(true)
        };
        self.due = (0..16)
            .filter_map(|name| BarrierId::named(CtaRank::default(), name))
            .filter(is_due)
            .collect();
    }

    /// Asserts that no generation has to complete before the next event.
    pub(crate) fn assert_settled(&self) {
        assert!(self.due.is_empty(), "barriers {:?} are full and not released", self.due);
    }
}

fn threads(warp: WarpId, mask: LaneMask) -> impl Iterator<Item = usize> {
    lanes(mask).map(move |lane| warp.index() * WARP + lane)
}

impl OrderQuery for Record<'_> {
    fn is_separated(&self, warp: WarpId, round: Iteration) -> bool {
        let Some(began) = self.rounds.get(&round) else { return false };
        let own = self.live(warp);
        let is_before = |point: Point| {
            own.iter()
                .all(|own| self.here[*own].is_some_and(|here| self.relation.holds(point, here)))
        };
        let mut others = (0..began.len()).filter(|other| !self.has_ended[*other]);
        others.all(|other| began[other].is_some_and(is_before))
    }

    fn knows_completion(&self, object: MbarrierId, warp: WarpId, mask: LaneMask) -> LaneMask {
        let knows = |thread: &usize| {
            let here = self.here[*thread].expect("a thread that tests a phase runs");
            let is_before = |point| point == here || self.relation.holds(point, here);
            self.phases.get(&object).is_some_and(|own| own.is_last_known(is_before))
        };
        let known = threads(warp, mask).filter(knows);
        known.fold(0, |known, thread| known | 1 << (thread % WARP))
    }

    fn knows_work(&self, agent: WarpId, warp: WarpId, mask: LaneMask) -> bool {
        let knows = |thread: usize| {
            let here = self.here[thread].expect("a thread that accesses runs");
            self.done.get(&agent).is_none_or(|done| self.relation.holds(*done, here))
        };
        threads(warp, mask).all(knows)
    }

    fn awaited_before(&self) -> Vec<SignalKey> {
        Vec::new()
    }
}

impl Events for Record<'_> {
    fn access(&mut self, access: &Access<'_>, _: &Symbolics) {
        if self.is_full() {
            return;
        }
        if let Some((warp, lane)) = access.only_issuer() {
            return self.bulk_access(access, warp.index() * WARP + usize::from(lane));
        }
        for lane in lanes(access.lanes) {
            let (warp, _) = access.thread(lane);
            let thread = warp.index() * WARP + lane;
            let mut point = self.here[thread].expect("a thread that accesses runs");
            let mut done = point;
            if access.kind.is_asynchronous() {
                // The copy is behind what the thread has done, and beside what the thread does next.
                let (copy, next) = (self.relation.behind(&[point]), self.relation.behind(&[point]));
                done = self.relation.behind(&[]);
                self.copies[thread].add(done);
                self.followed[thread].push(done);
                self.here[thread] = Some(next);
                point = copy;
            }
            let (pc, kind, bytes) = (access.pc, access.kind, access.bytes);
            let address = access.addresses.bits_of(thread % WARP);
            let is_global = access.space == Space::Global;
            self.touches.push(Touch {
                pc,
                thread,
                point,
                done,
                is_in_async: false,
                kind,
                is_global,
                address,
                bytes,
            });
        }
    }

    fn open_access(&mut self, _: WarpId, _: LaneMask, _: OpenAccess) {}

    fn copies(&mut self, warp: WarpId, mask: LaneMask, command: CopyCommand, _: &Symbolics) {
        for thread in threads(warp, mask) {
            let here = self.here[thread].expect("a thread that waits for copies runs");
            let mut behind = self.copies[thread].command(command);
            behind.push(here);
            self.here[thread] = Some(self.relation.behind(&behind));
        }
    }

    fn fault(&mut self, fault: Fault) {
        self.has_trapped |= matches!(fault.kind, FaultKind::Trapped(_));
    }

    fn lend(&mut self, agent: CopyAgent) {
        let here: Vec<Point> = threads(agent.warp, agent.lanes)
            .map(|thread| self.here[thread].expect("a thread that copies runs"))
            .collect();
        let (copy, done) = match agent.work {
            AgentWork::InOrder => self.work_in_order(agent.agent, &here),
            _ => (self.relation.behind(&here), self.relation.behind(&[])),
        };
        self.dones.push(done);
        self.done.insert(agent.agent, done);
        match agent.work {
            AgentWork::Counted(object) | AgentWork::Counting(object) => {
                self.phases.entry(object).or_default().copy(done);
            }
            AgentWork::Grouped => self.bulk.entry(agent.agent).or_default().add(done),
            AgentWork::InOrder => {}
            AgentWork::ByLane => return,
            AgentWork::Inits => unreachable!("kernels of clusters are not compared"),
        }
        self.copy = Some((copy, done));
        self.is_copy_in_async = !matches!(agent.work, AgentWork::Counting(_));
        for (thread, here) in threads(agent.warp, agent.lanes).zip(here) {
            self.here[thread] = Some(self.relation.behind(&[here]));
        }
    }

    fn bulk_group(&mut self, group: BulkGroup) {
        let complete = self.bulk.entry(group.agent).or_default().command(group.step);
        for thread in threads(group.warp, group.lanes) {
            let mut behind = complete.clone();
            behind.push(self.here[thread].expect("a thread that waits for copies runs"));
            self.here[thread] = Some(self.relation.behind(&behind));
        }
    }

    fn mbarrier(&mut self, event: MbarrierEvent) {
        let MbarrierEvent { warp, lanes: mask, object, step, .. } = event;
        let phases = self.phases.entry(object).or_default();
        let counts = matches!(
            step,
            MbarrierStep::Arrive { .. }
                | MbarrierStep::Follow { .. }
                | MbarrierStep::Expect
                | MbarrierStep::Copied
        );
        if counts {
            let here = threads(warp, mask).filter_map(|thread| self.here[thread]);
            here.for_each(|point| phases.count(point));
        }
        match step {
            MbarrierStep::Init => *phases = Phases::default(),
            MbarrierStep::Complete => phases.complete(),
            MbarrierStep::Follow { by: Some(agent), .. } => {
                self.done.get(&agent).iter().for_each(|done| phases.copy(**done));
                phases.follow();
            }
            MbarrierStep::Follow { .. } => {
                for thread in threads(warp, mask) {
                    self.followed[thread].iter().for_each(|copy| phases.copy(*copy));
                }
                phases.follow();
            }
            MbarrierStep::Arrive { releases: true, .. } => {
                for thread in threads(warp, mask) {
                    let here = self.here[thread].expect("a thread that arrives runs");
                    phases.arrive(here);
                    // What the thread does next is not released.
                    self.here[thread] = Some(self.relation.behind(&[here]));
                }
            }
            MbarrierStep::Wait { acquires: true, .. } => {
                for thread in threads(warp, mask) {
                    let mut behind = phases.last().to_vec();
                    behind.push(self.here[thread].expect("a thread that waits runs"));
                    self.here[thread] = Some(self.relation.behind(&behind));
                }
                let here = threads(warp, mask).filter_map(|thread| self.here[thread]);
                here.for_each(|point| phases.wait(point));
            }
            MbarrierStep::Wait { acquires: false, .. } => {
                let here = threads(warp, mask).filter_map(|thread| self.here[thread]);
                here.for_each(|point| phases.wait(point));
            }
            _ => {}
        }
    }

    fn fence(&mut self, _: Fence) {}

    fn signal(&mut self, _: SentSignal) {}
    fn await_signal(&mut self, _: AwaitedSignal) {}

    fn proxy_fence(&mut self, fence: ProxyFence) {
        for thread in threads(fence.warp, fence.lanes).filter(|_| !fence.may_execute) {
            let here = self.here[thread].expect("a thread that executes a fence runs");
            let point = self.relation.behind(&[here]);
            self.fences.push(point);
            self.here[thread] = Some(self.relation.behind(&[point]));
        }
    }

    /// Orders no memory.
    fn meet(&mut self, _: WarpId, _: LaneMask) {}

    fn converge(&mut self, warp: WarpId, mask: LaneMask) {
        if self.is_full() {
            return;
        }
        let met: Vec<usize> = threads(warp, mask).filter(|own| !self.has_ended[*own]).collect();
        let points: Vec<Point> = met.iter().filter_map(|own| self.here[*own]).collect();
        let meeting = self.relation.behind(&points);
        for thread in met {
            self.here[thread] = Some(self.relation.behind(&[meeting]));
        }
    }

    fn arrive(&mut self, arrival: Arrival) {
        self.assert_settled();
        let live = self.live(arrival.warp);
        let here: Vec<Point> =
            live.iter().map(|thread| self.here[*thread].expect("nobody arrives twice")).collect();
        let commands = self.barriers.arrive(arrival, &here, self.program, &mut self.relation);
        for (thread, command) in live.into_iter().zip(commands) {
            self.here[thread] =
                if arrival.waits { None } else { Some(self.relation.behind(&[command])) };
        }
        self.settle();
    }

    fn complete(&mut self, barrier: BarrierId) {
        let is_due = self.barriers.is_due(barrier, |warp| self.is_live(warp));
        assert_ne!(is_due, Some(false), "barrier {barrier} is released early");
        let (point, waiting) = self.barriers.complete(barrier, &mut self.relation);
        for warp in waiting {
            for thread in self.live(warp) {
                self.here[thread] = Some(self.relation.behind(&[point]));
            }
        }
        self.settle();
    }

    fn see_cluster(&mut self, _: WarpId) {
        unreachable!("kernels of clusters are not compared");
    }

    fn barrier_exit(&mut self, _: BarrierExit) {}

    fn possible_bypass(&mut self, _: PlaceId) {}

    fn iteration(&mut self, warp: WarpId, round: Iteration) {
        let count = self.here.len();
        let live = self.live(warp);
        let began = self.rounds.entry(round).or_insert_with(|| vec![None; count]);
        for thread in live {
            began[thread] = self.here[thread];
        }
    }

    fn exit(&mut self, warp: WarpId, mask: LaneMask) {
        for thread in threads(warp, mask) {
            self.has_ended[thread] = true;
            self.here[thread] = None;
        }
        self.settle();
    }
}
