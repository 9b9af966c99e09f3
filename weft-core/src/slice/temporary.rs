//! Finds temporary registers: they are used only within one block, and every lane that reads one has written it in the
//! same run of the block.

use crate::flow::{Operand, Pc, Program, Reg, Terminator};

/// Returns for each register whether it is temporary. `first_of`: for each instruction, the first instruction of its
/// block.
pub(super) fn registers(program: &Program, first_of: &[Pc]) -> Vec<bool> {
    // For each register, the block that writes it first, unguarded.
    let mut homes: Vec<Option<Pc>> = vec![None; program.registers as usize];
    let mut is_temporary = vec![true; program.registers as usize];
    for (instr, block) in program.code.iter().zip(first_of) {
        // An instruction that waits reads and writes when the other lanes have arrived, which might have run the block
        // in the meantime.
        let is_here = |home: Option<Pc>| home == Some(*block) && !instr.waits();
        for register in instr.reads() {
            is_temporary[register.index()] &= is_here(homes[register.index()]);
        }
        for register in instr.dests.iter().flatten() {
            let home = &mut homes[register.index()];
            if home.is_none() && instr.guard.is_none() {
                *home = Some(*block);
            }
            is_temporary[register.index()] &= is_here(*home);
        }
    }
    for block in &program.blocks {
        if let Some(register) = branch_register(&block.terminator) {
            is_temporary[register.index()] = false;
        }
    }
    is_temporary
}

/// Returns the register that a branch depends on.
fn branch_register(terminator: &Terminator) -> Option<Reg> {
    match terminator {
        Terminator::Branch { condition, .. } => Some(condition.register),
        Terminator::Switch { index: Operand::Register(register), .. } => Some(*register),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::{Floats, Marker};
    use super::*;
    use crate::flow;
    use crate::ptx;

    #[test]
    fn what_a_block_hands_on_is_not_temporary() {
        let text = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n.reg .pred %p;\n\
             .reg .u32 %a, %b, %d, %e, %f, %g, %h;\n\
             mov.u32 %a, %tid.x;\n\
             add.u32 %b, %a, 1;\n\
             mov.u32 %d, 2;\n\
             shfl.sync.idx.b32 %e, %d, 0, 31, 0xffffffff;\n\
             add.u32 %f, %b, 1;\n\
             setp.eq.u32 %p, %f, 3;\n\
             @%p mov.u32 %g, 4;\n\
             add.u32 %h, %g, 1;\n\
             @%p bra END;\n\
             bar.sync 0;\n\
             END: ret;\n}\n";
        let module = ptx::parse(text);
        let program = flow::build(&module, module.kernel("k").unwrap()).unwrap();
        let marker = Marker::new(&program, Floats::Computed);
        let is_temporary = registers(&program, &marker.first_of);
        let written = program.code.iter().flat_map(|instr| instr.dests.iter().flatten());
        let of_dests: Vec<_> = written.map(|dest| is_temporary[dest.index()]).collect();
        // %b is read in a later block, %d is read and %e written by an instruction that waits, %p is read by a branch,
        // and %g is not written in all lanes.
        assert_eq!(of_dests, [true, false, false, false, true, false, false, true]);
        let slice = super::super::mark(&program, &BTreeSet::new(), Floats::Computed);
        // The branch depends on %p and %b, which last, and on %f and %a.
        assert_eq!((slice.lasting, slice.registers), (2, 4));
    }
}
