//! Accesses to the shared memory of other ctas of a cluster. Such an access has to happen while the cta exists: after one of
//! its threads has begun, as far as the accessing thread knows, and before one of its threads ends, as far as that one knows
//! (CUDA C++ Programming Guide, "Distributed Shared Memory").

use std::collections::BTreeMap;

use super::clock::Epoch;
use super::relation::Order;
use crate::emulate::{Access, CtaRank, LaneMask, WARP, WarpId, lanes};
use crate::flow::Pc;
use crate::ptx::Space;

/// How an access to the memory of a cta might happen while the cta does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Absence {
    /// Before it has begun.
    Before,
    /// After it has ended.
    After,
    /// Either of the two.
    Either,
}

/// An access to the memory of a cta that might not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerFault {
    /// When the cta might not exist.
    pub absence: Absence,
    /// The instruction.
    pub pc: Pc,
    /// The thread that accesses, or that issued the access.
    pub thread: (WarpId, usize),
    /// The cta whose memory it is.
    pub peer: CtaRank,
    /// Whether the access might not happen.
    pub may_execute: bool,
}

/// An access that no thread of the other cta is known to have waited for yet.
#[derive(Clone, Copy, Debug)]
struct PeerAccess {
    then: Epoch,
    thread: (WarpId, usize),
    may_execute: bool,
    /// Whether it is one to an mbarrier object: it is done once it has caused something.
    is_operation: bool,
}

/// The other cta, and what accesses its memory: a warp or an agent with its lanes, and the instruction.
type PeerKey = (CtaRank, WarpId, LaneMask, Pc);

/// The accesses to the memory of other ctas in a run.
#[derive(Clone, Debug, Default)]
pub struct PeerAccesses {
    /// For each key, the last access: who knows of it knows of those before.
    pending: BTreeMap<PeerKey, PeerAccess>,
    /// By instruction.
    faults: BTreeMap<Pc, PeerFault>,
}

impl PeerAccesses {
    /// Records an access, if it is one to the memory of another cta.
    pub fn access(&mut self, access: &Access<'_>, order: &Order) {
        if access.space != Space::Shared || !order.has_peers() {
            return;
        }
        let lane = access.lanes.trailing_zeros() as usize % WARP;
        let (peer, _) = CtaRank::of_address(access.addresses.bits_of(lane));
        let thread = access.thread(lane);
        let is_own = order.cta_of(thread.0) == peer.index();
        // What a copy to another cta reads has to last as well.
        if is_own && (access.kind.writes || !order.counts(access.warp)) {
            return;
        }
        let may_execute = access.kind.may_execute;
        if !is_own && !order.knows_start((access.warp, access.lanes), peer.index()) {
            let pc = access.pc;
            let fault = PeerFault { absence: Absence::Before, pc, thread, peer, may_execute };
            self.note(fault);
        }
        let key = (peer, access.warp, access.lanes, access.pc);
        let then = order.now(access.warp);
        let is_operation = access.kind.is_atomic() && !access.reads;
        self.pending.insert(key, PeerAccess { then, thread, may_execute, is_operation });
    }

    /// Records that lanes of a warp end: what they know of happens before their cta ends.
    pub fn exit(&mut self, (warp, ended): (WarpId, LaneMask), order: &Order) {
        let cta = order.cta_of(warp);
        self.pending.retain(|(peer, by, mask, _), access| {
            let knows = |lane: usize| {
                let before = (*by, access.then, *mask);
                if access.is_operation {
                    order.knows(before, (warp, lane))
                } else {
                    order.unknown_lanes(before, (warp, lane)) == 0
                }
            };
            peer.index() != cta || !lanes(ended).any(knows)
        });
    }

    /// Returns the faults of a run that has ended, one for each instruction. If the run was cut short, some ctas have not ended.
    pub fn faults(mut self, order: &Order) -> Vec<PeerFault> {
        for ((peer, _, _, pc), PeerAccess { thread, may_execute, .. }) in
            std::mem::take(&mut self.pending)
        {
            if !order.has_ended(peer.index()) {
                continue;
            }
            self.note(PeerFault { absence: Absence::After, pc, thread, peer, may_execute });
        }
        self.faults.into_values().collect()
    }

    /// Keeps a fault, rather one that surely happens.
    fn note(&mut self, fault: PeerFault) {
        let known = self.faults.entry(fault.pc).or_insert(fault);
        if known.may_execute && !fault.may_execute {
            *known = fault;
        } else if known.may_execute == fault.may_execute && known.absence != fault.absence {
            known.absence = Absence::Either;
        }
    }
}
