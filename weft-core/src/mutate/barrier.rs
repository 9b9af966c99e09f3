//! Weaker forms of the cta barriers (PTX ISA §9.7.13.1): `bar` and `barrier`, `.sync`, `.arrive` and `.red`.

use super::asm::Asm;
use super::change::{SyncKind, Weakening};
use crate::ptx::Type;
use crate::ptx::isa::Modifier;

/// A warp's threads, the unit of a count.
const WARP: i64 = 32;

/// What a barrier is.
pub(super) fn kind(asm: &Asm<'_>) -> SyncKind {
    match asm.decoded.modifiers.first_of(&[Modifier::Red, Modifier::Arrive]) {
        Some(Modifier::Red) => SyncKind::Reduction,
        Some(_) => SyncKind::Arrival,
        None => SyncKind::Barrier,
    }
}

/// The changes, each with the text that stands for the barrier then. `all` is the count that stands for all threads of
/// the cta: without it a barrier is the same.
pub(super) fn changes(asm: &Asm<'_>, all: i64) -> Vec<(Weakening, String)> {
    let kind = kind(asm);
    let count = count(asm, kind);
    let mut changes = Vec::new();
    match kind {
        SyncKind::Reduction => {
            changes.extend(open_result(asm).map(|text| (Weakening::Delete, text)))
        }
        _ => changes.push((Weakening::Delete, String::new())),
    }
    let Some(count) = count else { return changes };
    if kind == SyncKind::Barrier {
        let mnemonic = asm.mnemonic.replacen(".sync", ".arrive", 1);
        changes.push((Weakening::Arrive, asm.line(&mnemonic, &asm.operands)));
    }
    changes.extend(fewer(asm, count).map(|text| (Weakening::Fewer, text)));
    if kind != SyncKind::Arrival && asm.literal(count) != Some(all) {
        changes.push((Weakening::NoCount, asm.without(count)));
    }
    changes
}

/// Which operand is the count: `a, b` or, of a reduction, `d, a, b, c`.
fn count(asm: &Asm<'_>, kind: SyncKind) -> Option<usize> {
    match (kind, asm.operands.len()) {
        (SyncKind::Reduction, 4) => Some(2),
        (SyncKind::Barrier | SyncKind::Arrival, 2) => Some(1),
        _ => None,
    }
}

/// A warp less. A literal count of one warp stays: none is left, and a count of 0 is a defect by itself.
fn fewer(asm: &Asm<'_>, count: usize) -> Option<String> {
    match asm.literal(count) {
        Some(threads) if threads <= WARP => None,
        Some(threads) => Some(asm.with(count, &(threads - WARP).to_string())),
        None => Some(format!(
            "{{ .reg .b32 %weft_count; sub.u32 %weft_count, {}, {WARP}; {} }}",
            asm.operands.get(count)?,
            asm.with(count, "%weft_count")
        )),
    }
}

/// The result of a reduction without the barrier: some value of each thread's own. A clock is open to the checker.
fn open_result(asm: &Asm<'_>) -> Option<String> {
    let (result, guard) = (asm.operands.first()?, &asm.guard);
    if result == "_" {
        return Some(String::new());
    }
    Some(match asm.decoded.ty() {
        Type::Pred => format!(
            "{{ .reg .b32 %weft_any; mov.u32 %weft_any, %clock; {guard}setp.ne.u32 {result}, %weft_any, 0; }}"
        ),
        _ => format!("{guard}mov.u32 {result}, %clock;"),
    })
}
