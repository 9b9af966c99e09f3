//! How the arbitrary thread leaves a block: the edges that it takes, and the conditions under which it takes them.

use super::expr::{BinaryOperator, Expr};
use super::locks::BlockStep;
use super::state::ThreadState;
use super::thread::{ReachCondition, Runner, SymbolicBarrier};
use crate::flow::{BlockId, Condition, Instr, Operand, Terminator};
use crate::ptx::isa::Opcode;

impl Runner<'_> {
    /// Hands the state on along the edges that leave a block.
    pub(super) fn leave(&mut self, block: BlockId, reach: ReachCondition, state: &ThreadState) {
        let last = &self.program.blocks[block.index()];
        if !self.slice.branches[block.index()] {
            let next = match &last.terminator {
                Terminator::Goto(next) => Some(*next),
                Terminator::End => None,
                _ => last.post_dominator,
            };
            if let Some(next) = next {
                self.edge(block, next, reach, state);
            }
            return;
        }
        match &last.terminator {
            Terminator::Goto(next) => self.edge(block, *next, reach, state),
            Terminator::Branch { condition, taken, otherwise } => {
                let holds = self.condition(*condition, state);
                let not = self.thread.exprs.not(holds);
                let exit = self.facts.early_exits.exit(block);
                for (side, next) in [(holds, *taken), (not, *otherwise)] {
                    let mut goes = self.with(reach, side);
                    if exit == Some(next) {
                        let stays = self.thread.exprs.not(goes.holds);
                        self.stays.push(stays);
                    } else if exit.is_some() {
                        // All threads that do not end here come to the other side.
                        goes.comes = reach.comes;
                    }
                    self.edge(block, next, goes, state);
                }
            }
            Terminator::Switch { index, targets } => {
                self.switch(block, index, targets, reach, state);
            }
            Terminator::End => {}
        }
    }

    fn switch(
        &mut self,
        block: BlockId,
        index: &Operand,
        targets: &[BlockId],
        reach: ReachCondition,
        state: &ThreadState,
    ) {
        let index = self.operand(index, state);
        let index = index.unwrap_or_else(|| self.thread.exprs.unknown(32));
        for (at, next) in targets.iter().enumerate() {
            let exprs = &mut self.thread.exprs;
            let (index, number) = (exprs.resized(index, 32, false), exprs.constant(at as u64, 32));
            let is_it = exprs.binary(BinaryOperator::Eq, index, number);
            let reach = self.with(reach, is_it);
            self.edge(block, *next, reach, state);
        }
    }

    /// Adds a condition.
    pub(super) fn with(&mut self, reach: ReachCondition, condition: Expr) -> ReachCondition {
        let exprs = &mut self.thread.exprs;
        ReachCondition {
            holds: exprs.binary(BinaryOperator::And, reach.holds, condition),
            comes: exprs.binary(BinaryOperator::And, reach.comes, condition),
        }
    }

    /// Adds a barrier or an exchange. Only `elect.sync` waits for lanes that have ended, too (PTX ISA §9.7.13.14).
    pub(super) fn meet(
        &mut self,
        (block, pc): BlockStep,
        instr: &Instr,
        mut reach: ReachCondition,
        last: Option<Expr>,
    ) {
        let exprs = &mut self.thread.exprs;
        let mut and = |a: Expr, b: Expr| exprs.binary(BinaryOperator::And, a, b);
        let stays = self.stays.iter().copied().reduce(&mut and);
        if instr.decoded().is_some_and(|own| own.row.opcode == Opcode::Elect) {
            reach.comes = stays.map_or(reach.comes, |stays| and(reach.comes, stays));
        }
        self.thread.barriers.push(SymbolicBarrier { pc, block, reach, last, stays });
    }

    fn edge(&mut self, from: BlockId, to: BlockId, reach: ReachCondition, state: &ThreadState) {
        if self.thread.exprs.is_truth(reach.holds, false) {
            return;
        }
        if to <= from {
            self.repeat(to, reach, state);
            return;
        }
        let mut state = state.clone();
        let lasting = self.slice.lasting as usize + 1;
        state.registers[lasting.min(self.places)..].fill(None);
        self.edges.entry(to).or_default().push((reach, state));
    }

    pub(super) fn condition(&mut self, condition: Condition, state: &ThreadState) -> Expr {
        let place = self.slice.places[condition.register.index()] as usize;
        let value = match state.registers[place] {
            Some(value) => self.thread.exprs.resized(value, 1, false),
            None => self.thread.exprs.unknown(1),
        };
        if condition.negated { self.thread.exprs.not(value) } else { value }
    }
}
