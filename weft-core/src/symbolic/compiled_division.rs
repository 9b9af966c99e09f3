//! Divisions as compilers carry them out: by numbers as products with a reciprocal (Granlund, Montgomery: Division by
//! invariant integers using multiplication, PLDI 1994), and in fewer bits where the operands fit.

use super::expr::BinaryOperator::{
    self, Add, And, Ashr, Eq, Lshr, Mul, Or, Sdiv, SmulHigh, Srem, Udiv, UmulHigh, Urem,
};
use super::expr::{Expr, ExprNode, Exprs};
use crate::emulate::signed;

impl Exprs {
    /// Returns the division by a number that an operation carries out; `None` if it is none.
    pub(super) fn division_by_number(
        &mut self,
        operator: BinaryOperator,
        a: Expr,
        b: Expr,
    ) -> Option<Expr> {
        match operator {
            UmulHigh => self.quotient(a, self.as_constant(b)?.into(), 0),
            Lshr => {
                let amount = u32::try_from(self.as_constant(b)?).ok()?;
                self.shifted_product(a, amount)
            }
            Add => self.signed_quotient(a, b).or_else(|| self.signed_quotient(b, a)),
            _ => None,
        }
    }

    /// A product with a reciprocal without sign, shifted down.
    fn shifted_product(&mut self, of: Expr, amount: u32) -> Option<Expr> {
        let ExprNode::Binary(operator, a, b) = self.node(of) else { return None };
        let bits = self.bits(of);
        match operator {
            UmulHigh => self.quotient(a, self.as_constant(b)?.into(), amount),
            // A product of twice the width.
            Mul => {
                let half = bits / 2;
                let ExprNode::Zext(factor) = self.node(a) else { return None };
                let reciprocal = self.as_constant(b).filter(|number| *number >> half == 0)?;
                let amount = amount.checked_sub(half)?;
                if self.bits(factor) > half || 2 * half != bits {
                    return None;
                }
                let factor = self.resized(factor, half, false);
                let reciprocal = self.constant(reciprocal, half);
                let upper = self.binary(UmulHigh, factor, reciprocal);
                let amount = self.constant(amount.into(), half);
                let quotient = self.binary(Lshr, upper, amount);
                Some(self.resized(quotient, bits, false))
            }
            Add => self.long_quotient(a, b, amount).or_else(|| self.long_quotient(b, a, amount)),
            _ => None,
        }
    }

    /// `(((x - t) >> 1) + t) >> amount`, where `t` is the upper half of a product: the reciprocal has a bit more than fits.
    fn long_quotient(&mut self, half: Expr, upper: Expr, amount: u32) -> Option<Expr> {
        let ExprNode::Binary(UmulHigh, x, reciprocal) = self.node(upper) else { return None };
        let reciprocal = self.as_constant(reciprocal)?;
        let ExprNode::Binary(Lshr, rest, one) = self.node(half) else { return None };
        let is_rest = self.as_constant(one) == Some(1) && rest == self.minus(x, upper);
        let reciprocal = u128::from(reciprocal) + (1 << self.bits(x));
        self.quotient(x, reciprocal, amount + 1).filter(|_| is_rest)
    }

    /// `(x * reciprocal) >> (bits + amount)`, if that is a quotient for every `x` of the width.
    fn quotient(&mut self, x: Expr, reciprocal: u128, amount: u32) -> Option<Expr> {
        let bits = self.bits(x);
        if bits < 8 || amount >= bits {
            return None;
        }
        let (divisor, excess) = divisor(reciprocal, bits + amount)?;
        let divisor = u64::try_from(divisor).ok().filter(|_| excess <= 1 << amount)?;
        let divisor = self.constant_within(divisor, bits)?;
        Some(self.binary(Udiv, x, divisor))
    }

