//! Accesses at open addresses: which of them may conflict with what.

use std::collections::BTreeSet;

use crate::emulate::{Access, OpenAccess, argument_of, lanes};
use crate::ptx::Space;

/// Accesses of a launch, by whether they are of global memory and the argument in whose buffer they lie.
#[derive(Clone, Debug, Default)]
pub struct OpenAccesses {
    open: BTreeSet<OpenAccess>,
    known: BTreeSet<(bool, Option<usize>, bool)>,
}

impl OpenAccesses {
    /// An access whose addresses are known.
    pub fn known(&mut self, access: &Access<'_>) {
        let is_global = access.space == Space::Global;
        let region =
            |lane: usize| if is_global { argument_of(access.addresses.lane(lane)) } else { None };
        let (first, last) =
            (access.lanes.trailing_zeros(), access.lanes.checked_ilog2().unwrap_or(0));
        let ends = [first, last].map(|lane| region(lane as usize));
        // Lanes that grow by a step lie between the ends.
        if access.addresses.as_affine().is_some() && ends[0] == ends[1] {
            self.known.insert((is_global, ends[0], access.kind.writes));
            return;
        }
        for lane in lanes(access.lanes) {
            self.known.insert((is_global, region(lane), access.kind.writes));
        }
    }

    /// An access whose address is open.
    pub fn open(&mut self, access: OpenAccess) {
        self.open.insert(access);
    }

    /// The open accesses that may conflict with another access, one an instruction.
    pub fn doubtful(&self) -> Vec<OpenAccess> {
        let mut doubtful: Vec<_> =
            self.open.iter().filter(|access| self.may_conflict(access)).copied().collect();
        doubtful.dedup_by_key(|access| access.pc);
        doubtful
    }

    fn may_conflict(&self, access: &OpenAccess) -> bool {
        let meets = |is_global: bool, region: Option<usize>, writes: bool| {
            let is_apart = region.is_some() && access.region.is_some() && region != access.region;
            is_global == access.is_global && !is_apart && (writes || access.kind.writes)
        };
        self.known.iter().any(|&(is_global, region, writes)| meets(is_global, region, writes))
            || self.open.iter().any(|other| meets(other.is_global, other.region, other.kind.writes))
    }
}
