//! Invariants of loops: what a thread that has come to an iteration knows of the iterations before it.

use std::collections::BTreeSet;

use super::atom::{Atom, Expr, Variance};
use super::poly::{Poly, Var};
use super::predicate::conjuncts;
use super::system::{Conditions, Division, ValueCases};
use super::var_bounds::VarBounds;
use super::view::{Copy, Views};
use crate::flow::{BlockId, Program};

impl Views<'_> {
    /// Adds that a thread has gone on after every earlier iteration of the loops around a block. What let it go on then is
    /// known if it depends on nothing but the iteration: it is the condition at the end of an iteration, one earlier.
    pub(super) fn repeated(&mut self, program: &Program, block: BlockId, copy: Copy) {
        for header in &program.blocks[block.index()].loops {
            let Some(symbolic) = self.thread.loops.get(header) else { continue };
            for fact in &symbolic.facts {
                self.assume(fact.holds, copy);
                self.assumed.extend(&fact.assumed);
            }
            let [again] = symbolic.again.as_slice() else { continue };
            let Some(number) = self.natural_iteration(*header, copy) else { continue };
            let [iteration] = number.vars()[..] else { continue };
            let inside: BTreeSet<BlockId> = program.blocks_in(*header).collect();
            for part in conjuncts(self.exprs(), again.holds) {
                if self.depends_on_iteration(part, *header, &inside) {
                    self.invariant(part, symbolic.entry.holds, (*header, iteration), copy);
                }
            }
        }
    }

    fn natural_iteration(&mut self, header: BlockId, copy: Copy) -> Option<Poly> {
        let shared = self.variances.bit(header);
        let is_shared = shared != 0 && shared & self.apart == 0 && self.shared >= Variance::Cta;
        self.natural(Atom::Iteration(header), if is_shared { Copy::Both } else { copy })
    }

    /// Whether an expression has one value in each iteration of a loop, whatever happens in it.
    fn depends_on_iteration(&self, of: Expr, header: BlockId, inside: &BTreeSet<BlockId>) -> bool {
        self.exprs().is_of_iteration(of, header, |at| inside.contains(&at))
    }

    /// Adds a condition at the end of the iteration before, if it also holds where the loop begins.
    fn invariant(
        &mut self,
        of: Expr,
        entry: Expr,
        (header, iteration): (BlockId, Var),
        copy: Copy,
    ) {
        let mut conditions = self.in_every_iteration(of, entry, copy);
        // Of the iteration before, a polynomial tells only if nothing else in it depends on the iteration.
        let fixed = self.fixed(header);
        let is_told = |poly: &Poly| {
            poly.vars().into_iter().all(|var| var == iteration || fixed.contains(&var))
        };
        conditions.positive.retain(is_told);
        conditions.nonzero.retain(is_told);
        let one = Poly::constant(1);
        let Some(before) = Poly::var(iteration).minus(&one) else { return };
        let minus_one = Poly::constant(-1);
        let mut behind_first = Conditions::default();
        for poly in conditions.positive.into_iter().filter(|poly| poly.has(iteration)) {
            let first = poly.substituted(iteration, &minus_one);
            let holds_first = first.is_some_and(|first| self.is_positive(&first));
            let known = if holds_first { &mut self.system.conditions } else { &mut behind_first };
            known.positive.extend(poly.substituted(iteration, &before));
        }
        if !behind_first.positive.is_empty() {
            self.split_first_iteration(iteration, &behind_first);
        }
        for poly in conditions.nonzero {
            self.counts_down(&poly, iteration);
        }
    }

    /// Adds conditions that hold in every iteration but the first one.
    fn split_first_iteration(&mut self, iteration: Var, conditions: &Conditions) {
        let alternatives = &mut self.system.alternatives;
        if let Some(known) = alternatives.iter_mut().find(|known| known.var == iteration) {
            for (_, later) in known.cases.iter_mut().skip(1) {
                later.extend(conditions);
            }
            return;
        }
        let later = VarBounds { least: Some(1), most: Some(i64::MAX.into()) };
        let later = (self.unknown(later), conditions.clone());
        let cases = vec![(Poly::default(), Conditions::default()), later];
        self.system.alternatives.push(ValueCases { var: iteration, cases, is_extreme: false });
    }

    /// The unknowns that have one value in all iterations of a loop, whatever else they depend on.
    fn fixed(&self, header: BlockId) -> BTreeSet<Var> {
        let number = Atom::Iteration(header);
        let atoms = self.atoms.iter().filter(|((atom, _), _)| *atom != number);
        let is_fixed = |of: Expr| !self.exprs().atoms(of).contains(&number);
        let unknowns = self.unknowns.iter().filter(|((of, _), _)| is_fixed(*of));
        let mut fixed: BTreeSet<Var> = atoms.map(|(_, var)| *var).collect();
        fixed.extend(unknowns.map(|(_, (var, _))| *var));
        let chosen = self.chosen.iter().filter(|((of, _), _)| is_fixed(*of));
        fixed.extend(chosen.map(|(_, (_, var))| *var));
        for Division { dividend, divisor, quotient, remainder } in &self.system.divisions {
            let operands = dividend.vars().into_iter().chain(divisor.vars());
            if operands.into_iter().all(|var| fixed.contains(&var)) {
                fixed.extend(quotient.vars().into_iter().chain(remainder.vars()));
            }
        }
        fixed
    }

    /// What follows from a predicate in whichever iteration it is evaluated: that its integers are exact must not be
    /// concluded from what is known of the present iteration.
    fn in_every_iteration(&mut self, of: Expr, entry: Expr, copy: Copy) -> Conditions {
        let conditions = std::mem::take(&mut self.system.conditions);
        let (known, rings) = (std::mem::take(&mut self.known), std::mem::take(&mut self.rings));
        let exact = std::mem::take(&mut self.exact);
        self.assume(entry, copy);
        let mut found = Conditions::default();
        self.condition(of, true, copy, &mut found);
        let learnt = std::mem::replace(&mut self.system.conditions, conditions);
        self.system.conditions.extend(&learnt);
        (self.known, self.rings, self.exact) = (known, rings, exact);
        found
    }

    fn is_above_zero(&mut self, of: &Poly) -> bool {
        let is_nonzero = [Some(of.clone()), of.times(-1)]
            .iter()
            .flatten()
            .any(|side| self.system.conditions.nonzero.contains(side));
        let least = of.minus(&Poly::constant(i128::from(!is_nonzero)));
        least.is_some_and(|rest| self.is_positive(&rest))
    }

    /// The same polynomial, of quotients instead of remainders.
    fn without_remainders(&self, of: &Poly) -> Poly {
        let mut result = of.clone();
        for Division { dividend, divisor, quotient, remainder } in
            self.system.divisions.iter().rev()
        {
            let multiple = divisor.product(quotient);
            let rest = multiple.and_then(|multiple| dividend.minus(&multiple));
            let replaced =
                remainder.as_var().zip(rest).and_then(|(var, rest)| result.substituted(var, &rest));
            result = replaced.unwrap_or(result);
        }
        result
    }

    /// A loop that goes on while a number is not zero, which it steps towards zero by one divisor of it, stays above zero.
    fn counts_down(&mut self, number: &Poly, iteration: Var) {
        for sign in [1, -1] {
            let Some(number) = number.times(sign) else { continue };
            let step = -number.coefficient(&[iteration]);
            let is_linear =
                number.terms().filter(|(product, _)| product.contains(&iteration)).count() == 1;
            let Some(first) = number.substituted(iteration, &Poly::constant(-1)) else { continue };
            let is_divided = self.without_remainders(&first).content() % step.max(1) == 0;
            if step < 1 || !is_linear || !is_divided {
                continue;
            }
            // Before the first iteration the number is at least one step, of which it is a multiple.
            if self.is_above_zero(&first) {
                let now = Poly::var(iteration).minus(&Poly::constant(1));
                let now = now.and_then(|before| number.substituted(iteration, &before));
                self.system
                    .conditions
                    .positive
                    .extend(now.and_then(|now| now.minus(&Poly::constant(step))));
            }
        }
    }
}
