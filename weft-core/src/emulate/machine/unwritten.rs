//! Follows values that were read from memory that nothing wrote: which registers of loops and which stores pass them
//! on.

use super::event::{Events, OrderQuery};
use super::piece::{Piece, kind};
use super::state::Machine;
use crate::emulate::facts::passed_on::PassedOn;
use crate::emulate::value::lane::{Lane, LaneMask, lanes};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::register::Value;
use crate::flow::{BlockId, Reg};

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Records if a register holds a value of unwritten memory when an iteration begins or ends.
    pub(super) fn pass_on(
        &mut self,
        header: BlockId,
        register: Reg,
        value: &Value,
        mask: LaneMask,
    ) {
        if !self.facts.symbolics.reads_unwritten {
            return;
        }
        let open = value.open_lanes() & mask;
        let read = self.facts.symbolics.unwritten(lanes(open).map(|lane| value.whole(lane)));
        let PassedOn { registers, changed, .. } = &mut self.facts.passed_on;
        if let Some(pc) = read.and_then(Origin::unwritten) {
            *changed |= registers.insert((header, register), pc).is_none();
        }
    }

    /// The origin of what an access stores, if that depends on memory that nothing wrote. Records the store if so.
    pub(super) fn unwritten_stored(&mut self, piece: &Piece<'_>) -> Option<Origin> {
        if !self.facts.symbolics.reads_unwritten {
            return None;
        }
        let stored = self.stored(piece);
        let all = stored.iter().flat_map(|value| lanes(piece.lanes).map(|lane| value.whole(lane)));
        let origin = self.facts.symbolics.unwritten(all)?;
        let read = origin.unwritten()?;
        self.facts.passed_on.leave(piece.pc, kind(piece.decoded).is_strong(), read);
        Some(origin)
    }

    /// Records a store that leaves a value of unwritten memory in memory.
    pub(super) fn leave_behind(&mut self, piece: &Piece<'_>, value: Lane) {
        if !self.facts.symbolics.reads_unwritten {
            return;
        }
        if let Some(read) = self.facts.symbolics.unwritten([value]).and_then(Origin::unwritten) {
            self.facts.passed_on.leave(piece.pc, kind(piece.decoded).is_strong(), read);
        }
    }
}
