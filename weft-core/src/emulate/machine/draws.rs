//! The draws of a cta: which atomic, in which iteration of a loop, each unique counter value comes from.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::emulate::value::lane::{SymbolId, WARP};
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{BlockId, Pc, Reg};

/// An atomic that a lane executed in an iteration of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Draw {
    pub(super) pc: Pc,
    pub(super) warp: WarpId,
    pub(super) lane: usize,
    pub(super) header: BlockId,
    /// How often the warp had entered the loop.
    pub(super) entry: u32,
    /// Iterations that it had completed since.
    pub(super) iteration: u32,
}

/// The draws that the unique counter values of a cta come from.
#[derive(Debug, Default)]
pub(super) struct Draws {
    /// For each counter value, its draw.
    pub(super) of: HashMap<SymbolId, Draw, RandomState>,
    /// For each draw, how often its instruction drew in the iteration. If it drew more than once, it is not followed.
    pub(super) counts: HashMap<Draw, u32, RandomState>,
    /// For each counter value that the first iteration of a loop passes on, the one that stands for those of later
    /// iterations.
    pub(super) renamed: HashMap<SymbolId, SymbolId, RandomState>,
}

/// A register, and for each lane what it has to hold at the end of an iteration: a draw's counter value plus a number.
pub(super) type Handed = (Reg, [Option<(Draw, u64)>; WARP]);
