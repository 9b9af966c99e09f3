//! What instructions that compute registers from registers make of pointer dependence.

use super::value::{ALL, Dependence};
use super::windows::Window;
use crate::flow::{self, Operand};
use crate::ptx::Space;
use crate::ptx::isa::{Decoded, Modifier, Opcode};

/// What an instruction computes with.
pub(super) struct Computation<'a> {
    pub(super) decoded: &'a Decoded,
    pub(super) operands: &'a [Operand],
    pub(super) values: &'a [Dependence],
    /// How many results there are.
    pub(super) parts: usize,
    /// The bases whose addresses have 32 bits.
    pub(super) narrow: u128,
    /// The bases that are functions.
    pub(super) functions: u128,
    pub(super) windows: &'a [Window],
}

/// So many bits, all 64 if that is not so few.
fn count(bits: u32) -> u8 {
    u8::try_from(bits).unwrap_or(64)
}

/// Bits of the largest constant.
fn width(bits: u64) -> u8 {
    count(u64::BITS - bits.leading_zeros())
}

/// The least number of bits without which a mask is the highest bits, as that of an alignment is.
fn is_alignment(mask: u64, bits: u8) -> Option<u8> {
    let ones = if bits >= ALL { u64::MAX } else { (1 << bits) - 1 };
    let low = ones & !mask;
    (low & low.wrapping_add(1) == 0 && mask & ones != 0).then_some(width(low))
}

