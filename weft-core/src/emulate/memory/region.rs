//! Parts of memory that an open address can lead to: the buffer of an argument, a variable, or a whole state space.

use super::pages::{ALL, Extent};
use crate::flow::Program;
use crate::flow::addresses::slot;

/// A part of global or shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryRegion {
    /// Whether it is a part of global memory; otherwise of shared memory.
    pub is_global: bool,
    /// The argument whose buffer it is or, in shared memory, the variable by its index among the program's symbols;
    /// `None`: all of the state space.
    pub base: Option<usize>,
}

impl MemoryRegion {
    /// The whole state space that the region is a part of.
    #[must_use]
    pub const fn whole(self) -> Self {
        Self { base: None, ..self }
    }

    /// Whether an address might be in both regions.
    pub const fn may_overlap(self, other: Self) -> bool {
        let is_apart = matches!((self.base, other.base), (Some(a), Some(b)) if a != b);
        self.is_global == other.is_global && !is_apart
    }

    /// The first and the last byte of the region.
    pub(crate) fn extent(self, program: &Program) -> Extent {
        match self.base {
            Some(argument) if self.is_global => slot(argument),
            Some(variable) => program.extent_of(variable),
            None => ALL,
        }
    }
}
