//! Rewrites the conditions of a query to simpler ones that hold for the same values of atoms.
//!
//! What one condition says is used in the others: a condition that stands in another one holds there, and an atom that is
//! equal to an expression is replaced by it. Then equal products on both sides of a comparison become one expression and
//! cancel, which is out of a SAT solver's reach.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use indexmap::IndexSet;

use super::cone::cone;
use super::equality::{below, equal};
use super::polynomial::{Polynomials, is_sum};
use super::substitute::Substitutions;
use crate::symbolic::expr::{BinaryOperator, Expr, ExprNode, Exprs};

/// Rounds of rewriting, each of which might make another one worthwhile.
const MOST_ROUNDS: usize = 8;

/// The conditions that are left.
pub(super) struct Simplified {
    /// No two are equal. Only if all are false together is there a constant among them.
    pub(super) conditions: Vec<Expr>,
    /// The atoms that they no longer mention.
    pub(super) substitutions: Substitutions,
}

type Rewritten = HashMap<Expr, Expr, RandomState>;

/// Returns simpler conditions.
pub(super) fn simplified(exprs: &mut Exprs, conditions: &[Expr]) -> Simplified {
    let mut sums = Polynomials::default();
    let mut conditions = conjuncts(exprs, conditions);
    let mut substitutions = Substitutions::default();
    for _ in 0..MOST_ROUNDS {
        let before = conditions.clone();
        conditions = rewritten(exprs, &mut sums, &conditions);
        if let Some(contradiction) = conditions.iter().find(|one| exprs.is_truth(**one, false)) {
            conditions = vec![*contradiction];
            break;
        }
        substitutions.extend(exprs, &mut conditions);
        if conditions == before {
            break;
        }
    }
    Simplified { conditions, substitutions }
}

/// Returns conditions whose conjunction is that of the given ones, with no conjunction among them.
pub(super) fn conjuncts(exprs: &mut Exprs, conditions: &[Expr]) -> Vec<Expr> {
    let mut found: IndexSet<Expr, RandomState> = IndexSet::default();
    let mut waiting: Vec<Expr> = conditions.iter().rev().copied().collect();
    while let Some(next) = waiting.pop() {
        match exprs.node(next) {
            ExprNode::Binary(BinaryOperator::And, a, b) => waiting.extend([b, a]),
            ExprNode::Not(inner) => match exprs.node(inner) {
                ExprNode::Binary(BinaryOperator::Or, a, b) => {
                    waiting.extend([exprs.not(b), exprs.not(a)]);
                }
                _ => {
                    found.insert(next);
                }
            },
            ExprNode::Constant(1) => {}
            _ => {
                found.insert(next);
            }
        }
    }
    found.into_iter().collect()
}

/// Rewrites each condition, given that the others hold.
fn rewritten(exprs: &mut Exprs, sums: &mut Polynomials, conditions: &[Expr]) -> Vec<Expr> {
    let mut facts: HashMap<Expr, bool, RandomState> = HashMap::default();
    for condition in conditions {
        facts.insert(*condition, true);
        if let ExprNode::Not(inner) = exprs.node(*condition) {
            facts.insert(inner, false);
        }
    }
    let mut own: Rewritten = HashMap::default();
    // What stands for an expression in another one.
    let mut inside: Rewritten = HashMap::default();
    for part in cone(exprs, conditions) {
        let simpler = rebuilt(exprs, sums, part, &inside);
        own.insert(part, simpler);
        let known = facts.get(&part).map(|holds| exprs.truth(*holds));
        inside.insert(part, known.unwrap_or(simpler));
    }
    let rewritten: Vec<Expr> = conditions
        .iter()
        .map(|condition| match exprs.node(*condition) {
            // The condition itself says what its operand is.
            ExprNode::Not(inner) => exprs.not(own[&inner]),
            _ => own[condition],
        })
        .collect();
    conjuncts(exprs, &rewritten)
}

/// Returns an expression whose operands are rewritten, in a simpler form.
fn rebuilt(exprs: &mut Exprs, sums: &mut Polynomials, part: Expr, inside: &Rewritten) -> Expr {
    let mut operands: Vec<Expr> = exprs.operands(part).map(|operand| inside[&operand]).collect();
    let is_equality = matches!(exprs.node(part), ExprNode::Binary(BinaryOperator::Eq, ..));
    // Sums within sums are simplified with the outermost one.
    if !is_equality && !is_sum(exprs, part) {
        for operand in &mut operands {
            *operand = cheapest(exprs, sums, *operand);
        }
    }
    let plain = exprs.rebuilt(part, &operands);
    match exprs.node(plain) {
        ExprNode::Binary(BinaryOperator::Eq, a, b) => equal(exprs, sums, a, b),
        ExprNode::Binary(BinaryOperator::Ult, a, b) => below(exprs, sums, a, b),
        _ => plain,
    }
}

/// Returns a sum as its polynomial if that takes a smaller circuit.
fn cheapest(exprs: &mut Exprs, sums: &mut Polynomials, of: Expr) -> Expr {
    if !is_sum(exprs, of) {
        return of;
    }
    let (sum, cost) = sums.of(exprs, of);
    let other = sum.factored(exprs).written(exprs);
    if sums.of(exprs, other).1 < cost { other } else { of }
}
