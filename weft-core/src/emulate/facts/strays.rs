//! Whether stores at known addresses stay in the variable or buffer that their address starts from. If all do, a store at
//! an open address makes open only what its address starts from; otherwise it might reach the whole state space.

/// Whether stores at known addresses stay in the buffer or variable that their addresses are based on. In shared
/// memory, an access can start from one variable and reach the next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Strays {
    /// Whether some store does not stay there; then stores of a loop are assumed to reach the whole state space.
    pub(crate) some: bool,
    /// Whether the running pass forgot memory that stores of a loop reach.
    pub(crate) is_used: bool,
    /// Whether the running pass found a store that does not stay there after it had started without knowing.
    pub(crate) changed: bool,
}

impl Strays {
    /// Records that some store does not stay in what its address is based on.
    pub(crate) fn stray(&mut self) {
        self.changed |= !std::mem::replace(&mut self.some, true);
    }

    /// Whether the pass that has ended knew from its start whether stores stay in what they are based on, or did not
    /// need to.
    pub(crate) fn settle(&mut self) -> bool {
        let is_used = std::mem::take(&mut self.is_used);
        !(std::mem::take(&mut self.changed) && is_used)
    }

    /// What a cta that runs independently starts from.
    pub(crate) fn fork(self) -> Self {
        Self { some: self.some, ..Self::default() }
    }

    /// Joins what an independent cta found out.
    pub(crate) fn join(&mut self, other: Self) {
        self.changed |= other.changed;
        self.some |= other.some;
        self.is_used |= other.is_used;
    }
}
