//! Which registers and stores of a loop hand what was read of memory that nothing wrote on to later iterations, where the
//! trip count is open: what such a loop leaves there is otherwise as open as the trip count, and no more is known of it.

use std::collections::BTreeMap;

use super::access::{Piece, kind};
use super::event::Events;
use super::machine::Machine;
use super::origin::Origin;
use super::term::Lane;
use super::value::{LaneMask, Value, lanes};
use crate::flow::{BlockId, Pc, Reg};

/// Found out as iterations run: a pass that did not know it from its start is run again.
#[derive(Debug, Default)]
pub(super) struct PassedOn {
    /// By header and register, where it was read.
    registers: BTreeMap<(BlockId, Reg), Pc>,
    /// By store, where what it stores was read.
    stores: BTreeMap<Pc, Pc>,
    /// Where what some atomic or strong store stores was read.
    strong: Option<Pc>,
    changed: bool,
}

impl PassedOn {
    pub(super) fn is_empty(&self) -> bool {
        self.registers.is_empty() && self.stores.is_empty()
    }

    /// Whether the pass that has ended knew all from its start.
    pub(super) fn settle(&mut self) -> bool {
        !std::mem::take(&mut self.changed)
    }

    /// Where a register comes from after iterations of a loop, which is otherwise as open as `origin`.
    pub(super) fn in_register(&self, header: BlockId, register: Reg, origin: Origin) -> Origin {
        self.registers.get(&(header, register)).map_or(origin, |pc| Origin::PerhapsUnwritten(*pc))
    }

    /// Where what a store leaves comes from.
    pub(super) fn in_store(&self, store: Pc, origin: Origin) -> Origin {
        self.stores.get(&store).map_or(origin, |pc| Origin::PerhapsUnwritten(*pc))
    }

    /// The same of whichever store.
    pub(super) fn in_any_store(&self, origin: Origin) -> Origin {
        self.stores.values().next().map_or(origin, |pc| Origin::PerhapsUnwritten(*pc))
    }

    /// Where what an atomic or a strong load sees comes from, which other threads may write at any time.
    pub(super) fn in_strong_store(&self, origin: Origin) -> Origin {
        self.strong.map_or(origin, Origin::PerhapsUnwritten)
    }

    /// A store leaves what was read here.
    fn leave(&mut self, store: Pc, is_strong: bool, read: Pc) {
        self.changed |= self.stores.insert(store, read).is_none();
        if is_strong {
            self.changed |= self.strong.is_none();
            self.strong.get_or_insert(read);
        }
    }
}

impl<E: Events> Machine<'_, E> {
    /// Takes in what a register holds when an iteration begins or ends.
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

    /// Where what an access stores comes from, if that depends on memory that nothing wrote.
    pub(super) fn unwritten_stored(&mut self, piece: &Piece<'_>) -> Option<Origin> {
        if !self.facts.symbolics.reads_unwritten {
            return None;
        }
        let stored = self.stored(piece);
        let all = stored.iter().flat_map(|value| lanes(piece.lanes).map(|lane| value.whole(lane)));
        let origin = self.facts.symbolics.unwritten(all)?;
        let read = origin.unwritten()?;
        self.facts.passed_on.leave(piece.pc, kind(piece.decoded).is_strong, read);
        Some(origin)
    }

    /// Takes in what a store leaves in memory.
    pub(super) fn leave_behind(&mut self, piece: &Piece<'_>, value: Lane) {
        if !self.facts.symbolics.reads_unwritten {
            return;
        }
        if let Some(read) = self.facts.symbolics.unwritten([value]).and_then(Origin::unwritten) {
            self.facts.passed_on.leave(piece.pc, kind(piece.decoded).is_strong, read);
        }
    }
}
