//! Barrier divergence: checks the rule of PTX for the lanes of a warp, and the rule of `OpenCL` for the whole cta
//! (ESOP'13 §3.2): all threads reach the same barrier instruction (B1) with the same loop counters (B2).

use super::divergence_state::{FirstArrivals, MeetingPlace};
use super::end::{DivergedThreads, Divergence, End};
use super::event::{Events, OrderQuery};
use super::state::Machine;
use super::stop::{OrStop, Stop};
use super::warp::{Wait, WaitFor};
use crate::emulate::sync::barrier::{BarrierId, BarrierUse};
use crate::emulate::value::lane::{LaneMask, WARP, lanes};
use crate::emulate::value::warp_id::{WarpId, WarpSet};
use crate::flow::{BlockId, Pc};
use crate::launch::BarrierDivergence;

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Whether the rule for the whole cta is checked.
    fn checks_cta(&self) -> bool {
        self.inputs.options.barrier_divergence == BarrierDivergence::Cta
    }

    /// Counts an iteration of lanes that go from a block to the header of a loop, if the rule for the whole cta is
    /// checked.
    pub(super) fn count_iteration(
        &mut self,
        warp: WarpId,
        from: BlockId,
        to: BlockId,
        mask: LaneMask,
    ) {
        if !self.checks_cta() {
            return;
        }
        let is_inside = self.program.blocks[from.index()].loops.contains(&to);
        let counters = self.loop_counters[warp].entry(to).or_insert([0; WARP]);
        for lane in lanes(mask) {
            counters[lane] = if is_inside { counters[lane].saturating_add(1) } else { 0 };
        }
    }

    /// Lanes of a warp at an instruction, with the iterations of the first of them.
    pub(super) fn side(
        &self,
        warp: WarpId,
        block: BlockId,
        pc: Pc,
        mask: LaneMask,
    ) -> DivergedThreads {
        let lane = lanes(mask).next().unwrap_or(0);
        let counter = |header: &BlockId| {
            self.loop_counters[warp].get(header).map_or(0, |counters| counters[lane])
        };
        let iterations = self.program.blocks[block.index()].loops.iter().map(counter).collect();
        DivergedThreads { warp, lanes: mask, pc, block, iterations }
    }

    /// Lanes of a warp that wait, as `side` gives them.
    fn waiting(&self, warp: WarpId, wait: &Wait, mask: LaneMask) -> DivergedThreads {
        self.side(warp, wait.block, wait.pc, mask)
    }

    /// Checks that the lanes of a warp, all of which wait at cta barriers or have ended, reach their barrier together;
    /// and, if asked for, that all threads of the cta do.
    pub(super) fn check_divergence(
        &mut self,
        warp: WarpId,
        barrier: BarrierId,
        sides: &[Wait],
    ) -> OrStop<()> {
        let Some(first) = sides.first() else { return Ok(()) };
        let is_elsewhere = |side: &&Wait| side.what != first.what || side.block != first.block;
        let mut others = sides.iter().filter(is_elsewhere);
        if let Some(other) = others.find(|other| self.is_divergent(first, other)) {
            let sides = vec![
                self.waiting(warp, first, first.lanes),
                self.waiting(warp, other, other.lanes),
            ];
            return Err(diverged(Divergence::Lanes, sides));
        }
        if !self.checks_cta() {
            return Ok(());
        }
        let is_await = is_await(first);
        let turn = if is_await { self.warps[warp].awaits } else { 0 };
        self.warps[warp].awaits += u32::from(is_await);
        let place = MeetingPlace { cta: self.warps[warp].cta, barrier, is_await, turn };
        for wait in sides {
            for lane in lanes(wait.lanes) {
                let side = self.waiting(warp, wait, 1 << lane);
                let warps = WarpSet::EMPTY;
                let reached = self.first_arrivals.entry(place);
                let reached =
                    reached.or_insert_with(|| FirstArrivals { first: side.clone(), warps });
                reached.warps.insert(warp);
                let first = &reached.first;
                if first.block != side.block {
                    return Err(diverged(Divergence::Barriers, vec![first.clone(), side]));
                }
                if first.iterations != side.iterations {
                    return Err(diverged(Divergence::Iterations, vec![first.clone(), side]));
                }
            }
        }
        if self.warps[warp].live != self.warps[warp].all {
            let side = self.waiting(warp, first, first.lanes);
            return Err(diverged(Divergence::Ended, vec![side]));
        }
        if place.is_await && self.has_all(place) {
            self.first_arrivals.remove(&place);
        }
        Ok(())
    }

    /// Checks that all warps of each cta that takes part came to a generation of a barrier, which is complete.
    pub(super) fn check_gathered(&mut self, barrier: BarrierId) -> OrStop<()> {
        let is_it = |place: &MeetingPlace| place.barrier == barrier && !place.is_await;
        let places: Vec<_> = self.first_arrivals.keys().copied().filter(is_it).collect();
        for place in places {
            let has_all = self.has_all(place);
            let reached = self.first_arrivals.remove(&place);
            if let Some(reached) = reached.filter(|_| !has_all) {
                return Err(diverged(Divergence::Ended, vec![reached.first]));
            }
        }
        Ok(())
    }

    /// Whether all warps of a cta have come to a place.
    fn has_all(&self, place: MeetingPlace) -> bool {
        let warps = self.warps.iter().filter(|warp| warp.cta == place.cta).count();
        let come = |reached: &FirstArrivals| reached.warps.count() as usize;
        self.first_arrivals.get(&place).map_or(0, come) == warps
    }

    /// Whether lanes of one warp at these two barriers break a rule. Warps arrive as a unit, so lanes at two barrier
    /// instructions arrive together if neither is `.aligned` and both have the same name, count and use.
    fn is_divergent(&self, a: &Wait, b: &Wait) -> bool {
        let is_checked = self.inputs.options.barrier_divergence != BarrierDivergence::Off;
        a.what != b.what || (is_checked && (self.is_aligned(a) || self.is_aligned(b)))
    }

    /// Whether lanes wait at an aligned barrier.
    pub(super) fn is_aligned(&self, wait: &Wait) -> bool {
        self.program.code[wait.pc.index()].is_aligned_barrier()
    }
}

/// Whether lanes wait for the barrier of the cluster, at which their warp has arrived before.
const fn is_await(wait: &Wait) -> bool {
    matches!(wait.what, WaitFor::Warp { how: BarrierUse::Await, .. })
}

/// Stops because of barrier divergence.
pub(super) fn diverged(divergence: Divergence, sides: Vec<DivergedThreads>) -> Stop {
    End::Diverged { divergence, sides }.into()
}
