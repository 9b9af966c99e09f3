//! Loops of the arbitrary thread: what registers hold when an arbitrary iteration begins.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

use super::atom::{Atom, Expr};
use super::expr::{BinaryOperator, ExprNode, Exprs};
use super::state::ThreadState;
use super::thread::{
    CarriedRegister, DerivedRegister, DerivedRegisters, ReachCondition, Runner, SymbolicLoop,
};
use crate::flow::{BlockId, Operand, Reg};

/// The most additions by which an iteration steps a register.
const MOST_STEPS: u32 = 16;

impl Runner<'_> {
    /// Replaces what a loop writes by what it holds when an arbitrary iteration begins.
    pub(super) fn enter_loop(
        &mut self,
        header: BlockId,
        entry: ReachCondition,
        state: &mut ThreadState,
    ) {
        let before = state.clone();
        state.locals.clear();
        let is_inside = |at: BlockId| self.program.blocks[at.index()].loops.contains(&header);
        for (_, word) in self.facts.takings.iter().filter(|((at, _), _)| is_inside(*at)) {
            state.taken.remove(word);
        }
        let mut symbolic =
            SymbolicLoop { entry, again: Vec::new(), carried: BTreeMap::new(), facts: Vec::new() };
        let mut written = Vec::new();
        for register in self.written(header) {
            let place = self.slice.places[register.index()] as usize;
            let Some(first) = before.registers.get(place).copied().flatten() else {
                state.registers[place] = None;
                continue;
            };
            let derived = self.derived.get(&(header, register)).copied();
            let is_wide = derived == Some(DerivedRegister::Wide);
            let known = if is_wide { None } else { self.stepped(header, register, first, &before) };
            let known = known.or_else(|| self.derived_value(header, derived?, first));
            let now = known.unwrap_or_else(|| {
                let atom = Atom::Carried(header, register);
                symbolic.carried.insert(atom, vec![first]);
                let bits = if is_wide { 64 } else { self.thread.exprs.bits(first) };
                self.thread.exprs.atom(atom, bits)
            });
            state.registers[place] = Some(now);
            written.push(CarriedRegister { register, first, now, next: None, is_wide });
        }
        self.written.insert(header, written);
        self.thread.loops.insert(header, symbolic);
    }

    /// Finds the registers that a loop steps, and those that hold the same function of stepped registers where the loop
    /// begins and after each iteration.
    pub(super) fn derive(&mut self) -> DerivedRegisters {
        let mut found = DerivedRegisters::new();
        for (header, registers) in &self.written {
            let is_inside = |at: BlockId| self.program.blocks[at.index()].loops.contains(header);
            let exprs = &mut self.thread.exprs;
            let mut maps: [HashMap<Expr, Expr>; 3] = Default::default();
            for CarriedRegister { register, first, now, next, .. } in registers {
                let Some(next) = next else { continue };
                let is_even = self.program.even.contains(&(*header, *register));
                let step = if is_even { None } else { step(exprs, *now, *next, MOST_STEPS) };
                let is_fixed = |step: &Expr| {
                    let has_iteration = exprs.atoms(*step).contains(&Atom::Iteration(*header));
                    !has_iteration && exprs.is_of_iteration(*step, *header, is_inside)
                };
                if let Some(step) = step.filter(is_fixed) {
                    found.insert((*header, *register), DerivedRegister::Stepped(step));
                } else if !is_even {
                    continue;
                }
                if exprs.is_of_iteration(*now, *header, is_inside) {
                    maps[0].insert(*next, *now);
                    maps[1].insert(*now, *first);
                    maps[2].insert(*now, *next);
                }
            }
            for CarriedRegister { register, first, next, .. } in registers {
                let Some(next) = next else { continue };
                let now = exprs.replaced(*next, &maps[0]);
                let holds = exprs.replaced(now, &maps[1]) == *first
                    && exprs.replaced(now, &maps[2]) == *next
                    && exprs.is_of_iteration(now, *header, is_inside);
                if holds && !self.program.even.contains(&(*header, *register)) {
                    found.entry((*header, *register)).or_insert(DerivedRegister::Function(now));
                }
            }
            let wide = registers.iter().filter(|register| register.is_wide);
            found.extend(wide.map(|own| ((*header, own.register), DerivedRegister::Wide)));
        }
        found
    }

    /// The registers that a loop writes and that hold their values across blocks.
    fn written(&self, header: BlockId) -> BTreeSet<Reg> {
        let blocks = self.program.blocks_in(header);
        let kept = blocks.flat_map(|block| self.slice.kept(block));
        let dests =
            kept.flat_map(|pc| self.program.code[pc.index()].dests.iter().flatten().copied());
        let lasts = |register: &Reg| {
            (1..=self.slice.lasting).contains(&self.slice.places[register.index()])
        };
        dests.filter(lasts).collect()
    }

    /// The first value of a register plus its steps in all iterations so far, if every iteration steps it once by an
    /// amount that the loop does not change.
    fn stepped(
        &mut self,
        header: BlockId,
        register: Reg,
        first: Expr,
        before: &ThreadState,
    ) -> Option<Expr> {
        let program = self.program;
        if !program.even.contains(&(header, register)) {
            return None;
        }
        let [step] = program.steps.get(&(header, register))?.as_slice() else { return None };
        // A first value of more bits is cut off only where it is stepped.
        if self.thread.exprs.bits(first) > step.bits {
            return None;
        }
        let mut sum = self.thread.exprs.constant(0, step.bits);
        for (amount, is_subtracted) in &step.amounts {
            let amount = self.invariant(header, amount, before)?;
            let amount = self.thread.exprs.resized(amount, step.bits, false);
            sum = if *is_subtracted {
                self.thread.exprs.minus(sum, amount)
            } else {
                self.thread.exprs.binary(BinaryOperator::Add, sum, amount)
            };
        }
        Some(self.after_steps(header, first, sum))
    }

    /// The first value of a register plus a step in each iteration so far, in the width of the step.
    fn after_steps(&mut self, header: BlockId, first: Expr, step: Expr) -> Expr {
        let exprs = &mut self.thread.exprs;
        let bits = exprs.bits(step);
        let iteration = exprs.atom(Atom::Iteration(header), 64);
        let iteration = exprs.resized(iteration, bits, false);
        let steps = exprs.binary(BinaryOperator::Mul, iteration, step);
        let first = exprs.resized(first, bits, false);
        exprs.binary(BinaryOperator::Add, first, steps)
    }

    /// What an earlier run has shown of a register.
    fn derived_value(
        &mut self,
        header: BlockId,
        derived: DerivedRegister,
        first: Expr,
    ) -> Option<Expr> {
        match derived {
            DerivedRegister::Function(value) => Some(value),
            DerivedRegister::Stepped(step) => Some(self.after_steps(header, first, step)),
            DerivedRegister::Wide => None,
        }
    }

    /// What an operand holds in every iteration of a loop.
    fn invariant(
        &mut self,
        header: BlockId,
        operand: &Operand,
        before: &ThreadState,
    ) -> Option<Expr> {
        let Operand::Register(register) = operand else { return self.operand(operand, before) };
        let Some(chain) = self.program.invariant.get(&(header, *register)) else {
            return self.operand(operand, before);
        };
        let mut state = before.clone();
        for &pc in chain {
            self.compute(&self.program.code[pc.index()], &mut state)?;
        }
        self.operand(operand, &state)
    }

    /// An iteration ends and another one begins.
    pub(super) fn repeat(&mut self, header: BlockId, reach: ReachCondition, state: &ThreadState) {
        let Some(symbolic) = self.thread.loops.get_mut(&header) else { return };
        symbolic.again.push(reach);
        let is_only = symbolic.again.len() == 1;
        for register in self.written.get_mut(&header).into_iter().flatten() {
            let place = self.slice.places[register.register.index()] as usize;
            let bits = self.thread.exprs.bits(register.now);
            let next = match state.registers[place] {
                Some(next) => next,
                None => self.thread.exprs.unknown(bits),
            };
            register.is_wide |= self.thread.exprs.bits(next) > bits;
            let next = self.thread.exprs.resized(next, bits, false);
            register.next = Some(next).filter(|_| is_only && !register.is_wide);
            let atom = Atom::Carried(header, register.register);
            if let Some(values) = symbolic.carried.get_mut(&atom) {
                values.push(next);
            }
        }
    }
}

/// Returns what is added to a value to get another one of the same width, in at most so many additions.
fn step(exprs: &mut Exprs, now: Expr, next: Expr, most: u32) -> Option<Expr> {
    let ExprNode::Binary(BinaryOperator::Add, a, b) = exprs.node(next) else { return None };
    [(a, b), (b, a)].into_iter().find_map(|(before, last)| {
        if before == now {
            return Some(last);
        }
        let earlier = step(exprs, now, before, most.checked_sub(1)?)?;
        Some(exprs.binary(BinaryOperator::Add, earlier, last))
    })
}
