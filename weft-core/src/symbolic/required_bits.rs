//! What the requirements of a launch say about the bits of a question. Their numbers are mathematical integers: a clause is
//! added only if none of its numbers can leave 64 bits.

use super::atom::Atom;
use super::expr::{BinaryOperator, Expr};
use super::pair_query::PairQuery;
use super::required::RequiredFacts;
use super::view::Copy;
use crate::launch::ExtentBound;
use crate::launch::requires::{
    Arithmetic, Clause, Comparison, Interval, LaunchVariable, Quantity, Requirement,
};

/// An integer: what it is modulo `2^64`, and a range that it is in.
#[derive(Clone, Copy)]
struct RequiredNumber {
    low_bits: Expr,
    range: Interval,
}

impl RequiredNumber {
    fn is_in(self, bounds: Interval) -> bool {
        self.range.low >= bounds.low && self.range.high <= bounds.high
    }
}

impl PairQuery<'_> {
    /// Adds what the launch is required to fulfil. A clause without an exact form is left out.
    pub(super) fn require(&mut self, required: &RequiredFacts) {
        for clause in required.requirements.iter().flat_map(Requirement::clauses) {
            let fact = self.clause(required, clause);
            self.conditions.extend(fact);
        }
    }

    fn clause(&mut self, required: &RequiredFacts, clause: &Clause) -> Option<Expr> {
        match clause {
            Clause::PowerOfTwo(quantity) => {
                let number = self.number(required, quantity)?;
                if !number.is_in(Interval { low: 0, high: u64::MAX.into() }) {
                    return None;
                }
                let (zero, minus_one) = (self.constant(0, 64), self.constant(u64::MAX, 64));
                let below = self.binary(BinaryOperator::Add, number.low_bits, minus_one);
                let common = self.binary(BinaryOperator::And, number.low_bits, below);
                let has_one_bit = self.binary(BinaryOperator::Eq, common, zero);
                let is_some = self.binary(BinaryOperator::Ult, zero, number.low_bits);
                Some(self.binary(BinaryOperator::And, has_one_bit, is_some))
            }
            Clause::Compare(a, comparison, b) => {
                let (a, b) = (self.number(required, a)?, self.number(required, b)?);
                self.compared(a, *comparison, b)
            }
        }
    }

    fn compared(
        &mut self,
        a: RequiredNumber,
        comparison: Comparison,
        b: RequiredNumber,
    ) -> Option<Expr> {
        let are_in = |bounds: Interval| a.is_in(bounds) && b.is_in(bounds);
        let less = if are_in(Interval::of_integer(64, true)) {
            BinaryOperator::Slt
        } else if are_in(Interval::of_integer(64, false)) {
            BinaryOperator::Ult
        } else {
            return None;
        };
        let (a, b) = (a.low_bits, b.low_bits);
        let (operator, x, y, holds) = match comparison {
            Comparison::Equal => (BinaryOperator::Eq, a, b, true),
            Comparison::NotEqual => (BinaryOperator::Eq, a, b, false),
            Comparison::Less => (less, a, b, true),
            Comparison::LessOrEqual => (less, b, a, false),
            Comparison::Greater => (less, b, a, true),
            Comparison::GreaterOrEqual => (less, a, b, false),
        };
        let fact = self.binary(operator, x, y);
        Some(if holds { fact } else { self.copies.exprs.not(fact) })
    }

    fn number(&mut self, required: &RequiredFacts, of: &Quantity) -> Option<RequiredNumber> {
        match of {
            Quantity::Number(number) => Some(RequiredNumber {
                low_bits: self.constant(*number, 64),
                range: Interval::point(i128::from(*number)),
            }),
            Quantity::Variable(variable) => self.required_variable(required, variable),
            Quantity::Negated(inner) => {
                let inner = self.number(required, inner)?;
                let Interval { low, high } = inner.range;
                let range = Interval { low: high.checked_neg()?, high: low.checked_neg()? };
                Some(RequiredNumber { low_bits: self.copies.exprs.negated(inner.low_bits), range })
            }
            Quantity::Combined(a, arithmetic, b) => {
                let (a, b) = (self.number(required, a)?, self.number(required, b)?);
                self.combined(a, *arithmetic, b)
            }
        }
    }

    fn combined(
        &mut self,
        a: RequiredNumber,
        arithmetic: Arithmetic,
        b: RequiredNumber,
    ) -> Option<RequiredNumber> {
        let (x, y) = (a.range, b.range);
        let is_divided = a.is_in(Interval { low: 0, high: u64::MAX.into() })
            && b.is_in(Interval { low: 1, high: u64::MAX.into() });
        let (operator, low, high) = match arithmetic {
            Arithmetic::Add => {
                (BinaryOperator::Add, x.low.checked_add(y.low)?, x.high.checked_add(y.high)?)
            }
            Arithmetic::Sub => {
                let low_bits = self.copies.exprs.minus(a.low_bits, b.low_bits);
                let low = x.low.checked_sub(y.high)?;
                let high = x.high.checked_sub(y.low)?;
                return Some(RequiredNumber { low_bits, range: Interval { low, high } });
            }
            Arithmetic::Mul => {
                let corner = |p: i128, q: i128| p.checked_mul(q);
                let corners = [
                    corner(x.low, y.low)?,
                    corner(x.low, y.high)?,
                    corner(x.high, y.low)?,
                    corner(x.high, y.high)?,
                ];
                (BinaryOperator::Mul, *corners.iter().min()?, *corners.iter().max()?)
            }
            Arithmetic::Div if is_divided => (BinaryOperator::Udiv, 0, x.high),
            Arithmetic::Rem if is_divided => (BinaryOperator::Urem, 0, x.high.min(y.high - 1)),
            Arithmetic::Div | Arithmetic::Rem => return None,
        };
        let low_bits = self.binary(operator, a.low_bits, b.low_bits);
        Some(RequiredNumber { low_bits, range: Interval { low, high } })
    }

    fn required_variable(
        &mut self,
        required: &RequiredFacts,
        of: &LaunchVariable,
    ) -> Option<RequiredNumber> {
        let (atom, extents, axis) = match of {
            LaunchVariable::Argument(at) => {
                let (argument, is_signed) = *required.arguments.get(at)?;
                let argument = self.copies.of(argument, Copy::Both)?;
                let range = Interval::of_integer(self.copies.exprs.bits(argument), is_signed);
                let low_bits = self.copies.exprs.resized(argument, 64, is_signed);
                return Some(RequiredNumber { low_bits, range });
            }
            LaunchVariable::Block(axis) => (Atom::Ntid(axis.number()), self.launched.block, *axis),
            LaunchVariable::Grid(axis) => (Atom::Nctaid(axis.number()), self.launched.grid, *axis),
            LaunchVariable::Named(_) => return None,
        };
        let (low_bits, low, high) = match extents[usize::from(axis.number())] {
            ExtentBound::Is(number) => (self.constant(number.into(), 64), number, number),
            ExtentBound::UpTo(most) => {
                let extent = self.copies.atom(atom, 32, Copy::Both);
                (self.copies.exprs.resized(extent, 64, false), 1, most)
            }
        };
        Some(RequiredNumber { low_bits, range: Interval { low: low.into(), high: high.into() } })
    }
}
