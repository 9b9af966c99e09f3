//! The detector of the deciding pass: vector clocks and shadows of one cluster, fed with the machine's events, which find
//! the bytes that race.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::emulate::memory::bytes::Bytes;
use crate::emulate::{
    Access, Arrival, AwaitedSignal, BarrierExit, BarrierId, BulkGroup, CopyAgent, CopyCommand,
    Events, Fault, FaultKind, Fence, Inputs, Iteration, LaneMask, MbarrierEvent, MbarrierId,
    OpenAccess, OrderQuery, PerWarp, ProxyFence, SentSignal, SignalKey, Symbolics, WARP, WarpId,
    has_signals,
};
use crate::flow::{Pc, PlaceId, Program};
use crate::launch::Dim3;
use crate::order::{Order, PeerAccesses, PeerFault, PhaseDoubt, PhaseIssue, Recycling};
use crate::ptx::Space;
use crate::race::{CopiesInFlight, Footprint, KnownRows, OpenAccesses, Shadow, Unwritten};

/// The most faults that are recorded for a cta.
pub(super) const MAX_FAULTS: usize = 1024;

/// A page of global (the flag says so) or shared memory, by number, and some of its bytes.
pub(super) type UnsteadyPage = ((bool, u64), Bytes);

/// The state of one cluster's detector.
pub(super) struct Detector {
    order: Order,
    shared: Shadow,
    global: Shadow,
    /// What the cta does to global memory; `None` if there are no other ctas.
    footprint: Option<Footprint>,
    known: KnownRows,
    copies: CopiesInFlight,
    peers: PeerAccesses,
    pub(super) open: OpenAccesses,
    /// Barriers that were reused too early, one for each pair of instructions.
    recycled: Vec<Recycling>,
    known_recycled: BTreeSet<(Pc, Pc)>,
    /// What happened at mbarrier objects in phases that depend on the schedule, once for each pair of instructions.
    phases: BTreeMap<(PhaseDoubt, Pc, Pc), PhaseIssue>,
    /// The first fault for each instruction and kind.
    faults: Vec<Fault>,
    /// The instruction and kind of each recorded fault, and whether the fault might not happen.
    known_faults: BTreeSet<(Pc, FaultKind, bool)>,
    /// For each barrier instruction, the first warp that arrived at it after some of its lanes had ended.
    exits: BTreeMap<Pc, BarrierExit>,
    /// Branches at which lanes might have bypassed an aligned barrier.
    bypasses: BTreeSet<PlaceId>,
}

/// What was wrong in one cluster, or exceeded a limit.
#[derive(Debug, Default)]
pub(super) struct CtaResult {
    pub(super) recycled: Vec<Recycling>,
    pub(super) phases: Vec<PhaseIssue>,
    /// Accesses to the memory of ctas of the cluster that might not exist.
    pub(super) peers: Vec<PeerFault>,
    pub(super) faults: Vec<Fault>,
    /// For each barrier instruction, the first warp that arrived at it after some of its lanes had ended.
    pub(super) exits: BTreeMap<Pc, BarrierExit>,
    /// Branches at which lanes might have bypassed an aligned barrier.
    pub(super) bypasses: BTreeSet<PlaceId>,
    /// Reads of memory that nothing wrote, by instruction.
    pub(super) unwritten: BTreeMap<Pc, Unwritten>,
    /// The ranges of bytes that race, in shared and in global memory, ascending.
    pub(super) shared: Vec<Range<u64>>,
    pub(super) global: Vec<Range<u64>>,
    /// By page, the bytes whose value is up to the schedule although nothing races there.
    pub(super) unsteady: Vec<UnsteadyPage>,
    /// Whether more memory was accessed, or raced on, than the detector can follow.
    pub(super) is_full: bool,
}

/// The shadow of each state space can take the memory of the check divided by this.
const SHADOW_PART: u64 = 8;
/// The footprint can take the memory of the check divided by this.
const FOOTPRINT_PART: u64 = 32;

/// Joins bytes in ascending order into ranges.
fn ranges(bytes: impl Iterator<Item = u64>) -> Vec<Range<u64>> {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for byte in bytes {
        match ranges.last_mut() {
            Some(last) if last.end == byte => last.end = byte.saturating_add(1),
            _ => ranges.push(byte..byte.saturating_add(1)),
        }
    }
    ranges
}

/// The happens-before relation of a cluster that has not run yet.
pub(super) fn order(program: &Program, inputs: &Inputs) -> Order {
    let ctas = usize::try_from(inputs.cluster.count()).expect("a cluster has few ctas");
    let of_cta = full_warps(inputs.block);
    let live = (0..ctas).flat_map(|_| of_cta.iter().copied()).collect();
    let order = Order::new(&live).for_ctas(ctas);
    let order = order.with_agents(program.has_agents()).with_publications(program.publishes());
    order.with_signals(has_signals(program, inputs))
}

/// Returns the lanes that exist in each warp of a block.
pub(crate) fn full_warps(block: Dim3) -> PerWarp<LaneMask> {
    let (threads, warp) = (block.count(), WARP as u64);
    let lanes = |first: u64| match threads - first {
        rest if rest >= warp => LaneMask::MAX,
        rest => (1 << rest) - 1,
    };
    (0..threads.div_ceil(warp)).map(|index| lanes(index * warp)).collect()
}

