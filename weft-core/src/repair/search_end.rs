//! How a search for a placement ends.

use super::outcome::{Obstacle, RepairOutcome};
use super::placement_report::RacingPair;

/// How a search ends.
pub(super) enum SearchEnd {
    /// What comes of the kernel.
    Outcome(RepairOutcome),
    /// These accesses race too, and have to be told apart from the instructions around them. With fewer barriers they race
    /// as well.
    Pairs(Vec<RacingPair>),
    /// No placement is clean in which all threads of the cta reach every barrier together.
    NotUniform,
}

impl SearchEnd {
    pub(super) fn refused(obstacle: Obstacle) -> Self {
        Self::Outcome(RepairOutcome::Refused(obstacle))
    }
}
