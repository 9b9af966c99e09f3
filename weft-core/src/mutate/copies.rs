//! Weakens what completes asynchronous copies (PTX ISA §9.7.9.25.3, §9.7.9.25.6 and §9.7.13.15.15) and products of matrices
//! (§9.7.15.7): groups, the waits for them, and arrivals at mbarriers.

use super::asm::Asm;
use super::change::{SyncKind, Weakening};
use crate::ptx::isa::{Modifier, Opcode};

/// Returns the kind of an instruction.
pub(super) fn kind(asm: &Asm<'_>) -> SyncKind {
    match asm.decoded.row.opcode {
        Opcode::CpAsyncCommit | Opcode::CpAsyncBulkCommit => SyncKind::CopyGroup,
        Opcode::WgmmaCommit => SyncKind::ProductGroup,
        Opcode::WgmmaWait => SyncKind::ProductWait,
        _ => SyncKind::CopyWait,
    }
}

/// Returns the weaker forms of what makes copies arrive at an mbarrier: an arrival that the count of the mbarrier contains
/// happens at once.
pub(super) fn arrivals(asm: &Asm<'_>) -> Vec<(Weakening, String)> {
    if !asm.decoded.modifiers.has(Modifier::NoInc) {
        return vec![(Weakening::Delete, String::new())];
    }
    let mnemonic = asm.mnemonic.replacen("cp.async.", "", 1).replacen(".noinc", "", 1);
    let operands: Vec<String> =
        ["_".to_owned()].into_iter().chain(asm.operands.iter().cloned()).collect();
    vec![(Weakening::Arrive, asm.line(&mnemonic, &operands))]
}

/// Returns the weaker forms, each with the text that replaces the instruction.
pub(super) fn changes(asm: &Asm<'_>) -> Vec<(Weakening, String)> {
    let mut changes = vec![(Weakening::Delete, String::new())];
    if let Some(groups) = asm.literal(0) {
        changes.push((Weakening::InFlight, asm.with(0, &(groups + 1).to_string())));
    }
    if asm.decoded.row.opcode == Opcode::CpAsyncBulkWait {
        let mnemonic = format!("{}.read", asm.mnemonic);
        changes.push((Weakening::Read, asm.line(&mnemonic, &asm.operands)));
    }
    changes
}
