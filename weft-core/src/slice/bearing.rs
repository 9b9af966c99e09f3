//! Whether the value of a pointer decides something: a test of its alignment, a comparison with null or with another
//! pointer. The launch gives every pointer one value, so that one outcome of such a test is all that a run sees.
//!
//! A register bears nothing of a pointer, the pointer itself plus numbers, or bits of it. Joined over all definitions,
//! and over all stores of a state space. Silence: no branch, guard, address or barrier that is kept reads bits.

use super::{Keep, Slice};
use crate::flow::{self, Address, Holds, Instr, Operand, Program, Reg, Terminator};
use crate::ptx::Space;
use crate::ptx::isa::{Effect, Modifier, Opcode};

/// What a value has of a pointer; each is worse than the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Bearing {
    #[default]
    Nothing,
    /// An address, which leads into the same buffer wherever that lies.
    Address,
    /// Something that differs with where the buffer lies.
    Bits,
}

/// Whether something that is kept depends on where the buffers of pointer parameters lie. `is_number`: whether the launch
/// gives a number for a parameter or field.
pub fn reads_pointer_bits(
    program: &Program,
    slice: &Slice,
    is_number: impl Fn(usize) -> bool,
) -> bool {
    let bearings = Bearings::of(program, is_number);
    let has_bits = |register: Reg| bearings.registers[register.index()] == Bearing::Bits;
    let decides = |(at, instr): (usize, &Instr)| {
        let reads_all = matches!(instr.effect(), Effect::Barrier | Effect::WarpBarrier);
        slice.keep[at] != Keep::Nothing
            && (instr.address_and_guard().any(has_bits) || reads_all && instr.reads().any(has_bits))
    };
    let branches = program.blocks.iter().zip(&slice.branches).filter(|(_, is_kept)| **is_kept);
    let condition = |terminator: &Terminator| match terminator {
        Terminator::Branch { condition, .. } => Some(condition.register),
        Terminator::Switch { index: Operand::Register(register), .. } => Some(*register),
        _ => None,
    };
    program.code.iter().enumerate().any(decides)
        || branches.filter_map(|(block, _)| condition(&block.terminator)).any(has_bits)
}

struct Bearings<'p> {
    program: &'p Program,
    /// First bytes and sizes in the parameter bank.
    pointers: Vec<(u64, u64)>,
    registers: Vec<Bearing>,
    /// What was stored to local, shared and global memory.
    stored: [Bearing; 3],
}

impl<'p> Bearings<'p> {
    fn of(program: &'p Program, is_number: impl Fn(usize) -> bool) -> Self {
        let registers = vec![Bearing::Nothing; program.registers as usize];
        let params = program.params.iter().map(|own| (own.pointee.is_some(), own.offset, own.size));
        let fields = program.fields.iter().map(|own| (own.is_pointer, own.offset, own.size));
        let pointers = params.chain(fields).enumerate();
        let pointers = pointers
            .filter(|(at, (is_pointer, ..))| *is_pointer && !is_number(*at))
            .map(|(_, (_, offset, size))| (offset, size))
            .collect();
        let mut bearings = Self { program, pointers, registers, stored: [Bearing::Nothing; 3] };
        loop {
            let stored = bearings.stored;
            flow::settle(program, |at| bearings.step(at));
            if bearings.stored == stored {
                return bearings;
            }
        }
    }

    /// Takes an instruction into account; whether anything is new of the registers it writes.
    fn step(&mut self, at: usize) -> bool {
        let instr = &self.program.code[at];
        let sources = instr.sources.iter().map(|source| self.operand(source)).max();
        let sources = sources.unwrap_or_default();
        if matches!(instr.effect(), Effect::Store | Effect::Atomic) {
            for space in spaces(instr.address) {
                self.stored[space] = self.stored[space].max(sources);
            }
        }
        let result = match instr.effect() {
            Effect::Load | Effect::Atomic => self.loaded(instr),
            _ if sources == Bearing::Address => self.computed(instr),
            _ => sources,
        };
        let mut changed = false;
        for dest in instr.dests.iter().flatten() {
            let own = &mut self.registers[dest.index()];
            changed |= result > *own;
            *own = result.max(*own);
        }
        changed
    }

    fn operand(&self, operand: &Operand) -> Bearing {
        match operand {
            Operand::Register(register) | Operand::Not(register) => {
                self.registers[register.index()]
            }
            _ => Bearing::Nothing,
        }
    }

    fn loaded(&self, instr: &Instr) -> Bearing {
        let Some(address) = instr.address else { return Bearing::Nothing };
        if address.space != Space::Param {
            return spaces(Some(address)).map(|space| self.stored[space]).max().unwrap_or_default();
        }
        let bytes = instr.decoded().map_or(8, |decoded| u64::from(decoded.ty().bytes()));
        let is_read = |offset: u64| {
            address.base.is_some()
                || (address.offset..address.offset.saturating_add(bytes)).contains(&offset)
        };
        match self.pointers.iter().find(|(first, size)| (*first..first + size).any(is_read)) {
            None => Bearing::Nothing,
            Some(&(first, size)) if bytes >= size && first == address.offset => Bearing::Address,
            Some(_) => Bearing::Bits,
        }
    }

    /// What an instruction makes of addresses.
    fn computed(&self, instr: &Instr) -> Bearing {
        let Some(decoded) = instr.decoded() else { return Bearing::Bits };
        let is_address = |at: usize| {
            instr.sources.get(at).is_some_and(|source| self.operand(source) == Bearing::Address)
        };
        let both = is_address(0) && is_address(1);
        // Pointers to shared memory may have 32 bits; of others nothing so narrow is an address.
        let is_whole = instr.sources.len() == 1 && instr.dests.len() == 1;
        let is_wide = decoded.ty().bits() >= 32 || decoded.modifiers.has(Modifier::Wide);
        match decoded.row.opcode {
            Opcode::Sub | Opcode::Setp | Opcode::Min | Opcode::Max
                if both && self.is_one(instr) =>
            {
                // Two addresses in one buffer compare alike wherever it lies.
                match decoded.row.opcode {
                    Opcode::Min | Opcode::Max => Bearing::Address,
                    _ => Bearing::Nothing,
                }
            }
            Opcode::Add if is_wide && !both => Bearing::Address,
            Opcode::Sub if is_wide && !is_address(1) => Bearing::Address,
            Opcode::Mad if is_wide && !is_address(0) && !is_address(1) => Bearing::Address,
            Opcode::Mov | Opcode::Cvta if is_wide && is_whole => Bearing::Address,
            Opcode::Selp | Opcode::Shfl if is_wide => Bearing::Address,
            Opcode::Isspacep => Bearing::Nothing,
            _ => Bearing::Bits,
        }
    }

    /// Whether both operands are addresses in the buffer of one parameter.
    fn is_one(&self, instr: &Instr) -> bool {
        let holds = |at: usize| match instr.sources.get(at) {
            Some(Operand::Register(register)) => self.program.holds[register.index()],
            _ => Holds::Mixed,
        };
        matches!((holds(0), holds(1)), (Holds::Param(a), Holds::Param(b)) if a == b)
    }
}

/// The places of `stored` that an access may concern.
fn spaces(address: Option<Address>) -> impl Iterator<Item = usize> {
    match address.map(|address| address.space) {
        Some(Space::Local) => 0..1,
        Some(Space::Shared) => 1..2,
        Some(Space::Global) => 2..3,
        Some(Space::Generic) => 0..3,
        _ => 0..0,
    }
}
