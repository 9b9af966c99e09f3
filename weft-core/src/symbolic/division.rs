//! Quotients, remainders and bit fields as integers.

use super::assumption::ArithmeticAssumption;
use super::atom::{Atom, Expr};
use super::expr::ExprNode;
use super::poly::{Poly, Var};
use super::system::{Division, System};
use super::var_bounds::VarBounds;
use super::view::{Copy, Views};

/// The most highest bits that compilers leave out of a mask because a later shift, which scales an index to bytes, drops them.
const DROPPED: u32 = 4;

impl Views<'_> {
    /// The bits of a mask: of a mask of the lowest bits, the remainder; of one of all others, what is left; of a field, the
    /// remainder of what is left.
    pub(super) fn masked(&mut self, a: Expr, mask: u64, copy: Copy, bits: u32) -> Option<Poly> {
        let whole = self.ring(a, false, copy);
        let all = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        if mask & mask.wrapping_add(1) == 0 {
            return self.remainder(whole, mask.count_ones());
        }
        let low = !mask & all;
        if low & low.wrapping_add(1) == 0 {
            let low = self.remainder(whole.clone(), low.count_ones())?;
            return whole.minus(&low);
        }
        let first = mask.trailing_zeros();
        let field = mask >> first;
        // A mask of all but the lowest and a few highest bits rounds down. Its bits decide more than integers, of which it would
        // have to be assumed that they do not reach the highest bits.
        let is_rounded = first + field.count_ones() + DROPPED >= bits;
        if field & field.wrapping_add(1) != 0 || is_rounded {
            return None;
        }
        let weight = 1_i128.checked_shl(first)?;
        let (upper, _) = self.divided(whole, Poly::constant(weight))?;
        self.remainder(upper, field.count_ones())?.times(weight)
    }

    /// The lowest bits of an integer.
    pub(super) fn remainder(&mut self, of: Poly, bits: u32) -> Option<Poly> {
        Some(self.divided(of, Poly::constant(1_i128.checked_shl(bits)?))?.1)
    }

    /// `a | b` and `a ^ b` of numbers that share no bits: a multiple of a power of two, and one below it.
    pub(super) fn joined(&mut self, a: Expr, b: Expr, is_signed: bool, copy: Copy) -> Option<Poly> {
        for (high, low) in [(a, b), (b, a)] {
            let (upper, lower) = (self.ring(high, is_signed, copy), self.ring(low, false, copy));
            let power = match upper.content() {
                0 => return Some(lower),
                content => content & content.wrapping_neg(),
            };
            let range = self.system.range(&lower);
            let fits = range.least.is_some_and(|least| least >= 0)
                && range.most.is_some_and(|most| most < power);
            if fits {
                return upper.plus(&lower);
            }
        }
        None
    }

    /// Quotient and remainder of a floor division by a positive divisor.
    pub(super) fn divided(&mut self, dividend: Poly, divisor: Poly) -> Option<(Poly, Poly)> {
        if let Some(number) = divisor.as_constant() {
            if number < 1 {
                return None;
            }
            if let Some(exact) = split(&self.system, &dividend, number) {
                return Some(exact);
            }
            let (multiple, rest) = multiples(&dividend, number)?;
            if !multiple.is_zero() {
                let (quotient, remainder) = self.divided(rest, divisor)?;
                return Some((quotient.plus(&multiple)?, remainder));
            }
        } else {
            if let Some(digits) = self.digits(&dividend, &divisor) {
                return Some(digits);
            }
            self.grant_positive(&divisor)?;
        }
        let known = self
            .system
            .divisions
            .iter()
            .find(|known| known.dividend == dividend && known.divisor == divisor);
        if let Some(known) = known {
            return Some((known.quotient.clone(), known.remainder.clone()));
        }
        let nested = self.nested(&dividend, &divisor);
        Some(nested.unwrap_or_else(|| self.new_division(dividend, divisor)))
    }

    /// Quotient and remainder by a product of unknowns, if the terms that it divides and the rest are these.
    fn digits(&mut self, dividend: &Poly, divisor: &Poly) -> Option<(Poly, Poly)> {
        let (mut quotient, mut remainder) = (Poly::default(), Poly::default());
        for (monomial, coefficient) in dividend.terms() {
            let term = Poly::term(monomial.clone(), coefficient);
            match term.quotient_of_terms(divisor) {
                Some(digit) => quotient = quotient.plus(&digit)?,
                None => remainder = remainder.plus(&term)?,
            }
        }
        let room = divisor.minus(&remainder)?.minus(&Poly::constant(1))?;
        let fits = self.is_positive(&remainder) && self.is_positive(&room);
        fits.then_some((quotient, remainder))
    }

    /// Takes for granted that a divisor is positive, if that is not known: that it is not zero, or that the inputs whose
    /// product it is are sizes. `None` if it might be negative for other reasons.
    fn grant_positive(&mut self, divisor: &Poly) -> Option<()> {
        let above = divisor.minus(&Poly::constant(1))?;
        if self.is_positive(&above) {
            return Some(());
        }
        // Only a division that is carried out in any case tells something of its divisor.
        if self.choices > 0 {
            return None;
        }
        if self.system.range(divisor).least.is_none_or(|least| least < 0) {
            let (factors, _) = divisor.sole_term().filter(|(_, coefficient)| *coefficient > 0)?;
            let signed = factors.iter().filter(|var| !self.system.is_natural(**var));
            let signed: Vec<Var> = signed.copied().collect();
            if !signed.iter().all(|var| self.is_input(*var)) {
                return None;
            }
            self.assumed.insert(ArithmeticAssumption::PositiveDivisors);
            let one = Poly::constant(1);
            let facts = signed.iter().filter_map(|var| Poly::var(*var).minus(&one));
            self.system.conditions.positive.extend(facts);
        }
        self.assumed.insert(ArithmeticAssumption::NonzeroDivisors);
        self.system.conditions.positive.push(above);
        Some(())
    }

    /// Whether an unknown is an argument or the content of a buffer.
    fn is_input(&self, var: Var) -> bool {
        let is_atom = |of: Expr| {
            matches!(self.exprs().node(of), ExprNode::Atom(Atom::Argument(..) | Atom::Loaded(..)))
        };
        self.unknowns.iter().any(|((of, _), (own, _))| *own == var && is_atom(*of))
    }

    /// Quotient and remainder by `a * b`, from those of the same dividend by `a`, or the reverse: a quotient of a quotient is
    /// that by the product.
    fn nested(&mut self, dividend: &Poly, divisor: &Poly) -> Option<(Poly, Poly)> {
        let of_dividend = |known: &&Division| known.dividend == *dividend;
        let known: Vec<Division> =
            self.system.divisions.iter().filter(of_dividend).cloned().collect();
        known.into_iter().find_map(|known| {
            if let Some(factor) = divisor.quotient_of_terms(&known.divisor) {
                let (quotient, rest) = self.divided(known.quotient, factor)?;
                let remainder = rest.product(&known.divisor)?.plus(&known.remainder)?;
                return Some((quotient, remainder));
            }
            let factor = known.divisor.quotient_of_terms(divisor)?;
            let (rest, remainder) = self.divided(known.remainder, divisor.clone())?;
            // What is below `a * b` has a quotient by `a` that is below `b`.
            let below = factor.minus(&rest).and_then(|room| room.minus(&Poly::constant(1)));
            self.system.conditions.positive.extend(below);
            Some((known.quotient.product(&factor)?.plus(&rest)?, remainder))
        })
    }

    /// The range of a polynomial by its unknowns, and by facts that bound it as a whole, as that it fits in its width.
    fn stated_range(&self, of: &Poly) -> VarBounds {
        let facts = self.system.conditions.positive.iter();
        facts.fold(self.system.range(of), |range, fact| {
            let least = of.minus(fact).and_then(|number| number.as_constant());
            let most = of.plus(fact).and_then(|number| number.as_constant());
            range.and(VarBounds { least, most })
        })
    }

    pub(super) fn new_division(&mut self, dividend: Poly, divisor: Poly) -> (Poly, Poly) {
        let (of_dividend, of_divisor) = (self.stated_range(&dividend), self.system.range(&divisor));
        let is_natural = self.is_positive(&dividend);
        let natural = VarBounds { least: Some(0).filter(|_| is_natural), most: None };
        let quotient = self.unknown(of_dividend.divided(of_divisor).and(natural));
        let most = of_divisor.most.map(|most| most - 1);
        let remainder = self.unknown(VarBounds { least: Some(0), most });
        let below = divisor.minus(&remainder).and_then(|room| room.minus(&Poly::constant(1)));
        if divisor.as_constant().is_none() {
            self.system.conditions.positive.extend(below);
        }
        // What is left of the dividend is not negative.
        let rest = divisor.product(&quotient).and_then(|multiple| dividend.minus(&multiple));
        self.system.conditions.positive.extend(rest);
        if is_natural {
            self.system.conditions.positive.extend(dividend.minus(&remainder));
        }
        self.system.divisions.push(Division {
            dividend,
            divisor,
            quotient: quotient.clone(),
            remainder: remainder.clone(),
        });
        (quotient, remainder)
    }
}

