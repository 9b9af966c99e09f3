//! Control dependence: which branches decide whether a block runs (Ferrante, Ottenstein and Warren, TOPLAS'87 §3).

use crate::flow::{BlockId, Program};

/// For each block the blocks whose branch decides whether it runs.
pub(super) fn dependences(program: &Program) -> Vec<Vec<BlockId>> {
    let mut dependences = vec![Vec::new(); program.blocks.len()];
    for (at, block) in program.blocks.iter().enumerate() {
        let branch = BlockId(u32::try_from(at).unwrap_or(u32::MAX));
        for successor in block.terminator.successors() {
            // Everything from the successor up to where the sides meet again runs only on this side.
            let mut here = Some(successor);
            while here != block.post_dominator {
                let Some(own) = here else { break };
                if dependences[own.index()].last() != Some(&branch) {
                    dependences[own.index()].push(branch);
                }
                here = program.blocks[own.index()].post_dominator;
            }
        }
    }
    dependences
}
