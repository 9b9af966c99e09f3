//! A system of integer equations and inequalities, and the proof that it has no solution.
//!
//! The systems say that two threads access the same bytes. Most are refuted by *mixed radix*: in `k * q + r = 0` with
//! `|r| < k`, both `q` and `r` are zero, so that indices such as `row * width + column` are equal only where their
//! digits are.

use std::cell::RefCell;
use std::collections::HashSet;

use super::expr::Expr;
use super::poly::{Monomial, Poly, Var, gcd, quotient};
use super::var_bounds::VarBounds;

/// `dividend = divisor * quotient + remainder`, with `0 <= remainder < divisor`. Equal dividends and divisors give
/// equal results, and the reverse.
#[derive(Clone, Debug)]
pub(super) struct Division {
    pub(super) dividend: Poly,
    pub(super) divisor: Poly,
    pub(super) quotient: Poly,
    pub(super) remainder: Poly,
}

impl Division {
    /// Returns what is zero by definition.
    pub(super) fn equation(&self) -> Option<Poly> {
        let multiple = self.divisor.product(&self.quotient)?;
        self.dividend.minus(&multiple)?.minus(&self.remainder)
    }
}

/// `flipped = value ^ mask`, where both threads flip the bits of one mask.
#[derive(Clone, Debug)]
pub(super) struct Flip {
    pub(super) mask: Expr,
    pub(super) value: Poly,
    pub(super) flipped: Poly,
}

/// Polynomials of which some hold and others do not.
#[derive(Clone, Debug, Default)]
pub(super) struct Conditions {
    /// At least zero.
    pub(super) positive: Vec<Poly>,
    /// Zero.
    pub(super) zero: Vec<Poly>,
    /// Not zero.
    pub(super) nonzero: Vec<Poly>,
}

/// The values that an unknown can have, each under conditions of its own; one of them applies.
#[derive(Clone, Debug)]
pub(super) struct ValueCases {
    pub(super) var: Var,
    pub(super) cases: Vec<(Poly, Conditions)>,
    /// Whether it is the lesser or the greater of two values, and the system says that it is at most, or at least, each.
    pub(super) is_extreme: bool,
}

/// A system: all of its parts hold.
#[derive(Clone, Debug, Default)]
pub(super) struct System {
    pub(super) bounds: Vec<VarBounds>,
    pub(super) conditions: Conditions,
    pub(super) divisions: Vec<Division>,
    pub(super) alternatives: Vec<ValueCases>,
    /// Flipped numbers: unsigned ones, and signed ones.
    pub(super) flips: [Vec<Flip>; 2],
    /// At least one of these is not zero, unless there are none.
    pub(super) distinct: Vec<Poly>,
    /// Whether digits of large radices are split off first.
    pub(super) has_large_digits_first: bool,
    /// A value for each of the first unknowns, at which the last search for a counterexample ended.
    pub(super) point: RefCell<Vec<i128>>,
}

impl System {
    /// Adds an unknown.
    pub(super) fn var(&mut self, bounds: VarBounds) -> Var {
        self.bounds.push(bounds);
        Var(u32::try_from(self.bounds.len() - 1).expect("a query has fewer unknowns"))
    }

    /// Returns the least and the greatest value that the bounds of its unknowns allow a polynomial.
    pub(super) fn range(&self, of: &Poly) -> VarBounds {
        let mut all = VarBounds { least: Some(0), most: Some(0) };
        for (monomial, coefficient) in of.terms() {
            let mut term = VarBounds { least: Some(coefficient), most: Some(coefficient) };
            for var in monomial {
                term = term.times(self.bounds[var.0 as usize]);
            }
            all = all.plus(term);
        }
        all
    }

    /// Solves what can be solved; returns whether that leads to a contradiction. `effort`: the steps that are left.
    pub(super) fn is_absurd(&mut self, effort: &mut u32) -> bool {
        loop {
            if *effort == 0 {
                return false;
            }
            self.conditions.drop_repeated_facts();
            self.bound_by_facts();
            match self.solve_equations(effort) {
                SolverStep::Refuted => return true,
                SolverStep::Some => {}
                SolverStep::None => {
                    if self.is_contradictory(effort) {
                        return true;
                    }
                    if !self.follow_divisions() && !self.follow_flips() && !self.strengthen(effort)
                    {
                        return false;
                    }
                }
            }
            // Facts are compared with each other.
            let facts = u32::try_from(self.conditions.positive.len()).unwrap_or(u32::MAX);
            *effort = effort.saturating_sub(1 + facts.saturating_mul(facts) / 1000);
        }
    }

