//! What a thread that has come to an iteration of a loop knows of the iterations before it, bit by bit: each of them ended
//! with the condition on which the loop goes on.
//!
//! From that condition for all earlier iterations follows how many they can be, where it compares a value that each
//! iteration steps by the same amount with one that the loop does not change. Nothing is assumed about wrap-around: that
//! the steps have not passed the end of the numbers is part of what is stated.

use std::collections::BTreeSet;

use super::atom::{Atom, Expr};
use super::expr::{BinaryOperator, ExprNode};
use super::pair_query::PairQuery;
use super::predicate::conjuncts;
use super::view::Copy;
use crate::flow::{BlockId, Program};

/// A loop around an access, for one thread.
#[derive(Clone, Copy)]
struct ThreadLoop {
    header: BlockId,
    copy: Copy,
    /// The number of iterations before the present one.
    iterations: Expr,
}

/// Two numbers, the first of which an iteration steps towards the second: they are compared before each step.
struct SteppedComparison {
    /// The first number in the first iteration.
    first: Expr,
    /// What an iteration adds to it.
    step: Expr,
    /// The number that the loop does not change.
    limit: Expr,
    is_signed: bool,
    /// Whether the first number is greater than the limit, or not less; otherwise it is less, or not greater.
    is_down: bool,
    /// Whether the loop goes on where both are equal.
    has_limit: bool,
}

