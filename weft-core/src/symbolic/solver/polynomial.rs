//! Sums of products as polynomials modulo a power of two, in which equal addends cancel.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use super::multiply::signed_digits;
use crate::emulate::truncate;
use crate::symbolic::expr::{BinaryOperator, Expr, ExprNode, Exprs};

/// Polynomials of more monomials than this are not computed: what they are made of counts as unknown.
const MOST_MONOMIALS: usize = 48;
/// Likewise for monomials of more factors.
const MOST_FACTORS: usize = 6;
/// What a product of two unknowns costs, in adders.
const PRODUCT: u32 = 32;
/// How many sums within sums are looked through that were not looked at before.
const DEEPEST: u32 = 64;

/// A polynomial modulo `2^bits` over expressions that are no sums or products themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Polynomial {
    pub(super) bits: u32,
    /// Coefficients other than zero, by the factors in order. The constant has no factors.
    terms: BTreeMap<Vec<Expr>, u64>,
}

/// A sum of multiples of expressions, and a number.
pub(super) struct LinearSum {
    pub(super) bits: u32,
    pub(super) terms: Vec<(Expr, u64)>,
    pub(super) constant: u64,
}

/// The polynomials of expressions, with what a circuit of each would cost as it is written.
#[derive(Default)]
pub(super) struct Polynomials {
    known: HashMap<Expr, (Polynomial, u32), RandomState>,
}

/// Whether an expression is a sum or product that a polynomial looks through.
pub(super) fn is_sum(exprs: &Exprs, of: Expr) -> bool {
    use BinaryOperator::{Add, Mul, Shl};
    let is_shift = |amount| exprs.as_constant(amount).is_some();
    exprs.bits(of) > 1
        && match exprs.node(of) {
            ExprNode::Binary(Add | Mul, ..) | ExprNode::Not(_) => true,
            ExprNode::Binary(Shl, _, amount) => is_shift(amount),
            ExprNode::Extract(inner, 0) => is_sum(exprs, inner),
            _ => false,
        }
}

/// Returns an expression's low bits.
pub(super) fn low_bits(exprs: &mut Exprs, of: Expr, bits: u32) -> Expr {
    match exprs.node(of) {
        ExprNode::Zext(inner) if bits > exprs.bits(inner) => exprs.resized(inner, bits, false),
        ExprNode::Sext(inner) if bits > exprs.bits(inner) => exprs.resized(inner, bits, true),
        _ => exprs.extract(of, 0, bits),
    }
}

impl Polynomials {
    /// Returns the polynomial of an expression, and what its circuit costs as it is written.
    pub(super) fn of(&mut self, exprs: &mut Exprs, of: Expr) -> (Polynomial, u32) {
        self.within(exprs, of, DEEPEST)
    }

    fn within(&mut self, exprs: &mut Exprs, of: Expr, depth: u32) -> (Polynomial, u32) {
        if let Some(known) = self.known.get(&of) {
            return known.clone();
        }
        let found = if depth > 0 { self.compute(exprs, of, depth - 1) } else { None };
        let found = found.unwrap_or_else(|| (Polynomial::unknown(exprs, of), 0));
        self.known.insert(of, found.clone());
        found
    }

    fn compute(&mut self, exprs: &mut Exprs, of: Expr, depth: u32) -> Option<(Polynomial, u32)> {
        use BinaryOperator::{Add, Mul, Shl};
        if !is_sum(exprs, of) {
            return None;
        }
        let bits = exprs.bits(of);
        let (sum, cost) = match exprs.node(of) {
            ExprNode::Not(a) => {
                let (mut sum, cost) = self.within(exprs, a, depth);
                sum.scale(u64::MAX);
                sum.add_term(Vec::new(), u64::MAX);
                (sum, cost)
            }
            ExprNode::Extract(a, 0) => {
                let (sum, cost) = self.within(exprs, a, depth);
                (sum.truncated(exprs, bits), cost)
            }
            ExprNode::Binary(Shl, a, amount) => {
                let (mut sum, cost) = self.within(exprs, a, depth);
                let amount = exprs.as_constant(amount).and_then(|by| u32::try_from(by).ok());
                sum.scale(amount.and_then(|by| 1u64.checked_shl(by)).unwrap_or(0));
                (sum, cost)
            }
            ExprNode::Binary(operator @ (Add | Mul), a, b) => {
                let (mut left, cost) = self.within(exprs, a, depth);
                let (right, other) = self.within(exprs, b, depth);
                let cost = cost.saturating_add(other);
                if operator == Add {
                    left.add(&right, 1);
                    (left, cost.saturating_add(1))
                } else {
                    let own = exprs.as_constant(b).map_or(PRODUCT, |by| digits(by, bits) - 1);
                    (left.product(&right)?, cost.saturating_add(own))
                }
            }
            _ => return None,
        };
        (sum.terms.len() <= MOST_MONOMIALS).then_some((sum, cost))
    }
}

