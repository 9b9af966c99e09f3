//! Finds the definition that a register is read from, if it is in the same block, so that the successive values of one
//! register are distinguished. A read that is not listed here can be from any definition of its register.

use foldhash::HashMap;

use crate::flow::{Instr, Operand, Program, Reg, Terminator};

/// The result of an instruction, numbered through the code.
pub(super) type ResultId = u32;

/// The results of all instructions, and for each register that an instruction reads its definition.
#[derive(Default)]
pub(super) struct BlockDefinitions {
    /// For each instruction, the number of its first result; one more entry for the end.
    pub(super) results: Vec<ResultId>,
    /// For each instruction, the index of its first register in `definitions`.
    reads: Vec<u32>,
    definitions: Vec<Option<ResultId>>,
    /// For each block, the definition of the register that its branch depends on.
    branches: Vec<Option<ResultId>>,
}

/// Returns the register that a block's branch depends on.
pub(super) const fn condition(terminator: &Terminator) -> Option<Reg> {
    match terminator {
        Terminator::Branch { condition, .. } => Some(condition.register),
        Terminator::Switch { index: Operand::Register(register), .. } => Some(*register),
        _ => None,
    }
}

impl BlockDefinitions {
    pub(super) fn of(program: &Program) -> Self {
        let mut definitions = Self::default();
        let (mut results, mut reads) = (0, 0);
        for instr in &program.code {
            definitions.results.push(results);
            definitions.reads.push(reads);
            results += u32::try_from(instr.dests.len()).expect("few operands");
            reads += u32::try_from(instr.reads().count()).expect("few operands");
        }
        definitions.results.push(results);
        definitions.definitions = vec![None; reads as usize];
        for block in &program.blocks {
            let mut last = HashMap::default();
            for at in block.first.index()..block.end.index() {
                definitions.pass(at, &program.code[at], &mut last);
            }
            let condition = condition(&block.terminator);
            definitions.branches.push(condition.and_then(|register| last.get(&register).copied()));
        }
        definitions
    }

    /// Takes note of what an instruction reads and writes; `last` holds the definitions so far in the block.
    fn pass(&mut self, at: usize, instr: &Instr, last: &mut HashMap<Reg, ResultId>) {
        for (place, register) in (self.reads[at] as usize..).zip(instr.reads()) {
            self.definitions[place] = last.get(&register).copied();
        }
        for (result, dest) in (self.results[at]..).zip(&instr.dests) {
            match dest {
                // Lanes whose guard is false keep the old value.
                Some(dest) if instr.guard.is_some() => drop(last.remove(dest)),
                Some(dest) => drop(last.insert(*dest, result)),
                None => {}
            }
        }
    }

    /// Returns the registers that an instruction reads, in the order of [`Instr::reads`], with their definitions.
    pub(super) fn reads<'a>(
        &'a self,
        at: usize,
        instr: &'a Instr,
    ) -> impl Iterator<Item = (Reg, Option<ResultId>)> {
        instr.reads().zip(self.definitions[self.reads[at] as usize..].iter().copied())
    }

    /// Returns the definition of the register that a block's branch depends on.
    pub(super) fn branch(&self, block: usize) -> Option<ResultId> {
        self.branches[block]
    }
}
