//! How the run of the ctas of a cluster ends.

use super::doubt::Doubt;
use crate::emulate::sync::barrier::{BarrierId, BarrierNeed, Misuse};
use crate::emulate::sync::columns::{ColumnNeed, TensorMisuse};
use crate::emulate::sync::mbarrier::{MbarrierId, MbarrierMisuse, MbarrierNeed};
use crate::emulate::sync::registers::RegisterNeed;
use crate::emulate::value::lane::LaneMask;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{BlockId, Pc, PlaceId};

/// Lanes that wait in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Their warp.
    pub warp: WarpId,
    /// The lanes.
    pub lanes: LaneMask,
    /// What they wait at.
    pub pc: Pc,
    /// What it needs that they wait at.
    pub at: StuckAt,
}

/// What lanes wait at in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StuckAt {
    /// A cta barrier, and what its generation needs.
    Barrier(BarrierId, BarrierNeed),
    /// A phase of an mbarrier object, by its number from 0, and what the phase needs.
    Phase(MbarrierId, u64, MbarrierNeed),
    /// The registers that its warp asks for.
    Registers(RegisterNeed),
    /// The columns of tensor memory that its warp asks for.
    Columns(ColumnNeed),
    /// A warp-level instruction, or a barrier at which no warp has arrived yet.
    Warp,
}

impl Stuck {
    /// The cta barrier that the lanes wait at, and what its generation needs.
    pub const fn barrier(&self) -> Option<(BarrierId, BarrierNeed)> {
        match self.at {
            StuckAt::Barrier(barrier, need) => Some((barrier, need)),
            _ => None,
        }
    }
}

/// Why threads do not reach a barrier together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divergence {
    /// Lanes of one warp wait at barriers that differ in name, count or use, or at different barrier instructions of
    /// which one is `.aligned`.
    Lanes,
    /// Threads of the cta wait at different barrier instructions (ESOP'13 §3.2, B1).
    Barriers,
    /// They wait at one barrier instruction, in different iterations of a loop around it (B2).
    Iterations,
    /// Some threads of the cta have ended, so they do not come to the barrier.
    Ended,
    /// Lanes of one warp bypassed an aligned barrier at which other lanes of the warp wait. They did at this branch;
    /// `None`: the guard of the barrier itself let them pass.
    Bypassed(Option<PlaceId>),
}

/// Threads of one warp that diverged from others, and where they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DivergedThreads {
    /// Their warp.
    pub warp: WarpId,
    /// Their lanes.
    pub lanes: LaneMask,
    /// The instruction.
    pub pc: Pc,
    /// Its block. A function that is called twice has other blocks for each call.
    pub block: BlockId,
    /// The iteration of each loop around it, from 0, outermost first.
    pub iterations: Vec<u32>,
}

/// How the run of a cta ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All threads ended.
    Finished,
    /// No thread can run, but some have not ended.
    Deadlock(Vec<Stuck>),
    /// A barrier was used wrongly.
    Misuse {
        /// How it was used.
        misuse: Misuse,
        /// The warp that used it.
        warp: WarpId,
        /// The lanes.
        lanes: LaneMask,
        /// The instruction.
        pc: Pc,
    },
    /// An mbarrier object was used wrongly.
    MbarrierMisuse {
        /// How it was used.
        misuse: MbarrierMisuse,
        /// The object.
        object: MbarrierId,
        /// The warp that used it.
        warp: WarpId,
        /// The lanes.
        lanes: LaneMask,
        /// The instruction.
        pc: Pc,
    },
    /// Tensor memory was used wrongly.
    TensorMisuse {
        /// How it was used.
        misuse: TensorMisuse,
        /// The warp that used it.
        warp: WarpId,
        /// The lanes.
        lanes: LaneMask,
        /// The instruction.
        pc: Pc,
    },
    /// Threads that must reach a barrier together do not.
    Diverged {
        /// How they diverge.
        divergence: Divergence,
        /// Two of the groups of threads, or one if the others have ended. Threads that bypassed a barrier are those
        /// that then executed an observable instruction, at that instruction.
        sides: Vec<DivergedThreads>,
    },
    /// Lanes execute a warp instruction whose mask does not contain them.
    Mask {
        /// The warp.
        warp: WarpId,
        /// The lanes that the mask does not contain.
        lanes: LaneMask,
        /// The instruction.
        pc: Pc,
    },
    /// The machine could not go on.
    Undecided(Doubt),
}
