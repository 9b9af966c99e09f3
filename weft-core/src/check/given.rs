//! Numbers that the launch gives for what the kernel uses as addresses.

use std::collections::BTreeMap;

use super::CheckError;
use super::decision::Decision;
use super::names::Names;
use crate::emulate::{Fault, FaultKind, argument_of};
use crate::flow::{Pc, sources_of};
use crate::launch::{Arg, Buffer, Fields};
use crate::ptx::Space;

/// By instruction: the argument or field that its address comes from, and the number given for it.
pub(super) type Numbers = BTreeMap<Pc, (usize, i128)>;

/// The accesses outside of all memory whose addresses come from numbers that the launch gives.
pub(super) fn numbers<'f>(names: &Names<'_>, faults: impl Iterator<Item = &'f Fault>) -> Numbers {
    let faults = faults.filter(|fault| is_outside(fault));
    let mut places: Vec<Pc> = faults.map(|fault| fault.pc).collect();
    places.sort_unstable();
    places.dedup();
    if places.is_empty() || names.args.is_empty() {
        return Numbers::new();
    }
    let sources = sources_of(names.program, &places);
    let number = |(pc, all): (Pc, Vec<usize>)| {
        all.into_iter().find_map(|at| Some((pc, (at, number(names, at)?))))
    };
    places.into_iter().zip(sources).filter_map(number).collect()
}

/// Whether an access lies outside of global memory, and not beside a buffer, where only the buffer's pointer leads.
pub(super) fn is_outside(fault: &Fault) -> bool {
    let is_beside = fault.address.is_some_and(|address| argument_of(address).is_some());
    fault.kind == FaultKind::OutOfBounds && fault.space == Space::Global && !is_beside
}

/// The number that is given for an argument or a field.
pub(super) fn number(names: &Names<'_>, at: usize) -> Option<i128> {
    let Some(field) = names.program.field(at) else {
        return match names.args.get(&at) {
            Some(Arg::Integer(value)) => Some(*value),
            _ => None,
        };
    };
    let first = field.offset - names.program.params[field.param].offset;
    let of_bytes = |bytes: &[u8]| {
        let first = usize::try_from(first).ok()?;
        let own = bytes.get(first..)?.first_chunk()?;
        Some(i128::from(u64::from_le_bytes(*own)))
    };
    match names.args.get(&field.param)? {
        Arg::Buffer(Buffer { contents }) => of_bytes(contents.as_deref()?),
        Arg::Fields(Fields { bytes, fields }) => match fields.get(&first) {
            Some(Arg::Integer(value)) => Some(*value),
            Some(_) => None,
            None => of_bytes(bytes.as_deref()?),
        },
        _ => None,
    }
}

/// A launch that gives a number where all that the kernel does with it, whatever else is open, is to access memory there:
/// what else is found with it says nothing of the kernel. Null is a pointer like any other.
pub(super) fn mistaken(names: &Names<'_>, decisions: &[Decision]) -> Result<(), CheckError> {
    let of = |decision: &Decision| {
        let faults = decision.ctas.iter().flat_map(|own| &own.found.faults);
        let mut numbers = numbers(names, faults.filter(|fault| fault.maybe.is_none()));
        numbers.retain(|_, (_, value)| *value != 0);
        numbers
    };
    let Some((first, others)) = decisions.split_first() else { return Ok(()) };
    let mut numbers = of(first);
    for other in others.iter().filter(|_| !numbers.is_empty()).map(of).collect::<Vec<_>>() {
        numbers.retain(|pc, _| other.contains_key(pc));
    }
    let Some((pc, (at, value))) = numbers.pop_first() else { return Ok(()) };
    Err(CheckError::Number {
        what: names.param(at),
        value,
        at: names.module.position(names.program.place(pc).span),
        setting: names.setting(at, "\"buffer\""),
    })
}
