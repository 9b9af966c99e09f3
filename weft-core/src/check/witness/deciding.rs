//! The loads whose values decide a branch, an address or a barrier, as far as registers and the thread's own spaces show
//! it. This only guides the choice of values: nothing is concluded from it.

use std::collections::BTreeSet;

use crate::flow::{Instr, Operand, Pc, Program, Reg, Terminator};
use crate::ptx::Space;
use crate::ptx::isa::Effect;

/// Returns the loads of global memory, atomics among them, whose results decide something.
pub(super) fn deciding_loads(program: &Program) -> Vec<Pc> {
    let mut needed =
        Needed { registers: vec![false; program.registers as usize], spaces: BTreeSet::new() };
    for block in &program.blocks {
        match &block.terminator {
            Terminator::Branch { condition, .. } => {
                needed.registers[condition.register.index()] = true;
            }
            Terminator::Switch { index: Operand::Register(index), .. } => {
                needed.registers[index.index()] = true;
            }
            Terminator::Switch { .. } | Terminator::Goto(_) | Terminator::End => {}
        }
    }
    while needed.add_all(program) {}
    let is_global = |space| matches!(space, Space::Global | Space::Generic);
    let is_deciding = |pc: &Pc| {
        let instr = &program.code[pc.index()];
        matches!(instr.effect(), Effect::Load | Effect::Atomic)
            && instr.address.is_some_and(|address| is_global(address.space))
            && needed.is_written_by(instr)
    };
    (0..program.code.len()).map(Pc::at).filter(is_deciding).collect()
}

/// What something that is decided depends on.
struct Needed {
    /// By register.
    registers: Vec<bool>,
    /// The spaces of a thread or a cta.
    spaces: BTreeSet<Space>,
}

impl Needed {
    fn is_written_by(&self, instr: &Instr) -> bool {
        instr.dests.iter().flatten().any(|dest| self.registers[dest.index()])
    }

    /// Adds what every instruction reads, as of [`Self::add`].
    fn add_all(&mut self, program: &Program) -> bool {
        let mut is_new = false;
        for instr in program.code.iter().rev() {
            is_new |= self.add(instr);
        }
        is_new
    }

    /// Adds what an instruction reads, as far as something depends on it; returns whether that is new.
    fn add(&mut self, instr: &Instr) -> bool {
        let space = instr.address.map(|address| address.space);
        let is_written = self.is_written_by(instr);
        let mut is_new = false;
        if is_written
            && let Some(space) = space
            && !matches!(space, Space::Global | Space::Param)
        {
            is_new |= self.spaces.insert(space);
        }
        let is_stored = space.is_some_and(|space| self.spaces.contains(&space));
        let waits = instr.effect().is_barrier() || instr.effect() == Effect::WarpBarrier;
        let reads: Vec<Reg> = if is_written || is_stored || waits {
            instr.reads().collect()
        } else if space.is_some() {
            instr.address_and_guard().collect()
        } else {
            Vec::new()
        };
        for register in reads {
            is_new |= !std::mem::replace(&mut self.registers[register.index()], true);
        }
        is_new
    }
}