    /// `(y >> amount) + sign`, where `y` is the upper half of a product with sign, and `sign` is 1 if it is negative.
    fn signed_quotient(&mut self, shifted: Expr, sign: Expr) -> Option<Expr> {
        let ExprNode::Binary(Lshr, y, all_but_one) = self.node(sign) else { return None };
        let bits = self.bits(y);
        if bits < 8 || self.as_constant(all_but_one)? != u64::from(bits - 1) {
            return None;
        }
        let amount = match self.node(shifted) {
            _ if shifted == y => 0,
            ExprNode::Binary(Ashr, of, amount) if of == y => {
                u32::try_from(self.as_constant(amount)?).ok().filter(|amount| *amount < bits)?
            }
            _ => return None,
        };
        let (x, reciprocal) = self.signed_product(y)?;
        let (divisor, excess) = divisor(reciprocal, bits + amount)?;
        let is_exact = excess >= 1 && excess <= 2 << amount;
        let divisor = u64::try_from(divisor).ok().filter(|_| is_exact)?;
        let divisor = self.constant_within(divisor, bits - 1)?;
        let divisor = self.resized(divisor, bits, false);
        Some(self.binary(Sdiv, x, divisor))
    }

    /// The factor and the reciprocal of the upper half of a product with sign: if the reciprocal needs all bits, it is
    /// negative as a number with sign, and the factor is added once more.
    fn signed_product(&self, y: Expr) -> Option<(Expr, u128)> {
        let upper = |of: Expr| match self.node(of) {
            ExprNode::Binary(SmulHigh, x, reciprocal) => Some((x, self.as_constant(reciprocal)?)),
            _ => None,
        };
        let is_negative = |number: u64| signed(number, self.bits(y)) < 0;
        if let Some((x, reciprocal)) = upper(y) {
            return (!is_negative(reciprocal)).then(|| (x, reciprocal.into()));
        }
        let ExprNode::Binary(Add, a, b) = self.node(y) else { return None };
        let of = |half: Expr, addend: Expr| {
            upper(half).filter(|(x, reciprocal)| *x == addend && is_negative(*reciprocal))
        };
        of(a, b).or_else(|| of(b, a)).map(|(x, reciprocal)| (x, reciprocal.into()))
    }

    /// A number, if it fits in a width.
    fn constant_within(&mut self, value: u64, bits: u32) -> Option<Expr> {
        (bits == 64 || value >> bits == 0).then(|| self.constant(value, bits))
    }

    /// Returns a division of 64 bits that is carried out in 32 bits, `short`, if the operands fit, and else in all, `long`.
    pub(super) fn division_in_two_widths(
        &mut self,
        fit: Expr,
        short: Expr,
        long: Expr,
    ) -> Option<Expr> {
        let ExprNode::Zext(short) = self.node(short) else { return None };
        if self.bits(long) != 64 || self.bits(short) != 32 {
            return None;
        }
        let operands = self.divided_or_left(long)?;
        let [x, y] = operands.map(|operand| self.resized(operand, 32, false));
        let quotient = self.binary(Udiv, x, y);
        let expected = match self.node(long) {
            ExprNode::Binary(Udiv | Sdiv, ..) => quotient,
            ExprNode::Binary(Urem | Srem, ..) => self.binary(Urem, x, y),
            _ => {
                let multiple = self.binary(Mul, quotient, y);
                self.minus(x, multiple)
            }
        };
        (short == expected && self.fit_in_32_bits(operands, fit)).then_some(long)
    }

    /// The operands of a division whose quotient, whose remainder, or the dividend less quotient times divisor is given.
    fn divided_or_left(&self, of: Expr) -> Option<[Expr; 2]> {
        let ExprNode::Binary(operator, a, b) = self.node(of) else { return None };
        let left = |x: Expr, rest: Expr| {
            let ExprNode::Binary(Mul, multiple, minus_one) = self.node(rest) else { return None };
            let ExprNode::Binary(Mul, a, b) = self.node(multiple) else { return None };
            let is_minus = self.as_constant(minus_one) == Some(u64::MAX);
            let is_quotient = |quotient: Expr, y: Expr| match self.node(quotient) {
                ExprNode::Binary(Udiv | Sdiv, own, by) => own == x && by == y,
                _ => false,
            };
            let divisor = [(a, b), (b, a)].into_iter().find(|(q, y)| is_quotient(*q, *y));
            divisor.filter(|_| is_minus).map(|(_, y)| [x, y])
        };
        match operator {
            Udiv | Sdiv | Urem | Srem => Some([a, b]),
            Add => left(a, b).or_else(|| left(b, a)),
            _ => None,
        }
    }

