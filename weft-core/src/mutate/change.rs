//! The kinds of synchronization, and the ways to weaken it.

/// The kind of synchronization that a mutant changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SyncKind {
    /// A cta barrier that waits.
    Barrier,
    /// A cta barrier that waits and reduces.
    Reduction,
    /// An arrival at a cta barrier.
    Arrival,
    /// `bar.warp.sync`.
    WarpBarrier,
    /// `atom` or `red`.
    Atomic,
    /// What makes a group of asynchronous copies.
    CopyGroup,
    /// A wait for asynchronous copies.
    CopyWait,
    /// What makes asynchronous copies arrive at an mbarrier.
    CopyArrival,
}

/// The way in which a mutant is weaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weakening {
    /// The instruction is deleted; the result of a reduction is open.
    Delete,
    /// The barrier only arrives and does not wait; what arrives for copies does not wait for them.
    Arrive,
    /// The count of the barrier is one warp less.
    Fewer,
    /// The barrier has no count: all warps take part.
    NoCount,
    /// The two halves of a warp barrier's lanes wait separately.
    Halves,
    /// The wait leaves one group more in flight.
    InFlight,
    /// An atomic is replaced by a load and a store.
    Plain,
}

impl Weakening {
    /// Returns the word used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delete => "delete",
            Self::Arrive => "arrive",
            Self::Fewer => "fewer",
            Self::NoCount => "no-count",
            Self::Halves => "halves",
            Self::InFlight => "in-flight",
            Self::Plain => "plain",
        }
    }
}
