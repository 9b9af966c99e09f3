//! Weakens fences (PTX ISA §9.7.13.4): deletes them, and gives those of memory the scope of the cta.

use super::asm::Asm;
use super::change::Weakening;
use crate::flow::Instr;
use crate::ptx::isa::{Effect, Modifier};

/// Whether a fence orders something that the checker follows: accesses of the two proxies, what a `.relaxed` arrival at the
/// barrier of the cluster publishes, or what atomics signal (`orders`: the kernel might do that). Without those, a mutant
/// would be the same kernel.
pub(super) fn is_followed(instr: &Instr, orders: bool) -> bool {
    let is_of_memory = instr.decoded().is_some_and(|decoded| {
        decoded.is_memory_fence() || decoded.modifiers.has(Modifier::MbarrierInit)
    });
    match instr.effect() {
        Effect::ProxyFence => true,
        Effect::MemoryFence => orders && is_of_memory,
        _ => false,
    }
}

/// Returns the weaker forms, each with the text that replaces the fence. One for initializations has no other scope.
pub(super) fn changes(asm: &Asm<'_>) -> Vec<(Weakening, String)> {
    let mut changes = vec![(Weakening::Delete, String::new())];
    if asm.decoded.is_memory_fence() {
        changes.extend(asm.narrow().map(|text| (Weakening::Narrow, text)));
    }
    changes
}
