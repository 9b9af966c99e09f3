//! Links `wgmma.mma_async` (PTX ISA §9.7.15.5.2): what remains of its operands are the accumulators, which it writes, and
//! the descriptors of the matrices that it reads in shared memory, each with whether the matrix is transposed.

use super::error::LinkError;
use super::linker::{Frame, LinkedLine, Linker};
use super::program::{Condition, Instr, Operand, PlaceId};
use crate::ptx::isa::{Decoded, Opcode};
use crate::ptx::{Instruction, ParsedOperand};

impl Instr {
    /// Returns the descriptors of matrix B and, if it is in shared memory, of matrix A, of a product of matrices that a
    /// warpgroup computes: for each its operand, and whether the matrix is stored with its rows or columns next to each other
    /// (MN-major) instead of the elements of each (K-major).
    pub fn descriptors(&self) -> impl Iterator<Item = (&Operand, bool)> {
        let (pairs, _) = self.sources.as_chunks::<2>();
        pairs
            .iter()
            .map(|[descriptor, transposed]| (descriptor, *transposed == Operand::Constant(1)))
    }
}

impl<'m> Linker<'m> {
    /// Links a product of matrices. `guard` and `place`: those of the instruction.
    pub(super) fn product(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        decoded: &std::sync::Arc<Decoded>,
        guard: Option<Condition>,
        place: PlaceId,
    ) -> Result<(), LinkError> {
        let mut instr = self.operands(frame, instruction, Some(decoded))?;
        let operands = frame.body.operands(&instruction.operands);
        let width = match operands.get(1) {
            Some(ParsedOperand::Vector(parts)) => parts.len(),
            _ => 1,
        };
        let sources = descriptors(&instr.sources, width, decoded);
        let Some(sources) = sources else {
            return Err(
                self.bad_operand(instruction, "accumulators, matrices, their scales and layouts")
            );
        };
        instr.sources = sources;
        (instr.guard, instr.place) = (guard, place);
        self.push(LinkedLine::Instr(instr), instruction.span)
    }
}

/// Returns the descriptor of B and whether B is transposed, and the same of A unless A is in registers. `width`: the number
/// of sources that name A.
fn descriptors(sources: &[Operand], width: usize, decoded: &Decoded) -> Option<Box<[Operand]>> {
    let (a, rest) = sources.split_at_checked(width)?;
    let (b, rest) = rest.split_first()?;
    // A sparse product has the metadata of A and a selector of the threads that hold them.
    let is_sparse = decoded.row.opcode == Opcode::WgmmaSparse;
    let rest = rest.get(if is_sparse { 3 } else { 1 }..)?;
    let plain = Operand::Constant(0);
    let is_constant = |operand: &Operand| matches!(operand, Operand::Constant(_));
    if !rest.iter().all(is_constant) {
        return None;
    }
    match (a, rest) {
        // Only products of 16-bit numbers have layouts, and only integer ones have no scales.
        ([a], [] | [_, _]) => Some(Box::new([*b, plain, *a, plain])),
        ([a], [_, _, of_a, of_b]) => Some(Box::new([*b, *of_b, *a, *of_a])),
        ([_, _, ..], [] | [_, _]) => Some(Box::new([*b, plain])),
        ([_, _, ..], [_, _, of_b]) => Some(Box::new([*b, *of_b])),
        _ => None,
    }
}
