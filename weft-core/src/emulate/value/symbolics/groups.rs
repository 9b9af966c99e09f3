//! Masks of groups of lanes of which it is not known which lanes are in which group.

use super::{Identity, Symbolics};
use crate::emulate::value::guard::BranchRun;
use crate::emulate::value::lane::{LaneMask, SymbolId};
use crate::emulate::value::origin::{Origin, Region};
use crate::emulate::value::warp_id::WarpId;
use crate::flow::Pc;

/// Lanes of a warp that an instruction divides into groups, not known which: `activemask` into those that are active
/// together, `match.any` into those with equal data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DividedLanes {
    pub(crate) cta: u32,
    pub(crate) warp: WarpId,
    /// The execution of the instruction: instructions spent before it, and which it is.
    pub(crate) at: (u64, Pc),
    /// All lanes that executed it, or those of them that came to the side of an open condition on which it stands.
    pub(crate) lanes: LaneMask,
    /// The innermost such side.
    pub(crate) side: Option<BranchRun>,
}

/// The mask that one of the lanes that were divided finds: that of its own group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OwnMask {
    pub(crate) of: DividedLanes,
    pub(crate) lane: usize,
}

impl Symbolics {
    /// The mask of the group of a lane.
    pub(crate) fn own_mask(&mut self, origin: Origin, mask: OwnMask) -> SymbolId {
        self.unequal(Identity::Group(mask), origin, Region::Number)
    }

    /// Which lane's group has this mask, if it is that of a group.
    pub(crate) fn as_own_mask(&self, mask: SymbolId) -> Option<OwnMask> {
        if mask.as_number().is_some() {
            return None;
        }
        match self.all.get_index(mask.place())?.0 {
            Identity::Group(own) => Some(*own),
            _ => None,
        }
    }
}
