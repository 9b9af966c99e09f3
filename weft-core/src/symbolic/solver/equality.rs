//! Simpler forms of comparisons: what both sides have in common is cancelled, and the width shrinks to what decides.

use super::polynomial::{LinearSum, Polynomial, Polynomials, low_bits};
use crate::emulate::{signed, truncate};
use crate::symbolic::expr::{BinaryOperator, Expr, ExprNode, Exprs};

/// Returns a predicate that holds where `a = b`.
pub(super) fn equal(exprs: &mut Exprs, sums: &mut Polynomials, a: Expr, b: Expr) -> Expr {
    let plain = exprs.binary(BinaryOperator::Eq, a, b);
    if exprs.bits(a) == 1 || exprs.as_constant(plain).is_some() {
        return plain;
    }
    let ((mut difference, cost_a), (right, cost_b)) = (sums.of(exprs, a), sums.of(exprs, b));
    difference.add(&right, u64::MAX);
    let Some(mut linear) = reduced(exprs, &difference) else { return exprs.truth(false) };
    if linear.terms.is_empty() {
        return exprs.truth(linear.constant == 0);
    }
    normalize(&mut linear);
    let (left, right) = sides(exprs, linear);
    let cost = sums.of(exprs, left).1.saturating_add(sums.of(exprs, right).1);
    if cost > cost_a.saturating_add(cost_b) {
        return plain;
    }
    without_extensions(exprs, sums, left, right)
}

/// Returns `difference` divided by the power of two that its coefficients have in common. `None` if it is never zero, since
/// the constant is no multiple of that.
fn reduced(exprs: &mut Exprs, difference: &Polynomial) -> Option<LinearSum> {
    let shift = difference.common_shift();
    if truncate(difference.constant(), shift.max(1)) != 0 && shift > 0 {
        return None;
    }
    let difference = difference.shifted_down(exprs, shift);
    Some(difference.factored(exprs))
}

/// Multiplies by the odd number that makes the coefficients simplest: a sum is zero if and only if its odd multiples are.
fn normalize(linear: &mut LinearSum) {
    let inverses = linear.terms.iter().filter(|(_, number)| number % 2 == 1);
    let candidates = inverses.map(|(_, number)| inverse(*number));
    let best = candidates.map(|by| (linear.cost_scaled(by), by)).min();
    if let Some((cost, by)) = best
        && cost < linear.cost_scaled(1)
    {
        linear.scale(by);
    }
}

/// Returns the inverse of an odd number modulo `2^64`, by Newton's method.
fn inverse(odd: u64) -> u64 {
    // Right in the lowest three bits; each step doubles them.
    let mut inverse = odd;
    for _ in 0..5 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)));
    }
    inverse
}

/// Returns two sums that are equal where the given one is zero: the addends that are negative come to the right.
fn sides(exprs: &mut Exprs, linear: LinearSum) -> (Expr, Expr) {
    let LinearSum { bits, terms, constant } = linear;
    let is_negative = |number: u64| signed(number, bits) < 0;
    let minus = |number: u64| truncate(number.wrapping_neg(), bits);
    let (right, left): (Vec<_>, Vec<_>) =
        terms.into_iter().partition(|(_, coefficient)| is_negative(*coefficient));
    let right: Vec<_> = right.into_iter().map(|(term, number)| (term, minus(number))).collect();
    let is_right = !left.is_empty() && (right.is_empty() || is_negative(constant));
    let (to_left, to_right) = if is_right { (0, minus(constant)) } else { (constant, 0) };
    let left = LinearSum { bits, terms: left, constant: to_left }.written(exprs);
    let right = LinearSum { bits, terms: right, constant: to_right }.written(exprs);
    (left, right)
}

