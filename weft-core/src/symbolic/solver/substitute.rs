//! Atoms that a condition defines: they are replaced, and get their value from the definition when the others have theirs.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use super::cone::cone;
use super::model::Model;
use crate::symbolic::atom::Atom;
use crate::symbolic::expr::{BinaryOperator, Expr, ExprNode, Exprs};

/// Definitions of one query at most: each rewrites all conditions.
const MOST: usize = 64;

/// Replaced atoms with their definitions. A definition mentions atoms that are replaced later, but none that was replaced
/// earlier.
#[derive(Default)]
pub(super) struct Substitutions {
    definitions: Vec<(Atom, Expr)>,
}

impl Substitutions {
    /// Removes conditions that define an atom, and replaces the atom in the others.
    pub(super) fn extend(&mut self, exprs: &mut Exprs, conditions: &mut Vec<Expr>) {
        while self.definitions.len() < MOST {
            let Some((at, atom, definition)) = find(exprs, conditions) else { return };
            let condition = conditions.remove(at);
            let ExprNode::Atom(name) = exprs.node(atom) else { return };
            debug_assert!(!exprs.is_truth(condition, true), "constants are no conditions");
            self.definitions.push((name, definition));
            replace(exprs, conditions, atom, definition);
        }
    }

    /// Gives the replaced atoms their values. `None` if a division by zero decides one.
    pub(super) fn complete(&self, exprs: &Exprs, model: &mut Model) -> Option<()> {
        for (atom, definition) in self.definitions.iter().rev() {
            let value = model.evaluate(exprs, &[*definition]).pop().flatten()?;
            model.set(*atom, value);
        }
        Some(())
    }
}

/// Returns the place of a condition that defines an atom, the atom, and what it is.
fn find(exprs: &Exprs, conditions: &[Expr]) -> Option<(usize, Expr, Expr)> {
    let mut widths: BTreeMap<Atom, u32> = BTreeMap::new();
    for part in cone(exprs, conditions) {
        if let ExprNode::Atom(atom) = exprs.node(part) {
            *widths.entry(atom).or_default() += 1;
        }
    }
    for (at, condition) in conditions.iter().enumerate() {
        let ExprNode::Binary(BinaryOperator::Eq, a, b) = exprs.node(*condition) else { continue };
        for (atom, definition) in [(a, b), (b, a)] {
            let ExprNode::Atom(name) = exprs.node(atom) else { continue };
            // Narrow and wide nodes of one atom are parts of one word: the definition of one is none of the other.
            if widths[&name] == 1 && !cone(exprs, &[definition]).contains(&atom) {
                return Some((at, atom, definition));
            }
        }
    }
    None
}

fn replace(exprs: &mut Exprs, conditions: &mut [Expr], atom: Expr, definition: Expr) {
    let mut replaced: HashMap<Expr, Expr, RandomState> = HashMap::default();
    for part in cone(exprs, conditions) {
        let operands: Vec<Expr> = exprs.operands(part).map(|operand| replaced[&operand]).collect();
        let new = if part == atom { definition } else { exprs.rebuilt(part, &operands) };
        replaced.insert(part, new);
    }
    for condition in conditions {
        *condition = replaced[condition];
    }
}
