//! Polynomials over integer unknowns, with integer coefficients. A coefficient that grows too large makes the whole
//! polynomial unusable: operations return `None` then.

use std::collections::BTreeMap;

use smallvec::SmallVec;

/// An integer unknown of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Var(pub(super) u32);

/// A product of unknowns, ascending; the empty product is 1.
pub(super) type Monomial = SmallVec<[Var; 4]>;

/// A sum of monomials with their coefficients, none of them zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Poly {
    pub(super) terms: BTreeMap<Monomial, i128>,
}

/// Coefficients are below this, so that their negatives exist.
const MOST_COEFFICIENT: u128 = 1 << 120;
/// The most terms of a polynomial.
const MOST_TERMS: usize = 64;
/// The highest degree of a polynomial.
const MOST_DEGREE: usize = 8;

impl Poly {
    /// Returns a number.
    pub(super) fn constant(value: i128) -> Self {
        Self::term(Monomial::new(), value)
    }

    /// Returns an unknown.
    pub(super) fn var(var: Var) -> Self {
        Self::term(std::iter::once(var).collect(), 1)
    }

    /// Returns a product with its coefficient.
    pub(super) fn term(monomial: Monomial, coefficient: i128) -> Self {
        let mut terms = BTreeMap::new();
        if coefficient != 0 {
            terms.insert(monomial, coefficient);
        }
        Self { terms }
    }

    /// Returns the number that it is, if it is one.
    pub(super) fn as_constant(&self) -> Option<i128> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Monomial::new()).copied(),
            _ => None,
        }
    }

    /// Whether it is zero for all values of its unknowns.
    pub(super) fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns the part without unknowns.
    pub(super) fn constant_part(&self) -> i128 {
        self.terms.get(&Monomial::new()).copied().unwrap_or(0)
    }

    /// Returns the sum with a multiple of another polynomial: `self + factor * other`.
    pub(super) fn plus_times(&self, other: &Self, factor: i128) -> Option<Self> {
        let mut sum = self.clone();
        for (monomial, coefficient) in &other.terms {
            sum.add(monomial.clone(), coefficient.checked_mul(factor)?)?;
        }
        (sum.terms.len() <= MOST_TERMS).then_some(sum)
    }

    /// Returns the sum.
    pub(super) fn plus(&self, other: &Self) -> Option<Self> {
        self.plus_times(other, 1)
    }

    /// Returns the difference.
    pub(super) fn minus(&self, other: &Self) -> Option<Self> {
        self.plus_times(other, -1)
    }

    /// Returns a multiple.
    pub(super) fn times(&self, factor: i128) -> Option<Self> {
        Self::default().plus_times(self, factor)
    }

    /// Returns the product.
    pub(super) fn product(&self, other: &Self) -> Option<Self> {
        let mut product = Self::default();
        for (a, x) in &self.terms {
            for (b, y) in &other.terms {
                let mut monomial: Monomial = a.iter().chain(b).copied().collect();
                monomial.sort_unstable();
                if monomial.len() > MOST_DEGREE {
                    return None;
                }
                product.add(monomial, x.checked_mul(*y)?)?;
            }
        }
        (product.terms.len() <= MOST_TERMS).then_some(product)
    }

    fn add(&mut self, monomial: Monomial, coefficient: i128) -> Option<()> {
        let before = self.terms.get(&monomial).copied().unwrap_or(0);
        let sum =
            before.checked_add(coefficient).filter(|sum| sum.unsigned_abs() < MOST_COEFFICIENT)?;
        if sum == 0 {
            self.terms.remove(&monomial);
        } else {
            self.terms.insert(monomial, sum);
        }
        Some(())
    }

    /// Whether an unknown occurs.
    pub(super) fn has(&self, var: Var) -> bool {
        self.terms.keys().any(|monomial| monomial.contains(&var))
    }

    /// Returns the unknowns that occur, each once.
    pub(super) fn vars(&self) -> Vec<Var> {
        let mut vars: Vec<Var> = self.terms.keys().flatten().copied().collect();
        vars.sort_unstable();
        vars.dedup();
        vars
    }

    /// Returns the polynomial with an unknown replaced.
    pub(super) fn substituted(&self, var: Var, by: &Self) -> Option<Self> {
        if !self.has(var) {
            return Some(self.clone());
        }
        let mut result = Self::default();
        for (monomial, coefficient) in &self.terms {
            let rest: Monomial = monomial.iter().copied().filter(|own| *own != var).collect();
            let mut term = Self::term(rest.clone(), *coefficient);
            for _ in rest.len()..monomial.len() {
                term = term.product(by)?;
            }
            result = result.plus(&term)?;
        }
        Some(result)
    }

    /// Returns the greatest number that divides all coefficients; 0 for zero.
    pub(super) fn content(&self) -> i128 {
        self.terms.values().fold(0, |all, coefficient| gcd(all, *coefficient))
    }

    /// Returns an unknown that occurs alone with coefficient 1 or -1 and nowhere else, and what it equals where the
    /// polynomial is zero. `prefers`: which unknowns to replace first; the greatest key wins.
    pub(super) fn solved<K: Ord>(&self, prefers: impl Fn(Var) -> Option<K>) -> Option<(Var, Self)> {
        let alone = self.terms.iter().filter_map(|(monomial, coefficient)| {
            let &[var] = monomial.as_slice() else { return None };
            let is_once = self.terms.keys().filter(|other| other.contains(&var)).count() == 1;
            (coefficient.abs() == 1 && is_once).then_some((var, *coefficient))
        });
        let (_, var, coefficient) = alone
            .filter_map(|(var, c)| Some((prefers(var)?, var, c)))
            .max_by(|a, b| a.0.cmp(&b.0))?;
        let rest = self.plus_times(&Self::var(var), -coefficient)?;
        Some((var, rest.times(-coefficient)?))
    }
}

/// Returns the greatest common divisor, not negative.
pub(super) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1)
}

/// Returns the quotient of two products; `None` if the second does not divide the first.
pub(super) fn quotient(whole: &Monomial, part: &Monomial) -> Option<Monomial> {
    let mut rest = whole.clone();
    for var in part {
        let at = rest.iter().position(|own| own == var)?;
        rest.remove(at);
    }
    Some(rest)
}
