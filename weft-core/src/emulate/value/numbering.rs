//! Value numbering of floating-point results. Nothing is known of them but their origin, and there are as many as lanes
//! execute, so one *row* stands for what a warp executes: an operation and its operands. A result is numbered by its
//! row and lane. Results with one number are equal; whether two other results are is decided on demand, by comparing
//! their operations and operands recursively.

use std::collections::HashSet;
use std::sync::Mutex;

use foldhash::fast::RandomState;
use indexmap::IndexSet;

use super::lane::{Lane, LaneMask, NumberingId, SymbolId, WARP};
use super::register::Value;
use super::symbolics::operator::OperatorId;

/// An operation, by its index in `ValueNumbering::operations`, and its operands by their codes.
type NumberedOperation = (u32, [u32; ValueNumbering::OPERANDS]);

/// An operand that is not itself a row.
#[derive(Debug, PartialEq, Eq, Hash)]
enum NumberedOperand {
    /// The same in all lanes.
    One(Lane),
    /// Known lanes: the first lane and the step to the next.
    Line(u64, u64),
    Each(Box<[Lane; WARP]>),
}

/// All rows, with the operations and operands that they are made of.
#[derive(Debug, Default)]
pub(crate) struct ValueNumbering {
    rows: IndexSet<NumberedOperation, RandomState>,
    /// Operators with the width of their results in bits.
    operations: IndexSet<(OperatorId, u32), RandomState>,
    operands: IndexSet<NumberedOperand, RandomState>,
    /// Pairs that were found to be equal: a cache behind a lock, so that results can be compared through a shared
    /// reference.
    equal: Mutex<HashSet<(u32, u32), RandomState>>,
}

/// Most rows and operands; beyond them, results are no longer distinguished.
const MAX_ROWS: usize = 1 << 19;
const MAX_OPERANDS: usize = 1 << 16;

/// Most pairs of results that one comparison looks at; beyond them the results are taken to differ.
const MAX_COMPARED: usize = 1 << 16;
/// Most equal pairs that are remembered.
const MAX_EQUAL: usize = 1 << 20;

/// Codes of operands: a row has its number, which is below this; any other operand has its index plus this.
const OTHERS: u32 = 1 << 30;
const NOTHING: u32 = u32::MAX;

/// Lanes of a row.
const LANES: u32 = LaneMask::BITS;

/// The row and the lane of a result's number.
const fn place(number: u32) -> (usize, usize) {
    ((number / LANES) as usize, (number % LANES) as usize)
}

impl ValueNumbering {
    /// Most operands of an operation.
    const OPERANDS: usize = 3;

    /// Returns the row of an operation; the result of lane `l` is `row.lane(l)`. `None`: there are too many rows or
    /// operands.
    pub(crate) fn row(
        &mut self,
        operator: OperatorId,
        bits: u32,
        operands: &[&Value],
    ) -> Option<NumberingId> {
        let (operation, _) = self.operations.insert_full((operator, bits));
        let mut codes = [NOTHING; Self::OPERANDS];
        for (at, operand) in operands.iter().enumerate() {
            *codes.get_mut(at)? = self.code(operand)?;
        }
        let row = (u32::try_from(operation).ok()?, codes);
        let at = if self.rows.len() < MAX_ROWS {
            self.rows.insert_full(row).0
        } else {
            self.rows.get_index_of(&row)?
        };
        u32::try_from(at).ok().map(NumberingId)
    }

    /// Width of a result in bits.
    pub(crate) fn bits(&self, number: u32) -> Option<u32> {
        let (operation, _) = self.rows.get_index(place(number).0)?;
        Some(self.operations.get_index(*operation as usize)?.1)
    }

    /// The symbolic value of a result's first open operand.
    pub(crate) fn open_operand(&self, number: u32) -> Option<SymbolId> {
        let (row, lane) = place(number);
        let (_, codes) = self.rows.get_index(row)?;
        codes.iter().find_map(|code| self.operand(*code, lane)?.symbol)
    }

