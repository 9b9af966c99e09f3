//! The ctas of a cluster, which run together: threads of one can wait for threads of another (PTX ISA §2.2.2).

/// A cta of a cluster, by its rank there; 0 if it forms a cluster of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CtaRank(u8);

/// Addresses in the shared memory of a cta have so many bits.
const SHARED_BITS: u32 = 32;

impl CtaRank {
    /// The first cta.
    pub(super) const FIRST: Self = Self(0);
    /// The most ctas of a cluster.
    pub(crate) const MAX: u64 = crate::launch::Dim3::MAX_CLUSTER;

    /// The cta of this rank; `None` if a cluster of so many ctas has none.
    pub(crate) fn among(rank: u64, ctas: usize) -> Option<Self> {
        u8::try_from(rank).ok().filter(|rank| usize::from(*rank) < ctas).map(Self)
    }

    /// The ctas of a cluster of so many.
    pub(crate) fn all(ctas: usize) -> impl Iterator<Item = Self> {
        (0..Self::MAX).map_while(move |rank| Self::among(rank, ctas))
    }

    /// For a warp of a cluster whose ctas have `warps` warps each: its cta, and its index in that cta.
    pub(crate) fn of_warp(warp: usize, warps: usize) -> (Self, usize) {
        let rank = u8::try_from(warp / warps).expect("a cluster has few ctas");
        (Self(rank), warp % warps)
    }

    /// The first address of its shared memory among that of all ctas of the cluster, as events state addresses.
    pub(crate) const fn first(self) -> u64 {
        (self.0 as u64) << SHARED_BITS
    }

    /// For an address as events state it: the cta, and the address in its shared memory.
    pub(crate) fn of_address(address: u64) -> (Self, u64) {
        let rank = u8::try_from(address >> SHARED_BITS & 0xff).expect("8 bits");
        (Self(rank), address & ((1 << SHARED_BITS) - 1))
    }

    /// Its index in the cluster.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
