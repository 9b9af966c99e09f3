//! What is new where a function, or a block in braces, is entered.

use super::program::{PlaceId, Reg};

/// What is new where a function or a block in braces is entered.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) place: PlaceId,
    pub(super) registers: Vec<Reg>,
    /// First bytes and sizes of local memory.
    pub(super) memory: Vec<(u64, u64)>,
    /// What the caller reads when the function has come back.
    pub(super) returns: Vec<Storage>,
}

/// What a call of a function that is linked in once reads and writes for it: parameters and results in memory.
#[derive(Clone, Debug, Default)]
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
