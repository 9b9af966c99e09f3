//! Links copies between tensors in global memory and shared memory (PTX ISA §9.7.9.25.5): the address in shared memory and
//! that of the tensor map become operands. Coordinates and cache hints are left out: which elements of the tensor a copy
//! accesses is not followed.

use super::addresses::window;
use super::error::LinkError;
use super::linker::{Frame, LinkedLine, Linker};
use super::operands::names_in;
use super::program::{Address, Condition, Dests, Instr, Operation, PlaceId};
use crate::ptx::isa::{Decoded, Modifier};
use crate::ptx::{Instruction, ParsedOperand, Space, Span};

impl<'m> Linker<'m> {
    /// Links a copy of a box of a tensor. `guard` and `place`: those of the instruction.
    pub(super) fn tensor_copy(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        decoded: &'m Decoded,
        guard: Option<Condition>,
        place: PlaceId,
    ) -> Result<(), LinkError> {
        const LOAD: &str = "an address, a tensor map with coordinates, and an mbarrier";
        const STORE: &str = "a tensor map with coordinates, and an address";
        let hints = usize::from(decoded.modifiers.has(Modifier::CacheHint));
        let operands = frame.body.operands(&instruction.operands);
        let (shared, tensor, object) = match operands {
            // Offsets into the box of `.im2col` can stand before the hint.
            [to, from, object, rest @ ..] if decoded.loads_tensor() => {
                if !(hints..=hints + 1).contains(&rest.len()) {
                    return Err(self.bad_operand(instruction, LOAD));
                }
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
        let (dests, sources) = (Dests::new(), Box::new([shared, tensor]));
        let instr = Instr { operation, guard, dests, sources, address, place };
        self.push(LinkedLine::Instr(instr), instruction.span)
    }

    /// Returns the address of the tensor map in `[map+offset, {x, y}]`.
    fn tensor_map(
        &self,
        instruction: &Instruction,
        operand: &ParsedOperand,
    ) -> Result<ParsedOperand, LinkError> {
        let bad = || self.bad_operand(instruction, "a tensor map with coordinates in brackets");
        let ParsedOperand::Opaque(whole) = operand else { return Err(bad()) };
        let text = self.module.name(*whole);
        let (map, _) = text.split_once(',').ok_or_else(bad)?;
        let length = u32::try_from(map.len()).expect("texts have at most 4 GiB");
        let map = Span { end: whole.start + length, ..*whole };
        let base = names_in(self.module.name(map), map).into_iter().next().ok_or_else(bad)?;
        let behind = self.module.name(Span { start: base.end, ..map });
        let offset = offset(behind).ok_or_else(bad)?;
        Ok(ParsedOperand::Address { base: Some(base), offset })
    }
}

/// Reads what is added to an address: `+64`, `-64`, or nothing.
fn offset(text: &str) -> Option<i64> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    if text.is_empty() {
        return Some(0);
    }
    let is_minus = text.starts_with("-") || text.starts_with("+-");
    let digits = text.trim_start_matches(['+', '-']);
    let hex = digits.strip_prefix("0x").map(|digits| i64::from_str_radix(digits, 16));
    let number = hex.unwrap_or_else(|| digits.parse()).ok()?;
    Some(if is_minus { -number } else { number })
}

#[cfg(test)]
mod tests {
    use super::offset;

    #[test]
    fn offsets_are_read() {
        let read = ["", " ", "+64", " + 0x40", "+-8", "-8", "+x", "8"].map(offset);
        let expected = [Some(0), Some(0), Some(64), Some(64), Some(-8), Some(-8), None, Some(8)];
        assert_eq!(read, expected);
    }
}
