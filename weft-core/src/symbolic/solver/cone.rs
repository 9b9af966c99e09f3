//! The cone of expressions: they themselves and all that they are computed from.

use std::collections::HashSet;

use foldhash::fast::RandomState;

use crate::symbolic::expr::{Expr, Exprs};

/// Returns the cone of `roots` in the order of the table, so that operands come before what is computed from them.
pub(super) fn cone(exprs: &Exprs, roots: &[Expr]) -> Vec<Expr> {
    let mut seen: HashSet<Expr, RandomState> = HashSet::default();
    let mut found: Vec<Expr> = Vec::new();
    let mut waiting: Vec<Expr> = roots.to_vec();
    while let Some(next) = waiting.pop() {
        if seen.insert(next) {
            found.push(next);
            waiting.extend(exprs.operands(next));
        }
    }
    found.sort_unstable();
    found
}
