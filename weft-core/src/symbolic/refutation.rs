//! The search for a proof that a system has no solution: unknowns of several values are split into cases, and in each case
//! divisions are written out in one way after the other.

use super::poly::{Poly, Var};
use super::system::{Conditions, Division, System};

/// How many unknowns of several values are split one inside the other.
const MOST_SPLITS: u32 = 6;
/// The steps that one way of writing divisions out can take.
const WAY: u32 = 8000;
/// Facts of quotients have at most so many terms, and a number below this.
const FEW_TERMS: usize = 4;
const FAR: i128 = 1 << 16;
/// The most facts that are added for the sides of choices.
const MOST_ACROSS: usize = 64;

impl System {
    /// Whether the system has no solution. `effort`: the steps that are left.
    pub(super) fn is_refuted(&self, effort: &mut u32) -> bool {
        // A large digit might be bounded where a part of it is not.
        let mut system = self.clone().with_padded_rows();
        system.conditions.drop_repeated_facts();
        // Those are split last.
        system.alternatives.sort_by_key(|choice| !choice.is_extreme);
        system.bound_across(&system.extremes());
        let mut other = Self { has_large_digits_first: true, ..system.clone() };
        other.is_absurd_within(WAY, effort)
            || system.clone().is_refuted_case(system, &[], MOST_SPLITS, (effort, &mut false))
    }

    /// Adds what follows for what lies on both sides of unknowns: of `a + v >= 0` and `b - v >= 0`, that `a + b >= 0`. An index
    /// below the lesser of two ends is below each of them.
    fn bound_across(&mut self, between: &[Var]) {
        let near: Vec<&Poly> = {
            let facts = self.conditions.positive.iter();
            facts.filter(|fact| fact.constant_part().abs() < FAR).collect()
        };
        let mut found: Vec<Poly> = Vec::new();
        for var in between {
            let weight = |fact: &Poly| fact.coefficient(&[*var]);
            for above in near.iter().filter(|fact| weight(fact) > 0) {
                for below in near.iter().filter(|fact| weight(fact) == -weight(above)) {
                    // Where nothing else is cancelled, the sum says no more than its parts.
                    let most = above.len() + below.len() - 2;
                    let is_short = |sum: &Poly| sum.len() < most && sum.as_constant().is_none();
                    found.extend(above.plus(below).filter(is_short));
                }
                found.truncate(MOST_ACROSS);
            }
        }
        self.conditions.positive.append(&mut found);
    }

    /// The unknowns that are the lesser or the greater of two values.
    fn extremes(&self) -> Vec<Var> {
        let extremes = self.alternatives.iter().filter(|choice| choice.is_extreme);
        extremes.map(|choice| choice.var).collect()
    }

    /// `first`: the case before anything was solved. `between`: the unknowns that turned out to be the lesser or the greater of
    /// two values. `by_facts`: whether the last case was refuted by facts of quotients, so that these are looked at first.
    fn is_refuted_case(
        &mut self,
        mut first: Self,
        between: &[Var],
        splits: u32,
        (effort, by_facts): (&mut u32, &mut bool),
    ) -> bool {
        if !*by_facts && self.is_absurd_within(WAY, effort) {
            return true;
        }
        if splits > 0
            && let (Some(own), Some(of_first)) = (self.alternatives.pop(), first.alternatives.pop())
        {
            if own.is_extreme {
                *by_facts = first.is_refuted_between(of_first.var, between, effort);
                if *by_facts {
                    return true;
                }
            }
            return own.cases.into_iter().zip(of_first.cases).all(|(own_case, case_of_first)| {
                let (mut system, mut first) = (self.clone(), first.clone());
                let bound = case_of_first.0.as_var().filter(|_| own.is_extreme);
                let between: Vec<Var> = between.iter().copied().chain(bound).collect();
                system.applies(own.var, own_case)
                    && first.applies(of_first.var, case_of_first)
                    && system.is_refuted_case(first, &between, splits - 1, (effort, by_facts))
            });
        }
        self.alternatives.clear();
        first.alternatives.clear();
        first.bound_across(between);
        let written = first.with_quotients_and_remainders();
        let with_facts =
            written.clone().map(|written| first.with_facts_of_quotients(written, between, effort));
        let had_facts = *by_facts;
        *by_facts = with_facts.is_some_and(|system| system.refuted_in_order(effort));
        *by_facts
            || had_facts && self.is_absurd_within(WAY, effort)
            || first.without_remainders().is_some_and(|system| system.refuted_in_order(effort))
            || written.is_some_and(|system| system.refuted_in_order(effort))
            || within(WAY, effort, |effort| self.is_refuted_by_divisions(0, effort))
    }

