//! What an instruction computes, as an expression: the arithmetic of integers and predicates, with the meaning that the
//! machine gives it (`emulate/ops`). What else is computed from constants is a constant; the rest is not followed.

use smallvec::{SmallVec, smallvec};

use super::atom::Atom;
use super::expr::BinaryOperator::{self, Add, And, Ashr, Eq, Lshr, Mul, Or, Shl, Slt, Ult, Xor};
use super::expr::{Expr, ExprNode, Exprs};
use crate::emulate::eval_lane;
use crate::ptx::Type;
use crate::ptx::isa::{Decoded, Effect, Modifier, Opcode};

/// The results of an instruction, by destination.
pub(super) type Lifted = SmallVec<[Expr; 2]>;

/// Returns the results of an instruction whose sources have these values; `None` if it is not followed. A source is
/// read in the width that the instruction states: truncated, or extended by zeros.
pub(super) fn lift(
    exprs: &mut Exprs,
    decoded: &Decoded,
    sources: &[Expr],
    dests: usize,
) -> Option<Lifted> {
    if decoded.row.effect != Effect::Compute || decoded.is_strange {
        return None;
    }
    let mut lift = Lift { exprs, decoded, sources };
    match decoded.row.opcode {
        Opcode::Mov => lift.mov(dests),
        Opcode::Setp => lift.setp(dests),
        _ if dests > 1 => None,
        _ => Some(smallvec![lift.one().or_else(|| lift.of_constants())?]),
    }
}

/// How a comparison is combined with a predicate.
const COMBINED: [Modifier; 3] = [Modifier::And, Modifier::Or, Modifier::Xor];

struct Lift<'a> {
    exprs: &'a mut Exprs,
    decoded: &'a Decoded,
    sources: &'a [Expr],
}

