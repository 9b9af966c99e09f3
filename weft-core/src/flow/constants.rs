//! Finds registers that hold one number wherever they are used. This gives the addresses in local memory and in the
//! parameter bank that are accessed through registers: unoptimised code keeps every variable in local memory and passes
//! structures by their addresses.
//!
//! The value of a register is joined over all its definitions, the value of a slot of local memory over all stores to
//! it at known addresses.

use std::collections::BTreeMap;

use super::addresses::{LOCAL_WINDOW, PARAM_WINDOW, WINDOW};
use super::program::{Address, Instr, Operand, Program};
use crate::ptx::Space;
use crate::ptx::isa::{Effect, Modifier, Opcode};

/// Addresses of variables can be stored in other variables, and so on; this is how deep they are followed.
const MAX_PASSES: u32 = 16;

/// The join of several values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Flat {
    #[default]
    Nothing,
    One(u64),
    Several,
}

impl Flat {
    fn join(&mut self, other: Self) -> bool {
        let joined = match (*self, other) {
            (flat, Self::Nothing) => flat,
            (Self::Nothing, other) => other,
            (Self::One(a), Self::One(b)) if a == b => Self::One(a),
            _ => Self::Several,
        };
        std::mem::replace(self, joined) != joined
    }

    fn plus(self, other: Self, of: fn(u64, u64) -> u64) -> Self {
        match (self, other) {
            (Self::One(a), Self::One(b)) => Self::One(of(a, b)),
            (Self::Nothing, _) | (_, Self::Nothing) => Self::Nothing,
            _ => Self::Several,
        }
    }

    /// Returns the lowest `bits` bits of the number.
    fn cut(self, bits: u32) -> Self {
        match self {
            Self::One(number) if bits < 64 => Self::One(number & ((1 << bits) - 1)),
            flat => flat,
        }
    }
}

/// The values of registers and of slots in local memory.
pub(super) struct Constants {
    registers: Vec<Flat>,
    /// Keyed by the first of eight bytes.
    slots: BTreeMap<u64, Flat>,
    /// The first and the last byte of each piece of local memory in which slots are followed, ascending. What is loaded
    /// elsewhere counts as several values.
    followed: Vec<(u64, u64)>,
}

impl Constants {
    /// Follows values through all of local memory, as if no store at an unknown address changed it.
    pub(super) fn of(program: &Program) -> Self {
        Self::following(program, vec![(0, u64::MAX)])
    }

    /// Follows values through local memory only in these pieces: the first and the last byte of each, ascending.
    pub(super) fn following(program: &Program, followed: Vec<(u64, u64)>) -> Self {
        let registers = vec![Flat::Nothing; program.registers as usize];
        let mut constants = Self { registers, slots: BTreeMap::new(), followed };
        for _ in 0..MAX_PASSES {
            let mut is_stored = false;
            super::settle(program, |at| constants.step(&program.code[at], &mut is_stored));
            if !is_stored {
                return constants;
            }
        }
        constants.registers.fill(Flat::Several);
        constants
    }

    /// Takes an instruction into account; returns whether the value of a register that it writes has changed.
    fn step(&mut self, instr: &Instr, is_stored: &mut bool) -> bool {
        if instr.effect() == Effect::Store {
            *is_stored |= self.store(instr);
        }
        let mut changed = false;
        for (at, dest) in instr.dests.iter().enumerate() {
            if let Some(dest) = dest {
                let value = self.result(instr, at);
                changed |= self.registers[dest.index()].join(value);
            }
        }
        changed
    }

    fn store(&mut self, instr: &Instr) -> bool {
        let mut changed = false;
        for (at, (first, bytes)) in self.elements(instr).into_iter().enumerate() {
            if bytes == 8 {
                let value =
                    instr.sources.get(at).map_or(Flat::Several, |operand| self.operand(operand));
                changed |= self.slots.entry(first).or_default().join(value);
            } else {
                for slot in first.saturating_sub(7)..first.saturating_add(bytes) {
                    changed |= self.slots.entry(slot).or_default().join(Flat::Several);
                }
            }
        }
        changed
    }

