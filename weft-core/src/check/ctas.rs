//! The ctas of a launch, and how many of them are checked at a time.

use crate::emulate::Cta;
use crate::launch::Dim3;

/// The number of ctas that are checked first. If there are more and these are clean, `FIRST` times as many are checked,
/// and so on. If they are not clean, the other ctas are not run: further findings of the same kind would not help.
pub(super) const FIRST: u64 = 64;

/// Returns the cta with this linear index.
pub(super) fn at(grid: Dim3, index: u64) -> Cta {
    Cta { at: grid.point(index), index: u32::try_from(index).unwrap_or(u32::MAX) }
}
