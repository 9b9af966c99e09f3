//! Decides whether a conjunction of conditions over bit-vectors can hold: rewriting, a circuit of gates, and a SAT solver.
//! Knows nothing about atoms: ranges and other facts of theirs are conditions like any other.

mod arithmetic;
mod blast;
mod circuit;
mod cone;
mod divide;
mod equality;
mod model;
mod multiply;
mod outside;
mod polynomial;
mod query;
mod sat;
mod simplify;
mod smtlib;
mod substitute;

#[cfg(test)]
pub(super) mod laws;

pub(crate) use model::Model;
pub use outside::SmtSolver;
pub(crate) use outside::ask;
#[cfg(test)]
pub(crate) use query::solve;
pub(crate) use query::{Answer, solve_within};
pub(crate) use sat::Conflicts;
