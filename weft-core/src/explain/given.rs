//! Finds the numbers that a launch gives for arguments that the kernel uses as addresses.

use std::collections::BTreeMap;

use super::names::Names;
use crate::emulate::{Fault, FaultKind};
use crate::flow::{Pc, argument_of, sources_of};
use crate::launch::{Arg, Buffer};
use crate::ptx::Space;

/// For each instruction, the argument or field that its address comes from, and the number that the launch gives for
/// it.
pub(crate) type GivenNumbers = BTreeMap<Pc, (usize, i128)>;

/// Returns the accesses outside of all memory whose addresses come from numbers that the launch gives.
pub(crate) fn numbers<'f>(
    names: &Names<'_>,
    faults: impl Iterator<Item = &'f Fault>,
) -> GivenNumbers {
    let faults = faults.filter(|fault| is_outside(fault));
    let mut places: Vec<Pc> = faults.map(|fault| fault.pc).collect();
    places.sort_unstable();
    places.dedup();
    if places.is_empty() || names.args.is_empty() {
        return GivenNumbers::new();
    }
    let sources = sources_of(names.program, &places);
    let number = |(pc, all): (Pc, Vec<usize>)| {
        all.into_iter().find_map(|at| Some((pc, (at, number(names, at)?))))
    };
    places.into_iter().zip(sources).filter_map(number).collect()
}

/// Whether an access lies outside of global memory and not near a buffer: only the buffer's own pointer leads near it.
pub(crate) fn is_outside(fault: &Fault) -> bool {
    let is_beside = fault.address.is_some_and(|address| argument_of(address).is_some());
    fault.kind == FaultKind::OutOfBounds && fault.space == Space::Global && !is_beside
}

/// Returns the number that the launch gives for an argument or a field, if it gives one.
pub(crate) fn number(names: &Names<'_>, at: usize) -> Option<i128> {
    let Some(field) = names.program.field(at) else {
        return match names.args.get(&at) {
            Some(Arg::Integer(value)) => Some(*value),
            _ => None,
        };
    };
    let first = field.offset - names.program.params[field.param].offset;
    let word = |byte: &dyn Fn(u64) -> Option<u8>| {
        let bytes: Option<Vec<u8>> = (first..first.checked_add(8)?).map(byte).collect();
        Some(i128::from(u64::from_le_bytes(*bytes?.first_chunk()?)))
    };
    match names.args.get(&field.param)? {
        Arg::Buffer(Buffer { contents }) => {
            let contents = contents.as_deref()?;
            word(&|at| contents.get(usize::try_from(at).ok()?).copied())
        }
        Arg::Fields(given) => match given.fields.get(&first) {
            Some(Arg::Integer(value)) => Some(*value),
            Some(_) => None,
            None => word(&|at| given.byte(at)),
        },
        _ => None,
    }
}
