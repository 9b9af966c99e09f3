//! Clusters of several ctas: which cta's shared memory lanes access, and the barrier of the cluster (PTX ISA §9.7.13.3).
//! Warps arrive at it and wait for it by two instructions, which the machine takes as those of a cta barrier with a name of
//! its own.

use smallvec::{SmallVec, smallvec};

use super::event::{Access, Events, OrderQuery};
use super::state::Machine;
use super::stop::OrStop;
use super::wait::SyncPoint;
use super::warp::{BarrierWait, ClusterTurn, Wait, WaitFor};
use crate::emulate::sync::barrier::{BarrierId, BarrierUse, Barriers, Misuse};
use crate::emulate::sync::group::CtaRank;
use crate::emulate::value::lane::{LaneMask, lanes};
use crate::emulate::value::register::Value;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{Address, ClusterAddress, Pc, peer_address};
use crate::ptx::Space;
use crate::ptx::isa::{Decoded, Effect, Modifier, Opcode};

/// The name under which lanes wait for the barrier of the cluster: no operand is as large.
const CLUSTER: u64 = u64::MAX;

/// Lanes that access the shared memory of one cta, with their addresses there.
pub(super) struct Home {
    pub(super) cta: CtaRank,
    pub(super) lanes: LaneMask,
    pub(super) addresses: Value,
}

/// Whether an instruction arrives at an mbarrier object.
const fn arrives(decoded: &Decoded) -> bool {
    matches!(decoded.row.opcode, Opcode::MbarrierArrive | Opcode::MbarrierDrop)
}

/// Whether an instruction can act on objects of other ctas: arrivals can, and what counts bytes (PTX ISA §9.7.13.15.8).
pub(super) fn reaches_peers(decoded: &Decoded, address: &Address) -> bool {
    const OTHERS: [Opcode; 3] =
        [Opcode::MbarrierExpect, Opcode::MbarrierComplete, Opcode::TensorCommit];
    let counts = OTHERS.contains(&decoded.row.opcode);
    let is_wide = decoded.reaches_cluster || address.space == Space::Generic;
    is_wide && (arrives(decoded) || counts || decoded.row.effect == Effect::BulkCopy)
}

