//! What a repair says.

use super::costs::Cost;
use super::kind::BarrierKind;
use super::patch::Edit;
use super::source_place::{BetweenLines, SourcePlace};
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
    /// The instruction that is removed or replaced; of an insertion, the instruction that it is next to. Its lines are those
    /// of `place`, the first one in a file that the author can change if there is one; none if that is not beside a line.
    pub site: Site,
    /// Where it is in the source.
    pub place: SourcePlace,
    /// The line of a file that the author can change, if the change is beside it.
    pub line: Option<SourceLine>,
    /// The number of places in the PTX where it is done, since a loop is unrolled or a function inlined.
    pub copies: usize,
    /// Of an insertion, an access that follows in the same run of instructions: a barrier in front of it does the same, in
    /// the PTX and beside its first line.
    pub right: Option<Site>,
    /// Of an insertion, the lines between which a barrier does the same.
    pub between: Option<BetweenLines>,
    /// Whether some threads of the cta do not reach the new barrier, since they have ended or end without it. PTX does not
    /// wait for them.
    pub is_skipped: bool,
    /// Races between accesses that the new barrier separates.
    pub separates: Vec<Finding>,
}

impl Change {
    /// Returns the change of a barrier that stands in the PTX.
    pub(super) fn of_barrier(
        action: Action,
        site: Site,
        line: Option<SourceLine>,
        copies: usize,
    ) -> Self {
        let place =
            if site.source.is_empty() { SourcePlace::Unstated } else { SourcePlace::Beside };
        let (right, between, separates) = (None, None, Vec::new());
        Self { action, site, place, line, copies, right, between, is_skipped: false, separates }
    }
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
