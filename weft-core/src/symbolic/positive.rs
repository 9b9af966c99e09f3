//! The proof that a polynomial is not negative in any solution of a system: facts with non-negative weights are subtracted
//! from it so that only terms remain that are not negative (Farkas' lemma; products of facts with unknowns that are not
//! negative are facts, too). Whether the weights are right is computed with integers.

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use super::combination::Combination;
use super::poly::{Monomial, Poly, Var, gcd};
use super::system::System;
use super::var_bounds::VarBounds;

/// The most facts that are combined.
const MOST_FACTS: usize = 160;
/// How often a fact leads to others that balance its terms.
const MOST_ROUNDS: u32 = 6;
/// A fact with a number that is at least this says that something fits in its width, which is rarely needed.
const FAR: i128 = 1 << 30;
/// The steps of a search for a counterexample.
const STEPS_OF_SEARCH: u32 = 3;
/// So many facts that are found count as a step.
const FACTS_OF_STEP: usize = 16;
/// Denominators of weights are at most this.
const MOST_DENOMINATOR: i128 = 1 << 12;

impl System {
    /// Whether an unknown is never negative.
    pub(super) fn is_natural(&self, var: Var) -> bool {
        self.bounds[var.0 as usize].least.is_some_and(|least| least >= 0)
    }

    fn is_natural_product(&self, of: &Monomial) -> bool {
        of.iter().all(|var| self.is_natural(*var))
    }

    /// Whether a polynomial is at least zero in every solution. `effort`: the steps that are left.
    pub(super) fn is_positive(&self, of: &Poly, effort: &mut u32) -> bool {
        self.is_positive_by(of, &[FAR, i128::MAX], effort)
    }

    /// Whether facts without large numbers show that a polynomial is at least zero in every solution.
    pub(super) fn is_positive_nearby(&self, of: &Poly, effort: &mut u32) -> bool {
        self.is_positive_by(of, &[FAR], effort)
    }

    /// `limits`: the numbers in facts are smaller than the first limit at first, then than the next one.
    fn is_positive_by(&self, of: &Poly, limits: &[i128], effort: &mut u32) -> bool {
        *effort = effort.saturating_sub(1);
        self.is_positive_in_range(of)
            || (!self.is_refuted_at_a_point(of, effort)
                && self.follows(of, &products(of).collect::<Vec<_>>(), limits, effort))
    }

    /// Whether a polynomial is found to be negative in some solution. Most polynomials are, which an example shows sooner
    /// than a failing search for facts.
    fn is_refuted_at_a_point(&self, of: &Poly, effort: &mut u32) -> bool {
        if self.is_negative_at_known_point(of) {
            return true;
        }
        *effort = effort.saturating_sub(STEPS_OF_SEARCH);
        self.has_counterexample(of)
    }

    /// Whether the facts exclude each other: then minus one is not negative, too.
    pub(super) fn are_facts_absurd(&self, effort: &mut u32) -> bool {
        let terms: Vec<Monomial> = self.conditions.positive.iter().flat_map(products).collect();
        self.follows(&Poly::constant(-1), &terms, &[FAR, i128::MAX], effort)
    }

    /// Whether it follows that a polynomial is not negative, from the facts that balance these products.
    fn follows(&self, of: &Poly, terms: &[Monomial], limits: &[i128], effort: &mut u32) -> bool {
        let index = FactIndex::of(self);
        let mut tried = None;
        limits.iter().any(|most| {
            if *effort == 0 {
                return false;
            }
            let facts = index.balancing(of, terms.to_vec(), *most);
            if tried.as_ref() == Some(&facts) {
                return false;
            }
            let combination =
                Combination::new(of, &facts, |product| self.is_natural_product(product));
            let (weights, steps) = combination.weights();
            let found = u32::try_from(facts.len() / FACTS_OF_STEP).unwrap_or(u32::MAX);
            *effort = effort.saturating_sub(steps.saturating_add(found));
            let is_shown = weights.is_some_and(|weights| self.is_certificate(of, &facts, &weights));
            tried = Some(facts);
            is_shown
        })
    }

    fn is_positive_in_range(&self, of: &Poly) -> bool {
        self.range(of).least.is_some_and(|least| least >= 0)
    }

    /// Whether the bounds of the unknowns make a polynomial negative.
    pub(super) fn is_negative_in_range(&self, of: &Poly) -> bool {
        self.range(of).most.is_some_and(|most| most < 0)
    }

    pub(super) fn bounds_as_facts(&self, var: Var) -> impl Iterator<Item = Poly> + use<> {
        let VarBounds { least, most } = self.bounds[var.0 as usize];
        let own = Poly::var(var);
        let above = least.and_then(|least| own.minus(&Poly::constant(least)));
        let below = most.and_then(|most| Poly::constant(most).minus(&own));
        above.into_iter().chain(below)
    }

    /// Whether a polynomial less the facts with these weights, rounded to fractions, is not negative.
    fn is_certificate(&self, of: &Poly, facts: &[Poly], weights: &[f64]) -> bool {
        let fractions: Option<Vec<(i128, i128)>> =
            weights.iter().map(|own| fraction(*own)).collect();
        let whole = |fractions: Vec<(i128, i128)>| {
            let mut common = 1_i128;
            for (_, denominator) in &fractions {
                common = common.checked_mul(denominator / gcd(common, *denominator))?;
            }
            let mut rest = of.times(common)?;
            for ((numerator, denominator), fact) in fractions.iter().zip(facts) {
                rest = rest.plus_times(fact, -numerator.checked_mul(common / denominator)?)?;
            }
            Some(rest)
        };
        fractions.and_then(whole).is_some_and(|rest| self.is_positive_in_range(&rest))
    }
}