impl Lift<'_> {
    fn ty(&self) -> Type {
        self.decoded.ty()
    }

    fn has(&self, modifier: Modifier) -> bool {
        self.decoded.modifiers.has(modifier)
    }

    /// A source in a width.
    fn source(&mut self, at: usize, bits: u32) -> Option<Expr> {
        Some(self.exprs.resized(*self.sources.get(at)?, bits, false))
    }

    /// A source in the width of the instruction.
    fn arg(&mut self, at: usize) -> Option<Expr> {
        self.source(at, self.ty().bits())
    }

    fn binary(&mut self, operator: BinaryOperator) -> Option<Expr> {
        let (a, b) = (self.arg(0)?, self.arg(1)?);
        Some(self.exprs.binary(operator, a, b))
    }

    fn one(&mut self) -> Option<Expr> {
        let (ty, opcode) = (self.ty(), self.decoded.row.opcode);
        match opcode {
            Opcode::Selp => return self.selp(),
            Opcode::Cvta => return self.source(0, ty.bits()),
            Opcode::Cvt => return self.cvt(),
            _ => {}
        }
        let is_plain = is_integer(ty) && !self.has(Modifier::Sat) && !self.has(Modifier::Cc);
        if !is_plain {
            return None;
        }
        match opcode {
            Opcode::Add => self.binary(Add),
            Opcode::Sub => {
                let (a, b) = (self.arg(0)?, self.arg(1)?);
                Some(self.exprs.minus(a, b))
            }
            Opcode::Mul => self.product(),
            Opcode::Mad => {
                let product = self.product()?;
                let addend = self.source(2, self.exprs.bits(product))?;
                Some(self.exprs.binary(Add, product, addend))
            }
            Opcode::Div if ty.is_signed() => self.binary(BinaryOperator::Sdiv),
            Opcode::Div => self.binary(BinaryOperator::Udiv),
            Opcode::Rem if ty.is_signed() => self.binary(BinaryOperator::Srem),
            Opcode::Rem => self.binary(BinaryOperator::Urem),
            Opcode::Neg => {
                let a = self.arg(0)?;
                Some(self.exprs.negated(a))
            }
            Opcode::Abs => self.abs(),
            Opcode::Min | Opcode::Max if !self.has(Modifier::Relu) => self.bound(),
            _ => self.bitwise(),
        }
    }

    /// The value of an instruction of integers all of whose sources are constants.
    fn of_constants(&mut self) -> Option<Expr> {
        let sources: Option<SmallVec<[u64; 4]>> =
            self.sources.iter().map(|source| self.exprs.as_constant(*source)).collect();
        let (value, _) = eval_lane(self.decoded, &sources?).filter(|_| is_integer(self.ty()))?;
        Some(self.exprs.constant(value, 64))
    }

    fn bitwise(&mut self) -> Option<Expr> {
        match self.decoded.row.opcode {
            Opcode::And => self.binary(And),
            Opcode::Or => self.binary(Or),
            Opcode::Xor => self.binary(Xor),
            Opcode::Not => {
                let a = self.arg(0)?;
                Some(self.exprs.not(a))
            }
            Opcode::Shl => self.shift(Shl),
            Opcode::Shr if self.ty().is_signed() => self.shift(Ashr),
            Opcode::Shr => self.shift(Lshr),
            Opcode::Bfe => self.field(),
            Opcode::Lop3 => self.lop3(),
            _ => None,
        }
    }

    /// The product: its lower or its upper half, or all of it, for which both factors are extended first.
    fn product(&mut self) -> Option<Expr> {
        let (bits, is_signed) = (self.ty().bits(), self.ty().is_signed());
        let (mut a, mut b) = (self.arg(0)?, self.arg(1)?);
        if self.has(Modifier::Wide) {
            let wide = bits * 2;
            if wide > 64 {
                return None;
            }
            a = self.exprs.resized(a, wide, is_signed);
            b = self.exprs.resized(b, wide, is_signed);
        } else if self.has(Modifier::Hi) {
            let upper = if is_signed { BinaryOperator::SmulHigh } else { BinaryOperator::UmulHigh };
            return Some(self.exprs.binary(upper, a, b));
        }
        Some(self.exprs.binary(Mul, a, b))
    }

    fn abs(&mut self) -> Option<Expr> {
        let a = self.arg(0)?;
        let zero = self.exprs.constant(0, self.ty().bits());
        let is_negative = self.exprs.binary(Slt, a, zero);
        let minus = self.exprs.negated(a);
        Some(self.exprs.ite(is_negative, minus, a))
    }

    fn bound(&mut self) -> Option<Expr> {
        let (a, b) = (self.arg(0)?, self.arg(1)?);
        let less = self.exprs.binary(if self.ty().is_signed() { Slt } else { Ult }, a, b);
        let (then, otherwise) =
            if self.decoded.row.opcode == Opcode::Min { (a, b) } else { (b, a) };
        Some(self.exprs.ite(less, then, otherwise))
    }

    /// A shift; its amount always has 32 bits.
    fn shift(&mut self, operator: BinaryOperator) -> Option<Expr> {
        let bits = self.ty().bits();
        let (a, amount) = (self.arg(0)?, self.source(1, 32)?);
        let amount = match self.exprs.as_constant(amount) {
            Some(number) => self.exprs.constant(number.min(u64::from(bits)), bits),
            None if bits >= 32 => self.exprs.resized(amount, bits, false),
            None => return None,
        };
        Some(self.exprs.binary(operator, a, amount))
    }

    /// `bfe` of a constant field that lies within the operand.
    fn field(&mut self) -> Option<Expr> {
        let (bits, is_signed) = (self.ty().bits(), self.ty().is_signed());
        let a = self.arg(0)?;
        let mut number = |at: usize| {
            let source = self.source(at, 32)?;
            Some(u32::try_from(self.exprs.as_constant(source)? & 0xff).expect("eight bits"))
        };
        let (position, length) = (number(1)?, number(2)?);
        if length == 0 || position + length > bits {
            return None;
        }
        let part = self.exprs.extract(a, position, length);
        Some(self.exprs.resized(part, bits, is_signed))
    }

    /// `lop3` without a predicate: the minterms that its table has.
    fn lop3(&mut self) -> Option<Expr> {
        let table = *self.sources.get(3).filter(|_| self.sources.len() == 4)?;
        let table = self.exprs.as_constant(table)?;
        let sides = [self.arg(0)?, self.arg(1)?, self.arg(2)?];
        let mut all = self.exprs.constant(0, 32);
        for minterm in (0..8_u32).filter(|at| table >> at & 1 == 1) {
            let mut part = self.exprs.constant(u64::MAX, 32);
            for (side, bit) in sides.into_iter().zip([2, 1, 0]) {
                let side = if minterm >> bit & 1 == 1 { side } else { self.exprs.not(side) };
                part = self.exprs.binary(And, part, side);
            }
            all = self.exprs.binary(Or, all, part);
        }
        Some(all)
    }

    /// `cvt` between integers; a signed result is extended to the whole register, which can be wider than its type.
    fn cvt(&mut self) -> Option<Expr> {
        let (to, from) = (self.ty(), self.decoded.source_type());
        let is_plain = is_integer(to) && is_integer(from) && self.sources.len() == 1;
        if !is_plain || self.has(Modifier::Sat) || self.has(Modifier::Relu) {
            return None;
        }
        let narrow = self.source(0, from.bits())?;
        let result = self.exprs.resized(narrow, to.bits(), from.is_signed());
        Some(self.exprs.resized(
            result,
            if to.is_signed() { 64 } else { to.bits() },
            to.is_signed(),
        ))
    }

    fn selp(&mut self) -> Option<Expr> {
        let bits = self.ty().bits();
        let (a, b, condition) = (self.source(0, bits)?, self.source(1, bits)?, self.source(2, 1)?);
        Some(self.exprs.ite(condition, a, b))
    }

    /// `mov`, also to and from the parts of a vector.
    fn mov(&mut self, dests: usize) -> Option<Lifted> {
        let bits = self.ty().bits();
        if self.ty() == Type::B128 {
            return None;
        }
        let parts = |count: usize| u32::try_from(count).expect("vectors are short");
        match (self.sources.len(), dests) {
            (1, 0 | 1) => Some(smallvec![self.source(0, bits)?]),
            (1, _) => {
                let part = bits / parts(dests);
                let whole = self.source(0, bits)?;
                let each = (0..parts(dests)).map(|at| self.exprs.extract(whole, at * part, part));
                Some(each.collect())
            }
            (count @ 2..=8, 1) => {
                let part = bits / parts(count);
                let mut all = self.exprs.constant(0, bits);
                for at in 0..count {
                    let value = self.source(at, part)?;
                    let value = self.exprs.resized(value, bits, false);
                    let amount = self.exprs.constant(u64::from(parts(at) * part), bits);
                    let value = self.exprs.binary(Shl, value, amount);
                    all = self.exprs.binary(Or, all, value);
                }
                Some(smallvec![all])
            }
            _ => None,
        }
    }

    /// `setp` of integers: the comparison and its complement, each combined with the optional predicate.
    fn setp(&mut self, dests: usize) -> Option<Lifted> {
        if !is_integer(self.ty()) || self.ty() == Type::Pred {
            return None;
        }
        let holds = self.comparison()?;
        let mut all = Lifted::new();
        for holds in [holds, self.exprs.not(holds)].into_iter().take(dests.max(1)) {
            let combined = match self.sources.get(2) {
                None if self.decoded.modifiers.first_of(&COMBINED).is_some() => return None,
                None => holds,
                Some(_) => {
                    let predicate = self.source(2, 1)?;
                    let operator = match self.decoded.modifiers.first_of(&[
                        Modifier::And,
                        Modifier::Or,
                        Modifier::Xor,
                    ])? {
                        Modifier::And => And,
                        Modifier::Or => Or,
                        _ => Xor,
                    };
                    self.exprs.binary(operator, holds, predicate)
                }
            };
            all.push(combined);
        }
        Some(all)
    }

    fn comparison(&mut self) -> Option<Expr> {
        const OPERATORS: [Modifier; 10] = [
            Modifier::Eq,
            Modifier::Ne,
            Modifier::Lt,
            Modifier::Le,
            Modifier::Gt,
            Modifier::Ge,
            Modifier::Lo,
            Modifier::Ls,
            Modifier::Hi,
            Modifier::Hs,
        ];
        let less = if self.ty().is_signed() { Slt } else { Ult };
        let (a, b) = (self.arg(0)?, self.arg(1)?);
        let (operator, a, b, negated) = match self.decoded.modifiers.first_of(&OPERATORS)? {
            Modifier::Eq => (Eq, a, b, false),
            Modifier::Ne => (Eq, a, b, true),
            Modifier::Lt | Modifier::Lo => (less, a, b, false),
            Modifier::Le | Modifier::Ls => (less, b, a, true),
            Modifier::Gt | Modifier::Hi => (less, b, a, false),
            _ => (less, a, b, true),
        };
        let known = if operator == Eq { None } else { is_below(self.exprs, a, b) };
        let holds = match known {
            Some(is_below) => self.exprs.truth(is_below),
            None => self.exprs.binary(operator, a, b),
        };
        Some(if negated { self.exprs.not(holds) } else { holds })
    }
}

