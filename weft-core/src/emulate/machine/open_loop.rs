//! For each warp and each loop that it has come to: its iterations so far, and how far the proof by induction has come if
//! the trip count turned out to be open.

use std::collections::BTreeMap;

use super::draws::Handed;
use crate::emulate::value::lane::{Lane, LaneMask};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{BlockId, Instr, Pc, Program};

/// How far the proof of a loop by induction has come, for one warp.
#[derive(Clone, Debug, Default)]
pub(super) enum Phase {
    /// No open condition has decided yet whether the loop goes on: every iteration ran as it is.
    #[default]
    Known,
    /// An open condition has decided that the loop goes on: the next iteration is a general one.
    Open,
    /// The warp is in the general state, which stands for any later iteration.
    General(GeneralPhase),
}

/// A warp in the general state of a loop.
#[derive(Clone, Debug, Default)]
pub(super) struct GeneralPhase {
    /// The lanes that entered it.
    pub(super) lanes: LaneMask,
    /// The other warps that had not ended when it began.
    pub(super) beside: Vec<WarpId>,
    /// Registers that are assumed to hold counter values of the iteration before, and these.
    pub(super) handed: Vec<Handed>,
    /// For each branch that can leave the loop: the number of general iterations in which an open condition decided it,
    /// and the last of them.
    pub(super) decisions: BTreeMap<BlockId, (u32, u32)>,
    /// The branch by which the warp had to leave the loop, and the condition there; `None` if it has not left.
    pub(super) left: Option<(BlockId, Lane)>,
}

/// What is known about a warp in a loop.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenLoop {
    /// How often the warp has entered the loop.
    pub(super) entry: u32,
    pub(super) phase: Phase,
    /// Whether lanes came back to its header at different times.
    pub(super) is_torn: bool,
    /// Iterations completed since then.
    pub(super) iterations: u32,
    /// Those of them that came before the general state.
    pub(super) before: u32,
    /// The origin of the first open condition that decided whether the loop goes on.
    pub(super) origin: Option<Origin>,
}

impl OpenLoop {
    /// Whether an open condition decided how often the loop runs.
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

/// For each warp and loop header.
pub(super) type OpenLoops = BTreeMap<(WarpId, BlockId), OpenLoop>;

/// The instructions of a loop.
pub(super) fn inside(program: &Program, header: BlockId) -> impl Iterator<Item = (Pc, &Instr)> {
    program.blocks_in(header).flat_map(|block| program.instructions(block))
}
