//! The identity of a counter, and of a period of it: the time between two plain stores to it.

/// The location of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CounterLocation {
    pub(crate) is_global: bool,
    /// The cta whose shared memory holds it; 0 for global memory.
    pub(crate) cta: u32,
    /// Address of its first byte.
    pub(crate) address: u64,
}

/// The values that a counter returns between two plain stores to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CounterPeriod {
    pub(crate) at: CounterLocation,
    /// Number of plain stores to the counter before.
    pub(crate) number: u32,
}
