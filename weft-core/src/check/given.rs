//! Rejects launches that give a number for an argument that the kernel uses as an address.

use super::CheckError;
use super::decision::Decision;
use crate::explain::Names;
use crate::explain::given::numbers;

/// Returns an error if the launch gives a number for an argument and, in every case, the kernel accesses memory at this
/// number as an address: other findings would then say nothing about the kernel. Null is accepted as a pointer.
pub(super) fn mistaken(names: &Names<'_>, decisions: &[Decision]) -> Result<(), CheckError> {
    let of = |decision: &Decision| {
        let faults = decision.ctas.iter().flat_map(|cta| &cta.found.faults);
        let mut numbers = numbers(names, faults.filter(|fault| fault.condition.is_none()));
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
