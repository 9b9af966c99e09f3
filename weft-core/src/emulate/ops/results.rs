//! The results of an instruction.

use smallvec::{SmallVec, smallvec};

use crate::emulate::value::register::Value;

/// The results of an instruction, one for each destination.
pub(crate) type Results = SmallVec<[Value; 2]>;

/// The first result if there is at most one destination, both otherwise.
pub(crate) fn results([first, second]: [Value; 2], dests: usize) -> Results {
    if dests > 1 { smallvec![first, second] } else { smallvec![first] }
}
