//! Runs instructions that synchronize threads or exchange values: lanes wait there, or go on at once if all lanes that
//! they would wait for are there.

use smallvec::{SmallVec, smallvec};

use super::doubt::DoubtKind;
use super::end::End;
use super::event::{Events, OrderQuery};
use super::state::Machine;
use super::stop::{OrStop, doubt};
use super::warp::{Wait, WaitFor};
use crate::emulate::sync::barrier::BarrierUse;
use crate::emulate::value::lane::{LaneMask, lanes};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::register::Value;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{BlockId, Instr, Operand, Pc};
use crate::ptx::isa::{Decoded, Effect, Modifier, Opcode};
use crate::slice::Keep;

/// Lanes of a warp at an instruction that synchronizes or exchanges.
#[derive(Clone, Copy)]
pub(super) struct SyncPoint<'a> {
    pub(super) warp: WarpId,
    pub(super) block: BlockId,
    pub(super) pc: Pc,
    pub(super) instr: &'a Instr,
    pub(super) decoded: &'a Decoded,
    pub(super) lanes: LaneMask,
}

/// Names and counts of barriers, and masks of lanes, have 32 bits.
const LOW_WORD: u64 = 0xffff_ffff;

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Runs an instruction that synchronizes or exchanges values. Returns the lanes that wait there. Fails under an
    /// open condition that has to be decided for that.
    pub(super) fn wait(
        &mut self,
        warp: WarpId,
        block: BlockId,
        pc: Pc,
        instr: &Instr,
        lanes: LaneMask,
    ) -> OrStop<LaneMask> {
        let Some(decoded) = instr.decoded() else { return Ok(0) };
        let effect = decoded.row.effect;
        let at = SyncPoint { warp, block, pc, instr, decoded, lanes };
        if let Some(group) = self.group_at(at) {
            self.exchange_in_groups(at, group);
            return Ok(0);
        }
        if let Some(may_execute) = &self.may_execute
            && (effect.is_barrier()
                || !may_execute.is_convergent()
                || effect == Effect::WarpBarrier && !may_execute.is_in_step())
        {
            return Err(may_execute.undecided());
        }
        self.count_commands(lanes);
        match effect {
            Effect::Barrier => self.wait_for_warp(at),
            Effect::ClusterBarrier => Ok(self.at_cluster_barrier(at)),
            Effect::Mbarrier => self.mbarrier(at).map(|()| 0),
            Effect::MbarrierWait => self.wait_for_phase(at),
            Effect::BulkCopy => self.bulk_copy(at).map(|()| 0),
            Effect::Multiply => self.multiply(at).map(|()| 0),
            Effect::TensorMemory => self.tensor_memory(at),
            Effect::TakeOver => self.take_over(at).map(|()| 0),
            _ if instr.waits() => self.wait_for_mask(at),
            _ => self.exchange_at_once(at),
        }
    }

    /// Runs an exchange from before PTX 6.0, or `activemask` in lock step. Such an instruction takes the lanes that are
    /// converged there, which are known only in lock step: otherwise its results are open.
    fn exchange_at_once(&mut self, at: SyncPoint<'_>) -> OrStop<LaneMask> {
        let SyncPoint { warp, pc, instr, lanes, .. } = at;
        if let Some(side) = self.may_execute.as_ref().filter(|side| !side.is_whole) {
            return Err(side.undecided());
        }
        if self.inputs.options.warp_synchronous {
            self.exchange(warp, pc, lanes);
        } else if self.slice.keep[pc.index()] > Keep::Event {
            let open = Value::open(self.facts.symbolics.any_number(Origin::Hardware(pc)));
            for dest in instr.dests.iter().flatten() {
                self.warps[warp].write(*dest, open.clone(), lanes);
            }
        }
        Ok(0)
    }

    /// Runs an instruction with a mask: lanes wait for the other lanes of their mask. Returns the lanes that wait.
    fn wait_for_mask(&mut self, at: SyncPoint<'_>) -> OrStop<LaneMask> {
        let SyncPoint { warp, block, pc, instr, decoded, .. } = at;
        let effect = decoded.row.effect;
        let mut waiting = 0;
        // The mask is the last operand.
        for (mask, group) in self.known(at, instr.sources.len().saturating_sub(1))? {
            let mask = LaneMask::try_from(mask & LOW_WORD).expect("the low word");
            if self.may_execute.is_some() {
                self.synchronize_at_once(warp, pc, effect, mask, group)?;
                continue;
            }
            if group & !mask != 0 {
                return Err(End::Mask { warp, lanes: group & !mask, pc }.into());
            }
            let what = match effect {
                Effect::WarpBarrier => WaitFor::Members(mask),
                _ => WaitFor::Exchange(mask),
            };
            if group == self.awaited(warp, pc, mask) {
                self.complete_sync(warp, pc, what, group);
                continue;
            }
            waiting |= group;
            self.warps[warp].waits.push(Wait { pc, block, lanes: group, what });
        }
        Ok(waiting)
    }

    /// Runs a cta barrier: lanes wait for the other lanes of their warp, with which they arrive. Returns the lanes that
    /// wait.
    fn wait_for_warp(&mut self, at: SyncPoint<'_>) -> OrStop<LaneMask> {
        let SyncPoint { warp, block, pc, instr, decoded, .. } = at;
        let how = barrier_use(decoded);
        // The predicate of a reduction is the last operand; a count can stand between it and the name.
        let has_predicate = how == BarrierUse::Reduce && !instr.sources.is_empty();
        let has_count = instr.sources.len() - usize::from(has_predicate) > 1;
        for (name, group) in self.known(at, 0)? {
            let counts: Groups<Option<u64>> = if has_count {
                let all = self.known(SyncPoint { lanes: group, ..at }, 1)?.into_iter();
                all.map(|(count, group)| (Some(count & LOW_WORD), group)).collect()
            } else {
                smallvec![(None, group)]
            };
            for (count, lanes) in counts {
                let what = WaitFor::Warp { name: name & LOW_WORD, count, how };
                self.warps[warp].waits.push(Wait { pc, block, lanes, what });
            }
        }
        Ok(at.lanes)
    }

    /// Groups the lanes by their value of an operand. Fails if the value is open in one of them. A missing operand
    /// counts as 0.
    pub(super) fn known(&mut self, point: SyncPoint<'_>, operand: usize) -> OrStop<Groups<u64>> {
        let SyncPoint { warp, pc, instr, lanes, .. } = point;
        let operand = match instr.sources.get(operand) {
            None => return Ok(smallvec![(0, lanes)]),
            Some(Operand::Constant(bits)) => return Ok(smallvec![(*bits, lanes)]),
            Some(operand) => operand,
        };
        let value = self.operand(warp, pc, operand);
        if value.open_lanes() & lanes == 0 {
            return Ok(groups(&value, lanes));
        }
        let origin = value.symbol(lanes).and_then(|symbol| self.facts.symbolics.origin(symbol));
        self.check_written(warp, &value, value.open_lanes() & lanes, instr.place);
        Err(doubt(DoubtKind::Barrier, instr.place, origin))
    }
}

fn barrier_use(decoded: &Decoded) -> BarrierUse {
    match decoded.row.opcode {
        Opcode::BarRed | Opcode::BarCtaRed | Opcode::BarrierRed | Opcode::BarrierCtaRed => {
            BarrierUse::Reduce
        }
        _ if decoded.modifiers.has(Modifier::Arrive) => BarrierUse::Arrive,
        _ => BarrierUse::Sync,
    }
}

/// Lanes grouped by something that they have in common; mostly there is one group.
pub(super) type Groups<T> = SmallVec<[(T, LaneMask); 1]>;

/// Groups the lanes of `mask` by the value that they hold, in ascending order of the first lane.
pub(super) fn groups(value: &Value, mask: LaneMask) -> Groups<u64> {
    if let Some(bits) = value.as_uniform() {
        return smallvec![(bits, mask)];
    }
    let mut groups = Groups::new();
    for lane in lanes(mask) {
        let bits = value.bits_of(lane);
        match groups.iter_mut().find(|(known, _)| *known == bits) {
            Some((_, group)) => *group |= 1 << lane,
            None => groups.push((bits, 1 << lane)),
        }
    }
    groups
}
