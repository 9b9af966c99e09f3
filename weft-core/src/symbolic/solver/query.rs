//! The question whether conditions can hold together, and its answer.

use super::blast::{Blasted, blasted};
use super::cone::cone;
use super::model::Model;
use super::sat::{Conflicts, Search, SearchResult};
use super::simplify::{Simplified, simplified};
use crate::symbolic::atom::Atom;
use crate::symbolic::expr::{BinaryOperator, Expr, ExprNode, Exprs};

/// How many gates a circuit has at most, if nobody says so.
#[cfg(test)]
const MOST_GATES: usize = 2_000_000;

/// Whether conditions can hold together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// For no values of the atoms do all conditions hold, whatever a division by zero gives, as long as it gives the same
    /// for equal operands.
    Unsatisfiable,
    /// For these values all conditions hold, and none of them depends on a division by zero.
    Satisfiable(Model),
    /// The budget is spent, the circuit would be too large, or the conditions hold only where something divides by zero.
    Unknown,
}

/// Decides whether all conditions, of one bit each, hold for some values of their atoms. A search that finds only values
/// for which something divides by zero is repeated without them, with the same budget.
#[cfg(test)]
pub(crate) fn solve(exprs: &mut Exprs, conditions: &[Expr], budget: Conflicts) -> Answer {
    solve_within(exprs, conditions, budget, MOST_GATES)
}

/// Decides the same with a circuit of at most so many gates.
pub(crate) fn solve_within(
    exprs: &mut Exprs,
    conditions: &[Expr],
    budget: Conflicts,
    gates: usize,
) -> Answer {
    if let Some(answer) = attempt(exprs, conditions, budget, gates) {
        return answer;
    }
    let mut narrower = conditions.to_vec();
    for divisor in divisors(exprs, conditions) {
        let zero = exprs.constant(0, exprs.bits(divisor));
        let is_zero = exprs.binary(BinaryOperator::Eq, divisor, zero);
        narrower.push(exprs.not(is_zero));
    }
    match attempt(exprs, &narrower, budget, gates) {
        Some(Answer::Satisfiable(model)) => Answer::Satisfiable(model),
        _ => Answer::Unknown,
    }
}

/// Returns `None` if a division by zero decides what the search found.
fn attempt(
    exprs: &mut Exprs,
    conditions: &[Expr],
    budget: Conflicts,
    gates: usize,
) -> Option<Answer> {
    let query = simplified(exprs, conditions);
    if query.conditions.iter().any(|condition| exprs.is_truth(*condition, false)) {
        return Some(Answer::Unsatisfiable);
    }
    let Some(blasted) = blasted(exprs, &query.conditions, gates) else {
        return Some(Answer::Unknown);
    };
    let mut search = Search::new(&blasted.circuit, budget);
    for wire in &blasted.asserted {
        search.assert(*wire);
    }
    match search.run() {
        SearchResult::Unsatisfiable => Some(Answer::Unsatisfiable),
        SearchResult::OutOfBudget => Some(Answer::Unknown),
        SearchResult::Satisfiable => {
            checked(exprs, conditions, &query, &blasted, &search).map(Answer::Satisfiable)
        }
    }
}

/// Returns the divisors of all divisions.
fn divisors(exprs: &Exprs, conditions: &[Expr]) -> Vec<Expr> {
    use BinaryOperator::{Sdiv, Srem, Udiv, Urem};
    let divisor = |part: Expr| match exprs.node(part) {
        ExprNode::Binary(Udiv | Urem | Sdiv | Srem, _, divisor) => Some(divisor),
        _ => None,
    };
    cone(exprs, conditions).into_iter().filter_map(divisor).collect()
}

/// Returns the values that a search found if all conditions, as they were asked, hold for them. If one does not, the circuit
/// is wrong, unless a division by zero decides it.
fn checked(
    exprs: &Exprs,
    conditions: &[Expr],
    query: &Simplified,
    blasted: &Blasted,
    search: &Search,
) -> Option<Model> {
    let mut model = Model::default();
    for atom in atoms(exprs, conditions) {
        model.set(atom, 0);
    }
    for (atom, wires) in &blasted.atoms {
        let bits = wires.iter().enumerate().map(|(at, wire)| u64::from(search.value(*wire)) << at);
        model.set(*atom, bits.sum());
    }
    query.substitutions.complete(exprs, &mut model)?;
    let values = model.evaluate(exprs, conditions);
    debug_assert!(!values.contains(&Some(0)), "a model of the circuit is none of the conditions");
    values.iter().all(|value| *value == Some(1)).then_some(model)
}

fn atoms(exprs: &Exprs, conditions: &[Expr]) -> Vec<Atom> {
    let parts = cone(exprs, conditions);
    let atom = |part: Expr| match exprs.node(part) {
        ExprNode::Atom(atom) => Some(atom),
        _ => None,
    };
    parts.into_iter().filter_map(atom).collect()
}
