//! What instructions make of registers, until nothing changes.

use std::collections::VecDeque;

use super::program::{Instr, Pc, Program, Reg};

/// Applies `step` to every instruction, by its place in the code, and again to those that read what changed. It says
/// whether it changed what it knows of a register that the instruction writes; that must come to an end.
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

/// The instructions that have to do with each register: one list, cut by register.
pub(crate) struct ByRegister {
    /// By register: its first; and one more, the end.
    first: Vec<usize>,
    instructions: Vec<Pc>,
}

impl ByRegister {
    /// `registers`: those that an instruction has to do with.
    pub(crate) fn of<'p, I: Iterator<Item = Reg>>(
        program: &'p Program,
        registers: impl Fn(&'p Instr) -> I,
    ) -> Self {
        let all = || {
            let numbered = (0..).map(Pc).zip(&program.code);
            numbered.flat_map(|(pc, instr)| registers(instr).map(move |dest| (pc, dest.index())))
        };
        // Counted behind the register, summed up, and moved back to the register as they are filled in.
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

    /// Those of a register, ascending.
    pub(crate) fn of_register(&self, register: Reg) -> &[Pc] {
        &self.instructions[self.first[register.index()]..self.first[register.index() + 1]]
    }
}
