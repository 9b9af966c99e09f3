//! What instructions make of registers, until nothing changes.

use std::collections::VecDeque;

use super::program::Program;

/// Applies `step` to every instruction, by its place in the code, and again to those that read what changed. It says
/// whether it changed what it knows of a register that the instruction writes; that must come to an end.
pub(crate) fn settle(program: &Program, mut step: impl FnMut(usize) -> bool) {
    let readers = Readers::of(program);
    let mut work: VecDeque<usize> = (0..program.code.len()).collect();
    let mut waits = vec![true; program.code.len()];
    while let Some(at) = work.pop_front() {
        waits[at] = false;
        if !step(at) {
            continue;
        }
        for register in program.code[at].dests.iter().flatten() {
            for &reader in readers.of_register(register.index()) {
                if !std::mem::replace(&mut waits[reader], true) {
                    work.push_back(reader);
                }
            }
        }
    }
}

/// The instructions that read each register: one list, cut by register.
struct Readers {
    /// By register: its first; and one more, the end.
    first: Vec<usize>,
    instructions: Vec<usize>,
}

impl Readers {
    fn of(program: &Program) -> Self {
        let reads = || {
            let numbered = program.code.iter().enumerate();
            numbered.flat_map(|(at, instr)| instr.reads().map(move |own| (at, own.index())))
        };
        // Counted behind the register, summed up, and moved back to the register as they are filled in.
        let mut first = vec![0; program.registers as usize + 2];
        reads().for_each(|(_, register)| first[register + 2] += 1);
        for at in 1..first.len() {
            first[at] += first[at - 1];
        }
        let mut instructions = vec![0; first.last().copied().unwrap_or(0)];
        for (at, register) in reads() {
            instructions[first[register + 1]] = at;
            first[register + 1] += 1;
        }
        Self { first, instructions }
    }

    fn of_register(&self, register: usize) -> &[usize] {
        &self.instructions[self.first[register]..self.first[register + 1]]
    }
}
