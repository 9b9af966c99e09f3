//! How synchronization is weakened.

/// What synchronizes at the place of a mutant.
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
}

/// How a mutant is weaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weakening {
    /// The instruction is gone; the result of a reduction is open.
    Delete,
    /// It arrives and does not wait.
    Arrive,
    /// A warp less in its count.
    Fewer,
    /// No count: all warps take part.
    NoCount,
    /// Each half of its lanes waits for itself.
    Halves,
    /// A load and a store in place of an atomic.
    Plain,
}

impl Weakening {
    /// The word used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delete => "delete",
            Self::Arrive => "arrive",
            Self::Fewer => "fewer",
            Self::NoCount => "no-count",
            Self::Halves => "halves",
            Self::Plain => "plain",
        }
    }
}
