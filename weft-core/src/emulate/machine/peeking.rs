//! Lets peeks fail, and makes sure that what their results leave out are waits for the same phases.

use super::doubt::DoubtKind;
use super::event::{Events, OrderQuery};
use super::phase_state::Peeked;
use super::state::Machine;
use super::stop::{OrStop, Stop, doubt};
use super::wait::SyncPoint;
use crate::emulate::sync::mbarrier::MbarrierId;
use crate::emulate::value::lane::LaneMask;
use crate::emulate::value::origin::Origin;
use crate::emulate::value::register::Value;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{BlockId, Condition, Instr, PlaceId, Reg};

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Lets a peek fail.
    pub(super) fn peek(&mut self, point: SyncPoint<'_>, phase: Peeked) {
        let SyncPoint { warp, instr, lanes, .. } = point;
        for dest in instr.dests.iter().flatten() {
            self.warps[warp].write(*dest, Value::uniform(0), lanes);
            let carried = self.phases.carried.entry((warp, *dest)).or_default();
            carry_over(carried, lanes, [(lanes, phase)]);
        }
    }

    /// Notes which peeks the results of an instruction depend on.
    pub(super) fn carry(&mut self, warp: WarpId, instr: &Instr, enabled: LaneMask) {
        let Some(peeks) = &self.phases.peeks else { return };
        for dest in instr.dests.iter().flatten().filter(|dest| peeks.carriers.contains(dest)) {
            let read = instr.reads().filter_map(|read| self.phases.carried.get(&(warp, read)));
            let read: Vec<_> = read.flatten().copied().collect();
            let carried = self.phases.carried.entry((warp, *dest)).or_default();
            carry_over(carried, enabled, read);
        }
    }

    /// Notes that an object is initialized or ended: no phase of it is one that was asked for before.
    pub(super) fn forget_peeks(&mut self, object: MbarrierId) {
        #[allow(clippy::iter_over_hash_type, reason = "each is changed by itself")]
        for (_, peeked) in self.phases.carried.values_mut().flatten() {
            peeked.object = peeked.object.filter(|own| *own != object);
        }
    }

    /// The peeks that the value of a register depends on in some lanes.
    fn peeked(
        &self,
        warp: WarpId,
        register: Reg,
        mask: LaneMask,
    ) -> impl Iterator<Item = (LaneMask, Peeked)> {
        let carried = self.phases.carried.get(&(warp, register)).into_iter().flatten();
        let of = move |(lanes, phase): &(LaneMask, Peeked)| (lanes & mask, *phase);
        carried.map(of).filter(|(lanes, _)| *lanes != 0)
    }

    /// Fails if a peek that succeeds could lead lanes to a wait, or past one that is not for its phase alone. `enabled`: the
    /// lanes for which the condition at the end of the block holds.
    pub(super) fn check_skip(
        &self,
        warp: WarpId,
        block: BlockId,
        condition: Condition,
        (lanes, enabled): (LaneMask, LaneMask),
    ) -> OrStop<()> {
        let skip = self.phases.peeks.as_ref().and_then(|peeks| peeks.skips.get(&block));
        let Some(skip) = skip else { return Ok(()) };
        for (lanes, _) in self.peeked(warp, condition.register, lanes) {
            let leaves = [lanes & !enabled, lanes & enabled];
            if leaves.iter().zip(skip.waits).any(|(lanes, waits)| *lanes != 0 && waits) {
                return Err(self.unclear(warp, condition.register, block));
            }
        }
        Ok(())
    }

    /// Fails if lanes wait for a phase although a peek for another one decides whether they do, or one from which they would
    /// not learn what they learn here.
    pub(super) fn check_left_out(&self, point: SyncPoint<'_>, phase: Peeked) -> OrStop<()> {
        let SyncPoint { warp, block, lanes, .. } = point;
        let peeks = self.phases.peeks.as_ref();
        let deciding = peeks.and_then(|peeks| peeks.left_out_by.get(&block)).into_iter().flatten();
        for register in deciding {
            let is_other = |(_, own): (LaneMask, Peeked)| {
                (own.object, own.phase) != (phase.object, phase.phase)
                    || phase.acquires && !own.acquires
            };
            if self.peeked(warp, *register, lanes).any(is_other) {
                return Err(self.unclear(warp, *register, block));
            }
        }
        Ok(())
    }

    /// Stops because what a peek decides at a block depends on when its phase is complete.
    fn unclear(&self, warp: WarpId, register: Reg, block: BlockId) -> Stop {
        let place: PlaceId = self.program.blocks[block.index()].place;
        let peeked = self.peeked(warp, register, LaneMask::MAX).next();
        let origin = peeked.map(|(_, peeked)| Origin::Hardware(peeked.pc));
        doubt(DoubtKind::Branch, place, origin)
    }
}

/// Replaces what is noted of some lanes.
fn carry_over(
    carried: &mut Vec<(LaneMask, Peeked)>,
    lanes: LaneMask,
    new: impl IntoIterator<Item = (LaneMask, Peeked)>,
) {
    for (own, _) in carried.iter_mut() {
        *own &= !lanes;
    }
    carried.retain(|(own, _)| *own != 0);
    for (own, phase) in new {
        let own = own & lanes;
        match carried.iter_mut().find(|(_, known)| *known == phase) {
            Some((known, _)) => *known |= own,
            None if own != 0 => carried.push((own, phase)),
            None => {}
        }
    }
}