    /// Makes facts of one unknown its bounds; where one value is left, the unknown is solved.
    pub(super) fn bound_by_facts(&mut self) {
        for fact in std::mem::take(&mut self.conditions.positive) {
            let rounded = fact.rounded();
            let number = Some(rounded.constant_part());
            let (var, bounds) = match rounded.sole_var() {
                Some((var, 1)) => {
                    let least = number.map(|number| -number);
                    (var, VarBounds { least, most: None })
                }
                Some((var, -1)) => (var, VarBounds { least: None, most: number }),
                _ => {
                    // A number that is not negative says nothing.
                    if fact.as_constant().is_none_or(|number| number < 0) {
                        self.conditions.positive.push(rounded);
                    }
                    continue;
                }
            };
            self.bound(var, bounds);
        }
        for fact in std::mem::take(&mut self.conditions.nonzero) {
            if !self.excludes_a_bound(&fact) {
                self.conditions.nonzero.push(fact);
            }
        }
        self.find_naturals();
    }

    /// Adds bounds of an unknown; if they leave one value, the unknown is solved.
    fn bound(&mut self, var: Var, bounds: VarBounds) {
        let own = &mut self.bounds[var.0 as usize];
        let was_open = own.least != own.most;
        *own = own.and(bounds);
        if let Some(value) = own.least.filter(|_| was_open && own.least == own.most) {
            self.conditions.zero.extend(Poly::var(var).minus(&Poly::constant(value)));
        }
    }

    /// Whether something that is not zero only says that an unknown does not have its least or its greatest value, which then
    /// is its bound no longer.
    fn excludes_a_bound(&mut self, nonzero: &Poly) -> bool {
        let Some((var, coefficient @ (1 | -1))) = nonzero.sole_var() else { return false };
        let excluded = Some(-coefficient * nonzero.constant_part());
        let VarBounds { least, most } = self.bounds[var.0 as usize];
        if excluded == least && least < most {
            self.bound(var, VarBounds { least: least.map(|least| least + 1), most: None });
        } else if excluded == most && least < most {
            self.bound(var, VarBounds { least: None, most: most.map(|most| most - 1) });
        } else {
            return false;
        }
        true
    }

    /// Bounds an unknown that might be negative where a fact says that it is above something: a size is, if an index that
    /// is not negative is below it.
    fn find_naturals(&mut self) {
        for fact in &self.conditions.positive {
            for (monomial, _) in fact.terms().filter(|(_, coefficient)| *coefficient == 1) {
                let &[var] = monomial.as_slice() else { continue };
                if self.is_natural(var) {
                    continue;
                }
                let rest = Poly::var(var).minus(fact).map(|below| self.range(&below).least);
                let least = rest.flatten().filter(|least| *least >= 0);
                let own = &mut self.bounds[var.0 as usize];
                *own = own.and(VarBounds { least, most: None });
            }
        }
    }

    /// Solves one equation for an unknown, or splits one by its digits.
    fn solve_equations(&mut self, effort: &mut u32) -> SolverStep {
        let mut at = 0;
        while at < self.conditions.zero.len() {
            let equation = self.conditions.zero[at].clone();
            if let Some(value) = equation.as_constant() {
                if value != 0 {
                    return SolverStep::Refuted;
                }
                self.conditions.zero.swap_remove(at);
                continue;
            }
            if self.is_impossible(&equation, effort) {
                return SolverStep::Refuted;
            }
            // An equation of many unknowns is first split by its digits, which says more.
            let terms = equation.terms().filter(|(monomial, _)| !monomial.is_empty()).count();
            if terms <= 2 && self.solve(at) {
                return SolverStep::Some;
            }
            at += 1;
        }
        for at in 0..self.conditions.zero.len() {
            let equation = self.conditions.zero[at].clone();
            if let Some((quotient, remainder)) = self.digits(&equation, effort) {
                self.conditions.zero.swap_remove(at);
                self.conditions.zero.extend([quotient, remainder]);
                return SolverStep::Some;
            }
        }
        // The shortest one first: a long one might have digits once others are solved.
        let mut shortest: Vec<usize> = (0..self.conditions.zero.len()).collect();
        shortest.sort_by_key(|at| self.conditions.zero[*at].len());
        for at in shortest {
            // Equations are dropped if one of them outgrows its limits.
            if at < self.conditions.zero.len() && self.solve(at) {
                return SolverStep::Some;
            }
        }
        SolverStep::None
    }

