//! Why a run stops, and what its steps cost.

use super::event::{Doubt, DoubtKind, End};
use crate::emulate::value::origin::Origin;
use crate::flow::PlaceId;

/// Registers of all warps of a cta that something depends on.
pub const MAX_REGISTERS: u64 = 1 << 22;

/// What a branch on an open condition counts against the limit of instructions.
pub(super) const OPEN_COST: u64 = 256;
/// What a page of memory that is written for the first time counts against that limit.
pub(super) const PAGE_COST: u64 = 8;
/// What an access at an open address counts.
pub(super) const OPEN_ACCESS_COST: u64 = 32;
/// What an instruction counts beside itself if its results are open and another value in each lane.
pub(super) const APART_COST: u64 = 7;
/// What the atomic of one lane counts.
pub(super) const ATOMIC_COST: u64 = 4;

/// Of the memory that a check may take, this part may hold contents of global and local memory.
pub(super) const CONTENTS_PART: u64 = 4;

/// The machine stops. Boxed, for every step may return one.
pub(super) struct Stop(pub(super) Box<End>);

impl From<End> for Stop {
    fn from(end: End) -> Self {
        Self(Box::new(end))
    }
}

pub(super) type OrStop<T> = Result<T, Stop>;

pub(super) fn doubt(kind: DoubtKind, place: PlaceId, origin: Option<Origin>) -> Stop {
    End::Undecided(Doubt { kind, place, origin, split: None }).into()
}

/// A branch or guard must be decided, and may be by a split.
pub(super) fn undecided(place: PlaceId, split: PlaceId, origin: Origin) -> Stop {
    let (kind, origin, split) = (DoubtKind::Branch, Some(origin), Some(split));
    End::Undecided(Doubt { kind, place, origin, split }).into()
}
