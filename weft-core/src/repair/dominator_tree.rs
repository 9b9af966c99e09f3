//! Which blocks are passed on every path to others.

use crate::flow::{BlockId, Program};

/// For each block, those that are passed on every path to it.
pub(super) struct DominatorTree {
    /// For each block, the nearest of those.
    above: Vec<Option<BlockId>>,
    /// For each block, when a walk of the tree enters and leaves it.
    visits: Vec<(usize, usize)>,
}

impl DominatorTree {
    pub(super) fn of(program: &Program) -> Self {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); program.blocks.len()];
        let above = program.dominators();
        for (block, above) in above.iter().enumerate() {
            if let Some(above) = above {
                children[above.index()].push(block);
            }
        }
        let mut visits = vec![(usize::MAX, usize::MAX); program.blocks.len()];
        let (mut time, mut work) = (0, vec![(program.entry.index(), false)]);
        while let Some((block, is_done)) = work.pop() {
            time += 1;
            if is_done {
                visits[block].1 = time;
            } else {
                visits[block].0 = time;
                work.push((block, true));
                work.extend(children[block].iter().map(|child| (*child, false)));
            }
        }
        Self { above, visits }
    }

    /// Returns the nearest block that is passed on every path to a block.
    pub(super) fn above(&self, block: BlockId) -> Option<BlockId> {
        self.above[block.index()]
    }

    /// Whether a block is passed on every path to another one, or is that one.
    pub(super) fn dominates(&self, above: BlockId, block: BlockId) -> bool {
        let [above, block] = [above, block].map(|own| self.visits[own.index()]);
        above.0 <= block.0 && block.1 <= above.1
    }
}
