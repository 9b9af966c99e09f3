//! Rewritten comparisons have the value of the original for random values of the atoms.

use super::generate::{Shape, SplitMix};
use crate::symbolic::atom::Atom;
use crate::symbolic::expr::{BinaryOperator, Expr, Exprs};
use crate::symbolic::solver::Model;
use crate::symbolic::solver::simplify::simplified;

const SHAPE: Shape = Shape { widths: &[8, 16, 32, 64], atoms: 4, mixes_widths: false };

/// Sums of multiples and products, as addresses are.
fn sum(exprs: &mut Exprs, random: &mut SplitMix, bits: u32, depth: u32) -> Expr {
    use BinaryOperator::{Add, Mul, Shl};
    if depth == 0 || random.below(8) == 0 {
        return SHAPE.expr(exprs, random, bits, 1);
    }
    match random.below(7) {
        0 | 1 => {
            let inner = sum(exprs, random, bits, depth - 1);
            let number = random.number(bits);
            let number = exprs.constant(number, bits);
            exprs.binary(random.one_of(&[Mul, Mul, Shl]), inner, number)
        }
        2 => {
            let wide = random.one_of(&[8, 16, 32, 64]);
            let inner = sum(exprs, random, wide, depth - 1);
            exprs.resized(inner, bits, random.below(2) == 0)
        }
        3 => {
            let inner = sum(exprs, random, bits, depth - 1);
            exprs.not(inner)
        }
        operator => {
            let a = sum(exprs, random, bits, depth - 1);
            let b = sum(exprs, random, bits, depth - 1);
            exprs.binary(if operator == 4 { Mul } else { Add }, a, b)
        }
    }
}

/// Two sums that often are equal, since they are copies but for a small difference.
fn comparison(exprs: &mut Exprs, random: &mut SplitMix) -> Expr {
    use BinaryOperator::{Add, Eq, Ult};
    let bits = random.one_of(&[1, 3, 8, 16, 32, 64]);
    let a = sum(exprs, random, bits, 4);
    let difference = sum(exprs, random, bits, 2);
    let b = exprs.binary(Add, a, difference);
    let number = random.number(bits);
    let number = exprs.constant(number, bits);
    let shifted = exprs.binary(Add, b, number);
    match random.below(4) {
        0 => exprs.binary(Eq, a, shifted),
        1 => exprs.binary(Eq, difference, number),
        2 => exprs.binary(Ult, difference, number),
        _ => {
            let other = sum(exprs, random, bits, 3);
            exprs.binary(random.one_of(&[Eq, Ult]), a, other)
        }
    }
}

#[test]
fn rewriting_keeps_values() {
    let (mut changed, mut held) = (0, 0);
    for seed in 0..4000 {
        let mut random = SplitMix(seed);
        let exprs = &mut Exprs::default();
        let condition = comparison(exprs, &mut random);
        let query = simplified(exprs, &[condition]);
        changed += u32::from(query.conditions != [condition]);
        for _ in 0..40 {
            let mut model = Model::default();
            for number in 0..SHAPE.atoms {
                model.set(Atom::Tid(number), random.number(64));
            }
            // An atom that the condition defines has the defined value.
            let Some(()) = query.substitutions.complete(exprs, &mut model) else { continue };
            let Some(before) = model.evaluate(exprs, &[condition])[0] else { continue };
            let after = model.evaluate(exprs, &query.conditions);
            let after = after.iter().all(|value| *value == Some(1));
            assert_eq!(after, before == 1, "seed {seed} with {model:?}");
            held += u32::from(after);
        }
    }
    assert!(changed > 1000 && held > 2000, "{changed} were changed, and {held} held");
}