    /// Returns the known bits of the first operand and the width of the result, if it is a result of this operator.
    pub(crate) fn operand_of(&self, wanted: OperatorId, number: u32) -> Option<(u64, u32)> {
        let (row, lane) = place(number);
        let (operation, [first, ..]) = self.rows.get_index(row)?;
        let (operator, bits) = self.operations.get_index(*operation as usize)?;
        let first = self.operand(*first, lane).filter(|_| *operator == wanted)?;
        Some((first.bits, *bits))
    }

    /// Whether two results are provably equal. `are_one` compares operands of which at least one is no number.
    pub(crate) fn are_equal(
        &self,
        a: u32,
        b: u32,
        are_one: impl Fn(SymbolId, SymbolId) -> bool,
    ) -> bool {
        let Ok(mut equal) = self.equal.lock() else { return a == b };
        if equal.len() > MAX_EQUAL {
            equal.clear();
        }
        // Pairs are assumed to be equal until they are found to differ.
        let (mut rest, mut taken) = (vec![(a, b)], Vec::new());
        while let Some((a, b)) = rest.pop() {
            let pair = (a.min(b), a.max(b));
            if a == b || !equal.insert(pair) {
                continue;
            }
            taken.push(pair);
            if taken.len() > MAX_COMPARED || !self.depend(a, b, &mut rest, &are_one) {
                for pair in &taken {
                    equal.remove(pair);
                }
                return false;
            }
        }
        true
    }

    /// Whether two results have the same operation and equal operands, provided that the pairs it adds to `rest` are
    /// equal.
    fn depend(
        &self,
        a: u32,
        b: u32,
        rest: &mut Vec<(u32, u32)>,
        are_one: impl Fn(SymbolId, SymbolId) -> bool,
    ) -> bool {
        let operands = self.operands_of(a).zip(self.operands_of(b));
        let Some(((operation, left), (other, right))) = operands else { return false };
        operation == other
            && left.zip(right).all(|(left, right)| match (left, right) {
                (
                    Some(Lane { bits, symbol: Some(a) }),
                    Some(Lane { bits: other, symbol: Some(b) }),
                ) => {
                    match (a.as_number(), b.as_number()) {
                        (Some(a), Some(b)) => rest.push((a, b)),
                        _ if are_one(a, b) => {}
                        _ => return false,
                    }
                    bits == other
                }
                _ => left == right,
            })
    }

    /// The operation of a result, and what each operand holds in its lane.
    fn operands_of(&self, number: u32) -> Option<(u32, impl Iterator<Item = Option<Lane>>)> {
        let (row, lane) = place(number);
        let (operation, codes) = self.rows.get_index(row)?;
        Some((*operation, codes.iter().map(move |code| self.operand(*code, lane))))
    }

    fn code(&mut self, value: &Value) -> Option<u32> {
        if let Some(NumberingId(row)) = value.as_row() {
            return Some(row);
        }
        let operand = match (value.as_one(), value.as_affine()) {
            (Some(lane), _) => NumberedOperand::One(lane),
            (_, Some((first, step))) => NumberedOperand::Line(first, step),
            _ => NumberedOperand::Each(Box::new(std::array::from_fn(|lane| value.whole(lane)))),
        };
        let at = if self.operands.len() < MAX_OPERANDS {
            self.operands.insert_full(operand).0
        } else {
            self.operands.get_index_of(&operand)?
        };
        Some(OTHERS + u32::try_from(at).ok()?)
    }