    /// Whether operands have no bits above the lowest 32 where a predicate holds.
    fn fit_in_32_bits(&self, operands: [Expr; 2], fit: Expr) -> bool {
        const UPPER: u64 = !0 << 32;
        let tested = || {
            let ExprNode::Binary(Eq, upper, zero) = self.node(fit) else { return None };
            let ExprNode::Binary(And, tested, mask) = self.node(upper) else { return None };
            let is_test =
                self.as_constant(zero) == Some(0) && self.as_constant(mask) == Some(UPPER);
            is_test.then(|| match self.node(tested) {
                ExprNode::Binary(Or, a, b) => [a, b],
                _ => [tested; 2],
            })
        };
        let Some(tested) = tested() else { return false };
        operands.into_iter().all(|operand| match self.node(operand) {
            _ if tested.contains(&operand) => true,
            ExprNode::Zext(inner) => self.bits(inner) <= 32,
            ExprNode::Constant(value) => value & UPPER == 0,
            _ => false,
        })
    }
}

/// The divisor of which a number is the reciprocal, times `2^power` and rounded up, and by how much their product exceeds
/// `2^power`.
fn divisor(reciprocal: u128, power: u32) -> Option<(u128, u128)> {
    let one = 1_u128.checked_shl(power)?;
    let divisor = one.checked_div(reciprocal)? + u128::from(one % reciprocal != 0);
    let excess = divisor.checked_mul(reciprocal)? - one;
    (divisor > 1).then_some((divisor, excess))
}

#[cfg(test)]
mod tests {
    use super::super::atom::Atom;
    use super::super::split_mix::SplitMix;
    use super::*;

    /// Whether an expression is a division.
    fn divides(exprs: &Exprs, of: Expr) -> bool {
        match exprs.node(of) {
            ExprNode::Zext(inner) => divides(exprs, inner),
            node => matches!(node, ExprNode::Binary(Udiv | Sdiv | Urem | Srem, ..)),
        }
    }

    /// The number of ways in which `product` multiplies.
    const WAYS: u32 = 5;

    /// A number times a reciprocal, shifted down, in one of the ways in which compilers divide.
    fn product(exprs: &mut Exprs, x: Expr, way: u32, (reciprocal, amount): (u64, u32)) -> Expr {
        let bits = exprs.bits(x);
        let is_signed = way >= 3;
        let factor = exprs.constant(reciprocal, bits);
        let upper = exprs.binary(if is_signed { SmulHigh } else { UmulHigh }, x, factor);
        let shift = exprs.constant(amount.into(), bits);
        match way {
            0 => exprs.binary(Lshr, upper, shift),
            1 => {
                let (x, factor) =
                    (exprs.resized(x, 2 * bits, false), exprs.constant(reciprocal, 2 * bits));
                let product = exprs.binary(Mul, x, factor);
                let shift = exprs.constant(u64::from(bits + amount), 2 * bits);
                exprs.binary(Lshr, product, shift)
            }
            2 => {
                let (rest, one) = (exprs.minus(x, upper), exprs.constant(1, bits));
                let half = exprs.binary(Lshr, rest, one);
                let sum = exprs.binary(Add, half, upper);
                exprs.binary(Lshr, sum, shift)
            }
            _ => {
                let y = if way == 4 { exprs.binary(Add, upper, x) } else { upper };
                let all_but_one = exprs.constant(u64::from(bits - 1), bits);
                let shifted = exprs.binary(Ashr, y, shift);
                let sign = exprs.binary(Lshr, y, all_but_one);
                exprs.binary(Add, shifted, sign)
            }
        }
    }

    /// Checks that the product of an unknown has the value of the product of each number, which is computed step by step.
    /// Returns whether it is a division.
    fn is_division(
        bits: u32,
        way: u32,
        by: (u64, u32),
        numbers: impl Iterator<Item = u64>,
    ) -> bool {
        let exprs = &mut Exprs::default();
        let unknown = exprs.atom(Atom::Tid(0), bits);
        let general = product(exprs, unknown, way, by);
        let is_division = divides(exprs, general);
        for number in numbers.take(if is_division { usize::MAX } else { 2 }) {
            let operand = exprs.constant(number, bits);
            let one = product(exprs, operand, way, by);
            let value = exprs.value(general, &|_| number);
            assert_eq!(value, exprs.as_constant(one), "{number} in {bits} bits: {way} {by:?}");
        }
        is_division
    }

