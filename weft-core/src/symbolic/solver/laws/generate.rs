//! Random expressions, with the numbers and shapes at which arithmetic goes wrong more often than by chance.

use crate::symbolic::atom::Atom;
use crate::symbolic::expr::{BinaryOperator, Expr, Exprs};
use crate::symbolic::split_mix::SplitMix;

/// All operators.
pub(in crate::symbolic) const OPERATORS: [BinaryOperator; 17] = {
    use BinaryOperator::{
        Add, And, Ashr, Eq, Lshr, Mul, Or, Sdiv, Shl, Slt, SmulHigh, Srem, Udiv, Ult, UmulHigh,
        Urem, Xor,
    };
    [
        Add, Mul, UmulHigh, SmulHigh, And, Or, Xor, Udiv, Urem, Sdiv, Srem, Shl, Lshr, Ashr, Eq,
        Ult, Slt,
    ]
};

/// What random expressions are made of.
pub(super) struct Shape {
    pub(super) widths: &'static [u32],
    pub(super) atoms: u8,
    /// Whether atoms have all widths, or each its own.
    pub(super) mixes_widths: bool,
}

impl Shape {
    /// Returns the width of an atom, if each has its own.
    pub(super) fn width(&self, atom: u8) -> u32 {
        self.widths[usize::from(atom) % self.widths.len()]
    }

    fn atom(&self, exprs: &mut Exprs, random: &mut SplitMix, bits: u32) -> Expr {
        let number = u8::try_from(random.below(u64::from(self.atoms))).unwrap();
        if self.mixes_widths {
            return exprs.atom(Atom::Tid(number), bits);
        }
        let atom = exprs.atom(Atom::Tid(number), self.width(number));
        exprs.resized(atom, bits, random.below(2) == 0)
    }

    /// Returns an expression of `bits` bits.
    pub(super) fn expr(
        &self,
        exprs: &mut Exprs,
        random: &mut SplitMix,
        bits: u32,
        depth: u32,
    ) -> Expr {
        if depth == 0 || random.below(8) == 0 {
            return if random.below(3) == 0 {
                let number = random.number(bits);
                exprs.constant(number, bits)
            } else {
                self.atom(exprs, random, bits)
            };
        }
        let depth = depth - 1;
        match random.below(12) {
            0 => {
                let inner = self.expr(exprs, random, bits, depth);
                exprs.not(inner)
            }
            1 => {
                let condition = self.expr(exprs, random, 1, depth);
                let a = self.expr(exprs, random, bits, depth);
                let b = self.expr(exprs, random, bits, depth);
                exprs.ite(condition, a, b)
            }
            2 | 3 => {
                let own = random.one_of(self.widths);
                let inner = self.expr(exprs, random, own, depth);
                if own > bits {
                    let low = u32::try_from(random.below(u64::from(own - bits + 1))).unwrap();
                    exprs.extract(inner, low, bits)
                } else {
                    exprs.resized(inner, bits, random.below(2) == 0)
                }
            }
            _ => self.binary(exprs, random, bits, depth),
        }
    }

    fn binary(&self, exprs: &mut Exprs, random: &mut SplitMix, bits: u32, depth: u32) -> Expr {
        use BinaryOperator::{Add, Eq, Mul, Slt, Ult};
        let operator = match random.below(4) {
            0 => Add,
            1 => Mul,
            _ => random.one_of(&OPERATORS),
        };
        let is_comparison = matches!(operator, Eq | Ult | Slt);
        if is_comparison && bits > 1 {
            let predicate = self.predicate(exprs, random, depth);
            return exprs.resized(predicate, bits, false);
        }
        let own = if is_comparison { random.one_of(self.widths) } else { bits };
        let a = self.expr(exprs, random, own, depth);
        let b = self.expr(exprs, random, own, depth);
        exprs.binary(operator, a, b)
    }

    /// Returns an expression of one bit, mostly a comparison.
    pub(super) fn predicate(&self, exprs: &mut Exprs, random: &mut SplitMix, depth: u32) -> Expr {
        use BinaryOperator::{Eq, Slt, Ult};
        if random.below(6) == 0 {
            return self.expr(exprs, random, 1, depth);
        }
        let bits = random.one_of(self.widths);
        let a = self.expr(exprs, random, bits, depth);
        let b = self.expr(exprs, random, bits, depth);
        let predicate = exprs.binary(random.one_of(&[Eq, Eq, Ult, Ult, Slt]), a, b);
        if random.below(4) == 0 { exprs.not(predicate) } else { predicate }
    }
}
