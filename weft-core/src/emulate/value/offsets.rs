//! Offsets of the 32 lanes of a value from its first lane, for lanes that are neither equal nor affine. Values that
//! differ by a number share one `Offsets`, and with it the least and greatest offset, which are computed once;
//! addresses in a loop and in unrolled instructions are such values.

use std::cell::OnceCell;
use std::hash::{Hash, Hasher};

use super::lane::WARP;

/// The offset of each lane from the first one, in 64-bit wrapping arithmetic.
#[derive(Clone, Debug)]
pub(crate) struct Offsets {
    by_lane: [u64; WARP],
    extent: OnceCell<OffsetRange>,
}

#[derive(Clone, Copy, Debug)]
struct OffsetRange {
    least: i64,
    most: i64,
    /// Bits that are set in some offset.
    ones: u64,
}

impl PartialEq for Offsets {
    fn eq(&self, other: &Self) -> bool {
        self.by_lane == other.by_lane
    }
}

impl Eq for Offsets {}

impl Hash for Offsets {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.by_lane.hash(state);
    }
}

impl Offsets {
    pub(crate) fn new(by_lane: [u64; WARP]) -> Self {
        Self { by_lane, extent: OnceCell::new() }
    }

    /// The offset of a lane from the first one.
    pub(crate) fn of(&self, lane: usize) -> u64 {
        self.by_lane[lane]
    }

    fn extent(&self) -> OffsetRange {
        *self.extent.get_or_init(|| {
            let start = OffsetRange { least: 0, most: 0, ones: 0 };
            self.by_lane.iter().fold(start, |all, &offset| OffsetRange {
                least: all.least.min(offset.cast_signed()),
                most: all.most.max(offset.cast_signed()),
                ones: all.ones | offset,
            })
        })
    }

    /// Bits that are set in some offset.
    pub(crate) fn ones(&self) -> u64 {
        self.extent().ones
    }

    /// The least and the greatest lane if the first lane is `first`; `None` if a lane wraps around.
    pub(crate) fn ends_from(&self, first: u64) -> Option<(u64, u64)> {
        let OffsetRange { least, most, .. } = self.extent();
        Some((first.checked_add_signed(least)?, first.checked_add_signed(most)?))
    }

    /// Whether no lane exceeds `bits` bits if the first lane is `first`.
    pub(crate) fn fit(&self, first: u64, bits: u32) -> bool {
        bits >= 64 || self.ends_from(first).is_some_and(|(_, most)| most >> bits == 0)
    }
}
