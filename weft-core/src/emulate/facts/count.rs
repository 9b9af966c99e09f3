//! Where counters lie, and their counts.

/// Where a counter lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CounterLocation {
    pub(crate) is_global: bool,
    /// The cta whose shared memory holds it; 0 for global memory.
    pub(crate) cta: u32,
    /// Its first byte.
    pub(crate) address: u64,
}

/// A count of a counter: what it returns between two plain stores to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Count {
    pub(crate) at: CounterLocation,
    /// Plain stores to it before.
    pub(crate) number: u32,
}
