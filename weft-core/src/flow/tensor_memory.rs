//! Links what acts on tensor memory (PTX ISA §9.7.16) and has operands that the machine takes in another form. An allocation
//! returns the address, which one lane then stores; a product has the operands whose order is the same in all its forms.

use std::sync::Arc;

use super::error::LinkError;
use super::linker::{Frame, LinkedLine, Linker, known};
use super::program::{Condition, Dests, Instr, Operand, Operation, PlaceId};
use super::special::Special;
use crate::ptx::isa::{Decoded, Effect, Opcode};
use crate::ptx::{Instruction, ParsedOperand, Space};

/// The sources of a product of matrices into tensor memory, by number.
pub mod tensor_operand {
    /// Where the product is, in tensor memory.
    pub const PRODUCT: usize = 0;
    /// The descriptor of matrix A or, if it is in tensor memory, its address.
    pub const A: usize = 1;
    /// Whether matrix A is in tensor memory: the constant 1 or 0.
    pub const IS_A_NEAR: usize = 2;
    /// The descriptor of matrix B.
    pub const B: usize = 3;
    /// The instruction descriptor: the sizes of the matrices, and how they are stored.
    pub const SHAPE: usize = 4;
    /// The first operand that says which lanes are left as they are; the others follow it.
    pub const MASKS: usize = 5;
}

impl Instr {
    /// Whether it reads matrices in shared memory that descriptors name.
    pub fn has_descriptors(&self) -> bool {
        let of_tensor_core = [Opcode::TensorProduct, Opcode::TensorFill];
        let is_of_tensor_core = |own: &Decoded| of_tensor_core.contains(&own.row.opcode);
        self.effect() == Effect::Multiply || self.decoded().is_some_and(is_of_tensor_core)
    }
}

impl<'m> Linker<'m> {
    /// Links an instruction of tensor memory that the machine takes in another form. `guard` and `place`: those of the
    /// instruction. Returns whether it is one.
    pub(super) fn tensor_memory(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        decoded: &Arc<Decoded>,
        (guard, place): (Option<Condition>, PlaceId),
    ) -> Result<bool, LinkError> {
        match decoded.row.opcode {
            _ if decoded.is_strange => return Ok(false),
            Opcode::TensorAlloc => {
                let own = self.operands(frame, instruction, Some(decoded))?;
                let own = Instr { place, ..own };
                self.when(guard, place, instruction.span, |linker| {
                    linker.allocation(instruction, &own)
                })?;
            }
            Opcode::TensorProduct => {
                self.tensor_product(frame, instruction, decoded, (guard, place))?;
            }
            Opcode::TensorLoad => {
                self.tensor_access(frame, instruction, decoded, (guard, place), 1)?;
            }
            Opcode::TensorStore | Opcode::TensorFill | Opcode::TensorShift => {
                self.tensor_access(frame, instruction, decoded, (guard, place), 0)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Links an access of tensor memory whose operand of this number is its address, the first source.
    fn tensor_access(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        decoded: &Arc<Decoded>,
        (guard, place): (Option<Condition>, PlaceId),
        at: usize,
    ) -> Result<(), LinkError> {
        let mut instr = self.operands(frame, instruction, Some(decoded))?;
        let address = self.tensor_address(frame, instruction, place, at)?;
        if let (Some(address), Some(first)) = (address, instr.sources.first_mut()) {
            *first = address;
        }
        (instr.guard, instr.place) = (guard, place);
        self.push(LinkedLine::Instr(instr), instruction.span)
    }

    /// Returns the operand of this number if it is an address in brackets, with its offset.
    fn tensor_address(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        place: PlaceId,
        at: usize,
    ) -> Result<Option<Operand>, LinkError> {
        let Some(operand @ ParsedOperand::Address { .. }) =
            frame.body.operands(&instruction.operands).get(at)
        else {
            return Ok(None);
        };
        let address = self.address(frame, instruction, operand, Space::Shared)?;
        self.address_value(address, place, instruction.span).map(Some)
    }

    /// Links an allocation, whose lanes all run it, as one that returns the address, and a store by the first lane.
    fn allocation(&mut self, instruction: &'m Instruction, own: &Instr) -> Result<(), LinkError> {
        let (address, is_first) = (self.new_register(), self.new_register());
        let place = own.place;
        let stores_to = own.address;
        let mut push = |mnemonic: Option<&str>, instr: Instr| {
            let operation = mnemonic
                .map_or(instr.operation.clone(), |own| Operation::Known(Arc::new(known(own))));
            self.push(LinkedLine::Instr(Instr { operation, ..instr }), instruction.span)
        };
        let instr = |dests: Dests, sources: &[Operand]| Instr {
            operation: own.operation.clone(),
            guard: None,
            dests,
            sources: sources.into(),
            address: None,
            place,
        };
        let to = |register| Dests::from_elem(Some(register), 1);
        push(None, instr(to(address), &own.sources))?;
        let lane = [Operand::Special(Special::Laneid), Operand::Constant(0)];
        push(Some("setp.eq.u32"), instr(to(is_first), &lane))?;
        let store = instr(Dests::new(), &[Operand::Register(address)]);
        let guard = Some(Condition { register: is_first, negated: false });
        let is_generic = stores_to.is_some_and(|to| to.space == Space::Generic);
        let mnemonic = if is_generic { "st.u32" } else { "st.shared.u32" };
        push(Some(mnemonic), Instr { guard, address: stores_to, ..store })
    }

    fn tensor_product(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        decoded: &Arc<Decoded>,
        (guard, place): (Option<Condition>, PlaceId),
    ) -> Result<(), LinkError> {
        let operands = frame.body.operands(&instruction.operands);
        let is_near = matches!(operands.get(1), Some(ParsedOperand::Address { .. }));
        // Behind the instruction descriptor, a vector says which lanes are left as they are.
        let masks = match operands.get(4) {
            Some(ParsedOperand::Vector(parts)) => parts.len(),
            _ => 0,
        };
        let mut instr = self.operands(frame, instruction, Some(decoded))?;
        let [product, a, b, shape, rest @ ..] = &*instr.sources else {
            return Err(self.bad_operand(instruction, "matrices and descriptors"));
        };
        let Some(masks) = rest.get(..masks) else {
            return Err(self.bad_operand(instruction, "matrices and descriptors"));
        };
        let near = Operand::Constant(u64::from(is_near));
        let sources = [*product, *a, near, *b, *shape].into_iter().chain(masks.iter().copied());
        let mut sources: Box<[Operand]> = sources.collect();
        for at in [tensor_operand::PRODUCT, tensor_operand::A] {
            if let Some(address) = self.tensor_address(frame, instruction, place, at)? {
                sources[at] = address;
            }
        }
        instr.sources = sources;
        (instr.guard, instr.place) = (guard, place);
        self.push(LinkedLine::Instr(instr), instruction.span)
    }
}
