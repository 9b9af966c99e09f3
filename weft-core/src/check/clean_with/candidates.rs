//! Conditions that a host might keep to: between the numbers that it passes, and the extents of the block.

use crate::check::every_input::exchanges_in_warps;
use crate::check::witness::{NumberRole, integers};
use crate::emulate::WARP;
use crate::flow::Program;
use crate::launch::requires::{
    Arithmetic, Axis, Clause, Comparison, LaunchVariable, Quantity, Requirement,
};
use crate::launch::{Dimensions, Launch};
use crate::ptx::Function;

/// The most numbers that conditions are about.
const MOST_NUMBERS: usize = 8;
/// What a number might be a multiple of: two halves, the elements of vectors, the lanes of a warp.
const MULTIPLES: [u64; 5] = [2, 4, 8, 16, 32];
/// What the extent of a block in x might be, or might be at most.
const BLOCKS: [u64; 5] = [512, 256, 128, 64, 32];

/// Returns the condition that blocks have whole warps, if the block is open and lanes of a warp exchange values: it is mostly
/// needed beside others.
pub(super) fn whole_warps(
    program: &Program,
    kernel: &Function,
    launch: &Launch,
) -> Option<Requirement> {
    let is_open = !open_extents(program, kernel, launch).is_empty();
    let is_needed = is_open && exchanges_in_warps(program);
    is_needed.then(|| Requirement::multiple(Axis::X, WARP as u64))
}

/// Returns conditions with which a kernel might be clean, those first that permit more or are more common.
pub(super) fn between_numbers_and_block(
    program: &Program,
    kernel: &Function,
    launch: &Launch,
) -> Vec<Requirement> {
    use Comparison::{Equal, GreaterOrEqual, LessOrEqual};
    let roles = integers(program, launch);
    let is_size = |role: NumberRole| !matches!(role, NumberRole::Reciprocal | NumberRole::Shift);
    let numbers = roles.iter().filter(|(_, role)| is_size(*role)).map(|(at, _)| argument(*at));
    let numbers: Vec<Quantity> = numbers.take(MOST_NUMBERS).collect();
    let pairs = || {
        let all = numbers.iter().flat_map(|a| numbers.iter().map(move |b| (a, b)));
        all.filter(|(a, b)| a != b)
    };
    let extents = open_extents(program, kernel, launch);
    let x = extents.contains(&Axis::X).then(|| extent(Axis::X));
    let mut all = Vec::new();
    all.extend(numbers.iter().map(|number| is(number, GreaterOrEqual, &Quantity::Number(1))));
    all.extend(pairs().map(|(a, b)| is(a, GreaterOrEqual, b)));
    for axis in extents.iter().rev().filter(|axis| **axis != Axis::X) {
        all.push(is(&extent(*axis), Equal, &Quantity::Number(1)));
    }
    for multiple in MULTIPLES {
        all.extend(numbers.iter().map(|own| is_multiple(own, &Quantity::Number(multiple))));
    }
    all.extend(pairs().map(|(a, b)| is_multiple(a, b)));
    if let Some(x) = &x {
        all.extend(numbers.iter().map(|own| is_multiple(own, x)));
        for comparison in [GreaterOrEqual, LessOrEqual, Equal] {
            all.extend(numbers.iter().map(|own| is(own, comparison, x)));
        }
    }
    all.extend(x.iter().map(|x| is_multiple(x, &Quantity::Number(32))));
    all.extend(x.iter().map(|x| Clause::PowerOfTwo(x.clone())));
    for most in BLOCKS {
        all.extend(x.iter().map(|x| is(x, LessOrEqual, &Quantity::Number(most))));
    }
    if extents.starts_with(&[Axis::X, Axis::Y]) {
        all.push(is(&extent(Axis::X), Equal, &extent(Axis::Y)));
    }
    for size in BLOCKS {
        all.extend(x.iter().map(|x| is(x, Equal, &Quantity::Number(size))));
    }
    all.extend(pairs().map(|(a, b)| is(a, Equal, b)));
    let single = |first: Clause| Requirement { first, rest: Vec::new() };
    // Equal parts of something, each with two halves.
    let halves = pairs().map(|(a, b)| Requirement {
        first: is_multiple(a, b),
        rest: vec![is_multiple(b, &Quantity::Number(2))],
    });
    all.into_iter().map(single).chain(halves).collect()
}

/// Returns the dimensions in which the block is open.
fn open_extents(program: &Program, kernel: &Function, launch: &Launch) -> Vec<Axis> {
    let is_stated = matches!(launch.block, Some(Dimensions::Is(_))) || kernel.reqntid.is_some();
    let is_open = |axis: &Axis| *axis == Axis::X || program.distinguishes_threads(axis.number());
    Axis::ALL.into_iter().filter(|axis| !is_stated && is_open(axis)).collect()
}

/// Returns the condition that a number is not negative, given the condition that it is positive. `None` if that is no such
/// condition, or the number is unsigned.
pub(super) fn not_negative(program: &Program, positive: &Requirement) -> Option<Requirement> {
    let Requirement { first: Clause::Compare(number, comparison, least), rest } = positive else {
        return None;
    };
    let Quantity::Variable(LaunchVariable::Argument(at)) = number else { return None };
    let is_signed = program.params.get(*at).is_some_and(|param| param.is_signed);
    let is_positive = (*comparison, least) == (Comparison::GreaterOrEqual, &Quantity::Number(1));
    let first = is(number, Comparison::GreaterOrEqual, &Quantity::Number(0));
    (is_signed && is_positive && rest.is_empty()).then(|| Requirement { first, rest: Vec::new() })
}

fn argument(at: usize) -> Quantity {
    Quantity::Variable(LaunchVariable::Argument(at))
}

fn extent(axis: Axis) -> Quantity {
    Quantity::Variable(LaunchVariable::Block(axis))
}

fn is(a: &Quantity, comparison: Comparison, b: &Quantity) -> Clause {
    Clause::Compare(a.clone(), comparison, b.clone())
}

fn is_multiple(a: &Quantity, b: &Quantity) -> Clause {
    let rest = Quantity::Combined(Box::new(a.clone()), Arithmetic::Rem, Box::new(b.clone()));
    Clause::Compare(rest, Comparison::Equal, Quantity::Number(0))
}
