//! Weakens mbarriers (PTX ISA §9.7.13.15): the count of an object, arrivals and the bytes that a phase expects, and waits for
//! phases.

use super::asm::Asm;
use super::change::{SyncKind, Weakening};
use crate::ptx::isa::{Modifier, Opcode};

/// The unit of what a bulk copy copies, in bytes.
const BULK: i64 = 16;

/// Which forms of weaker arrivals and waits a kernel can have.
#[derive(Clone, Copy, Debug)]
pub(super) struct PhaseForms {
    /// `.relaxed`: the version of the module and its target have it.
    pub(super) relaxed: bool,
    /// The scope of the cta: in clusters of several ctas, it is another one than that of the cluster.
    pub(super) narrow: bool,
    /// Fewer expected bytes: no sizes of boxes follow from them, which would be smaller.
    pub(super) fewer_bytes: bool,
}

/// Returns the weaker forms of an instruction that counts at an mbarrier, each with the text that replaces it. What ends the use
/// of an object, and what counts bytes as copied without a copy, has none.
pub(super) fn counted(asm: &Asm<'_>, forms: PhaseForms) -> (SyncKind, Vec<(Weakening, String)>) {
    let expects = asm.decoded.modifiers.has(Modifier::ExpectTx);
    match asm.decoded.row.opcode {
        Opcode::MbarrierInit => {
            // A count of 0 is a defect by itself.
            let is_one = asm.literal(1).is_some_and(|count| count <= 1);
            let fewer = (!is_one).then(|| (Weakening::Fewer, less(asm, 1, 1)));
            (SyncKind::Init, fewer.into_iter().collect())
        }
        Opcode::MbarrierExpect => {
            let fewer = fewer_bytes(asm, 1, forms);
            (SyncKind::Expectation, deleted(String::new()).chain(fewer).collect())
        }
        Opcode::MbarrierArrive if expects => {
            let changes = deleted(no_state(asm)).chain(fewer_bytes(asm, 2, forms));
            (SyncKind::Expectation, changes.chain(ordered(asm, forms)).collect())
        }
        Opcode::MbarrierArrive | Opcode::MbarrierDrop => {
            (SyncKind::Arrival, deleted(no_state(asm)).chain(ordered(asm, forms)).collect())
        }
        _ => (SyncKind::Arrival, Vec::new()),
    }
}

/// Returns the weaker forms of a wait for a phase. Without the wait, its test is true at once.
pub(super) fn waits(asm: &Asm<'_>, forms: PhaseForms) -> Vec<(Weakening, String)> {
    let Some(result) = asm.operands.first() else { return Vec::new() };
    let passes = format!("{}setp.eq.u32 {result}, 0, 0;", asm.guard);
    let is_of_parity = asm.decoded.modifiers.has(Modifier::Parity);
    let flip = is_of_parity.then(|| (Weakening::Flip, flipped(asm)));
    deleted(passes).chain(flip).chain(ordered(asm, forms)).collect()
}

fn deleted(text: String) -> impl Iterator<Item = (Weakening, String)> {
    std::iter::once((Weakening::Delete, text))
}

/// Returns what a deleted arrival leaves: the state that it would have returned is open, as a clock is.
fn no_state(asm: &Asm<'_>) -> String {
    match asm.operands.first() {
        Some(state) if state != "_" => format!("{}mov.u64 {state}, %clock64;", asm.guard),
        _ => String::new(),
    }
}

/// Returns the instruction with its number at index `at` lower by `by`.
fn less(asm: &Asm<'_>, at: usize, by: i64) -> String {
    match asm.literal(at) {
        Some(number) => asm.with(at, &(number - by).max(0).to_string()),
        None => format!(
            "{{ .reg .b32 %weft_count; sub.u32 %weft_count, {}, {by}; {} }}",
            asm.operands.get(at).map_or("0", String::as_str),
            asm.with(at, "%weft_count")
        ),
    }
}

fn fewer_bytes(asm: &Asm<'_>, at: usize, forms: PhaseForms) -> Option<(Weakening, String)> {
    let is_none = asm.literal(at) == Some(0);
    (!is_none && forms.fewer_bytes).then(|| (Weakening::Fewer, less(asm, at, BULK)))
}

fn flipped(asm: &Asm<'_>) -> String {
    match asm.literal(2) {
        Some(parity) => asm.with(2, &(parity ^ 1).to_string()),
        None => format!(
            "{{ .reg .b32 %weft_parity; xor.b32 %weft_parity, {}, 1; {} }}",
            asm.operands.get(2).map_or("0", String::as_str),
            asm.with(2, "%weft_parity")
        ),
    }
}

/// Returns the forms that order less: `.relaxed`, where the version of the module has it, and the scope of the cta.
fn ordered(asm: &Asm<'_>, forms: PhaseForms) -> Vec<(Weakening, String)> {
    let has = |modifier| asm.decoded.modifiers.has(modifier);
    let mut changes = Vec::new();
    if forms.relaxed && !has(Modifier::Relaxed) && !has(Modifier::NoComplete) {
        changes.push((Weakening::Relaxed, asm.line(&relaxed(asm), &asm.operands)));
    }
    if forms.narrow && !has(Modifier::Relaxed) {
        changes.extend(asm.narrow().map(|text| (Weakening::Narrow, text)));
    }
    changes
}

/// Returns the mnemonic with `.relaxed`. Without a scope, that of the cta is meant, but `.relaxed` has to name it.
fn relaxed(asm: &Asm<'_>) -> String {
    for stated in [".release", ".acquire"] {
        if asm.mnemonic.contains(stated) {
            return asm.mnemonic.replacen(stated, ".relaxed", 1);
        }
    }
    let first = ["parity", "expect_tx", "arrive_drop", "arrive", "test_wait", "try_wait"];
    let words = asm.mnemonic.split('.');
    let last = words.clone().enumerate().filter(|(_, word)| first.contains(word)).last();
    let at = last.map_or(0, |(at, _)| at);
    let told = words.enumerate().map(|(own, word)| {
        let sem = if own == at { ".relaxed.cta" } else { "" };
        format!("{word}{sem}")
    });
    told.collect::<Vec<_>>().join(".")
}
