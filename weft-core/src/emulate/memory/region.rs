//! Parts of memory that addresses start from: the buffer of an argument, a variable, or a whole state space.

use super::pages::{ALL, Extent};
use crate::flow::Program;
use crate::flow::addresses::slot;

/// A part of global or shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryRegion {
    /// Of global memory; of shared memory otherwise.
    pub is_global: bool,
    /// The argument whose buffer it is, or the variable in shared memory by index of the program's symbols; `None`: all
    /// of the state space.
    pub base: Option<usize>,
}

impl MemoryRegion {
    /// All of the state space that it is a part of.
    pub const fn whole(self) -> Self {
        Self { base: None, ..self }
    }

    /// Whether an address might be in both.
    pub const fn may_overlap(self, other: Self) -> bool {
        let is_apart = matches!((self.base, other.base), (Some(a), Some(b)) if a != b);
        self.is_global == other.is_global && !is_apart
    }

    /// Its first and its last byte.
    pub(crate) fn extent(self, program: &Program) -> Extent {
        match self.base {
            Some(argument) if self.is_global => slot(argument),
            Some(variable) => program.extent_of(variable),
            None => ALL,
        }
    }
}