/// Compares what was extended instead of the extended.
fn without_extensions(exprs: &mut Exprs, sums: &mut Polynomials, a: Expr, b: Expr) -> Expr {
    let (a, b) = if exprs.as_constant(a).is_some() { (b, a) } else { (a, b) };
    let (inner, is_signed) = match exprs.node(a) {
        ExprNode::Zext(inner) => (inner, false),
        ExprNode::Sext(inner) => (inner, true),
        _ => return exprs.binary(BinaryOperator::Eq, a, b),
    };
    let bits = exprs.bits(inner);
    let other = match exprs.node(b) {
        ExprNode::Constant(_) => {
            let low = low_bits(exprs, b, bits);
            if exprs.resized(low, exprs.bits(b), is_signed) != b {
                return exprs.truth(false);
            }
            low
        }
        ExprNode::Zext(other) if !is_signed => other,
        ExprNode::Sext(other) if is_signed => other,
        _ => return exprs.binary(BinaryOperator::Eq, a, b),
    };
    let bits = bits.max(exprs.bits(other));
    let inner = exprs.resized(inner, bits, is_signed);
    let other = exprs.resized(other, bits, is_signed);
    equal(exprs, sums, inner, other)
}

/// Returns a predicate that holds where `a < b`, without signs.
pub(super) fn below(exprs: &mut Exprs, sums: &mut Polynomials, a: Expr, b: Expr) -> Expr {
    use BinaryOperator::Ult;
    if let Some(limit) = exprs.as_constant(b)
        && let Some(simple) = below_number(exprs, sums, a, limit)
    {
        return simple;
    }
    match (exprs.node(a), exprs.node(b)) {
        (ExprNode::Zext(x), ExprNode::Zext(y)) => {
            let bits = exprs.bits(x).max(exprs.bits(y));
            let (x, y) = (exprs.resized(x, bits, false), exprs.resized(y, bits, false));
            exprs.binary(Ult, x, y)
        }
        (ExprNode::Constant(number), ExprNode::Zext(y)) => {
            let bits = exprs.bits(y);
            if truncate(number, bits) != number {
                return exprs.truth(false);
            }
            let number = exprs.constant(number, bits);
            exprs.binary(Ult, number, y)
        }
        _ => exprs.binary(Ult, a, b),
    }
}

/// A number whose low bits are known is below a limit if and only if its upper bits are below another one. For overlaps
/// of accesses this gives equalities: `4 * d < 4` is `d = 0`.
fn below_number(exprs: &mut Exprs, sums: &mut Polynomials, a: Expr, limit: u64) -> Option<Expr> {
    let bits = exprs.bits(a);
    if limit == 0 {
        return Some(exprs.truth(false));
    }
    if let ExprNode::Zext(inner) = exprs.node(a) {
        let bits = exprs.bits(inner);
        if truncate(limit, bits) != limit {
            return Some(exprs.truth(true));
        }
        let limit = exprs.constant(limit, bits);
        return Some(below(exprs, sums, inner, limit));
    }
    let (mut sum, cost) = sums.of(exprs, a);
    let shift = sum.common_shift();
    if limit > 1 && (shift == 0 || sum.is_constant() || bits == 1) {
        return None;
    }
    let low = if shift == 0 { 0 } else { truncate(sum.constant(), shift) };
    if limit <= low {
        return Some(exprs.truth(false));
    }
    let limit = ((limit - 1 - low) >> shift) + 1;
    sum.add_number(low.wrapping_neg());
    let mut upper = sum.shifted_down(exprs, shift).factored(exprs).written(exprs);
    if sums.of(exprs, upper).1 > cost {
        upper = exprs.extract(a, shift, bits - shift);
    }
    if limit == 1 {
        let zero = exprs.constant(0, bits - shift);
        return Some(equal(exprs, sums, upper, zero));
    }
    if truncate(limit, bits - shift) != limit {
        return Some(exprs.truth(true));
    }
    let limit = exprs.constant(limit, bits - shift);
    Some(exprs.binary(BinaryOperator::Ult, upper, limit))
}
