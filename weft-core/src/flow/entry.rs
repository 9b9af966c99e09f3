//! Storage that is new where a function, or a block in braces, is entered, and what calls pass in storage.

use super::program::{PlaceId, Reg};

/// What is new where a function or a block in braces is entered.
#[derive(Clone, Debug)]
pub(super) struct ScopeEntry {
    pub(super) place: PlaceId,
    pub(super) registers: Vec<Reg>,
    /// First bytes and sizes of local memory.
    pub(super) memory: Vec<(u64, u64)>,
    /// What the caller reads when the function has come back.
    pub(super) returns: Vec<Storage>,
}

/// The local memory in which a function that is linked in once takes its parameters and leaves its results: a call of it
/// reads the former and writes the latter.
#[derive(Clone, Debug)]
pub(super) struct Passing {
    pub(super) params: Vec<Storage>,
    pub(super) returns: Vec<Storage>,
}

/// Something that is written and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Storage {
    Register(Reg),
    /// A range of local memory: its first byte, and how many.
    Memory(u64, u64),
}
