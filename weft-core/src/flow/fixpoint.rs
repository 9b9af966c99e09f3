//! What instructions make of registers, until nothing changes.

use std::collections::VecDeque;

use super::program::Program;

/// Applies `step` to every instruction, by its place in the code, and again to those that read what changed. It says
/// whether it changed what it knows of a register that the instruction writes; that must come to an end.
pub(crate) fn settle(program: &Program, mut step: impl FnMut(usize) -> bool) {
    let mut readers = vec![Vec::new(); program.registers as usize];
    for (at, instr) in program.code.iter().enumerate() {
        for register in instr.reads() {
            readers[register.index()].push(at);
        }
    }
    let mut work: VecDeque<usize> = (0..program.code.len()).collect();
    let mut waits = vec![true; program.code.len()];
    while let Some(at) = work.pop_front() {
        waits[at] = false;
        if !step(at) {
            continue;
        }
        for register in program.code[at].dests.iter().flatten() {
            for &reader in &readers[register.index()] {
                if !std::mem::replace(&mut waits[reader], true) {
                    work.push_back(reader);
                }
            }
        }
    }
}
