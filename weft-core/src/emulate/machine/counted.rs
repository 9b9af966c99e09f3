//! Loops whose exits depend on open values: decides whether such a loop counts to a bound, and so ends, or might wait
//! for a value.
//!
//! A loop counts if a branch that every iteration executes leaves the loop once a register passes a bound: every
//! iteration steps the register by a known number, and the loop does not define the bound. Any other loop with an open
//! exit is assumed to end. That a counter does not wrap around on its way to the bound is not checked.

use std::collections::BTreeSet;

use super::event::{Events, OrderQuery};
use super::open_loop::inside;
use super::state::Machine;
use crate::emulate::value::lane::{LaneMask, lanes};
use crate::emulate::value::symbolics::Relation;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{BlockId, Instr, Operand, Reg, Terminator};
use crate::ptx::isa::Opcode;

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Records the assumption that a loop ends which lanes leave, or stay in, on an open condition, unless the loop
    /// counts.
    pub(super) fn note_open_loop(&mut self, warp: WarpId, header: BlockId, mask: LaneMask) {
        if self.facts.assumed.waits_end {
            return;
        }
        let program = self.program;
        let counts = program.blocks_in(header).any(|at| {
            self.leaves_by_count(warp, header, at, mask) && self.is_in_every_iteration(header, at)
        });
        self.facts.assumed.waits_end = !counts;
    }

    /// Whether every path from the header of a loop back to the header passes a block.
    fn is_in_every_iteration(&self, header: BlockId, at: BlockId) -> bool {
        let mut seen = BTreeSet::new();
        let mut work = vec![header];
        while let Some(inner) = work.pop().filter(|_| at != header) {
            let block = &self.program.blocks[inner.index()];
            for next in block.terminator.successors() {
                let is_inside = self.program.blocks[next.index()].loops.contains(&header);
                if next == header {
                    return false;
                }
                if is_inside && next != at && seen.insert(next) {
                    work.push(next);
                }
            }
        }
        true
    }

    /// Whether a block's branch leaves the loop once a register passes a bound.
    fn leaves_by_count(
        &mut self,
        warp: WarpId,
        header: BlockId,
        at: BlockId,
        mask: LaneMask,
    ) -> bool {
        let program = self.program;
        let Terminator::Branch { condition, taken, otherwise } =
            program.blocks[at.index()].terminator
        else {
            return false;
        };
        let is_outside = |to: BlockId| !program.blocks[to.index()].loops.contains(&header);
        if !is_outside(taken) && !is_outside(otherwise) {
            return false;
        }
        let Some(test) = self.only_definition(header, condition.register) else { return false };
        let Some(decoded) = test.decoded().filter(|decoded| decoded.row.opcode == Opcode::Setp)
        else {
            return false;
        };
        let [a, b] = *test.sources else { return false };
        let relation = Relation::of(decoded);
        if decoded.is_float_comparison() || test.guard.is_some() || relation.is_none() {
            return false;
        }
        let is_order = !matches!(relation, Some(Relation::Equal | Relation::NotEqual));
        [(a, b), (b, a)].into_iter().any(|(counter, bound)| {
            self.is_fixed(header, bound) && self.steps(warp, header, counter, mask, is_order)
        })
    }

    /// The definition of a register in a loop; `None` unless there is exactly one.
    fn only_definition(&self, header: BlockId, register: Reg) -> Option<&Instr> {
        let mut all = inside(self.program, header)
            .map(|(_, instr)| instr)
            .filter(|instr| instr.dests.contains(&Some(register)));
        all.next().filter(|_| all.next().is_none())
    }

    /// Whether a bound has the same value in all iterations of a loop.
    fn is_fixed(&self, header: BlockId, bound: Operand) -> bool {
        let (Operand::Register(register) | Operand::Not(register)) = bound else { return true };
        let mut all = inside(self.program, header);
        self.program.invariant.contains_key(&(header, register))
            || !all.any(|(_, instr)| instr.dests.contains(&Some(register)))
    }

    /// Whether every iteration steps a register by a known number in all of these lanes: by any number but zero if the
    /// comparison is an order, by one if it tests for equality.
    fn steps(
        &mut self,
        warp: WarpId,
        header: BlockId,
        counter: Operand,
        mask: LaneMask,
        is_ordered: bool,
    ) -> bool {
        let program = self.program;
        let Operand::Register(register) = counter else { return false };
        let is_even = program.even.contains(&(header, register));
        let steps = program.steps.get(&(header, register)).filter(|_| is_even);
        let Some([step]) = steps.map(Vec::as_slice) else { return false };
        let amounts = self.amounts(warp, header, step);
        lanes(mask).all(|lane| {
            amounts[lane].is_some_and(|amount| {
                let size = amount.cast_signed().unsigned_abs();
                size == 1 || is_ordered && size != 0
            })
        })
    }
}