impl Computation<'_> {
    /// The dependence of the result of this number.
    pub(super) fn result(&self, dest: usize) -> Dependence {
        if self.values.iter().any(Dependence::is_nothing) {
            return Dependence::default();
        }
        // The carry, or whether a lane gave something.
        if dest > 0 && self.decoded.row.opcode == Opcode::Shfl {
            return self.rest(1).mixed(1);
        }
        if dest > 0 && !matches!(self.decoded.row.opcode, Opcode::Mov | Opcode::Setp) {
            return self.any(ALL);
        }
        let is_wide = self.decoded.modifiers.has(Modifier::Wide);
        let bits = if is_wide { ALL } else { bits(self.decoded.ty().bits()) };
        self.computed(dest).truncated(bits, self.narrow)
    }

    fn computed(&self, dest: usize) -> Dependence {
        let decoded = self.decoded;
        let wide = u32::from(decoded.modifiers.has(Modifier::Wide)) + 1;
        let width = bits(decoded.ty().bits() * wide);
        let ty = decoded.ty();
        if ty.is_float() || ty.is_packed() || decoded.modifiers.has(Modifier::Sat) {
            return self.any(width);
        }
        match decoded.row.opcode {
            Opcode::Mov => self.moved(dest, width),
            Opcode::Cvta => self.converted(),
            Opcode::Cvt if !decoded.source_type().is_float() => {
                let source = self.of(0);
                // A sign that is extended fills the register.
                let may_be_negative = source.width >= bits(decoded.source_type().bits());
                if is_signed(decoded) && source.based == 0 && may_be_negative {
                    source.digits(ALL).wide(width)
                } else {
                    source
                }
            }
            Opcode::Shfl => self.of(0).choosing(self.rest(1)),
            Opcode::Selp | Opcode::Slct => self.of(0).join(self.of(1)).choosing(self.rest(2)),
            Opcode::Add => self.of(0).plus(self.of(1), width),
            Opcode::Sub => self.of(0).minus(self.of(1), width),
            Opcode::Mad if !decoded.modifiers.has(Modifier::Hi) => {
                self.of(0).join(self.of(1)).digits(width).plus(self.of_addend(), width)
            }
            Opcode::Mul if !decoded.modifiers.has(Modifier::Hi) => {
                self.of(0).join(self.of(1)).digits(width)
            }
            Opcode::Min | Opcode::Max => self.least_or_greatest(width),
            Opcode::Setp | Opcode::Set => {
                let is_equality =
                    decoded.modifiers.first_of(&[Modifier::Eq, Modifier::Ne]).is_some();
                if is_equality && self.asks_which_function() {
                    return Dependence::number(1);
                }
                let wrapping = if is_equality { 0 } else { self.narrow };
                self.of(0).compared(self.of(1), wrapping).join(self.rest(2).mixed(1))
            }
            Opcode::And => self.masked(width),
            Opcode::Or | Opcode::Xor => self.of(0).with_bits(self.of(1), width),
            Opcode::Not | Opcode::Neg => self.of(0).digits(width),
            Opcode::Lop3 => self.rest(0).digits(width),
            Opcode::Shl | Opcode::Shr | Opcode::Bfe | Opcode::Rem => self.by_a_constant(width),
            Opcode::Isspacep => self.asked(),
            _ => self.any(width),
        }
    }

    /// `cvta`, into the generic addresses or out of them.
    fn converted(&self) -> Dependence {
        let dependence = self.of(0);
        match self.windows.iter().find(|window| window.space == self.decoded.space) {
            Some(window) if self.decoded.modifiers.has(Modifier::To) => window.left(dependence),
            Some(window) => window.entered(dependence),
            None => dependence,
        }
    }

    /// `isspacep`, which has no type: what is in no window is in global memory.
    fn asked(&self) -> Dependence {
        let is_asked = |window: &&Window| {
            self.decoded.space == Space::Global || window.space == self.decoded.space
        };
        let windows = self.windows.iter().filter(is_asked);
        let dependence = self.values.first().copied().unwrap_or(Dependence::number(ALL));
        windows.fold(Dependence::number(1), |all, window| all.join(window.asked(dependence)))
    }

    /// Whether an address of functions is compared with one of them, or with null: the same wherever they lie.
    fn asks_which_function(&self) -> bool {
        let [dependence, _] = self.values else { return false };
        let is_function = dependence.read == 0 && dependence.based & !self.functions == 0;
        is_function
            && self.constant(1).is_some_and(|number| number == 0 || flow::is_function(number))
    }

    fn of(&self, at: usize) -> Dependence {
        let dependence = self.values.get(at).copied().unwrap_or(Dependence::number(ALL));
        dependence.truncated(bits(self.decoded.source_type().bits()), self.narrow)
    }

    /// The last operand of a product with a sum, which has the bits of the result.
    fn of_addend(&self) -> Dependence {
        let is_wide = self.decoded.modifiers.has(Modifier::Wide);
        let dependence = self.values.get(2).copied().unwrap_or(Dependence::number(ALL));
        if is_wide { dependence } else { self.of(2) }
    }

    /// One of all operands from one on.
    fn rest(&self, from: usize) -> Dependence {
        let all = self.values.get(from..).unwrap_or_default();
        all.iter().fold(Dependence::number(0), |dependence, other| dependence.join(*other))
    }

    /// What is computed from the operands in whatever way.
    fn any(&self, width: u8) -> Dependence {
        self.rest(0).mixed(width)
    }

    fn constant(&self, at: usize) -> Option<u64> {
        match self.operands.get(at) {
            Some(Operand::Constant(bits)) => Some(*bits),
            _ => None,
        }
    }

    /// `mov`, between registers or between a register and a vector of its parts.
    fn moved(&self, dest: usize, width: u8) -> Dependence {
        match self.values.len() {
            1 if self.parts > 1 => {
                let part = width / u8::try_from(self.parts).unwrap_or(1);
                let by = part.saturating_mul(u8::try_from(dest).unwrap_or(ALL));
                let rest = if by == 0 { self.of(0) } else { self.of(0).shifted(by) };
                rest.truncated(part, self.narrow)
            }
            1 => self.of(0),
            _ => self.rest(0).digits(width),
        }
    }

    fn least_or_greatest(&self, width: u8) -> Dependence {
        let (first, second) = (self.of(0), self.of(1));
        if self.values.len() == 2
            && first.certain().is_some()
            && first.certain() == second.certain()
        {
            return first.join(second).choosing(first.compared(second, self.narrow));
        }
        self.any(width)
    }

    fn masked(&self, width: u8) -> Dependence {
        let (first, second) = (self.of(0), self.of(1));
        for (at, other) in [(0, second), (1, first)] {
            if let Some(low) = self.constant(at).and_then(|mask| is_alignment(mask, width)) {
                return other.rounded(low);
            }
        }
        // Of a mask that is no address, nothing is higher.
        let numbers = [first, second].into_iter().filter(|dependence| dependence.based == 0);
        let most = numbers.map(|stored_dependence| stored_dependence.width).min().unwrap_or(width);
        first.join(second).digits(width).below(most)
    }

    /// Shifts, fields and remainders by a constant.
    fn by_a_constant(&self, width: u8) -> Dependence {
        let value = self.of(0);
        let small = |at| self.constant(at).and_then(|number| u8::try_from(number).ok());
        match (self.decoded.row.opcode, small(1), small(2)) {
            (Opcode::Shl, Some(by), _) => {
                let most = value.width.saturating_add(by).min(width);
                value.digits(width).below(most)
            }
            (Opcode::Shr, Some(by), _) if is_signed(self.decoded) => value.shifted(by).wide(width),
            (Opcode::Shr, Some(by), _) => value.shifted(by),
            (Opcode::Bfe, Some(by), Some(_)) if is_signed(self.decoded) => {
                value.shifted(by).wide(width)
            }
            (Opcode::Bfe, Some(by), Some(count)) => value.shifted(by).below(count),
            _ => match self.constant(1).filter(|factor| factor.is_power_of_two()) {
                Some(modulus)
                    if self.decoded.row.opcode == Opcode::Rem && !is_signed(self.decoded) =>
                {
                    value.digits(width).below(self::count(modulus.trailing_zeros()))
                }
                _ => self.any(width),
            },
        }
    }
}

/// The bits of a type.
fn bits(bits: u32) -> u8 {
    u8::try_from(bits).unwrap_or(ALL).min(ALL)
}

fn is_signed(decoded: &Decoded) -> bool {
    decoded.source_type().is_signed()
}
