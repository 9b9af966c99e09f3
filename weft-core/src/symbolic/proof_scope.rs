//! What of a kernel is to be proved.

use std::collections::BTreeSet;

use crate::flow::Pc;

/// What of a kernel is to be proved.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ProofScope<'a> {
    /// Everything.
    Kernel,
    /// That these accesses race with no others: they are all that a run of the launch left open.
    Open(&'a BTreeSet<Pc>),
    /// That threads meet, and that these two accesses do not overlap.
    Pair(Pc, Pc),
}

impl ProofScope<'_> {
    /// Whether the proof has to show that threads meet. For accesses that a run left open, the run has shown it.
    pub(super) const fn must_meet(self) -> bool {
        !matches!(self, Self::Open(_))
    }

    /// Whether these two accesses are to be compared, given in the order of the program.
    pub(super) fn has(self, a: Pc, b: Pc) -> bool {
        match self {
            Self::Kernel => true,
            Self::Open(accesses) => accesses.contains(&a) || accesses.contains(&b),
            Self::Pair(first, second) => (a, b) == (first, second),
        }
    }
}
