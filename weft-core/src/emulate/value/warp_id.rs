//! Ids of warps, a table with one entry for each warp, and sets of warps.

use std::fmt;
use std::ops::{Index, IndexMut};

use super::lane::WARP;
use crate::launch::Dim3;

/// A warp, by its index among the warps of the ctas that run together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WarpId(u16);

impl WarpId {
    /// The warp at this index. A cta has at most 32 warps and a cluster at most 16 ctas (PTX ISA §1.3, §2.2.2).
    pub fn new(place: usize) -> Self {
        Self(u16::try_from(place).expect("ctas that run together have few warps"))
    }

    /// Its index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for WarpId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// One entry for each warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerWarp<T>(Vec<T>);

impl<T> PerWarp<T> {
    /// Makes an entry for each of `count` warps.
    pub fn new(count: usize, of: impl Fn(WarpId) -> T) -> Self {
        Self((0..count).map(|place| of(WarpId::new(place))).collect())
    }

    /// Adds an entry behind the others.
    pub fn push(&mut self, entry: T) {
        self.0.push(entry);
    }

    /// Number of warps.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The warps, ascending.
    pub fn ids(&self) -> impl Iterator<Item = WarpId> + use<T> {
        (0..self.0.len()).map(WarpId::new)
    }

    /// The entries, in the order of their warps.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }

    /// The entries in the order of their warps, mutable.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.0.iter_mut()
    }

    /// Each warp with its entry.
    pub fn entries(&self) -> impl Iterator<Item = (WarpId, &T)> {
        self.ids().zip(&self.0)
    }
}

impl<T> Index<WarpId> for PerWarp<T> {
    type Output = T;

    fn index(&self, warp: WarpId) -> &T {
        &self.0[warp.index()]
    }
}

impl<T> IndexMut<WarpId> for PerWarp<T> {
    fn index_mut(&mut self, warp: WarpId) -> &mut T {
        &mut self.0[warp.index()]
    }
}

impl<'a, T> IntoIterator for &'a PerWarp<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut PerWarp<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<T> FromIterator<T> for PerWarp<T> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Self {
        Self(all.into_iter().collect())
    }
}

/// Bits of a word of a set of warps.
const WORD: usize = u64::BITS as usize;
/// Words of a set of warps: the ctas of a cluster run together, 16 of 32 warps each at most.
const WORDS: usize = 16 * 32 / WORD;
const _: () = assert!(
    (WORDS * WORD * WARP) as u64 == Dim3::MAX_CLUSTER * Dim3::MAX_THREADS,
    "all have a bit"
);

/// A set of warps of ctas that run together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarpSet([u64; WORDS]);

impl WarpSet {
    /// No warp.
    pub const EMPTY: Self = Self([0; WORDS]);

    /// Whether the set contains a warp.
    pub const fn has(self, warp: WarpId) -> bool {
        self.0[warp.index() / WORD] >> (warp.index() % WORD) & 1 == 1
    }

    /// Adds a warp.
    pub const fn insert(&mut self, warp: WarpId) {
        self.0[warp.index() / WORD] |= 1 << (warp.index() % WORD);
    }

    /// Removes a warp.
    pub const fn remove(&mut self, warp: WarpId) {
        self.0[warp.index() / WORD] &= !(1 << (warp.index() % WORD));
    }

    /// Number of warps in the set.
    pub fn count(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether all warps of the set are in `other`.
    pub fn is_within(self, other: Self) -> bool {
        self.0.iter().zip(other.0).all(|(own, other)| own & !other == 0)
    }
}

impl FromIterator<WarpId> for WarpSet {
    fn from_iter<I: IntoIterator<Item = WarpId>>(all: I) -> Self {
        let mut set = Self::EMPTY;
        all.into_iter().for_each(|warp| set.insert(warp));
        set
    }
}
