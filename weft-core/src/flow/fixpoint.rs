//! A fixpoint over the instructions of a program, and an index of instructions by the registers that they use.

use std::collections::VecDeque;

use super::program::{Instr, Pc, Program, Reg};

/// Applies `step` to every instruction, given by its index in the code, and again to the instructions that read a
/// register whose abstract value changed. `step` returns whether it changed the value of a register that the
/// instruction writes; it must stop changing them at some time.
pub(crate) fn settle(program: &Program, mut step: impl FnMut(usize) -> bool) {
    let readers = ByRegister::of(program, Instr::reads);
    let mut work: VecDeque<usize> = (0..program.code.len()).collect();
    let mut waits = vec![true; program.code.len()];
    while let Some(at) = work.pop_front() {
        waits[at] = false;
        if !step(at) {
            continue;
        }
        for register in program.code[at].dests.iter().flatten() {
            for reader in readers.of_register(*register) {
                if !std::mem::replace(&mut waits[reader.index()], true) {
                    work.push_back(reader.index());
                }
            }
        }
    }
}

/// The instructions that use each register: one list, cut into ranges by register.
pub(crate) struct ByRegister {
    /// For each register, the index of its first instruction in the list; one more entry holds the end.
    first: Vec<usize>,
    instructions: Vec<Pc>,
}

impl ByRegister {
    /// Builds the index; `registers` returns the registers that an instruction counts for.
    pub(crate) fn of<'p, I: Iterator<Item = Reg>>(
        program: &'p Program,
        registers: impl Fn(&'p Instr) -> I,
    ) -> Self {
        let all = || {
            let numbered = (0..).map(Pc).zip(&program.code);
            numbered.flat_map(|(pc, instr)| registers(instr).map(move |dest| (pc, dest.index())))
        };
        // A counting sort: counts are stored two places behind the register, summed up, and moved to the register as
        // its instructions are filled in.
        let mut first = vec![0; program.registers as usize + 2];
        all().for_each(|(_, register)| first[register + 2] += 1);
        for at in 1..first.len() {
            first[at] += first[at - 1];
        }
        let mut instructions = vec![Pc(0); first.last().copied().unwrap_or(0)];
        for (pc, register) in all() {
            instructions[first[register + 1]] = pc;
            first[register + 1] += 1;
        }
        Self { first, instructions }
    }

    /// Returns the instructions of a register, ascending.
    pub(crate) fn of_register(&self, register: Reg) -> &[Pc] {
        &self.instructions[self.first[register.index()]..self.first[register.index() + 1]]
    }
}