    /// Whether facts of quotients refute the system whichever of two values each extreme is. `last`: one of them.
    fn is_refuted_between(&self, last: Var, between: &[Var], effort: &mut u32) -> bool {
        let extremes = self.extremes();
        let between: Vec<Var> = between.iter().copied().chain(extremes).chain([last]).collect();
        let with_facts = self.with_quotients_and_remainders();
        let with_facts =
            with_facts.map(|written| self.with_facts_of_quotients(written, &between, effort));
        with_facts.is_some_and(|mut system| {
            system.alternatives.clear();
            system.refuted_in_order(effort)
        })
    }

    fn refuted_in_order(mut self, effort: &mut u32) -> bool {
        within(WAY, effort, |effort| self.is_absurd_in_order(effort))
    }

    fn is_absurd_within(&mut self, most: u32, effort: &mut u32) -> bool {
        within(most, effort, |effort| self.is_absurd(effort))
    }

    /// Whether the system is absurd, or is if the one difference that is not zero is positive, and if it is negative.
    fn is_absurd_in_order(&mut self, effort: &mut u32) -> bool {
        let in_order = |system: &Self, effort: &mut u32| {
            let [difference] = system.distinct.as_slice() else { return false };
            [1, -1].into_iter().all(|sign| {
                let mut system = system.clone();
                let above = difference
                    .plus_times(&Poly::constant(1), -sign)
                    .and_then(|own| own.times(sign));
                above.is_some_and(|above| {
                    system.conditions.positive.push(above);
                    system.is_absurd(effort)
                })
            })
        };
        self.is_absurd(effort) || in_order(self, effort)
    }

    /// Makes an unknown one of its values; returns false if that takes too large polynomials.
    fn applies(&mut self, var: Var, (value, conditions): (Poly, Conditions)) -> bool {
        self.conditions.extend(&conditions);
        self.substitute(var, &value)
    }

    /// Adds of some divisions what their dividends are made of, and leaves out others. `first`: the first division that is
    /// added or left out.
    fn is_refuted_by_divisions(&self, first: usize, effort: &mut u32) -> bool {
        (first..self.divisions.len()).any(|at| {
            // Systems are copied.
            *effort = effort.saturating_sub(1 + self.conditions.count() / 4);
            let mut system = self.clone();
            system.conditions.zero.extend(system.divisions[at].equation());
            *effort > 0
                && (system.is_absurd(effort) || system.is_refuted_by_divisions(at + 1, effort))
        })
    }

    /// The system with what is left of each dividend in place of the remainder; `None` if there is no division.
    fn without_remainders(&self) -> Option<Self> {
        let mut system = self.clone();
        for at in 0..system.divisions.len() {
            let division = &system.divisions[at];
            let multiple = division.divisor.product(&division.quotient)?;
            let rest = division.dividend.minus(&multiple)?;
            let remainder = division.remainder.as_var()?;
            system.substitute(remainder, &rest);
        }
        (!system.divisions.is_empty()).then_some(system)
    }

    /// The system with quotient and remainder in place of what is divided, for divisions by a number or a product of
    /// unknowns; `None` if there is none.
    fn with_quotients_and_remainders(&self) -> Option<Self> {
        let mut system = self.clone();
        let mut is_changed = false;
        for at in 0..system.divisions.len() {
            let division = &system.divisions[at];
            if division.divisor.sole_term().is_none() {
                continue;
            }
            let is_result = |var: Var| division.quotient.has(var) || division.remainder.has(var);
            let equation = division.equation()?;
            if let Some((var, value)) = equation.solved(|var| (!is_result(var)).then_some(var)) {
                is_changed |= system.substitute(var, &value);
            }
        }
        is_changed.then_some(system)
    }

