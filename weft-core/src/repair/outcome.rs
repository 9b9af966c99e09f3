//! What a repair says.

use super::costs::Cost;
use super::kind::BarrierKind;
use super::patch::Edit;
use crate::finding::{Assumption, Finding, Site, SourceLine};

/// The outcome of a repair, and what it took.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelRepair {
    /// Whether barriers help, and which.
    pub outcome: RepairOutcome,
    /// Of a minimization: uses of named barriers that can go together, besides what the outcome changes.
    pub superfluous: Vec<Change>,
    /// The number of placements that were checked, each under all launches.
    pub checks: usize,
}

/// Whether barriers help.
#[derive(Clone, Debug, PartialEq)]
pub enum RepairOutcome {
    /// The kernel is clean as it is, and no cheaper placement of the barriers that can change is.
    Unchanged {
        /// Whether that is so; otherwise the number of checks did not suffice to show it.
        is_least: bool,
    },
    /// The kernel is clean with these changes.
    Mended(Mend),
    /// No placement of barriers makes the kernel clean, or none was found.
    Refused(Obstacle),
}

/// Changes with which a kernel is clean.
#[derive(Clone, Debug, PartialEq)]
pub struct Mend {
    /// The changes, in the order of the text.
    pub changes: Vec<Change>,
    /// The cost of the barriers that can change, as the kernel has them.
    pub cost_before: Cost,
    /// The cost of the barriers with the changes made; of an insertion, the cost of the new ones.
    pub cost: Cost,
    /// Whether no cheaper placement is clean; otherwise the number of checks did not suffice to show it.
    pub is_least: bool,
    /// The same changes of the module's text.
    pub edits: Vec<Edit>,
    /// What the verdict about the changed kernel rests on.
    pub assumptions: Vec<Assumption>,
}

/// What is done at one place.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The change.
    pub action: Action,
    /// The instruction that is removed or replaced; of an insertion, the instruction that it is next to.
    pub site: Site,
    /// The line of a file that the author can change.
    pub line: Option<SourceLine>,
    /// The number of places in the PTX where it is done, since a loop is unrolled or a function inlined.
    pub copies: usize,
    /// Of an insertion, an access that follows in the same run of instructions: a barrier in front of it does the same.
    pub right: Option<Site>,
    /// Whether some threads of the cta do not reach the new barrier, since they have ended or end without it. PTX does not
    /// wait for them.
    pub is_skipped: bool,
    /// Races between accesses that the new barrier separates.
    pub separates: Vec<Finding>,
}

/// A change of a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A barrier is inserted.
    Insert(BarrierKind, Side),
    /// A barrier is removed.
    Remove,
    /// A barrier is replaced by one of another kind.
    Replace(BarrierKind),
}

/// On which side of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// In front of it.
    Before,
    /// Behind it.
    After,
}

impl Side {
    /// The preposition.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }
}

/// Why a kernel cannot be repaired by barriers.
#[derive(Clone, Debug, PartialEq)]
pub enum Obstacle {
    /// With a barrier at every place where one can stand, these findings remain.
    Findings(Vec<Finding>),
    /// There are more places than are tried.
    Points(usize),
    /// The number of checks did not suffice.
    Checks,
}
