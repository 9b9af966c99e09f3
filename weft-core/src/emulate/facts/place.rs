//! Parts of memory that addresses start from: the buffer of an argument, a variable, or a whole state space.

use crate::emulate::memory::pages::{ALL, Extent};
use crate::flow::Program;
use crate::flow::addresses::slot;

/// The memory that an anchor is of: whether it is global; the argument in whose buffer it is, or the variable in shared
/// memory; `None`: anywhere, which is anchored in shared memory only.
pub(crate) type Place = (bool, Option<usize>);

/// The first and the last byte of the buffer of an argument, or of a variable in shared memory by index of the program's
/// symbols; `None`: of the whole space.
pub(crate) fn extent_of(program: &Program, is_global: bool, region: Option<usize>) -> Extent {
    match region {
        Some(argument) if is_global => slot(argument),
        Some(variable) => program.extent_of(variable),
        None => ALL,
    }
}

/// Where a counter lies: global or not, the cta whose shared memory holds it, first byte.
pub(crate) type At = (bool, u32, u64);

/// A count of a counter.
pub(crate) type Count = (At, u32);
