//! A model: values of atoms under which conditions hold.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use super::cone::cone;
use crate::symbolic::atom::Atom;
use crate::symbolic::expr::{Expr, Exprs};

/// Values of the atoms of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Model {
    values: BTreeMap<Atom, u64>,
}

impl Model {
    /// Returns the value of an atom; zero for an atom that the query does not mention.
    pub(crate) fn value(&self, of: Atom) -> u64 {
        self.values.get(&of).copied().unwrap_or(0)
    }

    /// Returns all atoms of the query with their values.
    pub(crate) fn values(&self) -> impl Iterator<Item = (Atom, u64)> + '_ {
        self.values.iter().map(|(atom, value)| (*atom, *value))
    }

    /// Gives an atom a value.
    pub(super) fn set(&mut self, atom: Atom, value: u64) {
        self.values.insert(atom, value);
    }

    /// Returns the values of `roots`; `None` for one that a division by zero decides. The work grows with the cone of
    /// `roots`, not with the table.
    pub(crate) fn evaluate(&self, exprs: &Exprs, roots: &[Expr]) -> Vec<Option<u64>> {
        let mut values: HashMap<Expr, Option<u64>, RandomState> = HashMap::default();
        for part in cone(exprs, roots) {
            let value = exprs.value_of(part, &|operand| values[&operand], &|atom| self.value(atom));
            values.insert(part, value);
        }
        roots.iter().map(|root| values[root]).collect()
    }
}