impl PairQuery<'_> {
    /// Adds what a thread knows at a block of the iterations of the loops around it.
    pub(super) fn repeated(&mut self, program: &Program, block: BlockId, copy: Copy) -> Option<()> {
        let thread = self.copies.thread;
        for header in &program.blocks[block.index()].loops {
            let Some(symbolic) = thread.loops.get(header) else { continue };
            let iterations = self.copies.iteration(*header, copy);
            // No thread goes round a loop 2^63 times.
            let most = self.constant(1 << 63, 64);
            let is_real = self.binary(BinaryOperator::Ult, iterations, most);
            self.holds(is_real);
            let [again] = symbolic.again.as_slice() else { continue };
            let inside: BTreeSet<BlockId> = program.blocks_in(*header).collect();
            let of = ThreadLoop { header: *header, copy, iterations };
            for part in conjuncts(&thread.exprs, again.holds) {
                if self.is_of_iteration(part, *header, &inside) {
                    self.went_on(part, of)?;
                }
            }
        }
        Some(())
    }

    /// Whether an expression depends on nothing that the loop changes but the number of the iteration, and not on memory
    /// at addresses that depend on it.
    fn is_of_iteration(&self, of: Expr, header: BlockId, inside: &BTreeSet<BlockId>) -> bool {
        let exprs = &self.copies.thread.exprs;
        let loads = exprs.atoms(of).into_iter().any(|atom| match atom {
            Atom::Loaded(address, _) => exprs.atoms(address).contains(&Atom::Iteration(header)),
            _ => false,
        });
        !loads && exprs.is_of_iteration(of, header, |at| inside.contains(&at))
    }

    /// Adds that a condition held at the end of all earlier iterations.
    fn went_on(&mut self, part: Expr, of: ThreadLoop) -> Option<()> {
        let (zero, minus_one) = (self.constant(0, 64), self.constant(u64::MAX, 64));
        let is_first = self.binary(BinaryOperator::Eq, of.iterations, zero);
        let before = self.binary(BinaryOperator::Add, of.iterations, minus_one);
        for number in [zero, before] {
            let held = self.copies.at(part, of.copy, Some((of.header, number)))?;
            let fact = self.binary(BinaryOperator::Or, is_first, held);
            self.holds(fact);
        }
        let are_left = self.steps_left(part, before, of)?;
        let fact = self.binary(BinaryOperator::Or, is_first, are_left);
        self.holds(fact);
        Some(())
    }

    /// What follows for the number of the iteration before from a condition that held at the end of each up to it; a
    /// predicate that always holds if nothing does. `None` if there are too many expressions.
    fn steps_left(&mut self, part: Expr, before: Expr, of: ThreadLoop) -> Option<Expr> {
        let exprs = &self.copies.thread.exprs;
        let (part, holds) = match exprs.node(part) {
            ExprNode::Not(inner) => (inner, false),
            _ => (part, true),
        };
        let ExprNode::Binary(operator, a, b) = exprs.node(part) else {
            return Some(self.copies.exprs.truth(true));
        };
        let is_left = self.depends(a, of.header);
        let (number, limit) = if is_left { (a, b) } else { (b, a) };
        let is_stepped = !self.depends(limit, of.header) && self.is_linear(number, of.header);
        let is_compared = match operator {
            BinaryOperator::Eq => !holds && exprs.bits(a) > 1,
            BinaryOperator::Ult | BinaryOperator::Slt => true,
            _ => false,
        };
        if !is_stepped || !is_compared {
            return Some(self.copies.exprs.truth(true));
        }
        let (zero, one) = (self.constant(0, 64), self.constant(1, 64));
        let first = self.copies.at(number, of.copy, Some((of.header, zero)))?;
        let second = self.copies.at(number, of.copy, Some((of.header, one)))?;
        let step = self.copies.exprs.minus(second, first);
        let limit = self.copies.of(limit, of.copy)?;
        Some(if operator == BinaryOperator::Eq {
            self.until_equal(first, step, limit, before)
        } else {
            let is_signed = operator == BinaryOperator::Slt;
            let (is_down, has_limit) = (is_left != holds, !holds);
            let compared = SteppedComparison { first, step, limit, is_signed, is_down, has_limit };
            self.within(&compared, before)
        })
    }

    fn depends(&self, of: Expr, header: BlockId) -> bool {
        self.copies.thread.exprs.atoms(of).contains(&Atom::Iteration(header))
    }

    /// Whether each iteration adds the same to an expression, modulo its width.
    fn is_linear(&self, of: Expr, header: BlockId) -> bool {
        let exprs = &self.copies.thread.exprs;
        if !self.depends(of, header) {
            return true;
        }
        match exprs.node(of) {
            ExprNode::Atom(_) => true,
            ExprNode::Not(a) | ExprNode::Extract(a, 0) => self.is_linear(a, header),
            ExprNode::Binary(BinaryOperator::Add, a, b) => {
                self.is_linear(a, header) && self.is_linear(b, header)
            }
            ExprNode::Binary(BinaryOperator::Mul, a, b) => {
                let is_scaled = !self.depends(a, header) || !self.depends(b, header);
                is_scaled && self.is_linear(a, header) && self.is_linear(b, header)
            }
            ExprNode::Binary(BinaryOperator::Shl, a, b) => {
                !self.depends(b, header) && self.is_linear(a, header)
            }
            _ => false,
        }
    }

    /// A number that steps until it is equal to a limit, `before` iterations without being so: if some number of steps ends
    /// at the limit, there have not been as many.
    fn until_equal(&mut self, first: Expr, step: Expr, limit: Expr, before: Expr) -> Expr {
        let mut all = self.copies.exprs.truth(true);
        let back = self.copies.exprs.negated(step);
        for (from, to, by) in [(first, limit, step), (limit, first, back)] {
            let room = self.copies.exprs.minus(to, from);
            let zero = self.constant(0, self.copies.exprs.bits(by));
            let rest = self.binary(BinaryOperator::Urem, room, by);
            let [stands, is_multiple] =
                [by, rest].map(|number| self.binary(BinaryOperator::Eq, number, zero));
            let steps = self.binary(BinaryOperator::Udiv, room, by);
            let steps = self.copies.exprs.resized(steps, 64, false);
            let fewer = self.binary(BinaryOperator::Ult, before, steps);
            let never = self.copies.exprs.not(is_multiple);
            let open = self.binary(BinaryOperator::Or, stands, never);
            let fact = self.binary(BinaryOperator::Or, open, fewer);
            all = self.binary(BinaryOperator::And, all, fact);
        }
        all
    }

    /// A number that steps towards a limit, compared with it `before + 1` times: unless a step from the last number on this
    /// side of the limit wraps around, there is room for `before` steps.
    fn within(&mut self, compared: &SteppedComparison, before: Expr) -> Expr {
        let SteppedComparison { first, step, limit, is_signed, is_down, has_limit } = *compared;
        let bits = self.copies.exprs.bits(first);
        let less = if is_signed { BinaryOperator::Slt } else { BinaryOperator::Ult };
        let (zero, one) = (self.constant(0, bits), self.constant(1, bits));
        let last = match (has_limit, is_down) {
            (true, _) => limit,
            (false, true) => self.binary(BinaryOperator::Add, limit, one),
            (false, false) => self.copies.exprs.minus(limit, one),
        };
        let (beyond, room, step) = if is_down {
            let by = self.copies.exprs.negated(step);
            (self.copies.exprs.minus(last, by), self.copies.exprs.minus(first, last), by)
        } else {
            let beyond = self.binary(BinaryOperator::Add, last, step);
            (beyond, self.copies.exprs.minus(last, first), step)
        };
        let is_step = self.binary(less, zero, step);
        let stays =
            if is_down { self.binary(less, beyond, last) } else { self.binary(less, last, beyond) };
        let steps = self.binary(BinaryOperator::Udiv, room, step);
        let steps = self.copies.exprs.resized(steps, 64, false);
        let more = self.binary(BinaryOperator::Ult, steps, before);
        let fits = self.copies.exprs.not(more);
        let is_exact = self.binary(BinaryOperator::And, is_step, stays);
        let wraps = self.copies.exprs.not(is_exact);
        self.binary(BinaryOperator::Or, wraps, fits)
    }
}
