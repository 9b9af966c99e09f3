//! Ctas that run together, so that threads of one can wait for threads of another. Clusters are not modelled: a group
//! is one cta.

/// A cta of a group, by its index in the group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CtaRank(u8);

impl CtaRank {
    /// For a warp of a group whose ctas have `warps` warps each: its cta, and its index in that cta.
    pub(crate) fn of_warp(warp: usize, warps: usize) -> (Self, usize) {
        let rank = u8::try_from(warp / warps).expect("a group has few ctas");
        (Self(rank), warp % warps)
    }

    /// Its index in the group.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
