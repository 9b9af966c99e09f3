//! Storage that is new where a function or a block in braces is entered, and the storage that calls pass values in.

use super::program::{PlaceId, Reg};

/// The storage that is new where a function or a block in braces is entered.
#[derive(Clone, Debug)]
pub(super) struct ScopeEntry {
    pub(super) place: PlaceId,
    pub(super) registers: Vec<Reg>,
    /// First bytes and sizes of local memory.
    pub(super) memory: Vec<(u64, u64)>,
    /// The storage that the caller reads after the function has returned.
    pub(super) returns: Vec<Storage>,
}

/// The local memory in which a routine, a function that is linked in once, takes its parameters and leaves its results.
/// A call of the routine reads the former and writes the latter.
#[derive(Clone, Debug)]
pub(super) struct Passing {
    pub(super) params: Vec<Storage>,
    pub(super) returns: Vec<Storage>,
}

/// A register or a piece of memory that is written and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Storage {
    Register(Reg),
    /// A range of local memory: its first byte and its size.
    Memory(u64, u64),
}
