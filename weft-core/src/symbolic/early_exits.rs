//! Early exits: branches at which threads end that have not accessed memory that threads share, nor met other threads. What
//! the others do is the same without them, and neither barriers nor exchanges wait for them, except `elect.sync`: "barriers
//! exclusively waiting on arrivals from exited threads are always released" (PTX ISA §9.7.12.7).

use std::collections::BTreeMap;

use crate::flow::{BlockId, Pc, Program, Terminator};
use crate::launch::{BarrierDivergence, Launch};
use crate::ptx::Space;
use crate::ptx::isa::Effect;

/// The branches with an early exit, each with the block that begins the way to it.
#[derive(Clone, Debug, Default)]
pub(super) struct EarlyExits(BTreeMap<BlockId, BlockId>);

impl EarlyExits {
    /// Finds the early exits of a program. There is none if the launch asks that all threads of a cta come to its barriers.
    pub(super) fn of(program: &Program, launch: &Launch, is_constant: &dyn Fn(Pc) -> bool) -> Self {
        if launch.options.barrier_divergence == BarrierDivergence::Cta {
            return Self::default();
        }
        let is_quiet = |block: BlockId| {
            program.blocks[block.index()].loops.is_empty()
                && program.instructions(block).all(|(pc, instr)| match instr.effect() {
                    Effect::Compute => true,
                    Effect::Load => {
                        let space = instr.address.map(|address| address.space);
                        matches!(space, Some(Space::Param | Space::Const)) || is_constant(pc)
                    }
                    _ => false,
                })
        };
        let all = || (0..program.blocks.len()).map(BlockId::at);
        // From the last block to the first: what follows a block outside of loops comes behind it.
        let mut ends_quietly = vec![false; program.blocks.len()];
        for block in all().rev() {
            let next = program.blocks[block.index()].terminator.successors();
            ends_quietly[block.index()] =
                is_quiet(block) && next.iter().all(|next| ends_quietly[next.index()]);
        }
        let exit = |block: BlockId| {
            let terminator = &program.blocks[block.index()].terminator;
            let Terminator::Branch { taken, otherwise, .. } = terminator else { return None };
            let exit = [*taken, *otherwise].into_iter().find(|side| ends_quietly[side.index()])?;
            Some((block, exit))
        };
        Self(all().take_while(|block| is_quiet(*block)).filter_map(exit).collect())
    }

    /// The block that begins the way to an early exit at a branch.
    pub(super) fn exit(&self, branch: BlockId) -> Option<BlockId> {
        self.0.get(&branch).copied()
    }
}
