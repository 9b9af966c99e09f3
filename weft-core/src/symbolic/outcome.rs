//! What comes of trying to prove a kernel: a proof, or the gaps in it.

use std::collections::BTreeSet;

use super::assumption::ArithmeticAssumption;
use super::candidate::CandidateLaunch;
use crate::flow::Pc;
use crate::launch::ExtentBound;

/// What a proof holds for, and what it takes for granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proof {
    /// The extents of the blocks, in each dimension.
    pub(crate) block: [ExtentBound; 3],
    /// The extents of the grids.
    pub(crate) grid: [ExtentBound; 3],
    /// The barriers and exchanges before which some threads of the cta might have ended, and others not.
    pub(crate) after_exits: BTreeSet<Pc>,
    /// What is assumed of integers.
    pub(crate) arithmetic: BTreeSet<ArithmeticAssumption>,
    /// The solver outside of the library is right.
    pub(crate) trusts_solver: bool,
}

/// Why there is no proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gap {
    /// The program is too large, or has a cycle with several entries.
    Size,
    /// The stage does not know what this instruction does.
    Unknown(Pc),
    /// The address is based on more than one buffer or variable, or on none.
    Base(Pc),
    /// Not all threads might come to this barrier or exchange.
    Divergence(Pc),
    /// Two threads might access the same bytes here.
    Pair(Pc, Pc),
}

/// Why there is no proof, and where a run might find a race.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unproved {
    /// Empty only if no proof was tried.
    pub(crate) gaps: Vec<Gap>,
    /// Launches with which two threads might access the same bytes.
    pub(crate) candidates: Vec<CandidateLaunch>,
    /// The parameters that the addresses and the conditions of the first pair that is not proved depend on, by position; `None`
    /// if there is none, or an address depends on what memory holds, or on a result that is not followed.
    pub(crate) depends_on: Option<BTreeSet<usize>>,
    /// The steps that the comparisons of pairs took.
    pub(crate) spent: u32,
}

impl From<Vec<Gap>> for Unproved {
    fn from(gaps: Vec<Gap>) -> Self {
        Self { gaps, ..Self::default() }
    }
}
