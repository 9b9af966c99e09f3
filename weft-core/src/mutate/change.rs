//! The kinds of synchronization, the ways to weaken it, and the words for both.

/// The kind of synchronization that a mutant changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SyncKind {
    /// A cta barrier that waits.
    Barrier,
    /// A cta barrier that waits and reduces.
    Reduction,
    /// An arrival at a cta barrier or at an mbarrier.
    Arrival,
    /// `bar.warp.sync`.
    WarpBarrier,
    /// The barrier of a cluster: an arrival, or a wait.
    ClusterBarrier,
    /// `atom` or `red`.
    Atomic,
    /// What makes a group of asynchronous copies.
    CopyGroup,
    /// A wait for asynchronous copies.
    CopyWait,
    /// What makes asynchronous copies arrive at an mbarrier.
    CopyArrival,
    /// What makes a group of products of matrices.
    ProductGroup,
    /// A wait for products of matrices.
    ProductWait,
    /// The initialization of an mbarrier.
    Init,
    /// What makes the phase of an mbarrier expect bytes, with an arrival or without.
    Expectation,
    /// A test of a phase of an mbarrier.
    PhaseWait,
    /// A fence of memory, or of the initializations of mbarriers.
    Fence,
    /// A fence between the generic and the async proxy.
    ProxyFence,
}

impl SyncKind {
    /// Returns what the instruction is called in advice.
    const fn noun(self) -> &'static str {
        match self {
            Self::Barrier | Self::Reduction => "barrier",
            Self::Arrival | Self::CopyArrival => "arrival",
            Self::WarpBarrier => "warp barrier",
            Self::ClusterBarrier => "barrier of the cluster",
            Self::Atomic => "atomic",
            Self::CopyGroup | Self::ProductGroup => "group",
            Self::CopyWait => "wait for copies",
            Self::ProductWait => "wait for products",
            Self::Init => "mbarrier",
            Self::Expectation => "expectation of bytes",
            Self::PhaseWait => "wait",
            Self::Fence => "fence",
            Self::ProxyFence => "fence between the proxies",
        }
    }
}

/// The way in which a mutant is weaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weakening {
    /// The instruction is deleted, and a wait for a phase passes at once; results of a reduction or an arrival are open.
    Delete,
    /// The barrier only arrives and does not wait; what arrives for copies does not wait for them.
    Arrive,
    /// The count of the barrier is one warp less, that of an mbarrier one arrival; a phase expects 16 bytes less.
    Fewer,
    /// The barrier has no count: all warps take part.
    NoCount,
    /// The two halves of a warp barrier's lanes wait separately.
    Halves,
    /// The wait leaves one group more in flight.
    InFlight,
    /// The wait for bulk copies returns once they have read their sources.
    Read,
    /// The wait is for the phase of the other parity.
    Flip,
    /// An arrival does not release, a wait does not acquire.
    Relaxed,
    /// The scope is the cta.
    Narrow,
    /// An atomic is replaced by a load and a store.
    Plain,
}

impl Weakening {
    /// Returns the word used in reports, and what is said of the instruction where it stands.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Delete => ("delete", "can go"),
            Self::Arrive => ("arrive", "can be an arrival"),
            Self::Fewer => ("fewer", "can count less"),
            Self::NoCount => ("no-count", "needs no count"),
            Self::Halves => ("halves", "can wait in two halves"),
            Self::InFlight => ("in-flight", "can leave one more in flight"),
            Self::Read => ("read", "can wait for reads only"),
            Self::Flip => ("flip", "can be for the other phase"),
            Self::Relaxed => ("relaxed", "can be relaxed"),
            Self::Narrow => ("narrow", "can have the scope of the cta"),
            Self::Plain => ("plain", "can be plain"),
        }
    }

    /// Returns the word used in reports.
    pub const fn name(self) -> &'static str {
        self.words().0
    }

    /// Returns the label of the instruction in an excerpt.
    pub(super) const fn label(self, kind: SyncKind) -> &'static str {
        match (self, kind) {
            (Self::Fewer, SyncKind::Barrier | SyncKind::Reduction | SyncKind::Arrival) => {
                "can count 32 threads less"
            }
            _ => self.words().1,
        }
    }

    /// Returns what follows for the kernel if the mutant is clean, without a full stop.
    pub(super) fn claim(self, kind: SyncKind) -> String {
        let noun = kind.noun();
        match (self, kind) {
            (_, SyncKind::CopyArrival) => "the phase need not wait for these copies".to_owned(),
            (Self::Delete, SyncKind::Reduction) => {
                "this barrier can go, whatever its result".to_owned()
            }
            (Self::Delete, SyncKind::CopyGroup) => {
                "the copies of this group can belong to the next one".to_owned()
            }
            (Self::Delete, SyncKind::ProductGroup) => {
                "the products of this group can belong to the next one".to_owned()
            }
            (Self::Delete, _) => format!("this {noun} can go"),
            (Self::Arrive, SyncKind::ClusterBarrier) => {
                "nothing need wait for the barrier of the cluster here".to_owned()
            }
            (Self::Arrive, _) => "this barrier need not wait, `.arrive` will do".to_owned(),
            (Self::Fewer, SyncKind::Init) => "this mbarrier can count one arrival less".to_owned(),
            (Self::Fewer, SyncKind::Expectation) => {
                "this phase can expect 16 bytes less".to_owned()
            }
            (Self::Fewer, _) => "this barrier can count 32 threads less".to_owned(),
            (Self::NoCount, _) => "this barrier needs no count".to_owned(),
            (Self::Halves, _) => "the lanes of this warp barrier can wait in two halves".to_owned(),
            (Self::InFlight, _) => "this wait can leave one group more in flight".to_owned(),
            (Self::Read, _) => "this wait need only be for what the copies read".to_owned(),
            (Self::Flip, _) => "this wait can be for the phase of the other parity".to_owned(),
            (Self::Relaxed, SyncKind::PhaseWait) => "this wait need not acquire".to_owned(),
            (Self::Relaxed, _) => "this arrival need not release".to_owned(),
            (Self::Narrow, _) => format!("the scope of this {noun} can be the cta"),
            (Self::Plain, _) => "this atomic can be a plain load and store".to_owned(),
        }
    }
}
