//! The pass that decides: order and shadows, fed by the machine.

use std::collections::BTreeSet;

use crate::emulate::{
    Access, Arrival, Events, Fault, FaultKind, LaneMask, OpenAccess, Round, Terms, WARP,
};
use crate::flow::Pc;
use crate::launch::Dim3;
use crate::order::{Order, Recycling};
use crate::ptx::Space;
use crate::race::{Ctas, OpenAccesses, Shadow};

/// Accesses of a cta that are wrong by themselves and told.
pub(super) const MAX_FAULTS: usize = 1024;

/// What one cta does, judged as it happens.
pub(super) struct Detector {
    order: Order,
    pub(super) shared: Shadow,
    pub(super) global: Shadow,
    pub(super) between: Ctas,
    pub(super) open: OpenAccesses,
    /// One for each pair of instructions.
    pub(super) recycled: Vec<Recycling>,
    known_recycled: BTreeSet<(Pc, Pc)>,
    /// One for each instruction and kind.
    pub(super) faults: Vec<Fault>,
    /// By instruction and kind, and whether it may not happen: the first of each is told.
    known_faults: BTreeSet<(Pc, FaultKind, bool)>,
    cta: u32,
    /// Whether there are other ctas.
    has_others: bool,
}

/// The lanes of each warp of a block.
pub(super) fn full_warps(block: Dim3) -> Vec<LaneMask> {
    let (threads, warp) = (block.count(), WARP as u64);
    let lanes = |first: u64| match threads - first {
        rest if rest >= warp => LaneMask::MAX,
        rest => (1 << rest) - 1,
    };
    (0..threads.div_ceil(warp)).map(|index| lanes(index * warp)).collect()
}

impl Detector {
    pub(super) fn new(
        block: Dim3,
        cta: u32,
        has_others: bool,
        between: Ctas,
        open: OpenAccesses,
    ) -> Self {
        Self {
            order: Order::new(full_warps(block)),
            shared: Shadow::new(),
            global: Shadow::new(),
            between,
            open,
            recycled: Vec::new(),
            known_recycled: BTreeSet::new(),
            faults: Vec::new(),
            known_faults: BTreeSet::new(),
            cta,
            has_others,
        }
    }
}

impl Events for Detector {
    fn access(&mut self, access: &Access<'_>, _: &Terms) {
        if !access.is_anchored {
            self.open.known(access, &self.order);
        }
        if access.space == Space::Shared {
            self.shared.access(access, &self.order);
            return;
        }
        self.global.access(access, &self.order);
        if self.has_others {
            self.between.access(access, self.cta);
        }
    }

    fn open_access(&mut self, warp: usize, lanes: LaneMask, access: OpenAccess) {
        self.open.open(access, warp, lanes, &self.order);
    }

    fn fault(&mut self, fault: Fault) {
        let key = (fault.pc, fault.kind, fault.maybe.is_some());
        if self.faults.len() < MAX_FAULTS && self.known_faults.insert(key) {
            self.faults.push(fault);
        }
    }

    fn converge(&mut self, warp: usize, lanes: LaneMask) {
        self.order.converge(warp, lanes);
    }

    fn arrive(&mut self, arrival: Arrival) {
        let Some(found) = self.order.arrive(arrival) else { return };
        if self.known_recycled.insert((found.previous, found.arrival)) {
            self.recycled.push(found);
        }
    }

    fn complete(&mut self, barrier: u8) {
        self.order.complete(barrier);
    }

    fn round(&mut self, warp: usize, round: Round) {
        self.order.round(warp, round);
    }

    fn is_separated(&self, warp: usize, round: Round) -> bool {
        self.order.is_separated(warp, round)
    }

    fn exit(&mut self, warp: usize, lanes: LaneMask) {
        self.order.exit(warp, lanes);
    }
}