/// The products of unknowns in the terms of a polynomial.
fn products(of: &Poly) -> impl Iterator<Item = Monomial> {
    of.terms().map(|(monomial, _)| monomial.clone()).filter(|monomial| !monomial.is_empty())
}

/// The conditions of a system that are facts, by their terms.
struct FactIndex<'a> {
    system: &'a System,
    with_term: HashMap<&'a Monomial, Vec<usize>>,
}

impl<'a> FactIndex<'a> {
    fn of(system: &'a System) -> Self {
        let mut with_term: HashMap<&Monomial, Vec<usize>> = HashMap::new();
        for (at, fact) in system.conditions.positive.iter().enumerate() {
            for (monomial, _) in fact.terms() {
                with_term.entry(monomial).or_default().push(at);
            }
        }
        Self { system, with_term }
    }

    /// The facts that balance terms with these products, and those that balance terms of these facts; none if a term of the
    /// polynomial `of` is not balanced. `most`: the numbers in the facts are smaller.
    fn balancing(&self, of: &Poly, mut terms: Vec<Monomial>, most: i128) -> Vec<Poly> {
        let mut found = Found { facts: Vec::new(), seen: HashSet::new(), most };
        let mut met: HashSet<Monomial> = HashSet::new();
        for round in 0..MOST_ROUNDS {
            let before = found.facts.len();
            for monomial in std::mem::take(&mut terms) {
                if met.insert(monomial.clone()) {
                    self.find(&monomial, &mut found);
                }
                if found.facts.len() >= MOST_FACTS {
                    return found.facts;
                }
            }
            if round == 0 && !found.balance(of) {
                return Vec::new();
            }
            terms = found.facts[before..].iter().flat_map(products).collect();
        }
        found.facts
    }

    /// Finds the facts that have a term with this product: conditions and bounds, multiplied where that gives the product.
    fn find(&self, monomial: &Monomial, found: &mut Found) {
        for (part, factor) in self.parts(monomial) {
            for at in self.with_term.get(&part).into_iter().flatten() {
                let condition = &self.system.conditions.positive[*at];
                found.add(FactSource::Condition(*at), condition, &factor);
            }
            if let &[var] = part.as_slice() {
                for (side, fact) in self.system.bounds_as_facts(var).enumerate() {
                    found.add(FactSource::Bound(var, side), &fact, &factor);
                }
            }
        }
    }

    /// The parts of a product, without the empty one, each with the other factors, if these are not negative.
    fn parts(&self, monomial: &Monomial) -> Vec<(Monomial, Monomial)> {
        let mut parts = vec![(Monomial::new(), Monomial::new())];
        for var in monomial {
            let mut longer = parts.clone();
            for (part, _) in &mut longer {
                part.push(*var);
            }
            if self.system.is_natural(*var) {
                for (_, factor) in &mut parts {
                    factor.push(*var);
                }
            } else {
                parts.clear();
            }
            parts.extend(longer);
        }
        parts.retain(|(part, _)| !part.is_empty());
        parts.sort();
        parts.dedup();
        parts
    }
}

/// Where a fact comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum FactSource {
    /// The condition with this number.
    Condition(usize),
    /// One of the bounds of an unknown, in the order of [`System::bounds_as_facts`].
    Bound(Var, usize),
}

/// The facts that were found.
struct Found {
    facts: Vec<Poly>,
    /// The source and the factor of each.
    seen: HashSet<(FactSource, Monomial)>,
    /// The numbers in the facts are smaller.
    most: i128,
}

impl Found {
    /// Whether a fact takes away each negative term of a polynomial.
    fn balance(&self, of: &Poly) -> bool {
        let mut negative = of.terms().filter(|(own, weight)| !own.is_empty() && *weight < 0);
        negative.all(|(own, _)| self.facts.iter().any(|fact| fact.coefficient(own) < 0))
    }

    fn add(&mut self, source: FactSource, fact: &Poly, factor: &Monomial) {
        let is_near = fact.constant_part().abs() < self.most;
        if is_near && self.seen.insert((source, factor.clone())) {
            self.facts.extend(fact.product(&Poly::term(factor.clone(), 1)));
        }
    }
}

/// The simplest fraction near a number that is not negative.
#[allow(clippy::cast_possible_truncation, reason = "numbers are below 2^100")]
#[allow(clippy::cast_precision_loss, reason = "what is near enough is checked with integers")]
fn fraction(of: f64) -> Option<(i128, i128)> {
    const NEAR: f64 = 1e-7;
    if !(of.is_finite() && of < 2.0_f64.powi(100)) {
        return None;
    }
    if of < NEAR {
        return Some((0, 1));
    }
    // Continued fractions: each convergent is nearer than any simpler fraction.
    let ((mut before, mut last), mut rest) = (((0, 1), (1, 0)), of);
    loop {
        let whole = rest.floor() as i128;
        let next = (
            whole.checked_mul(last.0)?.checked_add(before.0)?,
            whole.checked_mul(last.1)?.checked_add(before.1)?,
        );
        (before, last) = (last, next);
        if (of - last.0 as f64 / last.1 as f64).abs() <= NEAR * of.max(1.0) {
            return Some(last);
        }
        rest = (rest - whole as f64).recip();
        if last.1 > MOST_DENOMINATOR || !rest.is_finite() {
            return None;
        }
    }
}