    fn result(&self, instr: &Instr, at: usize) -> Flat {
        let Some(decoded) = instr.decoded() else { return Flat::Several };
        let source = |at: usize| {
            instr.sources.get(at).map_or(Flat::Several, |operand| self.operand(operand))
        };
        let is_to = decoded.modifiers.has(Modifier::To);
        let flat = match decoded.row.opcode {
            _ if decoded.ty().is_float() || decoded.ty().is_packed() => Flat::Several,
            _ if decoded.modifiers.has(Modifier::Sat) => Flat::Several,
            Opcode::Mov if instr.sources.len() == 1 && instr.dests.len() == 1 => source(0),
            Opcode::Add => source(0).plus(source(1), u64::wrapping_add),
            Opcode::Sub => source(0).plus(source(1), u64::wrapping_sub),
            Opcode::Cvta => {
                let window = super::window(decoded.space);
                let moved = if is_to { u64::wrapping_sub } else { u64::wrapping_add };
                source(0).plus(Flat::One(window), moved)
            }
            Opcode::Ld if !self.followed.is_empty() && decoded.ty().bytes() == 8 => {
                match self.place(instr) {
                    Some((Space::Local, first)) => {
                        let slot = first.wrapping_add(8 * at as u64);
                        if self.follows(slot) {
                            self.slots.get(&slot).copied().unwrap_or_default()
                        } else {
                            Flat::Several
                        }
                    }
                    None if self.is_pending(instr.address) => Flat::Nothing,
                    _ => Flat::Several,
                }
            }
            _ => Flat::Several,
        };
        flat.cut(decoded.ty().bits())
    }

    /// Whether the value of a slot is followed.
    fn follows(&self, slot: u64) -> bool {
        let at = self.followed.partition_point(|(first, _)| *first <= slot);
        at.checked_sub(1).is_some_and(|at| slot.saturating_add(7) <= self.followed[at].1)
    }

    fn operand(&self, operand: &Operand) -> Flat {
        match operand {
            Operand::Register(register) => self.registers[register.index()],
            Operand::Constant(bits) => Flat::One(*bits),
            Operand::Variable { space, first, offset } if *space != Space::Shared => {
                Flat::One(first.wrapping_add_signed(*offset))
            }
            _ => Flat::Several,
        }
    }

    /// Whether nothing has defined the base of an address so far.
    fn is_pending(&self, address: Option<Address>) -> bool {
        let base = address.and_then(|written| written.base);
        base.is_some_and(|base| self.registers[base.index()] == Flat::Nothing)
    }

    /// Returns the space and address that an instruction accesses, if they are known; a generic address belongs to the
    /// window that it lies in.
    pub(super) fn place(&self, instr: &Instr) -> Option<(Space, u64)> {
        let address = instr.address?;
        let base = match address.base.map(|base| self.registers[base.index()]) {
            None => 0,
            Some(Flat::One(base)) => base,
            Some(_) => return None,
        };
        let at = base.wrapping_add(address.offset);
        match address.space {
            Space::Generic => {}
            // Local addresses have 32 bits.
            Space::Local => return Some((Space::Local, at & 0xffff_ffff)),
            space => return Some((space, at)),
        }
        let windows = [(Space::Local, LOCAL_WINDOW), (Space::Param, PARAM_WINDOW)];
        let within = |first: u64| at.checked_sub(first).filter(|at| *at < WINDOW);
        windows.into_iter().find_map(|(space, first)| Some((space, within(first)?)))
    }

    /// Whether an instruction accesses local memory at an address that is not known.
    pub(super) fn might_store_locally(&self, instr: &Instr) -> bool {
        let is_local = instr.address.is_some_and(|address| address.space == Space::Local);
        is_local && self.place(instr).is_none()
    }

    /// Returns the first byte and the size of each element that an instruction accesses in local memory at a known address.
    pub(super) fn elements(&self, instr: &Instr) -> Vec<(u64, u64)> {
        let (Some(decoded), Some((Space::Local, first))) = (instr.decoded(), self.place(instr))
        else {
            return Vec::new();
        };
        let bytes = u64::from(decoded.ty().bytes());
        let count = u64::from(decoded.vector());
        (0..count).map(|at| (first.wrapping_add(at * bytes), bytes)).collect()
    }
}

/// For each instruction, the first byte of the parameter bank that it accesses, if it is known.
pub(crate) fn known_parameters(program: &Program) -> Vec<Option<u64>> {
    let constants = Constants::of(program);
    let first = |instr: &Instr| match constants.place(instr)? {
        (Space::Param, first) => Some(first),
        _ => None,
    };
    program.code.iter().map(first).collect()
}

/// For each instruction, the first byte of local memory that it accesses, if that does not depend on the contents of
/// memory.
pub(crate) fn known_locals(program: &Program) -> Vec<Option<u64>> {
    let constants = Constants::following(program, Vec::new());
    let first = |instr: &Instr| match constants.place(instr)? {
        (Space::Local, first) => Some(first),
        _ => None,
    };
    program.code.iter().map(first).collect()
}
