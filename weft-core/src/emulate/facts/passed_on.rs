//! Which registers and stores of a loop hand what was read of memory that nothing wrote on to later iterations, where the
//! trip count is open: what such a loop leaves there is otherwise as open as the trip count, and no more is known of it.

use std::collections::BTreeMap;

use crate::emulate::value::origin::Origin;
use crate::flow::{BlockId, Pc, Reg};

/// Found out as iterations run: a pass that did not know it from its start is run again.
#[derive(Debug, Default)]
pub(crate) struct PassedOn {
    /// By header and register, where it was read.
    pub(crate) registers: BTreeMap<(BlockId, Reg), Pc>,
    /// By store, where what it stores was read.
    pub(crate) stores: BTreeMap<Pc, Pc>,
    /// Where what some atomic or strong store stores was read.
    pub(crate) strong: Option<Pc>,
    pub(crate) changed: bool,
}

impl PassedOn {
    pub(crate) fn is_empty(&self) -> bool {
        self.registers.is_empty() && self.stores.is_empty()
    }

    /// Whether the pass that has ended knew all from its start.
    pub(crate) fn settle(&mut self) -> bool {
        !std::mem::take(&mut self.changed)
    }

    /// Where a register comes from after iterations of a loop, which is otherwise as open as `origin`.
    pub(crate) fn in_register(&self, header: BlockId, register: Reg, origin: Origin) -> Origin {
        self.registers.get(&(header, register)).map_or(origin, |pc| Origin::PerhapsUnwritten(*pc))
    }

    /// Where what a store leaves comes from.
    pub(crate) fn in_store(&self, store: Pc, origin: Origin) -> Origin {
        self.stores.get(&store).map_or(origin, |pc| Origin::PerhapsUnwritten(*pc))
    }

    /// The same of whichever store.
    pub(crate) fn in_any_store(&self, origin: Origin) -> Origin {
        self.stores.values().next().map_or(origin, |pc| Origin::PerhapsUnwritten(*pc))
    }

    /// Where what an atomic or a strong load sees comes from, which other threads may write at any time.
    pub(crate) fn in_strong_store(&self, origin: Origin) -> Origin {
        self.strong.map_or(origin, Origin::PerhapsUnwritten)
    }

    /// A store leaves what was read here.
    pub(crate) fn leave(&mut self, store: Pc, is_strong: bool, read: Pc) {
        self.changed |= self.stores.insert(store, read).is_none();
        if is_strong {
            self.changed |= self.strong.is_none();
            self.strong.get_or_insert(read);
        }
    }
}
