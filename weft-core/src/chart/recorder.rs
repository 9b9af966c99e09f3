//! The observer of the run that is shown: logs what happens at barriers, and where the sites of a finding are.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use super::log::{Entry, RunLog};
use crate::emulate::{
    Access, Arrival, AwaitedSignal, BarrierExit, BarrierId, BulkGroup, CopyAgent, CopyCommand,
    Events, Fault, Fence, Issuer, Iteration, LaneMask, MbarrierEvent, MbarrierId, OpenAccess,
    OrderQuery, PerWarp, ProxyFence, SentSignal, SignalKey, Symbolics, WarpId,
};
use crate::flow::{Pc, PlaceId, Program};
use crate::order::{Epoch, Order};
use crate::ptx::{Space, Span};

/// The most points of a site that are compared with points of the other site: the last ones.
const MOST_POINTS: usize = 256;

/// A site of a finding with one of its threads, in the cta that is run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watch {
    /// The index of the mark that stands for it.
    pub(super) mark: usize,
    pub(super) span: Span,
    pub(super) warp: WarpId,
    pub(super) lane: usize,
}

/// The memory that an instruction accesses.
#[derive(Clone, Debug)]
enum Reach {
    /// These bytes of a state space.
    Bytes(Space, Range<u64>),
    /// It is not known which.
    Open,
    /// It is no access.
    Nothing,
}

/// A point of the run at which the thread of a site executes its instruction.
#[derive(Clone, Debug)]
pub(super) struct RunPoint {
    /// Its number among the points of the cta.
    pub(super) number: usize,
    /// The warp that does it, or an agent that does it for the thread, with the lane of it and its time.
    doer: (WarpId, usize),
    then: Epoch,
    reach: Reach,
}

impl RunPoint {
    /// Whether the two might access a common byte.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        match (&self.reach, &other.reach) {
            (Reach::Bytes(a, one), Reach::Bytes(b, two)) => {
                a == b && one.start < two.end && two.start < one.end
            }
            (Reach::Nothing, _) | (_, Reach::Nothing) => false,
            (Reach::Open, _) | (_, Reach::Open) => true,
        }
    }
}

/// The points of one site.
#[derive(Debug, Default)]
pub(super) struct SitePoints {
    pub(super) first: Option<RunPoint>,
    pub(super) last: VecDeque<RunPoint>,
}

/// Records the run of one cta.
pub(super) struct ChartRecorder<'a> {
    program: &'a Program,
    order: Order,
    pub(super) log: RunLog,
    pub(super) watches: Vec<Watch>,
    pub(super) points: Vec<SitePoints>,
    /// The number of points so far.
    count: usize,
    /// Two points of the two sites that nothing orders, by the numbers of the points.
    pub(super) pair: Option<[usize; 2]>,
    live: PerWarp<LaneMask>,
    /// The marks whose threads had ended when their warps arrived at a barrier.
    pub(super) ended_early: BTreeSet<usize>,
}

impl<'a> ChartRecorder<'a> {
    /// Creates the recorder of a cta. `live`: the lanes of each warp.
    pub(super) fn new(program: &'a Program, live: PerWarp<LaneMask>, watches: Vec<Watch>) -> Self {
        let points = watches.iter().map(|_| SitePoints::default()).collect();
        let (order, log) = (Order::new(&live.clone()), RunLog::default());
        Self {
            program,
            order,
            log,
            watches,
            points,
            count: 0,
            pair: None,
            live,
            ended_early: BTreeSet::new(),
        }
    }

    /// Whether a site's thread is among the lanes that execute an instruction.
    fn is_at(&self, watch: &Watch, (pc, warp, lanes): (Pc, WarpId, LaneMask)) -> bool {
        watch.warp == warp
            && lanes >> watch.lane & 1 == 1
            && self.program.place(pc).span == watch.span
    }

    /// Records that lanes execute an instruction, if some site is there. `reach`: what a lane accesses.
    fn see(&mut self, at: (Pc, WarpId, LaneMask), reach: impl Fn(usize) -> Reach) {
        self.see_done(at, |watch| (watch.warp, watch.lane), reach);
    }

    /// As `see`, where `doer` does what a thread has issued.
    fn see_done(
        &mut self,
        at: (Pc, WarpId, LaneMask),
        doer: impl Fn(&Watch) -> (WarpId, usize),
        reach: impl Fn(usize) -> Reach,
    ) {
        if self.pair.is_some() {
            return;
        }
        for index in 0..self.watches.len() {
            let watch = self.watches[index];
            if !self.is_at(&watch, at) {
                continue;
            }
            let number = self.count;
            self.count += 1;
            self.log.push(Entry::Point(number));
            let doer = doer(&watch);
            let then = self.order.now(doer.0);
            let point = RunPoint { number, doer, then, reach: reach(watch.lane) };
            if let Some(other) = self.unordered_with(index, &point) {
                self.pair = Some(if index == 0 { [number, other] } else { [other, number] });
                self.log.pin();
                return;
            }
            let own = &mut self.points[index];
            own.first.get_or_insert_with(|| point.clone());
            own.last.push_back(point);
            if own.last.len() > MOST_POINTS {
                own.last.pop_front();
            }
        }
    }

    /// Returns the last point of the other one of two sites that might access the same bytes as this one and does not happen
    /// before it.
    fn unordered_with(&self, index: usize, point: &RunPoint) -> Option<usize> {
        let [_, _] = self.points.as_slice() else { return None };
        let is_unordered = |before: &&RunPoint| {
            let (warp, lane) = before.doer;
            let before_it = (warp, before.then, 1 << lane);
            point.overlaps(before) && self.order.unordered_lanes(before_it, point.doer) != 0
        };
        let found = self.points[1 - index].last.iter().rev().find(is_unordered);
        found.map(|found| found.number)
    }
}

