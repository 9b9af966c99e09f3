//! The recycling check's data (PLDI'15 Fig. 4).

use crate::emulate::{BarrierId, WarpId};
use crate::flow::Pc;

/// A participant whose part must be known before the barrier's next generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Completion {
    pub(super) warp: WarpId,
    /// The number of this arrival among those of its warp.
    pub(super) arrival: u32,
    pub(super) pc: Pc,
    pub(super) waits: bool,
}

/// A warp took part in a generation without being ordered after the completion of the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Recycling {
    /// The barrier's name.
    pub barrier: BarrierId,
    /// Where the generation before was completed: a wait, or an arrival of a generation of arrivals alone.
    pub previous: Pc,
    /// By which warp.
    pub previous_warp: WarpId,
    /// The arrival that is not ordered after it.
    pub arrival: Pc,
    /// By which warp.
    pub arrival_warp: WarpId,
}
