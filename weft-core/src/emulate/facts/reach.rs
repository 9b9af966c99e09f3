//! What a store may reach whose address is not known: the buffer or the variable that its address is based on, all of the
//! state space if that is unclear. What memory holds there is open from then on.

/// Whether stores at known addresses go where their addresses are based. Shared memory may be accessed from one variable
/// on into the next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reach {
    /// Some does not: then what the stores of a loop may reach is all of the space.
    pub(crate) strays: bool,
    /// A pass forgot what the stores of a loop reach.
    pub(crate) is_used: bool,
    /// It was told too late that some strays.
    pub(crate) changed: bool,
}

impl Reach {
    pub(crate) fn stray(&mut self) {
        self.changed |= !std::mem::replace(&mut self.strays, true);
    }

    /// Whether the pass that has ended knew from the start which stores stray.
    pub(crate) fn settle(&mut self) -> bool {
        let is_used = std::mem::take(&mut self.is_used);
        !(std::mem::take(&mut self.changed) && is_used)
    }

    /// What a cta that runs apart starts from.
    pub(crate) fn fork(self) -> Self {
        Self { strays: self.strays, ..Self::default() }
    }

    /// Takes in what a cta found out that ran apart.
    pub(crate) fn join(&mut self, other: Self) {
        self.changed |= other.changed;
        self.strays |= other.strays;
        self.is_used |= other.is_used;
    }
}
