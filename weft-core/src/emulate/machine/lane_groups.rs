//! Groups into which the hardware or open data divide the lanes of a warp: those that `activemask` finds active together,
//! and those for which `match.any` finds equal data. Which lanes form a group is open. But each lane is in the group whose
//! mask it holds, and if all lanes that were divided come to an instruction with these masks, each group is complete
//! there: no lane waits for one that does not come.
//!
//! What lanes of a group exchange is open. That `bar.warp.sync` orders the lanes of a group is left out: two lanes might be
//! in different groups.

use super::event::{Events, OrderQuery};
use super::may_execute::OpenSide;
use super::state::Machine;
use super::wait::SyncPoint;
use crate::emulate::value::guard::BranchRun;
use crate::emulate::value::lane::{Lane, LaneMask, lanes};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::register::Value;
use crate::emulate::value::symbolics::{DividedLanes, OwnMask};
use crate::emulate::value::warp_id::WarpId;
use crate::flow::Pc;
use crate::ptx::isa::{Effect, Modifier, Opcode};
use crate::slice::Keep;

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// The lanes that are divided into groups at an instruction that all of them have come to: by `activemask` itself, or
    /// by what gave them their masks, on this side of the open conditions around it.
    pub(super) fn group_at(&mut self, at: SyncPoint<'_>) -> Option<DividedLanes> {
        let SyncPoint { warp, pc, instr, decoded, lanes: here, .. } = at;
        // Where one run stands for all iterations of a loop, lanes might be in different ones: of those that a branch leads
        // round, others wait in vain.
        if self.may_execute.as_ref().is_some_and(OpenSide::is_widened) {
            return None;
        }
        if decoded.row.opcode == Opcode::Activemask {
            let is_whole = self.may_execute.as_ref().is_none_or(|side| side.is_whole);
            let is_known = is_whole && self.inputs.options.warp_synchronous;
            return (!is_known).then(|| self.group_of(warp, pc, here));
        }
        let has_mask = matches!(decoded.row.effect, Effect::WarpBarrier | Effect::Exchange);
        if !has_mask || !instr.waits() {
            return None;
        }
        let mask = self.source(warp, pc, instr.sources.len().checked_sub(1)?);
        let group = self.own_mask(&mask, here.trailing_zeros() as usize)?.of;
        // A mask that another lane has handed on is not the lane's own.
        let is_own = |lane: usize| self.own_mask(&mask, lane) == Some(OwnMask { of: group, lane });
        let is_here = group.warp == warp && group.cta == self.cta(warp).index;
        let is_complete = group.lanes == here && group.side == self.open_side();
        (is_here && is_complete && lanes(here).all(is_own)).then_some(group)
    }

    /// The mask that a lane holds, if it is that of a group.
    fn own_mask(&self, mask: &Value, lane: usize) -> Option<OwnMask> {
        let held = mask.whole(lane);
        held.symbol.filter(|_| held.bits == 0).and_then(|own| self.facts.symbolics.as_own_mask(own))
    }

    /// Divides the lanes at `activemask`, or exchanges values within each group.
    pub(super) fn exchange_in_groups(&mut self, at: SyncPoint<'_>, group: DividedLanes) {
        let SyncPoint { warp, pc, instr, decoded, lanes: here, .. } = at;
        self.facts.assumed.grouped = true;
        if self.slice.keep[pc.index()] != Keep::Value {
            return;
        }
        let value = match decoded.row.opcode {
            Opcode::Activemask => self.divide(Origin::Hardware(pc), group),
            Opcode::Match if !decoded.modifiers.has(Modifier::All) => {
                let (origin, group) = (self.exchanged_origin(at), self.group_of(warp, pc, here));
                self.divide(origin, group)
            }
            _ => {
                let origin = self.exchanged_origin(at);
                Value::open(self.facts.symbolics.any_number(origin))
            }
        };
        for dest in instr.dests.iter().flatten() {
            self.warps[warp].write(*dest, value.clone(), here);
        }
    }

    /// The masks of the groups into which lanes are divided.
    pub(super) fn divide(&mut self, origin: Origin, of: DividedLanes) -> Value {
        Value::from_lanes(|lane| {
            Lane::open(self.facts.symbolics.own_mask(origin, OwnMask { of, lane }))
        })
    }

    /// The lanes that an instruction divides.
    pub(super) fn group_of(&self, warp: WarpId, pc: Pc, lanes: LaneMask) -> DividedLanes {
        let (cta, side) = (self.cta(warp).index, self.open_side());
        DividedLanes { cta, warp, at: (self.spent, pc), lanes, side }
    }

    /// The innermost side of an open condition on which the machine runs.
    fn open_side(&self) -> Option<BranchRun> {
        self.may_execute.as_ref().and_then(OpenSide::run)
    }

    /// The origin of what lanes exchange with lanes that are not known.
    fn exchanged_origin(&mut self, at: SyncPoint<'_>) -> Origin {
        let SyncPoint { warp, pc, instr, decoded, lanes: here, .. } = at;
        let all: Vec<Value> =
            (0..instr.sources.len()).map(|at| self.source(warp, pc, at)).collect();
        if decoded.row.opcode == Opcode::Shfl
            && let Some(data) = all.first()
        {
            lanes(here).for_each(|lane| self.note_passed_on(data.whole(lane)));
        }
        let open =
            all.iter().flat_map(|value| lanes(here).filter_map(|lane| value.symbol_of(lane)));
        self.facts.symbolics.origin_among(open).unwrap_or(Origin::Unsupported(pc)).perhaps()
    }
}