/// Returns how many copies a product with a number adds up; at least one.
fn digits(number: u64, bits: u32) -> u32 {
    u32::try_from(signed_digits(u128::from(number), bits as usize).len()).unwrap_or(bits).max(1)
}

impl Polynomial {
    fn unknown(exprs: &Exprs, of: Expr) -> Polynomial {
        let mut sum = Polynomial { bits: exprs.bits(of), terms: BTreeMap::new() };
        match exprs.as_constant(of) {
            Some(number) => sum.add_term(Vec::new(), number),
            None => sum.add_term(vec![of], 1),
        }
        sum
    }

    fn add_term(&mut self, factors: Vec<Expr>, coefficient: u64) {
        let old = self.terms.get(&factors).copied().unwrap_or(0);
        match truncate(old.wrapping_add(coefficient), self.bits) {
            0 => {
                self.terms.remove(&factors);
            }
            new => {
                self.terms.insert(factors, new);
            }
        }
    }

    /// Adds a multiple.
    pub(super) fn add(&mut self, other: &Polynomial, multiple: u64) {
        for (factors, coefficient) in &other.terms {
            self.add_term(factors.clone(), coefficient.wrapping_mul(multiple));
        }
    }

    /// Adds a number.
    pub(super) fn add_number(&mut self, number: u64) {
        self.add_term(Vec::new(), number);
    }

    /// Multiplies by a number.
    pub(super) fn scale(&mut self, by: u64) {
        for coefficient in self.terms.values_mut() {
            *coefficient = truncate(coefficient.wrapping_mul(by), self.bits);
        }
        self.terms.retain(|_, coefficient| *coefficient != 0);
    }

    fn product(&self, other: &Polynomial) -> Option<Polynomial> {
        if self.terms.len() * other.terms.len() > MOST_MONOMIALS {
            return None;
        }
        let mut product = Polynomial { bits: self.bits, terms: BTreeMap::new() };
        for (factors, coefficient) in &self.terms {
            for (others, other) in &other.terms {
                let mut factors = [&factors[..], others].concat();
                if factors.len() > MOST_FACTORS {
                    return None;
                }
                factors.sort_unstable();
                product.add_term(factors, coefficient.wrapping_mul(*other));
            }
        }
        Some(product)
    }

    /// Returns the polynomial modulo a smaller power of two, over the low bits of the same unknowns.
    fn truncated(&self, exprs: &mut Exprs, bits: u32) -> Polynomial {
        let mut result = Polynomial { bits, terms: BTreeMap::new() };
        for (factors, coefficient) in &self.terms {
            let mut low = 1;
            let mut rest = Vec::new();
            for factor in factors {
                let factor = low_bits(exprs, *factor, bits);
                match exprs.as_constant(factor) {
                    Some(number) => low = number.wrapping_mul(low),
                    None => rest.push(factor),
                }
            }
            rest.sort_unstable();
            result.add_term(rest, coefficient.wrapping_mul(low));
        }
        result
    }

    /// Returns the number without factors.
    pub(super) fn constant(&self) -> u64 {
        self.terms.get(&Vec::new()).copied().unwrap_or(0)
    }

    /// Whether there are no unknowns.
    pub(super) fn is_constant(&self) -> bool {
        self.terms.keys().all(Vec::is_empty)
    }

    /// Returns the greatest `n` such that `2^n` divides all coefficients but the constant.
    pub(super) fn common_shift(&self) -> u32 {
        let unknowns = self.terms.iter().filter(|(factors, _)| !factors.is_empty());
        unknowns.map(|(_, coefficient)| coefficient.trailing_zeros()).min().unwrap_or(0)
    }

    /// Returns the polynomial divided by `2^by`, which divides all coefficients, modulo as much less.
    pub(super) fn shifted_down(&self, exprs: &mut Exprs, by: u32) -> Polynomial {
        let terms = self.terms.iter().map(|(factors, number)| (factors.clone(), number >> by));
        let divided = Polynomial { bits: self.bits, terms: terms.collect() };
        if by == 0 { divided } else { divided.truncated(exprs, self.bits - by) }
    }

