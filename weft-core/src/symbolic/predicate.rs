//! Predicates as conjunctions.

use std::collections::BTreeSet;

use super::expr::BinaryOperator::{And, Or};
use super::expr::{Expr, ExprNode, Exprs};

/// The predicates whose conjunction a predicate is.
pub(super) fn conjuncts(exprs: &Exprs, of: Expr) -> Vec<Expr> {
    let (mut parts, mut work, mut seen) = (Vec::new(), vec![of], BTreeSet::new());
    while let Some(part) = work.pop() {
        if !seen.insert(part) {
            continue;
        }
        match exprs.node(part) {
            ExprNode::Binary(And, a, b) if exprs.bits(part) == 1 => work.extend([a, b]),
            _ => parts.push(part),
        }
    }
    parts
}

/// The conjunction of predicates.
pub(super) fn conjunction(exprs: &mut Exprs, of: impl IntoIterator<Item = Expr>) -> Expr {
    let always = exprs.truth(true);
    of.into_iter().fold(always, |all, part| exprs.binary(And, all, part))
}

/// The disjunction of two predicates, as a conjunction of what both have in common and the rest.
pub(super) fn disjunction(exprs: &mut Exprs, a: Expr, b: Expr) -> Expr {
    let plain = exprs.binary(Or, a, b);
    if !matches!(exprs.node(plain), ExprNode::Binary(Or, ..)) {
        return plain;
    }
    let of_b: BTreeSet<Expr> = conjuncts(exprs, b).into_iter().collect();
    let (common, rest_a): (BTreeSet<Expr>, BTreeSet<Expr>) =
        conjuncts(exprs, a).into_iter().partition(|part| of_b.contains(part));
    if common.is_empty() {
        return plain;
    }
    let rest_b: Vec<Expr> = of_b.difference(&common).copied().collect();
    let (rest_a, rest_b) = (conjunction(exprs, rest_a), conjunction(exprs, rest_b));
    let rest = exprs.binary(Or, rest_a, rest_b);
    conjunction(exprs, common.into_iter().chain([rest]))
}