    /// Whether a polynomial cannot be zero.
    fn is_impossible(&self, equation: &Poly, effort: &mut u32) -> bool {
        let number = equation.constant_part();
        let rest = equation.terms().filter(|(monomial, _)| !monomial.is_empty());
        let divisor = rest.fold(0, |all, (_, coefficient)| gcd(all, coefficient));
        if divisor != 0 && number % divisor != 0 {
            return true;
        }
        let one = Poly::constant(1);
        let mut is_above = |sign: i128| {
            let above = equation.times(sign).and_then(|side| side.minus(&one));
            above.is_some_and(|above| self.is_positive(&above, effort))
        };
        is_above(1) || is_above(-1)
    }

    /// Solves an equation for an unknown that occurs in it alone, and replaces that unknown everywhere.
    fn solve(&mut self, at: usize) -> bool {
        let solved = self.conditions.zero[at].solved(Some);
        let Some((var, value)) = solved else { return false };
        self.conditions.zero.swap_remove(at);
        self.substitute(var, &value)
    }

    pub(super) fn substitute(&mut self, var: Var, value: &Poly) -> bool {
        // What bounds the unknown now bounds its value.
        let bounds: Vec<Poly> = self.bounds_as_facts(var).collect();
        self.conditions.positive.extend(bounds);
        let mut fits = true;
        let replace = |poly: &mut Poly| match poly.substituted(var, value) {
            Some(replaced) => {
                *poly = replaced;
                true
            }
            None => false,
        };
        self.conditions.each(&mut |poly| fits &= replace(poly));
        self.distinct.iter_mut().for_each(|poly| fits &= replace(poly));
        for division in &mut self.divisions {
            let Division { dividend, divisor, quotient, remainder } = division;
            for part in [dividend, divisor, quotient, remainder] {
                fits &= replace(part);
            }
        }
        for flip in self.flips.iter_mut().flatten() {
            fits &= replace(&mut flip.value) && replace(&mut flip.flipped);
        }
        for alternatives in &mut self.alternatives {
            let is_it = alternatives.var == var;
            for (case, conditions) in &mut alternatives.cases {
                fits &= replace(case);
                conditions.each(&mut |poly| fits &= replace(poly));
                // The unknown is gone: what it equals has these values.
                match case.minus(value).filter(|_| is_it) {
                    Some(difference) => conditions.zero.push(difference),
                    None => fits &= !is_it,
                }
            }
        }
        if !fits {
            // A polynomial outgrew its limits: give up on this system.
            self.conditions.zero.clear();
        }
        fits
    }

    /// Splits `k * q + r = 0` with `|r| < k` into `q` and `r`, both zero.
    fn digits(&self, equation: &Poly, effort: &mut u32) -> Option<(Poly, Poly)> {
        let one = Poly::constant(1);
        for (monomial, coefficient) in self.radices(equation) {
            let (mut high, mut low) = (Poly::default(), Poly::default());
            for (product, weight) in equation.terms() {
                match quotient(product, &monomial) {
                    Some(rest) if weight % coefficient == 0 => {
                        high = high.plus(&Poly::term(rest, weight / coefficient))?;
                    }
                    Some(rest) if rest.is_empty() && monomial.is_empty() => {
                        high = high.plus(&Poly::constant(weight / coefficient))?;
                        low = low.plus(&Poly::constant(weight % coefficient))?;
                    }
                    _ => low = low.plus(&Poly::term(product.clone(), weight))?,
                }
            }
            if high.is_zero() || low.is_zero() && coefficient == 1 && monomial.is_empty() {
                continue;
            }
            let radix = Poly::term(monomial, coefficient).minus(&one)?;
            let mut fits = |sign: i128| {
                let room = radix.plus_times(&low, sign);
                room.is_some_and(|room| self.is_positive_nearby(&room, effort))
            };
            if fits(1) && fits(-1) {
                return Some((high, low));
            }
        }
        None
    }