/// Splits a dividend by a number, if the terms that the number divides and the rest are quotient and remainder.
fn split(system: &System, dividend: &Poly, number: i128) -> Option<(Poly, Poly)> {
    let (mut quotient, mut remainder) = (Poly::default(), Poly::default());
    for (monomial, coefficient) in dividend.terms() {
        let (high, low) = (coefficient.div_euclid(number), coefficient.rem_euclid(number));
        if monomial.is_empty() || low == 0 {
            quotient = quotient.plus(&Poly::term(monomial.clone(), high))?;
            remainder = remainder.plus(&Poly::term(monomial.clone(), low))?;
        } else {
            remainder = remainder.plus(&Poly::term(monomial.clone(), coefficient))?;
        }
    }
    let range = system.range(&remainder);
    let fits = range.least? >= 0 && range.most? < number;
    fits.then_some((quotient, remainder))
}

/// The terms with unknowns that a number divides, divided by it, and the rest.
fn multiples(of: &Poly, number: i128) -> Option<(Poly, Poly)> {
    let (mut multiple, mut rest) = (Poly::default(), Poly::default());
    for (monomial, coefficient) in of.terms() {
        if !monomial.is_empty() && coefficient % number == 0 {
            multiple = multiple.plus(&Poly::term(monomial.clone(), coefficient / number))?;
        } else {
            rest = rest.plus(&Poly::term(monomial.clone(), coefficient))?;
        }
    }
    Some((multiple, rest))
}
