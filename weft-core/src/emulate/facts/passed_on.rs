//! Which loop registers and which stores hold values that were read from memory that nothing wrote. After iterations of a
//! loop with an open trip count, the origin of what they hold must still name that read.

use std::collections::BTreeMap;

use crate::emulate::value::origin::Origin;
use crate::flow::{BlockId, Pc, Reg};

/// Found while iterations run; a pass that did not know it from its start is run again.
#[derive(Debug, Default)]
pub(crate) struct PassedOn {
    /// For each header and register: the instruction that read memory that nothing wrote.
    pub(crate) registers: BTreeMap<(BlockId, Reg), Pc>,
    /// For each store: the instruction that read memory that nothing wrote.
    pub(crate) stores: BTreeMap<Pc, Pc>,
    /// The instruction that read memory that nothing wrote, if an atomic or a strong store stores what it read.
    pub(crate) strong: Option<Pc>,
    pub(crate) changed: bool,
}

impl PassedOn {
    /// Whether no register and no store passes values of unwritten memory on.
    pub(crate) fn is_empty(&self) -> bool {
        self.registers.is_empty() && self.stores.is_empty()
    }

    /// Whether the pass that has ended knew everything from its start.
    pub(crate) fn settle(&mut self) -> bool {
        !std::mem::take(&mut self.changed)
    }

    /// The origin of a register after iterations of a loop; `origin` if no unwritten memory was passed on in it.
    pub(crate) fn in_register(&self, header: BlockId, register: Reg, origin: Origin) -> Origin {
        self.registers.get(&(header, register)).map_or(origin, |pc| Origin::PerhapsUnwritten(*pc))
    }

    /// The origin of what a store leaves; `origin` if it stores nothing read from unwritten memory.
    pub(crate) fn in_store(&self, store: Pc, origin: Origin) -> Origin {
        self.stores.get(&store).map_or(origin, |pc| Origin::PerhapsUnwritten(*pc))
    }

    /// As `in_store`, for any store.
    pub(crate) fn in_any_store(&self, origin: Origin) -> Origin {
        self.stores.values().next().map_or(origin, |pc| Origin::PerhapsUnwritten(*pc))
    }

    /// The origin of what an atomic or a strong load sees, which other threads can write at any time.
    pub(crate) fn in_strong_store(&self, origin: Origin) -> Origin {
        self.strong.map_or(origin, Origin::PerhapsUnwritten)
    }

    /// Records that `store` stores what `read` read from memory that nothing wrote.
    pub(crate) fn leave(&mut self, store: Pc, is_strong: bool, read: Pc) {
        self.changed |= self.stores.insert(store, read).is_none();
        if is_strong {
            self.changed |= self.strong.is_none();
            self.strong.get_or_insert(read);
        }
    }
}