    #[test]
    fn a_product_is_a_division_only_if_it_is_one_for_all_numbers() {
        for way in 0..WAYS {
            let factors =
                (0..256_u64).flat_map(|factor| (0..8).map(move |amount| (factor, amount)));
            let found = factors.filter(|by| is_division(8, way, *by, 0..256)).count();
            assert!(found > 20, "{found} divisions by {way}");
        }
    }

    #[test]
    fn long_products_are_divisions_at_the_limits_too() {
        let random = &mut SplitMix(7);
        let mut found = 0;
        for round in 0..4000_u64 {
            let bits = if round % 2 == 0 { 32 } else { 64 };
            let way = u32::try_from(random.below(u64::from(WAYS))).unwrap();
            if way == 1 && bits == 64 {
                continue;
            }
            let divisor = 2 + random.below(300);
            let length = u64::BITS - divisor.leading_zeros();
            let amount = length.saturating_sub(u32::try_from(random.below(3)).unwrap());
            // Rounded up, without the bit that does not fit.
            let exact = (1_u128 << (bits + amount)).div_ceil(u128::from(divisor));
            let off = u128::from(random.below(8) == 0);
            let mask = (1_u128 << bits) - 1;
            let reciprocal = u64::try_from((exact + off) & mask).unwrap();
            let amount = if way == 2 { amount.saturating_sub(1) } else { amount };
            let mut numbers = Vec::new();
            for _ in 0..20 {
                let number = random.number(bits);
                let multiple = number / divisor * divisor;
                numbers.extend([
                    number,
                    multiple,
                    multiple.wrapping_sub(1),
                    multiple.wrapping_add(1),
                ]);
            }
            found += u32::from(is_division(bits, way, (reciprocal, amount), numbers.into_iter()));
        }
        assert!(found > 500, "{found}");
    }

    #[test]
    fn a_division_in_two_widths_is_one_division() {
        let random = &mut SplitMix(3);
        let mut found = 0;
        for _ in 0..2000 {
            let values = [random.number(64), random.number(64).max(1)];
            let operators = [(Udiv, Udiv), (Urem, Urem), (Udiv, Sdiv), (Urem, Srem), (Udiv, Urem)];
            let (short, long) = operators[usize::try_from(random.below(5)).unwrap()];
            let (tests, is_rest) = (random.below(3), random.below(2) == 0);
            let result = |exprs: &mut Exprs, operator: BinaryOperator, x: Expr, y: Expr| {
                let result = exprs.binary(operator, x, y);
                if !is_rest {
                    return result;
                }
                let multiple = exprs.binary(Mul, result, y);
                exprs.minus(x, multiple)
            };
            let build = |exprs: &mut Exprs, x: Expr, y: Expr| {
                let [low_x, low_y] = [x, y].map(|operand| exprs.resized(operand, 32, false));
                let short = result(exprs, short, low_x, low_y);
                let (short, long) = (exprs.resized(short, 64, false), result(exprs, long, x, y));
                let tested = match tests {
                    0 => exprs.binary(Or, x, y),
                    _ => x,
                };
                let upper = exprs.constant(!0 << 32, 64);
                let (upper, zero) = (exprs.binary(And, tested, upper), exprs.constant(0, 64));
                let fits = exprs.binary(Eq, upper, zero);
                exprs.ite(fits, short, long)
            };
            let exprs = &mut Exprs::default();
            let x = exprs.atom(Atom::Tid(0), 64);
            let y = exprs.atom(Atom::Tid(1), if tests == 2 { 32 } else { 64 });
            let values = [values[0], if tests == 2 { values[1] % (1 << 32) } else { values[1] }];
            let y = exprs.resized(y, 64, false);
            let general = build(exprs, x, y);
            let [a, b] = values.map(|value| exprs.constant(value, 64));
            let one = build(exprs, a, b);
            let of = |atom: Atom| values[usize::from(atom == Atom::Tid(1))];
            let is_divided_by_zero = values[1].is_multiple_of(1 << 32);
            if !is_divided_by_zero {
                assert_eq!(exprs.value(general, &of), exprs.as_constant(one), "{values:?}");
            }
            found += u32::from(!matches!(exprs.node(general), ExprNode::Ite(..)));
        }
        assert!(found > 300, "{found}");
    }
}
