//! Requirements for random kernels, and arguments that fulfil them.

use weft_core::launch::requires::{LaunchVariable, Quantity, Requirement, parse};
use weft_core::launch::{Arg, Dim3, Dimensions, Launch};

use crate::dice::Dice;

/// Between the numbers that a kernel takes, which have the positions 2 to 4, and the extents of its block.
const REQUIREMENTS: [&str; 22] = [
    "#4 == block.x",
    "#4 == block.x",
    "#2 == block.x",
    "#3 == block.x",
    "#2 == #3",
    "#3 == #4",
    "#2 % 32 == 0",
    "#2 % 32 == 0",
    "#3 % 64 == 0",
    "#4 % 2 == 0",
    "#4 % 2 == 0",
    "#2 % 16 == 0",
    "#3 % 2 == 0",
    "#4 % 32 == 0",
    "block.x % 32 == 0",
    "block.x == 64",
    "pow2(block.x)",
    "#4 >= block.x",
    "#2 <= block.x",
    "#3 >= #2",
    "#2 % #3 == 0",
    "#4 >= 1",
];

/// Returns one to three requirements.
pub(crate) fn some(dice: &mut Dice) -> Vec<Requirement> {
    let one = |text: &str| parse(text).expect("the text is a requirement");
    (0..=dice.roll(3)).map(|_| one(dice.pick(&REQUIREMENTS))).collect()
}

/// Changes the arguments of a launch so that it fulfils requirements, if that is easy; returns whether it does. What is fulfilled
/// is left as it is: a misunderstood requirement would otherwise be misunderstood here, too.
pub(crate) fn fulfil(launch: &mut Launch, requirements: &[Requirement]) -> bool {
    // One requirement might undo what another one needs: all are gone through twice.
    for requirement in requirements.iter().chain(requirements) {
        if !is_fulfilled(launch, requirement) {
            equate(launch, requirement);
            round(launch, requirement);
        }
    }
    requirements.iter().all(|requirement| is_fulfilled(launch, requirement))
}

fn is_fulfilled(launch: &Launch, requirement: &Requirement) -> bool {
    requirement.holds(&|variable: &LaunchVariable| value(launch, variable)) == Some(true)
}

fn equate(launch: &mut Launch, requirement: &Requirement) {
    for (variable, other) in requirement.equalities() {
        if let (LaunchVariable::Argument(at), Quantity::Variable(other)) = (variable, other)
            && let Some(value) = value(launch, other)
        {
            launch.args.insert(*at, Arg::Integer(value));
        }
    }
}

fn round(launch: &mut Launch, requirement: &Requirement) {
    for at in 2..5 {
        let argument = LaunchVariable::Argument(at);
        if requirement.keeps_multiple(&argument, 32)
            && let Some(value) = value(launch, &argument)
        {
            launch.args.insert(at, Arg::Integer(value / 64 * 64));
        }
    }
}

fn value(launch: &Launch, variable: &LaunchVariable) -> Option<i128> {
    let extents = launch.block.and_then(Dimensions::known).unwrap_or(Dim3::line(1));
    match variable {
        LaunchVariable::Argument(at) => match launch.args.get(at)? {
            Arg::Integer(value) => Some(*value),
            _ => None,
        },
        LaunchVariable::Block(axis) => Some(axis.of(extents).into()),
        LaunchVariable::Grid(_) | LaunchVariable::Named(_) => None,
    }
}
