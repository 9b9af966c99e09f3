//! Which definition a register is read from, where that is one of the same block, so that a register is told apart that
//! holds one thing after another. A read that is not listed here might be from any definition of its register.

use foldhash::HashMap;

use crate::flow::{Instr, Operand, Program, Reg, Terminator};

/// The result of an instruction, numbered through all code.
pub(super) type ResultId = u32;

/// Results, and by instruction where each register that it reads comes from.
#[derive(Default)]
pub(super) struct BlockDefinitions {
    /// By instruction: the number of its first result; one more for the end.
    pub(super) results: Vec<ResultId>,
    /// By instruction: the place of its first register in `definitions`.
    reads: Vec<u32>,
    definitions: Vec<Option<ResultId>>,
    /// By block: of the register that its branch depends on.
    branches: Vec<Option<ResultId>>,
}

/// The register that a block's branch depends on.
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
            results += u32::try_from(instr.dests.len()).unwrap_or(0);
            reads += u32::try_from(instr.reads().count()).unwrap_or(0);
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

    /// Takes note of what an instruction reads and writes.
    fn pass(&mut self, at: usize, instr: &Instr, last: &mut HashMap<Reg, ResultId>) {
        for (place, register) in (self.reads[at] as usize..).zip(instr.reads()) {
            self.definitions[place] = last.get(&register).copied();
        }
        for (result, dest) in (self.results[at]..).zip(&instr.dests) {
            match dest {
                // Where the guard is false, the register is as it was.
                Some(dest) if instr.guard.is_some() => drop(last.remove(dest)),
                Some(dest) => drop(last.insert(*dest, result)),
                None => {}
            }
        }
    }

    /// The registers that an instruction reads, in the order of [`Instr::reads`], with their definitions.
    pub(super) fn reads<'a>(
        &'a self,
        at: usize,
        instr: &'a Instr,
    ) -> impl Iterator<Item = (Reg, Option<ResultId>)> {
        instr.reads().zip(self.definitions[self.reads[at] as usize..].iter().copied())
    }

    /// That of the branch at the end of a block.
    pub(super) fn branch(&self, block: usize) -> Option<ResultId> {
        self.branches[block]
    }
}