impl OrderQuery for ChartRecorder<'_> {
    fn is_separated(&self, warp: WarpId, iteration: Iteration) -> bool {
        self.order.is_separated(warp, iteration)
    }

    fn knows_completion(&self, object: MbarrierId, warp: WarpId, lanes: LaneMask) -> LaneMask {
        self.order.knows_completion(object, warp, lanes)
    }

    fn knows_work(&self, agent: WarpId, warp: WarpId, lanes: LaneMask) -> bool {
        self.order.knows_work(agent, (warp, lanes))
    }

    fn awaited_before(&self) -> Vec<SignalKey> {
        self.order.awaited_before()
    }
}

impl Events for ChartRecorder<'_> {
    fn access(&mut self, access: &Access<'_>, _: &Symbolics) {
        // What a bulk copy does in global memory, and what an mbarrier object counts for a thread, is shown where the thread
        // issues it.
        if let Some((warp, lane)) = access.only_issuer()
            && (access.space == Space::Global || access.kind.is_atomic())
        {
            let (first, last) = access.addresses.ends(access.lanes);
            let end = last.saturating_add(access.bytes.into());
            let is_global = access.space == Space::Global;
            let doer = if is_global { (warp, lane.into()) } else { (access.warp, 0) };
            self.see_done(
                (access.pc, warp, 1 << lane),
                |_| doer,
                |_| Reach::Bytes(access.space, first..end),
            );
            return;
        }
        let warp = match access.issuer {
            Some(Issuer::Lanes(warp)) => warp,
            _ => access.warp,
        };
        self.see_done(
            (access.pc, warp, access.lanes),
            |watch| (access.warp, watch.lane),
            |lane| {
                let start = access.addresses.bits_of(lane);
                Reach::Bytes(access.space, start..start.saturating_add(access.bytes.into()))
            },
        );
    }

    fn open_access(&mut self, warp: WarpId, lanes: LaneMask, access: OpenAccess) {
        self.see((access.pc, warp, lanes), |_| Reach::Open);
    }

    fn fault(&mut self, fault: Fault) {
        self.see((fault.pc, fault.warp, 1 << fault.lane), |_| Reach::Nothing);
    }

    fn copies(&mut self, warp: WarpId, lanes: LaneMask, command: CopyCommand, _: &Symbolics) {
        self.order.at_copies(warp, lanes, command);
    }

    fn lend(&mut self, agent: CopyAgent) {
        self.order.lend(agent);
    }

    fn bulk_group(&mut self, group: BulkGroup) {
        self.order.at_bulk_group(group);
    }

    fn mbarrier(&mut self, event: MbarrierEvent) {
        self.order.at_mbarrier(event);
    }

    fn signal(&mut self, sent: SentSignal) {
        self.order.signal(sent);
    }

    fn await_signal(&mut self, awaited: AwaitedSignal) {
        self.order.await_signal(awaited);
    }

    fn fence(&mut self, fence: Fence) {
        self.order.fence(fence);
    }

    fn proxy_fence(&mut self, fence: ProxyFence) {
        self.order.fence_proxies(fence);
    }

    fn meet(&mut self, warp: WarpId, lanes: LaneMask) {
        self.order.meet(warp, lanes);
    }

    fn converge(&mut self, warp: WarpId, lanes: LaneMask) {
        self.order.converge(warp, lanes);
    }

    fn arrive(&mut self, arrival: Arrival) {
        let Arrival { warp, pc, .. } = arrival;
        self.see((pc, warp, LaneMask::MAX), |_| Reach::Nothing);
        let live = self.live[warp];
        let is_over = |watch: &&Watch| watch.warp == warp && live >> watch.lane & 1 == 0;
        self.ended_early.extend(self.watches.iter().filter(is_over).map(|watch| watch.mark));
        if let Some(found) = self.order.arrive(arrival)
            && let [one, two] = self.watches.as_slice()
            && self.pair.is_none()
        {
            let span = |pc: Pc| self.program.place(pc).span;
            let is = |watch: &Watch, pc, warp| watch.span == span(pc) && watch.warp == warp;
            let last = |at: usize| self.points[at].last.back().map(|point| point.number);
            if is(one, found.arrival, found.arrival_warp)
                && is(two, found.previous, found.previous_warp)
                && let (Some(first), Some(second)) = (last(0), last(1))
            {
                self.pair = Some([first, second]);
                self.log.pin();
            }
        }
        self.log.arrive(arrival);
    }

    fn barrier_exit(&mut self, _: BarrierExit) {}

    fn possible_bypass(&mut self, _: PlaceId) {}

    fn complete(&mut self, barrier: BarrierId) {
        self.order.complete(barrier);
        self.log.complete(barrier);
    }

    fn see_cluster(&mut self, warp: WarpId) {
        self.order.see_cluster(warp);
    }

    fn iteration(&mut self, warp: WarpId, iteration: Iteration) {
        self.order.iteration(warp, iteration);
    }

    fn exit(&mut self, warp: WarpId, lanes: LaneMask) {
        self.order.exit(warp, lanes);
        let live = &mut self.live[warp];
        let was_live = *live != 0;
        *live &= !lanes;
        if was_live && *live == 0 {
            self.log.push(Entry::End(warp));
        }
    }
}
