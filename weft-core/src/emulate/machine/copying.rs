//! Which lanes of a warp might have asynchronous copies in flight.

use crate::emulate::value::lane::LaneMask;

/// The lanes of a warp that might have asynchronous copies in flight.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Copying {
    /// Lanes with copies that belong to no group yet.
    ungrouped: LaneMask,
    /// Lanes with groups that might not be complete.
    grouped: LaneMask,
}

impl Copying {
    /// Lanes issue copies.
    pub(super) const fn issue(&mut self, lanes: LaneMask) {
        self.ungrouped |= lanes;
    }

    /// Lanes make a group of their copies.
    pub(super) const fn commit(&mut self, lanes: LaneMask) {
        self.grouped |= self.ungrouped & lanes;
        self.ungrouped &= !lanes;
    }

    /// Lanes have waited for all of their groups.
    pub(super) const fn wait_for_all(&mut self, lanes: LaneMask) {
        self.grouped &= !lanes;
    }

    /// Whether some lane might have copies in flight.
    pub(super) const fn is_any(self) -> bool {
        self.ungrouped | self.grouped != 0
    }
}
