//! Atoms: the unknowns of symbolic execution. An atom can name an expression, the address of a load, by its number.

use crate::flow::{BlockId, Pc, Reg};

/// An expression, identified by its place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Expr(pub(super) u32);

impl Expr {
    /// Returns the number as an index.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// An unknown of one arbitrary thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Atom {
    /// `%tid` in a dimension.
    Tid(u8),
    /// `%ctaid` in a dimension.
    Ctaid(u8),
    /// `%ntid` in a dimension.
    Ntid(u8),
    /// `%nctaid` in a dimension.
    Nctaid(u8),
    /// `%dynamic_smem_size`.
    DynamicSharedSize,
    /// Bytes of the parameter bank: the offset of the first, and how many.
    Argument(u64, u8),
    /// The address of a variable of the program's symbols.
    Variable(usize),
    /// How often a thread has gone round a loop, by header, when an iteration begins.
    Iteration(BlockId),
    /// What a register holds when an iteration of a loop begins.
    Carried(BlockId, Reg),
    /// What a load of memory that no thread writes reads at an address. Loads of one width at one address give the same.
    Loaded(Expr, u8),
    /// Something that nothing is known of; each is another one.
    Unknown(u32),
    /// A result of an instruction that is not followed, by the number of the result.
    Result(Pc, BlockId, u8),
}

/// For which threads an expression has one value. Ordered: the join of two is the greater one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Variance {
    /// For all threads of the launch.
    Launch,
    /// For the threads of a cta.
    Cta,
    /// Threads of one cta can have different values.
    Thread,
}