    fn operand(&self, code: u32, lane: usize) -> Option<Lane> {
        let other = match code.checked_sub(OTHERS) {
            _ if code == NOTHING => return None,
            Some(other) => other,
            None => return Some(Lane::open(NumberingId(code).lane(lane))),
        };
        Some(match self.operands.get_index(other as usize)? {
            NumberedOperand::One(value) => *value,
            NumberedOperand::Line(first, step) => {
                Lane::known(first.wrapping_add(step.wrapping_mul(lane as u64)))
            }
            NumberedOperand::Each(each) => each[lane],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulate::value::origin::Origin;
    use crate::emulate::value::symbolics::Symbolics;
    use crate::emulate::value::symbolics::operator::Operator;

    const ADD: Operator = Operator::Packed;
    const MUL: Operator = Operator::Unpacked;

    /// Lane `l` is open on unknown number `of(l)`.
    fn unknowns(symbolics: &mut Symbolics, of: impl Fn(usize) -> usize) -> Value {
        Value::from_lanes(|lane| {
            Lane::open(symbolics.initial(Origin::Argument(0), 4 * of(lane) as u64, 4))
        })
    }

    fn row(symbolics: &mut Symbolics, operator: Operator, operands: &[&Value]) -> Value {
        let operator = symbolics.operator(operator);
        Value::row(symbolics.row(operator, operands, 32).unwrap())
    }

    fn are_same(symbolics: &Symbolics, a: (&Value, usize), b: (&Value, usize)) -> bool {
        symbolics.are_same(a.0.symbol_of(a.1).unwrap(), b.0.symbol_of(b.1).unwrap())
    }

    #[test]
    fn results_are_equal_if_all_that_they_depend_on_is() {
        let mut symbolics = Symbolics::default();
        let straight = unknowns(&mut symbolics, |lane| lane);
        let turned = unknowns(&mut symbolics, |lane| 31 - lane);
        let halves = unknowns(&mut symbolics, |lane| lane % 16);
        let two = Value::uniform(2);
        // x * 2 + x of each, from operands in different orders of lanes.
        let [a, b, c] = [straight, turned, halves].map(|value| {
            let product = row(&mut symbolics, MUL, &[&value, &two]);
            row(&mut symbolics, ADD, &[&product, &value])
        });
        for lane in 0..WARP {
            for other in 0..WARP {
                assert_eq!(are_same(&symbolics, (&a, lane), (&a, other)), lane == other);
                assert_eq!(are_same(&symbolics, (&a, lane), (&b, other)), lane == 31 - other);
                assert_eq!(are_same(&symbolics, (&c, lane), (&c, other)), lane % 16 == other % 16);
                assert_eq!(are_same(&symbolics, (&a, lane), (&c, other)), lane == other % 16);
            }
        }
    }

    #[test]
    fn other_operations_operands_and_widths_differ() {
        let mut symbolics = Symbolics::default();
        let x = unknowns(&mut symbolics, |lane| lane);
        let shifted = unknowns(&mut symbolics, |lane| lane + 1);
        let (one, two) = (Value::uniform(1), Value::affine(2, 3));
        let first = row(&mut symbolics, ADD, &[&x, &one]);
        assert_eq!(row(&mut symbolics, ADD, &[&x, &one]), first);
        let add = symbolics.operator(ADD);
        let others = [
            row(&mut symbolics, MUL, &[&x, &one]),
            row(&mut symbolics, ADD, &[&x, &two]),
            row(&mut symbolics, ADD, &[&one, &x]),
            row(&mut symbolics, ADD, &[&shifted, &one]),
            row(&mut symbolics, ADD, &[&x]),
            row(&mut symbolics, ADD, &[&x, &one, &one]),
            Value::row(symbolics.row(add, &[&x, &one], 64).unwrap()),
        ];
        for other in others {
            assert!((0..WARP).all(|lane| !are_same(&symbolics, (&first, lane), (&other, lane))));
        }
        assert_eq!(symbolics.row(add, &[&x, &x, &x, &x], 32), None);
    }

    #[test]
    fn contents_are_equal_by_their_addresses() {
        let mut symbolics = Symbolics::default();
        let row = |symbolics: &mut Symbolics, at: u64, bits: u32| {
            Value::row(symbolics.loaded_row(&Value::affine(at, 4), bits).unwrap())
        };
        let [a, b, wide] =
            [(0, 32), (8, 32), (0, 64)].map(|(at, bits)| row(&mut symbolics, at, bits));
        let alone = symbolics.initial(Origin::Contents(0), 20, 4);
        for lane in 0..WARP {
            for other in 0..WARP {
                assert_eq!(are_same(&symbolics, (&a, lane), (&b, other)), lane == other + 2);
                assert!(!are_same(&symbolics, (&a, lane), (&wide, other)));
            }
            assert_eq!(symbolics.are_same(a.symbol_of(lane).unwrap(), alone), lane == 5);
        }
    }
}