/// Whether `a` is below `b`, if one is an index of a thread and the other the extent of blocks in that dimension.
fn is_below(exprs: &Exprs, a: Expr, b: Expr) -> Option<bool> {
    let unextended = |of: Expr| match exprs.node(of) {
        ExprNode::Zext(inner) => exprs.node(inner),
        node => node,
    };
    match (unextended(a), unextended(b)) {
        (ExprNode::Atom(Atom::Tid(index)), ExprNode::Atom(Atom::Ntid(extent)))
            if index == extent =>
        {
            Some(true)
        }
        (ExprNode::Atom(Atom::Ntid(extent)), ExprNode::Atom(Atom::Tid(index)))
            if index == extent =>
        {
            Some(false)
        }
        _ => None,
    }
}

/// Whether a type is one of whole integers or bits.
fn is_integer(ty: Type) -> bool {
    let is_other =
        matches!(ty, Type::Other | Type::B128 | Type::U4 | Type::S4 | Type::U2 | Type::S2);
    !(ty.is_float() || ty.is_packed() || is_other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulate::truncate;
    use crate::ptx::isa::{self, FORMS};

    /// Numbers around the limits of the widths, and pseudorandom ones of all lengths.
    fn numbers(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let random = seed.rotate_left(20);
        match random % 5 {
            0 => random % 40,
            1 => (random % 9).wrapping_sub(4),
            2 => 1 << (random >> 8 & 63),
            _ => random >> (random & 63),
        }
    }

    /// What an instruction computes is what the machine computes, for every form and with sources that are atoms or
    /// constants.
    #[test]
    fn expressions_mean_what_the_machine_computes() {
        let (mut seed, mut lifted) = (0x9e37_79b9_7f4a_7c15_u64, 0);
        for mnemonic in FORMS.iter().flat_map(isa::Form::mnemonics) {
            let Some(decoded) = isa::decode(&mnemonic) else { continue };
            if decoded.row.opcode == Opcode::Cvta {
                // Addresses are bases and offsets here; in which window they lie does not matter.
                continue;
            }
            let count = decoded.row.shape.matches('s').count();
            for round in 0..60 {
                let values: Vec<u64> = (0..count).map(|_| numbers(&mut seed)).collect();
                let mut exprs = Exprs::default();
                let sources: Vec<Expr> = values
                    .iter()
                    .zip(0_u64..)
                    .map(|(value, at)| match round % 3 {
                        0 => exprs.constant(*value, 64),
                        1 if at > 0 => exprs.constant(*value, 64),
                        _ => exprs.atom(Atom::Argument(at, 8), 64),
                    })
                    .collect();
                let Some(results) = lift(&mut exprs, &decoded, &sources, 1) else { continue };
                let Some((expected, _)) = eval_lane(&decoded, &values) else { continue };
                let of = |atom: Atom| match atom {
                    Atom::Argument(at, _) => values[usize::try_from(at).expect("few operands")],
                    _ => 0,
                };
                lifted += 1;
                // A register has no bits beyond the width of what is written to it.
                let expected = truncate(expected, exprs.bits(results[0]));
                assert_eq!(exprs.value(results[0], &of), Some(expected), "{mnemonic} {values:x?}");
            }
        }
        assert!(lifted > 5000, "{lifted}");
    }
}
