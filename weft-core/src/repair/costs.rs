//! The cost of a barrier: it grows with the loops around it and shrinks with the conditions.

use super::kind::BarrierKind;
use crate::flow::{BlockId, Program, Terminator};

/// The cost model: a barrier costs `per_loop^loops * per_condition^conditions` (FMCAD'18 §4), a warp barrier half of
/// that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// The factor of a loop around the barrier.
    pub per_loop: f64,
    /// The factor of a condition around the barrier.
    pub per_condition: f64,
}

/// The cost of some barriers.
pub type Cost = f64;

impl Default for Costs {
    fn default() -> Self {
        Self { per_loop: 100.0, per_condition: 0.5 }
    }
}

/// The factor of a warp barrier.
const WARP: Cost = 0.5;

/// How deep in loops and conditions a block is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Nesting {
    pub(super) loops: u32,
    pub(super) conditions: u32,
}

impl Costs {
    /// Returns the cost of a barrier.
    pub(super) fn of(self, kind: BarrierKind, nesting: Nesting) -> Cost {
        let exponent = |count: u32| i32::try_from(count).unwrap_or(i32::MAX);
        let factor = match kind {
            BarrierKind::Cta => 1.0,
            BarrierKind::Warp => WARP,
        };
        factor
            * self.per_loop.powi(exponent(nesting.loops))
            * self.per_condition.powi(exponent(nesting.conditions))
    }
}

/// Finds the nesting of blocks.
pub(super) struct Nestings<'p> {
    program: &'p Program,
    dominators: Vec<Option<BlockId>>,
}

impl<'p> Nestings<'p> {
    pub(super) fn of(program: &'p Program) -> Self {
        Self { program, dominators: program.dominators() }
    }

    /// Returns the loops and the conditions around a block. A branch out of a loop is no condition for the rest of the
    /// loop, and a branch one side of which only ends the thread is none for the other side.
    pub(super) fn block(&self, block: BlockId) -> Nesting {
        let loops = self.program.blocks[block.index()].loops.len();
        let conditions =
            self.above(block).filter(|branch| self.is_condition(*branch, block)).count();
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Nesting { loops: number(loops), conditions: number(conditions) }
    }

    /// The blocks that dominate a block, itself not included.
    fn above(&self, block: BlockId) -> impl Iterator<Item = BlockId> {
        std::iter::successors(self.dominators[block.index()], |above| {
            self.dominators[above.index()]
        })
    }

    /// Whether a branch decides how often a block runs: the block lies between the branch and the block where its sides
    /// converge, or in the innermost loop, if the branch leaves that.
    pub(super) fn is_decided_by(&self, branch: BlockId, block: BlockId) -> bool {
        let own = &self.program.blocks[branch.index()];
        let in_loop = || {
            let header = own.loops.last().filter(|header| self.leaves(branch, **header));
            header.is_some_and(|header| self.program.blocks[block.index()].loops.contains(header))
        };
        self.is_inside(branch, block) || in_loop()
    }

    /// Whether a branch can leave the loop with this header.
    fn leaves(&self, branch: BlockId, header: BlockId) -> bool {
        let successors = self.program.blocks[branch.index()].terminator.successors();
        successors.iter().any(|next| !self.program.blocks[next.index()].loops.contains(&header))
    }

    /// Whether a block lies between a branch and the block where the branch's sides converge.
    pub(super) fn is_inside(&self, branch: BlockId, block: BlockId) -> bool {
        let Some(merge) = self.program.blocks[branch.index()].post_dominator else { return false };
        let is_end = self.program.blocks[merge.index()].terminator == Terminator::End;
        let is_behind = block == merge || self.above(block).any(|above| above == merge);
        !is_end && !is_behind && self.above(block).any(|above| above == branch)
    }

    fn is_condition(&self, branch: BlockId, block: BlockId) -> bool {
        let own = &self.program.blocks[branch.index()];
        let successors = own.terminator.successors();
        let is_exit = own.loops.last().is_some_and(|header| self.leaves(branch, *header));
        successors.len() > 1 && !is_exit && self.is_inside(branch, block)
    }
}

/// Returns costs as whole numbers in the same proportions, to a thousandth of the least.
pub(super) fn scaled(costs: impl Iterator<Item = Cost> + Clone) -> Vec<usize> {
    const PRECISION: f64 = 1000.0;
    /// The sum of some thousands still fits.
    const MOST: f64 = 1e15;
    let least = costs.clone().fold(f64::INFINITY, f64::min);
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 1 and 10^15"
    )]
    costs.map(|cost| (cost / least * PRECISION).round().clamp(1.0, MOST) as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_cost_and_conditions_save() {
        let costs = Costs::default();
        let of = |loops, conditions| costs.of(BarrierKind::Cta, Nesting { loops, conditions });
        let warp = costs.of(BarrierKind::Warp, Nesting { loops: 1, conditions: 0 });
        let all = [of(0, 0), of(2, 0), of(0, 1), of(1, 2), warp];
        assert_eq!(all.map(|cost| cost.to_string()), ["1", "10000", "0.5", "25", "50"]);
    }
}
