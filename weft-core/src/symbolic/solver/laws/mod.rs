//! Laws of the solver: its answers are compared with the meaning of expressions, by brute force where that is possible.

mod circuits;
pub(in crate::symbolic) mod generate;
mod kernels;
mod operators;
mod other_solver;
mod random;
mod rewriting;

use super::blast::blasted;
use super::cone::cone;
use super::sat::{Search, SearchResult};
use super::{Answer, Conflicts, solve};
use crate::symbolic::atom::Atom;
use crate::symbolic::expr::{BinaryOperator, Expr, ExprNode, Exprs};

/// More than the small queries here need.
const ENOUGH: Conflicts = Conflicts(1_000_000);

/// Asks the circuit and the SAT solver alone. Nothing is rewritten, so that a circuit cannot hide behind a constant.
fn search(exprs: &Exprs, conditions: &[Expr]) -> SearchResult {
    let blasted = blasted(exprs, conditions, usize::MAX).expect("there is no limit");
    let mut search = Search::new(&blasted.circuit, ENOUGH);
    for wire in &blasted.asserted {
        search.assert(*wire);
    }
    search.run()
}

/// Whether an operator divides.
fn divides(operator: BinaryOperator) -> bool {
    use BinaryOperator::{Sdiv, Srem, Udiv, Urem};
    matches!(operator, Udiv | Urem | Sdiv | Srem)
}

/// Returns the values of `roots`, and whether anything in their cone divides by zero. What that gives is up to `by_zero`,
/// from the operator and the dividend.
fn values(
    exprs: &Exprs,
    roots: &[Expr],
    atoms: &dyn Fn(Atom) -> u64,
    by_zero: &dyn Fn(BinaryOperator, u64) -> u64,
) -> (Vec<u64>, bool) {
    let mut known = std::collections::HashMap::new();
    let mut divided_by_zero = false;
    for part in cone(exprs, roots) {
        let value = match exprs.node(part) {
            ExprNode::Binary(operator, a, b) if divides(operator) && known[&b] == 0 => {
                divided_by_zero = true;
                crate::emulate::truncate(by_zero(operator, known[&a]), exprs.bits(part))
            }
            _ => exprs.value_of(part, &|operand| known.get(&operand).copied(), atoms).unwrap(),
        };
        known.insert(part, value);
    }
    (roots.iter().map(|root| known[root]).collect(), divided_by_zero)
}
