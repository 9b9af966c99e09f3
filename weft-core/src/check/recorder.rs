//! The observer of the explaining pass: watches the accesses to racing bytes while a cta runs again.

use std::collections::BTreeSet;

use crate::emulate::{
    Access, Arrival, AwaitedSignal, BarrierExit, BarrierId, BulkGroup, CopyAgent, CopyCommand,
    Events, Fault, Fence, Iteration, LaneMask, MbarrierEvent, MbarrierId, OpenAccess, OrderQuery,
    ProxyFence, SentSignal, SignalKey, Symbolics, WarpId,
};
use crate::flow::{Pc, PlaceId};
use crate::order::Order;
use crate::ptx::Space;
use crate::race::{CopiesInFlight, CtaHistory, LaunchHistory, Pairs};

/// Watches the accesses of one cta.
pub(super) struct Recorder<'a> {
    pub(super) order: Order,
    pub(super) history: CtaHistory,
    pub(super) copies: CopiesInFlight,
    /// The accesses to bytes that race between ctas; shared by all ctas of the pass.
    pub(super) between: &'a mut LaunchHistory,
    pub(super) pairs: &'a mut Pairs,
    /// The instructions to watch; `None`: all.
    pub(super) only: Option<&'a BTreeSet<Pc>>,
    pub(super) cta: u32,
}

impl OrderQuery for Recorder<'_> {
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

impl Events for Recorder<'_> {
    fn access(&mut self, access: &Access<'_>, symbolics: &Symbolics) {
        let is_global = access.space == Space::Global;
        let has_signals = is_global && self.order.has_signals();
        if has_signals && access.kind.is_strong() {
            self.order.separate(access.warp);
        }
        if self.only.is_some_and(|only| !only.contains(&access.pc)) {
            return;
        }
        let Self { copies, history, pairs, cta, .. } = self;
        copies.meet(access, |met| history.meet(access.space, met, *cta, pairs));
        history.access(access, *cta, &self.order, symbolics, pairs);
        if is_global {
            let moment = has_signals.then(|| self.order.moment(access));
            self.between.access(access, (self.cta, moment), symbolics, self.pairs);
        }
        if access.kind.is_asynchronous() && access.issuer.is_none() {
            self.copies.issue(access);
        }
    }

    fn copies(
        &mut self,
        warp: WarpId,
        lanes: LaneMask,
        command: CopyCommand,
        symbolics: &Symbolics,
    ) {
        self.order.at_copies(warp, lanes, command);
        for copy in self.copies.command(warp, lanes, command) {
            let access = copy.access();
            self.history.access(&access, self.cta, &self.order, symbolics, self.pairs);
        }
    }

    fn open_access(&mut self, _: WarpId, _: LaneMask, _: OpenAccess) {}

    fn fault(&mut self, _: Fault) {}

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

    // That strong accesses synchronize by fences is modelled for signals between ctas alone, as in the deciding pass.
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
        self.order.arrive(arrival);
    }

    fn barrier_exit(&mut self, _: BarrierExit) {}

    fn possible_bypass(&mut self, _: PlaceId) {}

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
        self.order.exit(warp, lanes);
    }
}
