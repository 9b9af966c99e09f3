//! Links `cp.async.bulk` between global and shared memory (PTX ISA §9.7.9.25.4.1): its two addresses become operands, and
//! its address is that of the mbarrier object at which it counts the bytes that it has copied, if there is one.

use super::error::LinkError;
use super::linker::{Frame, LinkedLine, Linker, known};
use super::program::{Condition, Dests, Instr, Operand, Operation, PlaceId};
use crate::ptx::isa::{Decoded, Effect, Modifier, Opcode};
use crate::ptx::{Instruction, ParsedOperand, Space, Type};

/// Addresses and sizes of bulk copies are multiples of this many bytes.
pub const BULK_ALIGN: u32 = 16;

impl Instr {
    /// Returns where a bulk copy writes and where it reads: operands that are the first addresses, with their spaces.
    pub fn copied(&self) -> Option<[(&Operand, Space); 2]> {
        let decoded = self.decoded().filter(|own| own.row.effect == Effect::BulkCopy)?;
        let [to, from, ..] = &*self.sources else { return None };
        let [target, source] = sides(decoded);
        Some([(to, target), (from, source)])
    }
}

/// The spaces that a bulk copy writes to and reads from.
fn sides(decoded: &Decoded) -> [Space; 2] {
    let is_store = decoded.row.opcode == Opcode::BulkStore;
    if is_store { [Space::Global, Space::Shared] } else { [Space::Shared, Space::Global] }
}

impl<'m> Linker<'m> {
    /// Links a bulk copy. `guard` and `place`: those of the instruction.
    pub(super) fn bulk_copy(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        decoded: &Decoded,
        guard: Option<Condition>,
        place: PlaceId,
    ) -> Result<(), LinkError> {
        let hints = usize::from(decoded.modifiers.has(Modifier::CacheHint));
        let operands = frame.body.operands(&instruction.operands);
        let is_store = decoded.row.opcode == Opcode::BulkStore;
        let (to, from, size, object) = match operands {
            [to, from, size, rest @ ..] if is_store && rest.len() == hints => {
                (to, from, size, None)
            }
            [to, from, size, object, rest @ ..] if !is_store && rest.len() == hints => {
                (to, from, size, Some(object))
            }
            _ if is_store => return Err(self.bad_operand(instruction, "two addresses and a size")),
            _ => {
                return Err(self.bad_operand(instruction, "two addresses, a size and an mbarrier"));
            }
        };
        let [target, source] = sides(decoded);
        let to = self.address_value(frame, instruction, (to, target), place)?;
        let from = self.address_value(frame, instruction, (from, source), place)?;
        let size = self.source(frame, instruction, size, Type::B32)?;
        let address = match object {
            Some(object) => Some(self.address(frame, instruction, object, Space::Shared)?),
            None => None,
        };
        let operation = Operation::Known(std::sync::Arc::new(*decoded));
        let sources = Box::new([to, from, size]);
        let dests = Dests::new();
        let instr = Instr { operation, guard, dests, sources, address, place };
        self.push(LinkedLine::Instr(instr), instruction.span)
    }

    /// Returns an address of a state space as an operand.
    fn address_value(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        (operand, space): (&'m ParsedOperand, Space),
        place: PlaceId,
    ) -> Result<Operand, LinkError> {
        let address = self.address(frame, instruction, operand, space)?;
        let Some(base) = address.base else { return Ok(Operand::Constant(address.offset)) };
        if address.offset == 0 {
            return Ok(Operand::Register(base));
        }
        let add = known(if space == Space::Shared { "add.u32" } else { "add.u64" });
        let sum = self.new_register();
        let instr = Instr {
            operation: Operation::Known(std::sync::Arc::new(add)),
            guard: None,
            dests: Dests::from_elem(Some(sum), 1),
            sources: Box::new([Operand::Register(base), Operand::Constant(address.offset)]),
            address: None,
            place,
        };
        self.push(LinkedLine::Instr(instr), instruction.span)?;
        Ok(Operand::Register(sum))
    }
}