    /// Returns a sum in which factors of several products are taken out of them: each takes a multiplier less.
    pub(super) fn factored(mut self, exprs: &mut Exprs) -> LinearSum {
        let mut terms = Vec::new();
        while let Some(factor) = self.shared_factor() {
            let mut rest = Polynomial { bits: self.bits, terms: BTreeMap::new() };
            self.terms.retain(|factors, coefficient| {
                let Ok(at) = factors.binary_search(&factor) else { return true };
                let mut others = factors.clone();
                others.remove(at);
                rest.add_term(others, *coefficient);
                false
            });
            let rest = rest.factored(exprs).written(exprs);
            let (rest, coefficient) = split(exprs, rest);
            terms.push((exprs.binary(BinaryOperator::Mul, factor, rest), coefficient));
        }
        let constant = self.constant();
        for (factors, coefficient) in &self.terms {
            let multiply = |a, b| exprs.binary(BinaryOperator::Mul, a, b);
            if let Some(product) = factors.iter().copied().reduce(multiply) {
                terms.push((product, *coefficient));
            }
        }
        LinearSum { bits: self.bits, terms, constant }
    }

    /// Returns the factor that most products have, if at least two have it.
    fn shared_factor(&self) -> Option<Expr> {
        let mut counts: BTreeMap<Expr, u32> = BTreeMap::new();
        for factors in self.terms.keys().filter(|factors| factors.len() > 1) {
            let mut distinct = factors.clone();
            distinct.dedup();
            for factor in distinct {
                *counts.entry(factor).or_default() += 1;
            }
        }
        let most = counts.into_iter().max_by_key(|(_, count)| *count);
        most.filter(|(_, count)| *count > 1).map(|(factor, _)| factor)
    }
}

/// Returns an expression without its constant factor, and that.
fn split(exprs: &Exprs, of: Expr) -> (Expr, u64) {
    if let ExprNode::Binary(BinaryOperator::Mul, inner, number) = exprs.node(of)
        && let Some(number) = exprs.as_constant(number)
    {
        return (inner, number);
    }
    (of, 1)
}

impl LinearSum {
    /// Returns what the circuit of these coefficients costs after all are multiplied by a number.
    pub(super) fn cost_scaled(&self, by: u64) -> u32 {
        let terms = self.terms.iter().map(|(_, coefficient)| *coefficient);
        let costs = terms.chain([self.constant]).map(|coefficient| {
            let scaled = truncate(coefficient.wrapping_mul(by), self.bits);
            if scaled == 0 { 0 } else { digits(scaled, self.bits) }
        });
        costs.sum()
    }

    /// Multiplies all by a number.
    pub(super) fn scale(&mut self, by: u64) {
        let bits = self.bits;
        for (_, coefficient) in &mut self.terms {
            *coefficient = truncate(coefficient.wrapping_mul(by), bits);
        }
        self.constant = truncate(self.constant.wrapping_mul(by), bits);
    }

    /// Returns the sum as an expression. Addends with one coefficient are added before they are multiplied.
    pub(super) fn written(&self, exprs: &mut Exprs) -> Expr {
        use BinaryOperator::{Add, Mul};
        let mut groups: BTreeMap<u64, (Vec<Expr>, Vec<Expr>)> = BTreeMap::new();
        for (term, coefficient) in &self.terms {
            let opposite = truncate(coefficient.wrapping_neg(), self.bits);
            let (positive, negative) = groups.entry((*coefficient).min(opposite)).or_default();
            let side = if *coefficient <= opposite { positive } else { negative };
            side.push(*term);
        }
        let mut whole = exprs.constant(0, self.bits);
        for (coefficient, (positive, negative)) in groups {
            let sum = |exprs: &mut Exprs, terms: Vec<Expr>| {
                terms.into_iter().reduce(|a, b| exprs.binary(Add, a, b))
            };
            let (terms, coefficient) = match (sum(exprs, positive), sum(exprs, negative)) {
                (Some(positive), Some(negative)) => (exprs.minus(positive, negative), coefficient),
                (Some(positive), None) => (positive, coefficient),
                (None, Some(negative)) => (negative, coefficient.wrapping_neg()),
                (None, None) => continue,
            };
            let coefficient = exprs.constant(coefficient, self.bits);
            let scaled = exprs.binary(Mul, terms, coefficient);
            whole = exprs.binary(Add, whole, scaled);
        }
        let constant = exprs.constant(self.constant, self.bits);
        exprs.binary(Add, whole, constant)
    }
}
