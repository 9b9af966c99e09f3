//! Weakens cta barriers (PTX ISA §9.7.13.1): `bar` and `barrier`, `.sync`, `.arrive` and `.red`.

use super::asm::Asm;
use super::change::{SyncKind, Weakening};
use crate::ptx::Type;
use crate::ptx::isa::Modifier;

/// The threads of a warp, the unit of a thread count.
const WARP: i64 = 32;

/// Returns the kind of a barrier instruction.
pub(super) fn kind(asm: &Asm<'_>) -> SyncKind {
    match asm.decoded.modifiers.first_of(&[Modifier::Red, Modifier::Arrive]) {
        Some(Modifier::Red) => SyncKind::Reduction,
        Some(_) => SyncKind::Arrival,
        None => SyncKind::Barrier,
    }
}

/// Returns the weaker forms, each with the text that replaces the barrier. `all`: the count that stands for all threads
/// of the cta; a barrier with this count is the same without it.
pub(super) fn changes(asm: &Asm<'_>, all: i64) -> Vec<(Weakening, String)> {
    let kind = kind(asm);
    let count = count(asm, kind);
    let mut changes = Vec::new();
    match kind {
        SyncKind::Reduction => {
            changes.extend(open_result(asm).map(|text| (Weakening::Delete, text)));
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

/// Returns the index of the count operand, if there is one: `a, b`, or for a reduction `d, a, b, c`.
fn count(asm: &Asm<'_>, kind: SyncKind) -> Option<usize> {
    match (kind, asm.operands.len()) {
        (SyncKind::Reduction, 4) => Some(2),
        (SyncKind::Barrier | SyncKind::Arrival, 2) => Some(1),
        _ => None,
    }
}

/// Returns the barrier with one warp less in its count; `None` for a literal count of one warp, because a count of 0 is
/// a defect by itself.
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

/// Returns code that gives the result of a reduction an open value for each thread, without the barrier: the checker
/// treats a clock as open.
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
