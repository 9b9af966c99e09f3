//! Sets of parameters that a register may hold one of.

/// Some of the first parameters and fields, by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Params(u64);

impl Params {
    /// None yet.
    pub(crate) const NONE: Self = Self(0);

    /// `None`: it is too far behind the first.
    pub(crate) fn one(at: usize) -> Option<Self> {
        u32::try_from(at).ok().and_then(|at| 1_u64.checked_shl(at)).map(Self)
    }

    /// All of both.
    #[must_use]
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Ascending.
    pub(crate) fn all(self) -> impl Iterator<Item = usize> {
        (0..u64::BITS as usize).filter(move |at| self.0 >> at & 1 == 1)
    }
}
