//! Every operator on every pair of operands of up to four bits.

use super::generate::OPERATORS;
use super::{Answer, ENOUGH, SearchResult, divides, search, solve};
use crate::symbolic::atom::Atom;
use crate::symbolic::expr::{BinaryOperator, Expr, Exprs};

/// An operand whose value is a condition or written out.
fn operand(
    exprs: &mut Exprs,
    conditions: &mut Vec<Expr>,
    number: u8,
    value: u64,
    bits: u32,
    is_constant: bool,
) -> Expr {
    let constant = exprs.constant(value, bits);
    if is_constant {
        return constant;
    }
    let atom = exprs.atom(Atom::Tid(number), bits);
    conditions.push(exprs.binary(BinaryOperator::Eq, atom, constant));
    atom
}

/// Checks that the expression has this value, and no other, under the conditions.
fn expect(exprs: &mut Exprs, conditions: &[Expr], of: Expr, value: u64) {
    let bits = exprs.bits(of);
    let constant = exprs.constant(value, bits);
    let result = exprs.atom(Atom::Ctaid(0), bits);
    let is_result = exprs.binary(BinaryOperator::Eq, of, result);
    let is_value = exprs.binary(BinaryOperator::Eq, result, constant);
    let is_other = exprs.not(is_value);
    let right = [conditions, &[is_result, is_value]].concat();
    let wrong = [conditions, &[is_result, is_other]].concat();
    let case = || format!("{:?} of {bits} bits is {value}", exprs.node(of));
    assert_eq!(search(exprs, &right), SearchResult::Satisfiable, "{}", case());
    assert_eq!(search(exprs, &wrong), SearchResult::Unsatisfiable, "{}", case());
    let case = case();
    let found = solve(exprs, &right, ENOUGH);
    let Answer::Satisfiable(model) = found else { panic!("{case}: {found:?}") };
    assert_eq!(model.value(Atom::Ctaid(0)), value, "{case}");
    assert_eq!(solve(exprs, &wrong, ENOUGH), Answer::Unsatisfiable, "{case}");
}

/// All ways in which two operands are unknown or constants, but for two constants, which are folded.
const KINDS: [(bool, bool); 3] = [(false, false), (false, true), (true, false)];

#[test]
fn operators_give_their_results_and_no_others() {
    let mut count = 0;
    for operator in OPERATORS {
        for bits in 1..=4u32 {
            for (x, y) in (0..1u64 << bits).flat_map(|x| (0..1u64 << bits).map(move |y| (x, y))) {
                for (is_first_constant, is_second_constant) in KINDS {
                    let exprs = &mut Exprs::default();
                    let conditions = &mut Vec::new();
                    let a = operand(exprs, conditions, 0, x, bits, is_first_constant);
                    let b = operand(exprs, conditions, 1, y, bits, is_second_constant);
                    let result = exprs.binary(operator, a, b);
                    let value =
                        exprs.value(result, &|atom| if atom == Atom::Tid(0) { x } else { y });
                    match value {
                        Some(value) => expect(exprs, conditions, result, value),
                        None => expect_any(exprs, conditions, result),
                    }
                    count += 1;
                }
            }
        }
    }
    assert_eq!(count, 17 * 340 * 3);
}

/// Checks that a division by zero can give any value, and that no model is said that relies on one.
fn expect_any(exprs: &mut Exprs, conditions: &[Expr], of: Expr) {
    let bits = exprs.bits(of);
    for value in 0..1u64 << bits {
        let constant = exprs.constant(value, bits);
        let is_value = exprs.binary(BinaryOperator::Eq, of, constant);
        let conditions = [conditions, &[is_value]].concat();
        assert_eq!(search(exprs, &conditions), SearchResult::Satisfiable);
        assert_eq!(solve(exprs, &conditions, ENOUGH), Answer::Unknown);
    }
}

#[test]
fn one_operand_can_be_both() {
    for operator in OPERATORS {
        for bits in 1..=4u32 {
            for x in 0..1u64 << bits {
                let exprs = &mut Exprs::default();
                let conditions = &mut Vec::new();
                let a = operand(exprs, conditions, 0, x, bits, false);
                let result = exprs.binary(operator, a, a);
                if let Some(value) = exprs.value(result, &|_| x) {
                    expect(exprs, conditions, result, value);
                } else {
                    assert!(divides(operator) && x == 0);
                }
            }
        }
    }
}

