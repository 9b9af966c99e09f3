//! The pointer dependence of the results of instructions that compute registers from registers.

use super::value::{ALL, Dependence};
use super::windows::Window;
use crate::flow::{self, Operand};
use crate::ptx::Space;
use crate::ptx::isa::{Decoded, Modifier, Opcode};

/// An instruction and the dependences of its operands.
pub(super) struct Computation<'a> {
    pub(super) decoded: &'a Decoded,
    pub(super) operands: &'a [Operand],
    pub(super) values: &'a [Dependence],
    /// The number of its results.
    pub(super) parts: usize,
    /// The set of bases whose addresses have 32 bits.
    pub(super) narrow: u128,
    /// The set of bases that are functions.
    pub(super) functions: u128,
    pub(super) windows: &'a [Window],
}

/// Converts a count of bits; more than 255 count as 64.
fn count(bits: u32) -> u8 {
    u8::try_from(bits).unwrap_or(64)
}

/// Returns the number of bits that a number needs.
fn width(bits: u64) -> u8 {
    count(u64::BITS - bits.leading_zeros())
}

/// Returns the number of low bits that a mask clears, if it keeps all higher ones, as the mask of an alignment does.
fn is_alignment(mask: u64, bits: u8) -> Option<u8> {
    let ones = if bits >= ALL { u64::MAX } else { (1 << bits) - 1 };
    let low = ones & !mask;
    (low & low.wrapping_add(1) == 0 && mask & ones != 0).then_some(width(low))
}

impl Computation<'_> {
    /// Returns the dependence of the result number `dest`.
    pub(super) fn result(&self, dest: usize) -> Dependence {
        if self.values.iter().any(Dependence::is_nothing) {
            return Dependence::default();
        }
        // For `shfl`, the second result is whether the source lane is in range; for other instructions, it is the
        // carry.
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
                // An extended sign fills the register.
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

    /// Returns the result of `cvta`, to generic addresses or from them.
    fn converted(&self) -> Dependence {
        let dependence = self.of(0);
        match self.windows.iter().find(|window| window.space == self.decoded.space) {
            Some(window) if self.decoded.modifiers.has(Modifier::To) => window.left(dependence),
            Some(window) => window.entered(dependence),
            None => dependence,
        }
    }

    /// Returns the result of `isspacep`, which has no type: an address that is in no window is in global memory.
    fn asked(&self) -> Dependence {
        let is_asked = |window: &&Window| {
            self.decoded.space == Space::Global || window.space == self.decoded.space
        };
        let windows = self.windows.iter().filter(is_asked);
        let dependence = self.values.first().copied().unwrap_or(Dependence::number(ALL));
        windows.fold(Dependence::number(1), |all, window| all.join(window.asked(dependence)))
    }

    /// Whether the address of a function is compared with the address of a function, or with null: the result is the
    /// same wherever functions lie.
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

    /// Returns the addend of a `mad`, which has as many bits as the result.
    fn of_addend(&self) -> Dependence {
        let is_wide = self.decoded.modifiers.has(Modifier::Wide);
        let dependence = self.values.get(2).copied().unwrap_or(Dependence::number(ALL));
        if is_wide { dependence } else { self.of(2) }
    }

    /// Returns the join of all operands from number `from` on.
    fn rest(&self, from: usize) -> Dependence {
        let all = self.values.get(from..).unwrap_or_default();
        all.iter().fold(Dependence::number(0), |dependence, other| dependence.join(*other))
    }

    /// Returns the dependence of a value computed from all operands in any way.
    fn any(&self, width: u8) -> Dependence {
        self.rest(0).mixed(width)
    }

    fn constant(&self, at: usize) -> Option<u64> {
        match self.operands.get(at) {
            Some(Operand::Constant(bits)) => Some(*bits),
            _ => None,
        }
    }

    /// Returns the result of `mov`, between registers, or between a register and a vector of its parts.
    fn moved(&self, dest: usize, width: u8) -> Dependence {
        match self.values.len() {
            1 if self.parts > 1 => {
                let part = width / u8::try_from(self.parts).expect("vectors are short");
                let by = part.saturating_mul(u8::try_from(dest).expect("few operands"));
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
        // The result has no more bits than an operand that is not an address.
        let numbers = [first, second].into_iter().filter(|dependence| dependence.based == 0);
        let most = numbers.map(|stored_dependence| stored_dependence.width).min().unwrap_or(width);
        first.join(second).digits(width).below(most)
    }

    /// Returns the result of a shift, field extraction or remainder by a constant.
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

/// Returns the number of bits of a type, at most `ALL`.
fn bits(bits: u32) -> u8 {
    u8::try_from(bits).unwrap_or(ALL).min(ALL)
}

fn is_signed(decoded: &Decoded) -> bool {
    decoded.source_type().is_signed()
}
