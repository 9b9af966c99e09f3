//! Random queries: small ones against all values of their atoms, wide ones that are built around a model.

use super::generate::Shape;
use super::{Answer, Conflicts, ENOUGH, SearchResult, search, solve, values};
use crate::symbolic::atom::Atom;
use crate::symbolic::expr::{BinaryOperator, Expr, Exprs};
use crate::symbolic::split_mix::SplitMix;

const SMALL: [Shape; 3] = [
    Shape { widths: &[1, 2, 3, 4], atoms: 2, mixes_widths: true },
    Shape { widths: &[3, 4, 2], atoms: 3, mixes_widths: false },
    Shape { widths: &[4], atoms: 2, mixes_widths: false },
];

/// What brute force says of conditions.
#[derive(Debug, Default)]
struct Truth {
    /// They hold for some values without a division by zero anywhere in them.
    holds: bool,
    /// They hold for some values if divisions by zero give what is assumed.
    might_hold: bool,
    divides_by_zero: bool,
}

fn truth(exprs: &Exprs, conditions: &[Expr], shape: &Shape) -> Truth {
    let mut truth = Truth::default();
    let atoms = u32::from(shape.atoms);
    for all in 0..1u64 << (4 * atoms) {
        let value = |atom: Atom| match atom {
            Atom::Tid(number) => all >> (4 * u32::from(number)) & 15,
            _ => 0,
        };
        let salts: &[u64] = &[0, u64::MAX, 5];
        for (at, salt) in salts.iter().enumerate() {
            let by_zero = |_: BinaryOperator, dividend: u64| dividend.wrapping_mul(3) ^ salt;
            let (found, divides) = values(exprs, conditions, &value, &by_zero);
            let holds = found.iter().all(|value| *value == 1);
            truth.holds |= holds && !divides;
            truth.might_hold |= holds;
            truth.divides_by_zero |= divides;
            if at == 0 && !divides {
                break;
            }
        }
    }
    truth
}

/// Checks queries by brute force, and returns how many of them were unsatisfiable.
fn check_small(seed: u64, queries: u64) -> u64 {
    let mut unsatisfiable = 0;
    for at in 0..queries {
        let mut random = SplitMix(seed.wrapping_add(at));
        let shape = &SMALL[usize::try_from(at % 3).unwrap()];
        let exprs = &mut Exprs::default();
        let count = 1 + random.below(3);
        let depth = 1 + u32::try_from(random.below(3)).unwrap();
        let conditions: Vec<Expr> =
            (0..count).map(|_| shape.predicate(exprs, &mut random, depth)).collect();
        let truth = truth(exprs, &conditions, shape);
        let circuit = search(exprs, &conditions);
        let found = solve(exprs, &conditions, ENOUGH);
        let case = format!("seed {}: {truth:?}, {found:?}", seed.wrapping_add(at));
        if truth.might_hold {
            assert_eq!(circuit, SearchResult::Satisfiable, "{case}");
            assert_ne!(found, Answer::Unsatisfiable, "{case}");
        } else if !truth.divides_by_zero {
            assert_eq!(circuit, SearchResult::Unsatisfiable, "{case}");
            assert_eq!(found, Answer::Unsatisfiable, "{case}");
        }
        if truth.holds {
            assert!(matches!(found, Answer::Satisfiable(_)), "{case}");
        }
        unsatisfiable += u64::from(found == Answer::Unsatisfiable);
    }
    unsatisfiable
}

#[test]
fn small_queries_have_the_answer_of_brute_force() {
    let unsatisfiable = check_small(1, 1500);
    assert!(unsatisfiable > 200, "{unsatisfiable}");
}

#[test]
#[ignore = "minutes long, to be run by name after a change to the solver"]
fn many_small_queries_have_the_answer_of_brute_force() {
    let unsatisfiable = check_small(1 << 32, 20_000);
    assert!(unsatisfiable > 2000, "{unsatisfiable}");
}

const WIDE: [Shape; 3] = [
    Shape { widths: &[8, 16, 32, 64], atoms: 3, mixes_widths: false },
    Shape { widths: &[1, 8, 13, 32], atoms: 3, mixes_widths: true },
    Shape { widths: &[64, 32], atoms: 4, mixes_widths: false },
];

/// Builds conditions that hold for chosen values, and returns how many queries were solved.
fn check_wide(seed: u64, queries: u64) -> u64 {
    let mut solved = 0;
    for at in 0..queries {
        let mut random = SplitMix(seed.wrapping_add(at));
        let shape = &WIDE[usize::try_from(at % 3).unwrap()];
        let exprs = &mut Exprs::default();
        let chosen: Vec<u64> = (0..shape.atoms).map(|_| random.number(64)).collect();
        let value = |atom: Atom| match atom {
            Atom::Tid(number) => chosen[usize::from(number)],
            _ => 0,
        };
        let mut conditions = Vec::new();
        for _ in 0..=random.below(3) {
            let bits = random.one_of(shape.widths);
            let expr = shape.expr(exprs, &mut random, bits, 3);
            if let Some(value) = exprs.value(expr, &value) {
                let constant = exprs.constant(value, bits);
                conditions.push(exprs.binary(BinaryOperator::Eq, expr, constant));
            }
            let predicate = shape.predicate(exprs, &mut random, 2);
            match exprs.value(predicate, &value) {
                Some(1) => conditions.push(predicate),
                Some(_) => conditions.push(exprs.not(predicate)),
                None => {}
            }
        }
        let found = solve(exprs, &conditions, Conflicts(300));
        let case = seed.wrapping_add(at);
        assert_ne!(found, Answer::Unsatisfiable, "seed {case}: holds for {chosen:?}");
        solved += u64::from(found != Answer::Unknown);
    }
    solved
}

#[test]
fn wide_queries_that_hold_are_not_unsatisfiable() {
    let solved = check_wide(7, 300);
    assert!(solved > 150, "{solved}");
}

#[test]
#[ignore = "minutes long, to be run by name after a change to the solver"]
fn many_wide_queries_that_hold_are_not_unsatisfiable() {
    let solved = check_wide(1 << 33, 3000);
    assert!(solved > 1500, "{solved}");
}
