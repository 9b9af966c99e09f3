//! Links `clusterlaunchcontrol.try_cancel` (PTX ISA §9.7.13.17.1): the address of the answer becomes an operand, and the
//! address is that of the mbarrier object at which its bytes are counted.

use std::sync::Arc;

use super::error::LinkError;
use super::linker::{Frame, LinkedLine, Linker};
use super::program::{Condition, Dests, Instr, Operation, PlaceId, Program};
use crate::ptx::isa::{Decoded, Effect};
use crate::ptx::{Instruction, Space};

impl Program {
    /// Whether ctas might take over the work of ctas that have not begun.
    pub fn takes_over(&self) -> bool {
        self.code.iter().any(|instr| instr.effect() == Effect::TakeOver)
    }
}

impl<'m> Linker<'m> {
    /// Links a request to take over the work of ctas. `guard` and `place`: those of the instruction.
    pub(super) fn take_over(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        decoded: &Arc<Decoded>,
        (guard, place): (Option<Condition>, PlaceId),
    ) -> Result<(), LinkError> {
        let [answer, object] = frame.body.operands(&instruction.operands) else {
            return Err(self.bad_operand(instruction, "the addresses of an answer and an mbarrier"));
        };
        let answer = self.address(frame, instruction, answer, Space::Shared)?;
        let answer = self.address_value(answer, place, instruction.span)?;
        let address = Some(self.address(frame, instruction, object, Space::Shared)?);
        let operation = Operation::Known(Arc::clone(decoded));
        let (dests, sources) = (Dests::new(), Box::new([answer]));
        let instr = Instr { operation, guard, dests, sources, address, place };
        self.push(LinkedLine::Instr(instr), instruction.span)
    }
}
