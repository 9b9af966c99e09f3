//! Weakens what completes asynchronous copies (PTX ISA §9.7.9.25.3): groups, and the waits for them.

use super::asm::Asm;
use super::change::{SyncKind, Weakening};
use crate::ptx::isa::Opcode;

/// Returns the kind of an instruction.
pub(super) fn kind(asm: &Asm<'_>) -> SyncKind {
    match asm.decoded.row.opcode {
        Opcode::CpAsyncCommit | Opcode::CpAsyncBulkCommit => SyncKind::CopyGroup,
        _ => SyncKind::CopyWait,
    }
}

/// Returns the weaker forms, each with the text that replaces the instruction.
pub(super) fn changes(asm: &Asm<'_>) -> Vec<(Weakening, String)> {
    let mut changes = vec![(Weakening::Delete, String::new())];
    if let (SyncKind::CopyWait, Some(groups)) = (kind(asm), asm.literal(0)) {
        changes.push((Weakening::InFlight, asm.with(0, &(groups + 1).to_string())));
    }
    changes
}
