//! What the recycling check compares and what it reports (PLDI'15 Fig. 4).

use super::clock::Epoch;
use crate::emulate::{BarrierId, WarpId};
use crate::flow::Pc;

/// An arrival that participants of the barrier's next generation have to be ordered after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Completion {
    pub(super) warp: WarpId,
    /// The epoch of its warp that the arrival began.
    pub(super) arrival: Epoch,
    pub(super) pc: Pc,
    pub(super) waits: bool,
}

/// A warp took part in a generation without being ordered after the completion of the generation before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Recycling {
    /// The barrier.
    pub barrier: BarrierId,
    /// How the generation before was completed: a wait or, in a generation without waits, an arrival.
    pub previous: Pc,
    /// The warp of that wait or arrival.
    pub previous_warp: WarpId,
    /// The arrival that is not ordered after that completion.
    pub arrival: Pc,
    /// The warp of that arrival.
    pub arrival_warp: WarpId,
}
