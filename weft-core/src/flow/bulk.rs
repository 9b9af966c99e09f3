//! Links `cp.async.bulk` and `cp.reduce.async.bulk` between global and shared memory (PTX ISA §9.7.9.25.4.1 and 2): the two
//! addresses become operands, and the address is that of the mbarrier object at which the copied bytes are counted, if
//! there is one.

use smallvec::{SmallVec, smallvec};

use super::error::LinkError;
use super::linker::{Frame, LinkedLine, Linker, known};
use super::program::{Address, Condition, Dests, Instr, Operand, Operation, PlaceId, Program};
use crate::ptx::isa::{Decoded, Effect, Modifier, Opcode};
use crate::ptx::{Instruction, Space, Span, Type};

/// Addresses and sizes of bulk copies are multiples of this many bytes.
pub const BULK_ALIGN: u32 = 16;

/// Addresses in shared memory of tensor copies are multiples of this many bytes.
const TENSOR_ALIGN: u32 = 128;

/// Where a bulk copy reads or writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopiedSide<'i> {
    /// The first address.
    pub address: &'i Operand,
    /// Its space.
    pub space: Space,
    /// The address is a multiple of so many bytes.
    pub align: u32,
}

impl Instr {
    /// Returns where a bulk copy writes and where it reads, in the order of its sources. Of a tensor copy, only what it
    /// accesses in shared memory is known.
    pub fn copied(&self) -> SmallVec<[CopiedSide<'_>; 2]> {
        let side = |(address, space)| CopiedSide { address, space, align: BULK_ALIGN };
        match (self.decoded(), &*self.sources) {
            (Some(own), [address, ..]) if own.is_tensor_copy() => {
                smallvec![CopiedSide { address, space: Space::Shared, align: TENSOR_ALIGN }]
            }
            (Some(own), [to, from, ..]) if own.row.effect == Effect::BulkCopy => {
                [to, from].into_iter().zip(sides(own)).map(side).collect()
            }
            _ => SmallVec::new(),
        }
    }

    /// Returns the operand of a bulk copy that is an address of global memory, or of a tensor map.
    pub fn copied_global(&self) -> Option<&Operand> {
        let own = self.decoded().filter(|own| own.row.effect == Effect::BulkCopy)?;
        let is_global = |space: &Space| *space == Space::Global;
        let at = if own.is_tensor_copy() { Some(1) } else { sides(own).iter().position(is_global) };
        self.sources.get(at?)
    }

    /// Returns the position of the operand of a bulk copy that has a bit for each cta of the cluster that it copies to; `None`
    /// if it copies to one.
    pub fn multicast(&self) -> Option<usize> {
        let is_to_several = self.decoded()?.modifiers.has(Modifier::Multicast);
        self.sources.len().checked_sub(1).filter(|_| is_to_several)
    }
}

impl Program {
    /// Whether some instruction accesses memory in the async proxy, by agents.
    pub fn has_agents(&self) -> bool {
        let is_copy = |own: &Instr| matches!(own.effect(), Effect::BulkCopy | Effect::TakeOver);
        self.code.iter().any(|own| is_copy(own) || own.has_descriptors())
    }
}

/// The spaces that a bulk copy writes to and reads from.
fn sides(decoded: &Decoded) -> [Space; 2] {
    match decoded.row.opcode {
        Opcode::BulkPeer => [Space::Shared, Space::Shared],
        _ if is_store(decoded) => [Space::Global, Space::Shared],
        _ => [Space::Shared, Space::Global],
    }
}

/// Whether a bulk copy leads from shared to global memory.
const fn is_store(decoded: &Decoded) -> bool {
    matches!(decoded.row.opcode, Opcode::BulkStore | Opcode::BulkReduce)
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
        let has = |modifier| usize::from(decoded.modifiers.has(modifier));
        let (hints, masks) = (has(Modifier::CacheHint), has(Modifier::Multicast));
        let operands = frame.body.operands(&instruction.operands);
        let is_store = is_store(decoded);
        let mut mask = None;
        let (to, from, size, object) = match operands {
            [to, from, size, rest @ ..] if is_store && rest.len() == hints => {
                (to, from, size, None)
            }
            [to, from, size, object, rest @ ..] if !is_store && rest.len() == masks + hints => {
                mask = rest.first().filter(|_| masks > 0);
                (to, from, size, Some(object))
            }
            _ if is_store => return Err(self.bad_operand(instruction, "two addresses and a size")),
            _ => {
                return Err(self.bad_operand(instruction, "two addresses, a size and an mbarrier"));
            }
        };
        let [target, source] = sides(decoded);
        let to = self.address(frame, instruction, to, target)?;
        let from = self.address(frame, instruction, from, source)?;
        let to = self.address_value(to, place, instruction.span)?;
        let from = self.address_value(from, place, instruction.span)?;
        let size = self.source(frame, instruction, size, Type::B32)?;
        let address = match object {
            Some(object) => Some(self.address(frame, instruction, object, Space::Shared)?),
            None => None,
        };
        let operation = Operation::Known(std::sync::Arc::new(*decoded));
        let mut sources = vec![to, from, size];
        if let Some(mask) = mask {
            sources.push(self.source(frame, instruction, mask, Type::B16)?);
        }
        let sources = sources.into();
        let dests = Dests::new();
        let instr = Instr { operation, guard, dests, sources, address, place };
        self.push(LinkedLine::Instr(instr), instruction.span)
    }

    /// Returns an address of a state space as an operand.
    pub(super) fn address_value(
        &mut self,
        address: Address,
        place: PlaceId,
        span: Span,
    ) -> Result<Operand, LinkError> {
        let Some(base) = address.base else { return Ok(Operand::Constant(address.offset)) };
        if address.offset == 0 {
            return Ok(Operand::Register(base));
        }
        let add = known(if address.space == Space::Shared { "add.u32" } else { "add.u64" });
        let sum = self.new_register();
        let instr = Instr {
            operation: Operation::Known(std::sync::Arc::new(add)),
            guard: None,
            dests: Dests::from_elem(Some(sum), 1),
            sources: Box::new([Operand::Register(base), Operand::Constant(address.offset)]),
            address: None,
            place,
        };
        self.push(LinkedLine::Instr(instr), span)?;
        Ok(Operand::Register(sum))
    }
}
