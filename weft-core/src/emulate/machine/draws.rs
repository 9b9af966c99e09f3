//! What the tickets of a cta were drawn by.

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
    /// How often the warp had come to the loop, and how often round.
    pub(super) entry: u32,
    pub(super) iteration: u32,
}

/// What the tickets of a cta were drawn by.
#[derive(Debug, Default)]
pub(super) struct Draws {
    pub(super) of: HashMap<SymbolId, Draw, RandomState>,
    /// An instruction that draws more than once in an iteration is not followed.
    pub(super) counts: HashMap<Draw, u32, RandomState>,
    pub(super) renamed: HashMap<SymbolId, SymbolId, RandomState>,
}

/// A register, and what its lanes have to hold at the end of an iteration.
pub(super) type Handed = (Reg, [Option<(Draw, u64)>; WARP]);