    /// The candidates for the radix of an equation: what the coefficients of its terms consist of, in most systems smallest
    /// first: it takes the fewest facts to show that a low digit is small.
    fn radices(&self, equation: &Poly) -> Vec<(Monomial, i128)> {
        let mut radices = Vec::new();
        for (monomial, coefficient) in equation.terms() {
            let mut parts = vec![Monomial::new()];
            for var in monomial {
                let longer: Vec<Monomial> =
                    parts.iter().map(|part| part.iter().copied().chain([*var]).collect()).collect();
                parts.extend(longer);
            }
            for part in parts {
                radices.push((part.clone(), coefficient.abs()));
                radices.push((part, 1));
            }
        }
        radices.retain(|(part, number)| {
            !(part.is_empty() && *number == 1) && part.iter().all(|var| self.is_natural(*var))
        });
        radices.sort();
        radices.dedup();
        radices.sort_by_key(|(part, number)| (part.len(), *number));
        if self.has_large_digits_first {
            radices.reverse();
        }
        radices
    }

    fn is_contradictory(&self, effort: &mut u32) -> bool {
        self.bounds.iter().any(|bounds| bounds.is_empty())
            || (!self.distinct.is_empty() && self.distinct.iter().all(Poly::is_zero))
            || self.conditions.nonzero.iter().any(Poly::is_zero)
            || self.conditions.positive.iter().any(|fact| self.is_negative_in_range(fact))
            || self.are_facts_absurd(effort)
    }

    /// Makes results of divisions equal whose operands are, and operands whose results are.
    fn follow_divisions(&mut self) -> bool {
        let mut found = Vec::new();
        for (at, a) in self.divisions.iter().enumerate() {
            for b in self.divisions[..at].iter().filter(|b| b.divisor == a.divisor) {
                let pairs = [
                    (&a.dividend, &b.dividend),
                    (&a.quotient, &b.quotient),
                    (&a.remainder, &b.remainder),
                ];
                let are_equal = pairs.map(|(x, y)| x == y);
                let mut equal = |at: usize| found.extend(pairs[at].0.minus(pairs[at].1));
                match are_equal {
                    [false, true, true] => equal(0),
                    [false, ..] | [true, true, true] => {}
                    [true, ..] => {
                        equal(1);
                        equal(2);
                    }
                }
            }
        }
        found.retain(|poly: &Poly| !poly.is_zero() && !self.conditions.zero.contains(poly));
        let is_some = !found.is_empty();
        self.conditions.zero.extend(found);
        is_some
    }

    /// `p >= 0` gives `p = 0` where `p` cannot be positive.
    fn pinch(&mut self) -> bool {
        for at in 0..self.conditions.positive.len() {
            let fact = self.conditions.positive[at].rounded();
            if fact.as_constant().is_none() && self.range(&fact).most == Some(0) {
                self.conditions.positive.swap_remove(at);
                self.conditions.zero.push(fact);
                return true;
            }
        }
        false
    }

    /// `p != 0` and `p >= 0` give `p >= 1`.
    fn strengthen(&mut self, effort: &mut u32) -> bool {
        if self.pinch() {
            return true;
        }
        let one = Poly::constant(1);
        for at in 0..self.conditions.nonzero.len() {
            for sign in [1, -1] {
                let Some(side) = self.conditions.nonzero[at].times(sign) else { continue };
                if self.is_positive(&side, effort)
                    && let Some(above) = side.minus(&one)
                {
                    self.conditions.nonzero.swap_remove(at);
                    self.conditions.positive.push(above);
                    return true;
                }
            }
        }
        false
    }
}

enum SolverStep {
    Refuted,
    Some,
    None,
}

impl Conditions {
    /// Calls a function on every polynomial.
    pub(super) fn each(&mut self, change: &mut impl FnMut(&mut Poly)) {
        let Self { positive, zero, nonzero } = self;
        positive.iter_mut().chain(zero).chain(nonzero).for_each(change);
    }

    /// Keeps one of several equal facts: the same is often known of several terms.
    pub(super) fn drop_repeated_facts(&mut self) {
        for facts in [&mut self.positive, &mut self.zero, &mut self.nonzero] {
            let mut seen = HashSet::new();
            facts.retain(|fact| seen.insert(fact.clone()));
        }
    }

    /// Returns the number of conditions of all kinds.
    pub(super) fn count(&self) -> u32 {
        let Self { positive, zero, nonzero } = self;
        u32::try_from(positive.len() + zero.len() + nonzero.len()).unwrap_or(u32::MAX)
    }

    /// Adds other conditions.
    pub(super) fn extend(&mut self, other: &Self) {
        self.positive.extend(other.positive.iter().cloned());
        self.zero.extend(other.zero.iter().cloned());
        self.nonzero.extend(other.nonzero.iter().cloned());
    }
}
