//! What is known of the iterations of a loop.

use std::collections::BTreeSet;

use super::assumption::ArithmeticAssumption;
use super::atom::Expr;

/// What holds in every iteration of a loop that begins.
#[derive(Clone, Debug)]
pub(super) struct IterationFact {
    pub(super) holds: Expr,
    /// What the proof takes for granted.
    pub(super) assumed: BTreeSet<ArithmeticAssumption>,
}
