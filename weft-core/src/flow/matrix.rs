//! Links `ldmatrix` and `stmatrix` (PTX ISA §9.7.14.5.15 and 16) as what they do to memory: each of the first lanes of the
//! warp gives the address of a row of 16 bytes, which the warp reads or writes. A row counts as accessed by the lane
//! that gives its address. Which lane gets which element is not modelled: results and stored elements are open.

use std::sync::Arc;

use super::error::LinkError;
use super::linker::{LinkedLine, Linker, known};
use super::program::{Condition, Dests, Instr, Operand, Operation};
use super::special::Special;
use crate::ptx::Instruction;
use crate::ptx::isa::Opcode;

/// Number of lanes of a warp; only so many rows have an address.
const ALL_ROWS: u8 = 32;

/// A row is accessed as two elements of 8 bytes.
const ELEMENTS: usize = 2;

impl Linker<'_> {
    /// Links an instruction on 8x8 matrices. `instr`: the instruction with its operands, guard and place; `rows`: the
    /// number of rows that it accesses.
    pub(super) fn matrix(
        &mut self,
        instr: Instr,
        rows: u8,
        instruction: &Instruction,
    ) -> Result<(), LinkError> {
        let stores = instr.decoded().is_some_and(|own| own.row.opcode == Opcode::Stmatrix);
        let registers = if stores { instr.sources.len() } else { instr.dests.len() };
        if instr.address.is_none() {
            return Err(self.bad_operand(instruction, "an address in brackets"));
        }
        if registers != usize::from(rows / 8) {
            return Err(self.bad_operand(instruction, "one register for each matrix"));
        }
        let guard = match rows {
            ALL_ROWS => instr.guard,
            _ => Some(self.first_lanes(&instr, rows, instruction)?),
        };
        let access = Instr {
            operation: operation(if stores { "st.shared.v2.b64" } else { "ld.shared.v2.b64" }),
            guard,
            dests: if stores { Dests::new() } else { Dests::from_elem(None, ELEMENTS) },
            sources: vec![Operand::Opaque; if stores { ELEMENTS } else { 0 }].into(),
            address: instr.address,
            place: instr.place,
        };
        self.push(LinkedLine::Instr(access), instruction.span)?;
        for dest in instr.dests {
            let result = Instr {
                operation: operation("mov.b32"),
                guard: instr.guard,
                dests: Dests::from_elem(dest, 1),
                sources: Box::new([Operand::Opaque]),
                address: None,
                place: instr.place,
            };
            self.push(LinkedLine::Instr(result), instruction.span)?;
        }
        Ok(())
    }

    /// Emits a predicate that is true in the first lanes of a warp, of those that the instruction's guard enables.
    fn first_lanes(
        &mut self,
        instr: &Instr,
        rows: u8,
        instruction: &Instruction,
    ) -> Result<Condition, LinkError> {
        let register = self.new_register();
        let guard = instr.guard.map(Condition::operand);
        let mnemonic = if guard.is_some() { "setp.lt.and.u32" } else { "setp.lt.u32" };
        let operands = [Operand::Special(Special::Laneid), Operand::Constant(rows.into())];
        let line = Instr {
            operation: operation(mnemonic),
            guard: None,
            dests: Dests::from_elem(Some(register), 1),
            sources: operands.into_iter().chain(guard).collect(),
            address: None,
            place: instr.place,
        };
        self.push(LinkedLine::Instr(line), instruction.span)?;
        Ok(Condition { register, negated: false })
    }
}

fn operation(mnemonic: &str) -> Operation {
    Operation::Known(Arc::new(known(mnemonic)))
}
