//! Links copies between tensors in global memory and shared memory (PTX ISA §9.7.9.25.5): the address in shared memory and
//! that of the tensor map become operands. Coordinates and cache hints are left out: which elements of the tensor a copy
//! accesses is not followed.

use super::addresses::window;
use super::error::LinkError;
use super::linker::{Frame, LinkedLine, Linker};
use super::operands::names_in;
use super::program::{Address, Condition, Dests, Instr, Operation, PlaceId};
use crate::ptx::isa::{Decoded, Modifier};
use crate::ptx::{Instruction, ParsedOperand, Space, Type};

impl<'m> Linker<'m> {
    /// Links a copy of a box of a tensor. `guard` and `place`: those of the instruction.
    pub(super) fn tensor_copy(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        decoded: &Decoded,
        guard: Option<Condition>,
        place: PlaceId,
    ) -> Result<(), LinkError> {
        const LOAD: &str = "an address, a tensor map with coordinates, and an mbarrier";
        const STORE: &str = "a tensor map with coordinates, and an address";
        let has = |modifier| usize::from(decoded.modifiers.has(modifier));
        let (hints, masks) = (has(Modifier::CacheHint), has(Modifier::Multicast));
        let mut mask = None;
        let operands = frame.body.operands(&instruction.operands);
        let (shared, tensor, object) = match operands {
            // Offsets into the box of `.im2col` can stand before the mask and the hint.
            [to, from, object, rest @ ..] if decoded.loads_tensor() => {
                let least = masks + hints;
                if !(least..=least + 1).contains(&rest.len()) {
                    return Err(self.bad_operand(instruction, LOAD));
                }
                mask = rest.get(rest.len() - least).filter(|_| masks > 0);
                (to, from, Some(object))
            }
            [to, from, rest @ ..] if !decoded.loads_tensor() && rest.len() == hints => {
                (from, to, None)
            }
            _ if decoded.loads_tensor() => return Err(self.bad_operand(instruction, LOAD)),
            _ => return Err(self.bad_operand(instruction, STORE)),
        };
        let tensor = self.tensor_map(instruction, tensor)?;
        let shared = self.address(frame, instruction, shared, Space::Shared)?;
        let tensor = self.address(frame, instruction, &tensor, Space::Generic)?;
        // The address of a variable is that in its space, while a register holds a generic one.
        let tensor = Address { offset: tensor.offset.wrapping_add(window(tensor.space)), ..tensor };
        let shared = self.address_value(shared, place, instruction.span)?;
        let tensor = self.address_value(tensor, place, instruction.span)?;
        let address = match object {
            Some(object) => Some(self.address(frame, instruction, object, Space::Shared)?),
            None => None,
        };
        let operation = Operation::Known(std::sync::Arc::new(*decoded));
        let mut sources = vec![shared, tensor];
        if let Some(mask) = mask {
            sources.push(self.source(frame, instruction, mask, Type::B16)?);
        }
        let (dests, sources) = (Dests::new(), sources.into());
        let instr = Instr { operation, guard, dests, sources, address, place };
        self.push(LinkedLine::Instr(instr), instruction.span)
    }

    /// Returns the address of the tensor map in `[map, {x, y}]`.
    fn tensor_map(
        &self,
        instruction: &Instruction,
        operand: &ParsedOperand,
    ) -> Result<ParsedOperand, LinkError> {
        let name = match operand {
            ParsedOperand::Opaque(whole) => {
                names_in(self.module.name(*whole), *whole).first().copied()
            }
            _ => None,
        };
        match name {
            Some(name) => Ok(ParsedOperand::Name(name)),
            None => Err(self.bad_operand(instruction, "a tensor map with coordinates in brackets")),
        }
    }
}
