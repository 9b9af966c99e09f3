//! Control dependence: which branches decide whether a block runs (Ferrante, Ottenstein and Warren, TOPLAS'87 §3).

use crate::flow::{BlockId, Program};

/// The most pairs of a block and a branch that are listed; compiled code has a few for each block.
const MAX_PAIRS: usize = 1 << 24;

/// Returns for each block the blocks whose branches decide whether it runs; `None` if there are too many to list.
pub(super) fn dependences(program: &Program) -> Option<Vec<Vec<BlockId>>> {
    let mut dependences = vec![Vec::new(); program.blocks.len()];
    let mut pairs = 0;
    for (at, block) in program.blocks.iter().enumerate() {
        let branch = BlockId::at(at);
        for successor in block.terminator.successors() {
            // The blocks from the successor up to the point where the branch's sides converge run only on this side.
            let mut here = Some(successor);
            while here != block.post_dominator {
                let Some(header) = here else { break };
                pairs += 1;
                if pairs > MAX_PAIRS {
                    return None;
                }
                if dependences[header.index()].last() != Some(&branch) {
                    dependences[header.index()].push(branch);
                }
                here = program.blocks[header.index()].post_dominator;
            }
        }
    }
    Some(dependences)
}

/// Returns for each block whether an aligned barrier lies between its branch and the branch's post-dominator. These are
/// the branches that a barrier's block depends on, directly or through other branches (Podgurski and Clarke, TSE'90
/// §3).
pub(super) fn around_barriers(
    program: &Program,
    dependences: Option<&[Vec<BlockId>]>,
) -> Vec<bool> {
    let Some(dependences) = dependences else { return vec![true; program.blocks.len()] };
    let has_barrier = |at: &BlockId| {
        program.instructions(*at).last().is_some_and(|(_, instr)| instr.is_aligned_barrier())
    };
    let blocks = (0..program.blocks.len()).map(BlockId::at);
    let mut work: Vec<BlockId> = blocks.filter(has_barrier).collect();
    let mut around = vec![false; program.blocks.len()];
    while let Some(block) = work.pop() {
        for branch in &dependences[block.index()] {
            if !std::mem::replace(&mut around[branch.index()], true) {
                work.push(*branch);
            }
        }
    }
    around
}