#[test]
fn parts_and_extensions_give_their_results_and_no_others() {
    for bits in 1..=4u32 {
        for x in 0..1u64 << bits {
            let mut cases: Vec<(u32, u32)> = Vec::new();
            cases.extend((0..bits).flat_map(|low| (1..=bits - low).map(move |wide| (low, wide))));
            for (low, wide) in cases {
                let exprs = &mut Exprs::default();
                let conditions = &mut Vec::new();
                let a = operand(exprs, conditions, 0, x, bits, false);
                let part = exprs.extract(a, low, wide);
                expect(exprs, conditions, part, x >> low & ((1 << wide) - 1));
            }
            for (wide, is_signed) in (bits..=6).flat_map(|wide| [(wide, true), (wide, false)]) {
                let exprs = &mut Exprs::default();
                let conditions = &mut Vec::new();
                let a = operand(exprs, conditions, 0, x, bits, false);
                let extended = exprs.resized(a, wide, is_signed);
                let value = exprs.value(extended, &|_| x).unwrap();
                expect(exprs, conditions, extended, value);
                let complement = exprs.not(extended);
                let value = exprs.value(complement, &|_| x).unwrap();
                expect(exprs, conditions, complement, value);
            }
        }
    }
}

#[test]
fn a_choice_gives_one_of_its_operands() {
    for (holds, x, y) in (0..32).map(|at| (at & 1, at >> 1 & 3, at >> 3 & 3)) {
        for (first, second) in [(false, false), (true, false), (false, true), (true, true)] {
            let exprs = &mut Exprs::default();
            let conditions = &mut Vec::new();
            let condition = operand(exprs, conditions, 2, holds, 1, false);
            let a = operand(exprs, conditions, 0, x, 2, first);
            let b = operand(exprs, conditions, 1, y, 2, second);
            let choice = exprs.ite(condition, a, b);
            expect(exprs, conditions, choice, if holds == 1 { x } else { y });
        }
    }
}

#[test]
fn an_atom_below_a_number_has_all_lower_values() {
    use BinaryOperator::{Eq, Ult};
    for bits in 1..=4u32 {
        for (limit, x) in (0..1u64 << bits).flat_map(|x| (0..1u64 << bits).map(move |y| (x, y))) {
            let exprs = &mut Exprs::default();
            let atom = exprs.atom(Atom::Tid(0), bits);
            // The same atom in more bits: a limit of the low ones is none of the upper ones.
            let wide = exprs.atom(Atom::Tid(0), 6);
            let [is_x, is_wide] = [(atom, x), (wide, x | 32)].map(|(atom, value)| {
                let value = exprs.constant(value, exprs.bits(atom));
                exprs.binary(Eq, atom, value)
            });
            let number = exprs.constant(limit, bits);
            let is_below = exprs.binary(Ult, atom, number);
            let is_above = exprs.binary(Ult, number, atom);
            let is_at_most = exprs.not(is_above);
            for (condition, holds) in [(is_below, x < limit), (is_at_most, x <= limit)] {
                let case = format!("{x} and {limit} of {bits} bits");
                let conditions = [condition, is_x, is_wide];
                let found = search(exprs, &conditions) == SearchResult::Satisfiable;
                assert_eq!(found, holds, "{case}");
                let found = solve(exprs, &conditions, ENOUGH);
                assert_eq!(matches!(found, Answer::Satisfiable(_)), holds, "{case}: {found:?}");
            }
        }
    }
}

#[test]
fn a_guarded_division_by_zero_is_no_obstacle() {
    let exprs = &mut Exprs::default();
    let (a, b) = (exprs.atom(Atom::Tid(0), 8), exprs.atom(Atom::Tid(1), 8));
    let (zero, seven) = (exprs.constant(0, 8), exprs.constant(7, 8));
    let quotient = exprs.binary(BinaryOperator::Udiv, a, b);
    let is_zero = exprs.binary(BinaryOperator::Eq, b, zero);
    let guarded = exprs.ite(is_zero, seven, quotient);
    let is_seven = exprs.binary(BinaryOperator::Eq, guarded, seven);
    let found = solve(exprs, &[is_seven, is_zero], ENOUGH);
    assert!(matches!(found, Answer::Satisfiable(_)), "{found:?}");
    // The first model might divide by zero; another one does not.
    let is_seven = exprs.binary(BinaryOperator::Eq, quotient, seven);
    let found = solve(exprs, &[is_seven], ENOUGH);
    assert!(matches!(found, Answer::Satisfiable(_)), "{found:?}");
}
