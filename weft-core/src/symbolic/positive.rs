//! The proof that a polynomial is not negative in any solution of a system: conditions and bounds are added up until only
//! terms remain that are not negative.

use super::poly::{Monomial, Poly, Var, gcd, quotient};
use super::system::System;
use super::var_bounds::VarBounds;

/// How many facts are combined to show that a polynomial is not negative.
const MOST_FACTS: u32 = 5;
/// How many are combined first.
const FEW_FACTS: u32 = 3;
/// The most combinations that are tried for one polynomial.
const MOST_STEPS: u32 = 120;
/// The combinations that are tried before a counterexample is looked for.
const FIRST_STEPS: u32 = 6;
/// Numbers below minus this come from the limits of widths.
const FAR: i128 = 1 << 28;
/// So many facts of a system count as a step of each question about it.
const FACTS_OF_STEP: usize = 4;
/// The steps that an answer counts as that the point of an earlier search gives.
const POINT_STEPS: u32 = 20;

impl System {
    /// Whether an unknown is never negative.
    pub(super) fn is_natural(&self, var: Var) -> bool {
        self.bounds[var.0 as usize].least.is_some_and(|least| least >= 0)
    }

    /// Whether a polynomial is at least zero in every solution. `effort`: the steps that are left.
    pub(super) fn is_positive(&self, of: &Poly, effort: &mut u32) -> bool {
        if self.is_positive_in_range(of) {
            *effort = effort.saturating_sub(1);
            return true;
        }
        if self.is_negative_at_known_point(of) {
            *effort = effort.saturating_sub(POINT_STEPS);
            return false;
        }
        // Whatever is done with a large system takes long.
        let size = self.conditions.positive.len() / FACTS_OF_STEP;
        *effort = effort.saturating_sub(u32::try_from(size).unwrap_or(u32::MAX));
        let mut is_shown = |facts: u32, steps: u32| {
            let granted = steps.min(*effort);
            let mut search = PositivitySearch { system: self, left: granted, failed: Vec::new() };
            let is_shown = search.is_positive_by(of, facts);
            *effort -= granted - search.left;
            (is_shown, search.left == 0)
        };
        match is_shown(MOST_FACTS, FIRST_STEPS) {
            (true, _) => true,
            (false, has_more) => {
                // A combination of few facts is found sooner if longer ones wait.
                has_more
                    && !self.has_counterexample(of)
                    && [FEW_FACTS, MOST_FACTS]
                        .into_iter()
                        .any(|facts| is_shown(facts, MOST_STEPS).0)
            }
        }
    }

    fn is_positive_in_range(&self, of: &Poly) -> bool {
        self.range(of).least.is_some_and(|least| least >= 0)
    }

    /// What remains to be shown positive if a term is balanced by a fact.
    fn rests(&self, of: &Poly, monomial: &Monomial, coefficient: i128) -> Vec<Poly> {
        let own: Vec<Poly> = monomial.iter().flat_map(|var| self.bounds_as_facts(*var)).collect();
        let of_number: Vec<Poly> = if monomial.is_empty() {
            of.vars().into_iter().flat_map(|var| self.bounds_as_facts(var)).collect()
        } else {
            Vec::new()
        };
        let mut rests = Vec::new();
        for fact in self.conditions.positive.iter().chain(&own).chain(&of_number) {
            for (part, weight) in fact.terms() {
                let same_sign = (weight > 0) == (coefficient > 0);
                let Some(factor) = quotient(monomial, part).filter(|_| same_sign) else { continue };
                if !factor.iter().all(|var| self.is_natural(*var)) {
                    continue;
                }
                let divisor = gcd(coefficient, weight).max(1);
                let (mine, theirs) = (weight.abs() / divisor, coefficient.abs() / divisor);
                let balanced = fact
                    .product(&Poly::term(factor, theirs))
                    .and_then(|scaled| of.times(mine)?.minus(&scaled));
                rests.extend(balanced);
            }
        }
        // That a number fits in its width seldom helps.
        rests.sort_by_key(|rest| (rest.constant_part() < -FAR, rest.len()));
        rests
    }

    pub(super) fn bounds_as_facts(&self, var: Var) -> impl Iterator<Item = Poly> + use<> {
        let VarBounds { least, most } = self.bounds[var.0 as usize];
        let own = Poly::var(var);
        let above = least.and_then(|least| own.minus(&Poly::constant(least)));
        let below = most.and_then(|most| Poly::constant(most).minus(&own));
        above.into_iter().chain(below)
    }
}

/// A search for conditions that show that a polynomial is not negative.
struct PositivitySearch<'a> {
    system: &'a System,
    /// The steps that are left.
    left: u32,
    /// The polynomials that so many facts do not show to be positive.
    failed: Vec<(Poly, u32)>,
}

impl PositivitySearch<'_> {
    fn is_positive_by(&mut self, of: &Poly, facts: u32) -> bool {
        if self.failed.iter().any(|(failed, by)| *by >= facts && failed == of) {
            return false;
        }
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        if self.system.is_positive_in_range(of) {
            return true;
        }
        let is_shown = facts > 0 && self.is_positive_with_fact(of, facts);
        if !is_shown {
            self.failed.push((of.clone(), facts));
        }
        is_shown
    }

    fn is_positive_with_fact(&mut self, of: &Poly, facts: u32) -> bool {
        let system = self.system;
        // A term that might be negative; the number comes last, because every fact changes it.
        let is_bad = |(monomial, coefficient): &(&Monomial, i128)| {
            !(*coefficient > 0 && monomial.iter().all(|var| system.is_natural(*var)))
        };
        let bad = of.terms().filter(is_bad).max_by_key(|(monomial, _)| monomial.len());
        let Some((monomial, coefficient)) = bad else { return true };
        let rests = system.rests(of, monomial, coefficient);
        rests.into_iter().any(|rest| self.is_positive_by(&rest, facts - 1))
    }
}
