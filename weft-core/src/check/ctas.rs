//! The ctas of a launch, and how many of them are judged at a time.

use crate::emulate::Cta;
use crate::launch::Dim3;

/// Up to this many ctas are judged at once. Of more, as many are judged before all others, then as many times as many: where
/// these are not clean, the others are not run, for that they are as bad is of no use to anybody.
pub(super) const FIRST: u64 = 64;

/// A cta by its linear index.
pub(super) fn at(grid: Dim3, index: u64) -> Cta {
    Cta { at: grid.point(index), index: u32::try_from(index).unwrap_or(u32::MAX) }
}
