//! Where a warp stands in the loops whose trip count is open.

use std::collections::BTreeMap;

use super::draws::Handed;
use crate::emulate::value::lane::{Lane, LaneMask};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{BlockId, Instr, Pc, Program};

/// How far the proof of a loop by induction has come, for one warp.
#[derive(Clone, Debug, Default)]
pub(super) enum Phase {
    /// Every iteration so far ran as it is: nothing open decided whether there is another one.
    #[default]
    Known,
    /// Leaving it was decided on an open condition: the next iteration is a general one.
    Open,
    /// The warp stands in any later iteration.
    General(GeneralPhase),
}

/// A warp in the general state of a loop.
#[derive(Clone, Debug, Default)]
pub(super) struct GeneralPhase {
    /// The lanes that went on into it.
    pub(super) lanes: LaneMask,
    /// The other warps that were there when it began.
    pub(super) beside: Vec<WarpId>,
    /// Registers that are taken to hold counter values of the iteration before.
    pub(super) handed: Vec<Handed>,
    /// By branch: iterations in which it decided, and the last one.
    pub(super) decisions: BTreeMap<BlockId, (u32, u32)>,
    /// How the warp had to leave: the branch, and the condition there.
    pub(super) left: Option<(BlockId, Lane)>,
}

/// A warp in a loop.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenLoop {
    /// How often the warp has come to the loop.
    pub(super) entry: u32,
    pub(super) phase: Phase,
    /// Lanes came back to its header at different times.
    pub(super) is_torn: bool,
    /// Iterations so far.
    pub(super) iterations: u32,
    /// Iterations before the general state.
    pub(super) before: u32,
    /// Where the open condition comes from.
    pub(super) origin: Option<Origin>,
}

impl OpenLoop {
    /// Whether an open condition decided how often it runs.
    pub(super) const fn is_open(&self) -> bool {
        !matches!(self.phase, Phase::Known)
    }

    pub(super) const fn general(&self) -> Option<&GeneralPhase> {
        if let Phase::General(general) = &self.phase { Some(general) } else { None }
    }

    pub(super) const fn general_mut(&mut self) -> Option<&mut GeneralPhase> {
        if let Phase::General(general) = &mut self.phase { Some(general) } else { None }
    }
}

/// By warp and header.
pub(super) type OpenLoops = BTreeMap<(WarpId, BlockId), OpenLoop>;

/// The instructions of a loop.
pub(super) fn inside(program: &Program, header: BlockId) -> impl Iterator<Item = (Pc, &Instr)> {
    program.blocks_in(header).flat_map(|block| program.instructions(block))
}
