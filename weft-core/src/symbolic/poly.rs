//! Polynomials over integer unknowns, with integer coefficients. A coefficient that grows too large makes the whole
//! polynomial unusable: operations return `None` then.

use std::cmp::Ordering;

use smallvec::SmallVec;

/// An integer unknown of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Var(pub(super) u32);

/// A product of unknowns, ascending; the empty product is 1.
pub(super) type Monomial = SmallVec<[Var; 4]>;

/// A sum of monomials with their coefficients, none of them zero, ascending by monomial.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Poly {
    terms: SmallVec<[(Monomial, i128); 3]>,
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
        let term = (coefficient != 0).then_some((monomial, coefficient));
        Self { terms: term.into_iter().collect() }
    }

    /// Returns the monomials with their coefficients, ascending.
    pub(super) fn terms(&self) -> impl DoubleEndedIterator<Item = (&Monomial, i128)> + Clone {
        self.terms.iter().map(|(monomial, coefficient)| (monomial, *coefficient))
    }

    /// Returns the number of terms.
    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    /// Returns the coefficient of a monomial; 0 if it does not occur.
    pub(super) fn coefficient(&self, of: &[Var]) -> i128 {
        let at = self.terms.binary_search_by(|(monomial, _)| monomial.as_slice().cmp(of));
        at.map_or(0, |at| self.terms[at].1)
    }

    /// Returns the number that it is, if it is one.
    pub(super) fn as_constant(&self) -> Option<i128> {
        match &self.terms[..] {
            [] => Some(0),
            [(monomial, coefficient)] => monomial.is_empty().then_some(*coefficient),
            _ => None,
        }
    }

    /// Returns the unknown that it is; `None` if it is no single one.
    pub(super) fn as_var(&self) -> Option<Var> {
        let mut terms = self.terms();
        match (terms.next(), terms.next()) {
            (Some((monomial, 1)), None) if monomial.len() == 1 => monomial.first().copied(),
            _ => None,
        }
    }

    /// Returns the unknown and its coefficient, if it is a multiple of one unknown plus a number.
    pub(super) fn sole_var(&self) -> Option<(Var, i128)> {
        let mut terms = self.terms().filter(|(monomial, _)| !monomial.is_empty());
        match (terms.next()?, terms.next()) {
            ((monomial, coefficient), None) if monomial.len() == 1 => {
                Some((monomial[0], coefficient))
            }
            _ => None,
        }
    }

    /// Returns the product and its coefficient, if it is a single term.
    pub(super) fn sole_term(&self) -> Option<(&Monomial, i128)> {
        match &self.terms[..] {
            [(monomial, coefficient)] => Some((monomial, *coefficient)),
            _ => None,
        }
    }

    /// Returns the quotient by another single term that divides this one and is not equal to it.
    pub(super) fn quotient_of_terms(&self, part: &Self) -> Option<Self> {
        let ((whole, coefficient), (part, by)) = (self.sole_term()?, part.sole_term()?);
        let rest = quotient(whole, part)?;
        let is_multiple = coefficient % by == 0 && !(rest.is_empty() && coefficient == by);
        is_multiple.then(|| Self::term(rest, coefficient / by))
    }

    /// Whether it is zero for all values of its unknowns.
    pub(super) fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns the part without unknowns.
    pub(super) fn constant_part(&self) -> i128 {
        self.coefficient(&[])
    }

    /// Returns the sum with a multiple of another polynomial: `self + factor * other`.
    pub(super) fn plus_times(&self, other: &Self, factor: i128) -> Option<Self> {
        let mut sum = Self { terms: SmallVec::with_capacity(self.len() + other.len()) };
        let (mut own, mut added) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let order = match (own.peek(), added.peek()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((a, _)), Some((b, _))) => a.cmp(b),
            };
            let mine = own.next_if(|_| order != Ordering::Greater);
            let theirs = added.next_if(|_| order != Ordering::Less);
            let scaled = theirs.map_or(Some(0), |(_, weight)| weight.checked_mul(factor))?;
            let coefficient = mine.map_or(0, |(_, weight)| *weight).checked_add(scaled)?;
            let (monomial, _) = mine.or(theirs)?;
            sum.push(monomial.clone(), coefficient)?;
        }
        (sum.len() <= MOST_TERMS).then_some(sum)
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
        let mut all = Vec::with_capacity(self.len() * other.len());
        for (a, x) in &self.terms {
            for (b, y) in &other.terms {
                if a.len() + b.len() > MOST_DEGREE {
                    return None;
                }
                let mut monomial: Monomial = a.iter().chain(b).copied().collect();
                monomial.sort_unstable();
                all.push((monomial, x.checked_mul(*y)?));
            }
        }
        all.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let mut product = Self::default();
        let mut rest = all.into_iter().peekable();
        while let Some((monomial, mut coefficient)) = rest.next() {
            while let Some((_, more)) = rest.next_if(|(next, _)| *next == monomial) {
                coefficient = coefficient.checked_add(more)?;
            }
            product.push(monomial, coefficient)?;
        }
        (product.len() <= MOST_TERMS).then_some(product)
    }

    /// Adds a term whose monomial is greater than all others.
    fn push(&mut self, monomial: Monomial, coefficient: i128) -> Option<()> {
        if coefficient.unsigned_abs() >= MOST_COEFFICIENT {
            return None;
        }
        if coefficient != 0 {
            self.terms.push((monomial, coefficient));
        }
        Some(())
    }

    /// Whether an unknown occurs.
    pub(super) fn has(&self, var: Var) -> bool {
        self.terms().any(|(monomial, _)| monomial.contains(&var))
    }

    /// Returns the unknowns that occur, each once.
    pub(super) fn vars(&self) -> Vec<Var> {
        let mut vars: Vec<Var> = self.terms().flat_map(|(monomial, _)| monomial).copied().collect();
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
        self.terms().fold(0, |all, (_, coefficient)| gcd(all, coefficient))
    }

    /// Returns the quotient by a number that divides all coefficients; `None` if the number is zero.
    pub(super) fn divided(&self, by: i128) -> Option<Self> {
        let terms = self
            .terms()
            .map(|(monomial, coefficient)| Some((monomial.clone(), coefficient.checked_div(by)?)));
        Some(Self { terms: terms.collect::<Option<_>>()? })
    }

    /// Returns a polynomial that is at least zero if this one is: `3 - 4 * x >= 0` means `0 - x >= 0` for integers.
    pub(super) fn rounded(&self) -> Self {
        let constant = self.constant_part();
        let others = self.terms().filter(|(monomial, _)| !monomial.is_empty());
        let divisor = others.fold(0, |all, (_, coefficient)| gcd(all, coefficient));
        if divisor <= 1 {
            return self.clone();
        }
        let terms = self.terms().map(|(monomial, coefficient)| {
            let is_number = monomial.is_empty();
            (
                monomial.clone(),
                if is_number { constant.div_euclid(divisor) } else { coefficient / divisor },
            )
        });
        Self { terms: terms.filter(|(_, coefficient)| *coefficient != 0).collect() }
    }

    /// Returns an unknown that occurs alone with coefficient 1 or -1 and nowhere else, and what it equals where the
    /// polynomial is zero. `prefers`: which unknowns to replace first; the greatest key wins.
    pub(super) fn solved<K: Ord>(&self, prefers: impl Fn(Var) -> Option<K>) -> Option<(Var, Self)> {
        let alone = self.terms().filter_map(|(monomial, coefficient)| {
            let &[var] = monomial.as_slice() else { return None };
            let is_once = self.terms().filter(|(other, _)| other.contains(&var)).count() == 1;
            (coefficient.abs() == 1 && is_once).then_some((var, coefficient))
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
