//! Whether threads of a kernel might order each other through memory.

use super::program::{Operand, Program};
use crate::flow::Instr;
use crate::ptx::Space;
use crate::ptx::isa::{Decoded, Effect, Family, Modifier, Opcode};

impl Program {
    /// Whether threads might order each other through memory, by release and acquire patterns (PTX ISA §8.8). Such a pattern
    /// needs an access with these semantics, or a fence together with strong accesses.
    pub(super) fn might_hand_over(&self) -> bool {
        const ORDERED: [Modifier; 3] = [Modifier::Acquire, Modifier::Release, Modifier::AcqRel];
        const STRONG: [Modifier; 3] = [Modifier::Volatile, Modifier::Relaxed, Modifier::Mmio];
        let has =
            |wanted: fn(&Decoded) -> bool| self.code.iter().filter_map(Instr::decoded).any(wanted);
        let is_ordered = |decoded: &Decoded| {
            decoded.row.family == Family::Access && decoded.modifiers.first_of(&ORDERED).is_some()
        };
        let is_strong = |decoded: &Decoded| {
            decoded.row.effect == Effect::Atomic
                || decoded.row.family == Family::Access
                    && decoded.modifiers.first_of(&STRONG).is_some()
        };
        has(is_ordered) || has(Decoded::is_memory_fence) && has(is_strong)
    }

    /// Whether some instruction finds out which lanes are active together.
    pub fn has_active_masks(&self) -> bool {
        let is_it = |decoded: &Decoded| decoded.row.opcode == Opcode::Activemask;
        self.code.iter().filter_map(Instr::decoded).any(is_it)
    }

    /// Whether some `bar.warp.sync` synchronizes lanes whose mask a register holds.
    pub fn synchronizes_groups(&self) -> bool {
        let is_of_group = |instr: &Instr| {
            let mask = instr.sources.last();
            instr.effect() == Effect::WarpBarrier && matches!(mask, Some(Operand::Register(_)))
        };
        self.code.iter().any(is_of_group)
    }

    /// Whether threads can order each other through memory by atomics on global memory alone.
    pub fn signals_by_atomics(&self) -> bool {
        let is_other = |decoded: &Decoded| match decoded.row.effect {
            Effect::Atomic => decoded.space != Space::Global,
            _ => decoded.is_strong_access(),
        };
        !self.has_agents() && !self.code.iter().filter_map(Instr::decoded).any(is_other)
    }
}
