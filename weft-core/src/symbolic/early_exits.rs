//! Early exits: branches at which threads end that have not accessed memory that threads share, nor met other threads. What
//! the others do is the same without them, and neither barriers nor exchanges wait for them: "barriers exclusively waiting on
//! arrivals from exited threads are always released" (PTX ISA §9.7.12.7).

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
        let blocks = (0..program.blocks.len()).map(BlockId::at);
        let first = blocks.take_while(|block| is_quiet(*block));
        let exit = |block: BlockId| {
            let terminator = &program.blocks[block.index()].terminator;
            let Terminator::Branch { taken, otherwise, .. } = terminator else { return None };
            let ends = |side: &BlockId| ends_quietly(program, *side, &is_quiet);
            Some((block, [*taken, *otherwise].into_iter().find(ends)?))
        };
        Self(first.filter_map(exit).collect())
    }

    /// The block that begins the way to an early exit at a branch.
    pub(super) fn exit(&self, branch: BlockId) -> Option<BlockId> {
        self.0.get(&branch).copied()
    }
}

/// Whether a thread that comes to a block ends without an access or a barrier.
fn ends_quietly(program: &Program, from: BlockId, is_quiet: &dyn Fn(BlockId) -> bool) -> bool {
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        if !is_quiet(block) {
            return false;
        }
        work.extend(program.blocks[block.index()].terminator.successors());
    }
    true
}
