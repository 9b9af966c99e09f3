//! Runs a kernel in every order of its atomics, up to a limit.

use crate::dice::Dice;
use crate::machine::{Machine, Outcome};

/// Maximum number of orders that are enumerated; beyond it, some random orders are tried.
const MOST: usize = 200;
const RANDOM: usize = 20;

/// Returns the outcome of each order.
pub(crate) fn outcomes(machine: &Machine<'_>) -> Vec<Outcome> {
    let mut found = Vec::new();
    explore(machine.clone(), &mut found);
    if found.len() >= MOST {
        let mut dice = Dice::new(7);
        found.push(in_turn(machine.clone()));
        found.extend((0..RANDOM).map(|_| at_random(machine.clone(), &mut dice)));
    }
    found
}

/// Whether these outcomes cover all orders.
pub(crate) fn are_all(found: &[Outcome]) -> bool {
    found.len() < MOST
}

fn explore(mut machine: Machine<'_>, found: &mut Vec<Outcome>) {
    if found.len() >= MOST {
        return;
    }
    match machine.advance().as_slice() {
        [] => found.push(machine.outcome()),
        [only] => {
            machine.step(*only);
            explore(machine, found);
        }
        several => {
            for &thread in several {
                let mut machine = machine.clone();
                machine.step(thread);
                explore(machine, found);
            }
        }
    }
}

/// Runs the ctas one after the other. Within each, the atomic that comes first in the code is executed first.
fn in_turn(mut machine: Machine<'_>) -> Outcome {
    let mut latest = None;
    loop {
        let threads = machine.advance();
        let key = |thread: &usize| {
            let (cta, pc) = machine.stands_at(*thread);
            (latest.is_some_and(|latest| cta <= latest), cta, pc, *thread)
        };
        let Some(next) = threads.iter().copied().min_by_key(key) else { return machine.outcome() };
        latest = Some(machine.stands_at(next).0);
        machine.step(next);
    }
}

fn at_random(mut machine: Machine<'_>, dice: &mut Dice) -> Outcome {
    loop {
        let threads = machine.advance();
        if threads.is_empty() {
            return machine.outcome();
        }
        machine.step(dice.pick(&threads));
    }
}