    /// The system with what follows for quotients from its facts, if these are written with quotient and remainder in place of
    /// what is divided. An unrolled loop ends in time because of such facts.
    fn with_facts_of_quotients(
        &self,
        mut written: Self,
        between: &[Var],
        effort: &mut u32,
    ) -> Self {
        let mut system = self.clone();
        system.conditions.positive.extend(self.divisions.iter().filter_map(Division::equation));
        written.bound_by_facts();
        written.solve_short_equations();
        let mut divisors: Vec<Var> =
            written.divisions.iter().filter_map(|division| division.divisor.as_var()).collect();
        divisors.sort_unstable();
        divisors.dedup();
        let facts = &written.conditions.positive;
        let by_unknowns: Vec<Poly> = divisors
            .iter()
            .flat_map(|divisor| facts.iter().map(move |fact| (*divisor, fact)))
            .filter_map(|(divisor, fact)| written.divided_by(fact, divisor, effort))
            .collect();
        let by_numbers: Vec<Poly> =
            facts.iter().chain(&by_unknowns).flat_map(|fact| written.divided(fact)).collect();
        system.conditions.positive.extend(by_unknowns.into_iter().chain(by_numbers));
        system.bound_across(between);
        system.conditions.drop_repeated_facts();
        system
    }

    /// Solves the equations of few terms, as that of how often a loop was gone round: what is left of facts is shorter.
    fn solve_short_equations(&mut self) {
        let mut at = 0;
        // A substitution that goes too far leaves no equation.
        while let Some(equation) = self.conditions.zero.get(at) {
            if equation.len() < FEW_TERMS
                && let Some((var, value)) = equation.solved(Some)
            {
                self.substitute(var, &value);
            }
            at += 1;
        }
    }

    /// What `d * p + q >= 0` says of `p`, where `q < d`: `p >= 0`.
    fn divided_by(&self, fact: &Poly, divisor: Var, effort: &mut u32) -> Option<Poly> {
        let (mut quotient, mut rest) = (Poly::default(), Poly::default());
        for (monomial, weight) in fact.terms() {
            let mut factors = monomial.clone();
            match factors.iter().position(|factor| *factor == divisor) {
                Some(at) => {
                    factors.remove(at);
                    quotient = quotient.plus(&Poly::term(factors, weight))?;
                }
                None => rest = rest.plus(&Poly::term(factors, weight))?,
            }
        }
        if quotient.as_constant().is_some() || quotient.len() > FEW_TERMS {
            return None;
        }
        let room = Poly::var(divisor).minus(&rest)?.minus(&Poly::constant(1))?;
        self.is_positive_nearby(&room, effort).then(|| quotient.rounded())
    }

    /// What `k * p + q >= 0` says of `p`, where `q` has a greatest value `m`: `p + m / k >= 0`, rounded down.
    fn divided(&self, fact: &Poly) -> Vec<Poly> {
        let weights = fact.terms().map(|(_, weight)| weight.abs());
        let mut factors: Vec<i128> = weights.filter(|weight| *weight > 1).collect();
        factors.sort_unstable();
        factors.dedup();
        let by = |factor: i128| {
            let (mut multiple, mut rest) = (Poly::default(), Poly::default());
            for (monomial, weight) in fact.terms() {
                if weight % factor == 0 && !monomial.is_empty() {
                    multiple = multiple.plus(&Poly::term(monomial.clone(), weight / factor))?;
                } else {
                    rest = rest.plus(&Poly::term(monomial.clone(), weight))?;
                }
            }
            let most = self.range(&rest).most?.div_euclid(factor);
            // That a number fits in its width says nothing of a quotient.
            let is_near = multiple.len() <= FEW_TERMS && most.abs() < FAR;
            multiple.plus(&Poly::constant(most)).filter(|_| is_near).map(|fact| fact.rounded())
        };
        factors.into_iter().filter_map(by).collect()
    }
}

/// Tries something that can take so many of the steps that are left.
fn within(most: u32, effort: &mut u32, attempt: impl FnOnce(&mut u32) -> bool) -> bool {
    let granted = most.min(*effort);
    let mut left = granted;
    let is_done = attempt(&mut left);
    *effort -= granted - left;
    is_done
}
