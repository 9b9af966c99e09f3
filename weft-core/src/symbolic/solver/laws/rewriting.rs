//! Rewritten comparisons have the value of the original for random values of the atoms.

use super::generate::Shape;
use crate::emulate::truncate;
use crate::symbolic::atom::Atom;
use crate::symbolic::expr::{BinaryOperator, Expr, Exprs};
use crate::symbolic::solver::Model;
use crate::symbolic::solver::simplify::simplified;
use crate::symbolic::split_mix::SplitMix;

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

/// Compares a condition with what it is rewritten to, and returns for how many of the models it holds.
fn check(exprs: &mut Exprs, condition: Expr, models: &[Model], case: u64) -> u64 {
    let query = simplified(exprs, &[condition]);
    let mut held = 0;
    for model in models {
        // An atom that the condition defines has the defined value, and has it already where the condition holds.
        let mut completed = model.clone();
        let Some(()) = query.substitutions.complete(exprs, &mut completed) else { continue };
        let holds = model.evaluate(exprs, &[condition])[0] == Some(1);
        assert!(!holds || completed == *model, "seed {case} with {model:?}: {completed:?}");
        let Some(before) = completed.evaluate(exprs, &[condition])[0] else { continue };
        let after = completed.evaluate(exprs, &query.conditions);
        let after = after.iter().all(|value| *value == Some(1));
        assert_eq!(after, before == 1, "seed {case} with {completed:?}");
        held += u64::from(after);
    }
    held
}

fn model(random: &mut SplitMix, width: impl Fn(u8) -> u32) -> Model {
    let mut model = Model::default();
    for number in 0..SHAPE.atoms {
        model.set(Atom::Tid(number), random.number(width(number)));
    }
    model
}

#[test]
fn rewriting_keeps_values() {
    let held: u64 = (0..4000)
        .map(|seed| {
            let random = &mut SplitMix(seed);
            let exprs = &mut Exprs::default();
            let condition = comparison(exprs, random);
            let models: Vec<_> = (0..40).map(|_| model(random, |at| SHAPE.width(at))).collect();
            check(exprs, condition, &models, seed)
        })
        .sum();
    assert!(held > 2000, "{held}");
}

#[test]
fn linear_equations_keep_their_solutions() {
    use BinaryOperator::{Add, Eq, Mul, Ult};
    for seed in 0..20_000 {
        let random = &mut SplitMix(seed);
        let exprs = &mut Exprs::default();
        let bits = random.one_of(&[2, 3, 4, 5, 6, 8, 10, 64]);
        let mut sum = exprs.constant(random.number(bits), bits);
        for number in 0..2 + u8::try_from(random.below(3)).unwrap() {
            let atom = exprs.atom(Atom::Tid(number), bits);
            let coefficient = exprs.constant(random.number(bits), bits);
            let term = exprs.binary(Mul, atom, coefficient);
            sum = exprs.binary(Add, sum, term);
        }
        let mut models: Vec<_> = (0..10).map(|_| model(random, |_| bits)).collect();
        // The first of the models is a solution.
        let value = models[0].evaluate(exprs, &[sum])[0].expect("nothing divides");
        let (operator, limit) = random.one_of(&[(Eq, value), (Ult, value.saturating_add(1))]);
        let limit = exprs.constant(limit, bits);
        let condition = exprs.binary(operator, sum, limit);
        let opposite = exprs.not(condition);
        let solution = models[0].clone();
        for model in &mut models[1..5] {
            // Next to a solution, since a wrong coefficient might add others.
            *model = solution.clone();
            let at = Atom::Tid(u8::try_from(random.below(4)).unwrap());
            let power = 1u64 << random.below(u64::from(bits));
            model.set(at, truncate(model.value(at).wrapping_add(power), bits));
        }
        check(exprs, condition, &models, seed);
        check(exprs, opposite, &models, seed);
    }
}

#[test]
fn comparisons_of_extensions_keep_their_solutions() {
    use BinaryOperator::{Eq, Slt, Ult};
    for seed in 0..20_000 {
        let random = &mut SplitMix(seed);
        let exprs = &mut Exprs::default();
        let widths = [0; 4].map(|_| random.one_of(&[2, 3, 4, 8, 16, 31]));
        let [a, b] = [0, 1].map(|number| {
            let inner = if random.below(4) == 0 {
                exprs.constant(random.number(6), 6)
            } else {
                exprs.atom(Atom::Tid(number), widths[usize::from(number)])
            };
            exprs.resized(inner, 32, random.below(2) == 0)
        });
        let condition = exprs.binary(random.one_of(&[Eq, Eq, Ult, Slt]), a, b);
        let opposite = exprs.not(condition);
        let models: Vec<_> = (0..20)
            .map(|_| {
                let mut model = model(random, |at| widths[usize::from(at)]);
                // Both have the same low bits, though not always the same width.
                if random.below(2) == 0 {
                    model.set(Atom::Tid(1), truncate(model.value(Atom::Tid(0)), widths[1]));
                }
                model
            })
            .collect();
        check(exprs, condition, &models, seed);
        check(exprs, opposite, &models, seed);
    }
}