/// The barrier that lanes of a cta wait at under a name; `None`: there is none.
pub(super) fn barrier_named(cta: CtaRank, name: u64) -> Option<BarrierId> {
    if name == CLUSTER { Some(BarrierId::CLUSTER) } else { BarrierId::named(cta, name) }
}

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Groups lanes by the cta whose shared memory they access. `reaches`: whether the instruction can access that of other
    /// ctas; otherwise a peer address is left as it is, outside of all memory, and so is that of a cta that the cluster does not
    /// have. `None`: where some address leads is not known.
    pub(super) fn homes(
        &self,
        warp: WarpId,
        (addresses, mask): (&Value, LaneMask),
        reaches: bool,
    ) -> Option<SmallVec<[Home; 1]>> {
        let own = self.warps[warp].cta;
        if !self.has_peers() {
            return Some(smallvec![Home { cta: own, lanes: mask, addresses: addresses.clone() }]);
        }
        let mut homes: SmallVec<[(CtaRank, u64, LaneMask); 1]> = SmallVec::new();
        for lane in lanes(mask) {
            let address = addresses.whole(lane).bits;
            let (cta, off) = match peer_address(address) {
                ClusterAddress::Own => (own, 0),
                ClusterAddress::Peer(rank, at) => match CtaRank::among(rank, self.ctas.len()) {
                    Some(cta) if reaches || cta == own => (cta, address - at),
                    _ => (own, 0),
                },
                ClusterAddress::Unclear => return None,
            };
            match homes.iter_mut().find(|home| (home.0, home.1) == (cta, off)) {
                Some(home) => home.2 |= 1 << lane,
                None => homes.push((cta, off, 1 << lane)),
            }
        }
        let within = |(cta, off, lanes): (CtaRank, u64, LaneMask)| Home {
            cta,
            lanes,
            addresses: addresses.plus(off.wrapping_neg(), 64).based_on(addresses),
        };
        Some(homes.into_iter().map(within).collect())
    }

    /// Notes what is assumed of an instruction of an mbarrier object that orders threads and states no scope.
    pub(super) fn assume_scope(&mut self, decoded: &Decoded) {
        let states_scope =
            decoded.modifiers.first_of(&[Modifier::Cta, Modifier::Cluster]).is_some();
        let orders = arrives(decoded) || decoded.row.effect == Effect::MbarrierWait;
        self.facts.assumed.scopes |= self.has_peers() && orders && !states_scope;
    }

    /// Emits an access to the shared memory of a cta, or to global memory.
    pub(super) fn emit_at(&mut self, home: CtaRank, access: Access<'_>) {
        if access.space == Space::Global && access.kind.writes && access.issuer.is_some() {
            let (first, last) = access.addresses.ends(access.lanes);
            let last = last.saturating_add(u64::from(access.bytes) - 1);
            self.facts.signals.spoil_between(first, last);
            self.facts.awaits.write_between(first, last);
        }
        if home == CtaRank::default() || access.space != Space::Shared {
            return self.events.access(&access, &self.facts.symbolics);
        }
        let addresses = access.addresses.plus(home.first(), 64);
        let access = Access { addresses: &addresses, ..access };
        self.events.access(&access, &self.facts.symbolics);
    }

    /// The barriers that a barrier belongs to.
    pub(super) fn barriers(&self, barrier: BarrierId) -> &Barriers {
        if barrier.is_of_cluster() {
            return &self.cluster_barrier;
        }
        &self.ctas[barrier.cta().index()].barriers
    }

    /// As `barriers`, mutable.
    pub(super) fn barriers_mut(&mut self, barrier: BarrierId) -> &mut Barriers {
        if barrier.is_of_cluster() {
            return &mut self.cluster_barrier;
        }
        &mut self.ctas[barrier.cta().index()].barriers
    }

    /// Lets lanes come to an instruction of the cluster's barrier. Returns the lanes that wait: all of them, for the other
    /// lanes of their warp.
    pub(super) fn at_cluster_barrier(&mut self, at: SyncPoint<'_>) -> LaneMask {
        let SyncPoint { warp, block, pc, decoded, lanes, .. } = at;
        let arrives = decoded.row.opcode == Opcode::ClusterArrive;
        let how = if arrives { BarrierUse::Arrive } else { BarrierUse::Await };
        let what = WaitFor::Warp { name: CLUSTER, count: None, how };
        self.warps[warp].waits.push(Wait { pc, block, lanes, what });
        lanes
    }

    /// Checks that a warp arrives at the cluster's barrier and waits for it by turns.
    pub(super) fn check_turn(&mut self, warp: WarpId, how: BarrierUse) -> Result<(), Misuse> {
        let turn = &mut self.warps[warp].cluster_turn;
        match (how, *turn) {
            (BarrierUse::Await, ClusterTurn::Arrive) => Err(Misuse::NotArrived),
            (BarrierUse::Await, _) => Ok(()),
            (_, ClusterTurn::Arrive) => {
                *turn = ClusterTurn::Wait;
                Ok(())
            }
            _ => Err(Misuse::Twice),
        }
    }

    /// Makes a warp wait for the cluster's barrier, or go on if the generation that it has arrived in is complete.
    pub(super) fn await_cluster(&mut self, warp: WarpId, sides: Vec<Wait>) -> OrStop<()> {
        if self.warps[warp].cluster_turn != ClusterTurn::See {
            self.warps[warp].held = Some(BarrierWait { barrier: BarrierId::CLUSTER, sides });
            return Ok(());
        }
        self.see_cluster(warp);
        sides.iter().try_for_each(|side| self.resume(warp, side))
    }

    /// Lets a warp see that the last generation of the cluster's barrier is complete.
    pub(super) fn see_cluster(&mut self, warp: WarpId) {
        self.warps[warp].cluster_turn = ClusterTurn::Arrive;
        self.events.see_cluster(warp);
    }

    /// Notes that a generation of the cluster's barrier is complete.
    pub(super) fn complete_cluster(&mut self) {
        for warp in &mut self.warps {
            if warp.cluster_turn == ClusterTurn::Wait {
                warp.cluster_turn = ClusterTurn::See;
            }
        }
    }

    /// Whether an instruction is `.relaxed`.
    pub(super) fn is_relaxed(&self, pc: Pc) -> bool {
        let decoded = self.program.code[pc.index()].decoded();
        decoded.is_some_and(|decoded| decoded.modifiers.has(Modifier::Relaxed))
    }
}
