//! Why a run stops, and what its steps cost, counted as instructions.

use super::doubt::{Doubt, DoubtKind};
use super::end::End;
use crate::emulate::sync::columns::TensorMisuse;
use crate::emulate::value::lane::LaneMask;
use crate::emulate::value::origin::Origin;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{Pc, PlaceId};

/// Most registers of all warps of a cta together. Only registers that something depends on count.
pub const MAX_REGISTERS: u64 = 1 << 22;
/// The most agents of the ctas of a cluster: mbarriers at which copies are counted, threads with bulk copies and the like.
pub const MAX_AGENTS: usize = 1 << 15;

/// Cost of a branch on an open condition, counted against the limit of instructions.
pub(super) const OPEN_COST: u64 = 256;
/// Cost of a page of memory that is written for the first time; as many pages are looked at for one instruction.
pub(super) const PAGE_COST: u64 = 8;
/// Cost of an access at an open address.
pub(super) const OPEN_ACCESS_COST: u64 = 32;
/// Additional cost of an instruction whose results are open and differ from lane to lane.
pub(super) const APART_COST: u64 = 7;
/// Cost of each lane of an atomic.
pub(super) const ATOMIC_COST: u64 = 4;

/// The contents of global and local memory can take this part (one divided by this number) of the memory that a check
/// can take.
pub(super) const CONTENTS_PART: u64 = 4;

/// Why the machine stops. Boxed to keep results small, since every step can fail.
pub(super) struct Stop(pub(super) Box<End>);

impl From<End> for Stop {
    fn from(end: End) -> Self {
        Self(Box::new(end))
    }
}

pub(super) type OrStop<T> = Result<T, Stop>;

/// Stops because of a doubt that no case split would settle.
pub(super) fn doubt(kind: DoubtKind, place: PlaceId, origin: Option<Origin>) -> Stop {
    End::Undecided(Doubt { kind, place, origin, split: None }).into()
}

/// Stops because the condition of a branch or guard at `place` has to be decided. A case split at `split` can decide
/// it.
pub(super) fn undecided(place: PlaceId, split: PlaceId, origin: Origin) -> Stop {
    let (kind, origin, split) = (DoubtKind::Branch, Some(origin), Some(split));
    End::Undecided(Doubt { kind, place, origin, split }).into()
}

/// Stops because tensor memory is used wrongly, by lanes of a warp at an instruction.
pub(super) fn tensor_misuse(misuse: TensorMisuse, by: (WarpId, LaneMask, Pc)) -> Stop {
    let (warp, lanes, pc) = by;
    End::TensorMisuse { misuse, warp, lanes, pc }.into()
}