impl Detector {
    /// Creates the detector of a cluster. `has_others`: whether the launch has other ctas. `memory`: bytes that a check can
    /// take.
    pub(super) fn new(
        (program, inputs): (&Program, &Inputs),
        has_others: bool,
        memory: u64,
        open: OpenAccesses,
    ) -> Self {
        Self {
            order: order(program, inputs),
            shared: Shadow::within(memory / SHADOW_PART),
            global: Shadow::within(memory / SHADOW_PART),
            footprint: has_others.then(|| Footprint::within(memory / FOOTPRINT_PART)),
            known: KnownRows::default(),
            copies: CopiesInFlight::default(),
            peers: PeerAccesses::default(),
            open,
            recycled: Vec::new(),
            known_recycled: BTreeSet::new(),
            phases: BTreeMap::new(),
            faults: Vec::new(),
            known_faults: BTreeSet::new(),
            exits: BTreeMap::new(),
            bypasses: BTreeSet::new(),
        }
    }

    /// Ends the run of a cluster; returns what was found, and the footprint that ctas of others might race with.
    pub(super) fn close(self) -> (CtaResult, Option<Footprint>) {
        let Self {
            order,
            shared,
            global,
            mut footprint,
            recycled,
            phases,
            faults,
            exits,
            bypasses,
            copies,
            peers,
            ..
        } = self;
        let spaces = [(false, &shared), (true, &global)].into_iter();
        let unsteady = spaces.flat_map(|(is_global, own)| {
            own.unsteady().map(move |(page, bytes)| ((is_global, page), bytes))
        });
        let found = CtaResult {
            unsteady: unsteady.collect(),
            recycled,
            phases: phases.into_values().collect(),
            faults,
            exits,
            bypasses,
            peers: peers.faults(&order),
            unwritten: shared.unwritten(),
            is_full: shared.is_full() || global.is_full() || copies.is_full,
            shared: ranges(shared.racing().keys().copied()),
            global: ranges(global.racing().keys().copied()),
        };
        if let Some(footprint) = &mut footprint {
            footprint.set_tags(order.signal_tags());
        }
        (found, footprint)
    }

    /// The number of the moment of an access, if ctas signal to each other.
    fn moment(&mut self, access: &Access<'_>) -> usize {
        if self.order.has_signals() { self.order.moment(access) } else { 0 }
    }
}

impl OrderQuery for Detector {
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

impl Events for Detector {
    fn access(&mut self, access: &Access<'_>, _: &Symbolics) {
        if !access.is_representative {
            self.open.known(access, &self.order);
        }
        // An earlier pass has compared what the shadows compare.
        if self.open.knows_order() {
            return;
        }
        let is_global = access.space == Space::Global;
        if is_global && access.kind.is_strong() && self.order.has_signals() {
            self.order.separate(access.warp);
        }
        let Self { shared, global, copies, order, .. } = self;
        let shadow = if access.space == Space::Shared { shared } else { global };
        copies.meet_once(access, |met| shadow.race(met.page, met.bytes, met.conflict));
        shadow.access(access, order);
        self.peers.access(access, &self.order);
        if is_global && self.footprint.is_some() {
            let moment = self.moment(access);
            if let Some(footprint) = &mut self.footprint {
                footprint.access(access, moment, &mut self.known);
            }
        }
        if access.kind.is_asynchronous() && access.issuer.is_none() {
            self.copies.issue(access);
        }
    }

    fn copies(&mut self, warp: WarpId, lanes: LaneMask, command: CopyCommand, _: &Symbolics) {
        self.order.at_copies(warp, lanes, command);
        for copy in self.copies.command(warp, lanes, command) {
            let access = copy.access();
            let is_shared = access.space == Space::Shared;
            let shadow = if is_shared { &mut self.shared } else { &mut self.global };
            shadow.access(&access, &self.order);
        }
    }

    fn open_access(&mut self, warp: WarpId, lanes: LaneMask, access: OpenAccess) {
        self.open.open(access, warp, lanes, &self.order);
    }

    fn fault(&mut self, fault: Fault) {
        let key = (fault.pc, fault.kind, fault.condition.is_some());
        if self.faults.len() < MAX_FAULTS && self.known_faults.insert(key) {
            self.faults.push(fault);
        }
    }

    fn lend(&mut self, agent: CopyAgent) {
        self.order.lend(agent);
    }

    fn bulk_group(&mut self, group: BulkGroup) {
        self.order.at_bulk_group(group);
    }

    fn mbarrier(&mut self, event: MbarrierEvent) {
        let Some(found) = self.order.at_mbarrier(event) else { return };
        let key = (found.doubt, found.here.0, found.before.0);
        self.phases.entry(key).or_insert(found);
    }

    fn signal(&mut self, sent: SentSignal) {
        self.order.signal(sent);
    }

    fn await_signal(&mut self, awaited: AwaitedSignal) {
        self.order.await_signal(awaited);
    }

    // That strong accesses synchronize by fences is modelled for signals between ctas alone: where a kernel has that
    // otherwise, a race is reported as `possible-race`.
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
        let Some(found) = self.order.arrive(arrival) else { return };
        if self.known_recycled.insert((found.previous, found.arrival)) {
            self.recycled.push(found);
        }
    }

    fn barrier_exit(&mut self, exit: BarrierExit) {
        self.exits.entry(exit.pc).or_insert(exit);
    }

    fn possible_bypass(&mut self, branch: PlaceId) {
        self.bypasses.insert(branch);
    }

    fn complete(&mut self, barrier: BarrierId) {
        self.order.complete(barrier);
    }

    fn see_cluster(&mut self, warp: WarpId) {
        self.order.see_cluster(warp);
    }

    fn iteration(&mut self, warp: WarpId, iteration: Iteration) {
        self.order.iteration(warp, iteration);
    }

    fn exit(&mut self, warp: WarpId, lanes: LaneMask) {
        self.peers.exit((warp, lanes), &self.order);
        self.order.exit(warp, lanes);
    }
}
