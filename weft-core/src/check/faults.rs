//! Accesses outside of all memory, and misaligned ones.

use super::names::Names;
use super::races::word;
use crate::emulate::{Cta, Fault, FaultKind};
use crate::finding::{Check, Code, Finding};
use crate::ptx::Space;

pub(super) fn explain(names: &Names<'_>, cta: Cta, fault: &Fault) -> Finding {
    let (check, memory) = match fault.space {
        Space::Shared => (Check::Shared, "shared"),
        _ => (Check::Global, "global"),
    };
    let (word, role) = word(fault.access);
    let address = names.address(fault.space, fault.address);
    let (code, message, help) = match fault.kind {
        FaultKind::OutOfBounds => (
            Code::OutOfBounds,
            format!("{word} outside of all {memory} memory of the kernel, at {address}"),
            "state the size of the dynamic shared memory or of the buffer in the launch, or guard the access",
        ),
        FaultKind::Misaligned => (
            Code::Misaligned,
            format!(
                "{word} of {} bytes at an address that is no multiple of it, {address}",
                fault.bytes
            ),
            "align the array, or access it in narrower parts",
        ),
    };
    let (code, message, help) = if fault.maybe.is_none() {
        (code, message, help.to_owned())
    } else {
        let (origin, settle) = names.origin(fault.maybe);
        let message = format!("{message}; whether it happens depends on {origin}");
        (Code::DependsOnInput, message, settle.unwrap_or_else(|| help.to_owned()))
    };
    let thread = names.thread(cta.index, fault.warp, fault.lane);
    let label = format!("{}-byte {word} of {address}", fault.bytes);
    Finding {
        code,
        check: Some(check),
        message,
        sites: vec![names.site(role, fault.pc, vec![thread], label)],
        notes: Vec::new(),
        help: Some(help),
        pairs: 0,
    }
}
