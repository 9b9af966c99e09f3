//! Where a warp stands in the loops whose trip count is open.

use std::collections::BTreeMap;

use super::draws::Handed;
use crate::emulate::value::lane::{Lane, LaneMask};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{BlockId, Instr, Pc, Program};

/// A warp in a loop.
#[derive(Clone, Debug, Default)]
pub(super) struct InLoop {
    pub(super) entry: u32,
    /// Whether leaving it was decided on an open condition.
    pub(super) is_decided: bool,
    pub(super) is_general: bool,
    /// The lanes that went on into the general state.
    pub(super) general: LaneMask,
    /// How it had to leave: the branch and the condition there.
    pub(super) left: Option<(BlockId, Lane)>,
    /// Lanes came round apart.
    pub(super) is_torn: bool,
    /// Rounds so far, and those before the general state.
    pub(super) iterations: u32,
    pub(super) before: u32,
    /// The other warps that were there when the general state began.
    pub(super) beside: Vec<WarpId>,
    /// Registers that are taken to hold tickets of the round before.
    pub(super) handed: Vec<Handed>,
    /// By branch: rounds in the general state in which it decided, and the last one.
    pub(super) decisions: BTreeMap<BlockId, (u32, u32)>,
    pub(super) origin: Option<Origin>,
}

/// By warp and header.
pub(super) type OpenLoops = BTreeMap<(WarpId, BlockId), InLoop>;

/// The instructions of a loop.
pub(super) fn inside(program: &Program, header: BlockId) -> impl Iterator<Item = (Pc, &Instr)> {
    program.blocks_in(header).flat_map(|block| program.instructions(block))
}
