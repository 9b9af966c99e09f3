//! Leaves open again what a defect does not depend on, and makes small what has to be stated.

use std::collections::BTreeSet;

use super::{TRIAL, Trial, Trials, Witness};
use crate::explain::witness::{ChosenInput, ChosenValue};

/// The most trials that reduce one input.
const TRIALS: u32 = 32;
/// The most elements of a buffer that a finding states.
const ELEMENTS: usize = 1024;
/// The value that large numbers are replaced with, so that fewer elements are accessed.
const SMALL: i128 = 8;
/// A trial can run as long as the one that found the defect, and a little longer.
const LONGER: u64 = 1 << 15;
/// The number of elements that is tried first.
const SHORT: usize = 8;

/// Returns a witness of the same defect with fewer and smaller values; `None` if it needs more elements than a finding
/// can state.
pub(super) fn reduced(trials: &Trials<'_>, found: Witness) -> Option<Witness> {
    let mut reducer = Reducer { trials, found, left: TRIALS };
    // What makes the other trials cheaper comes first: fewer ctas, then small numbers.
    reducer.try_with(|input| input.grid = None);
    let large = reducer.large();
    let is_small = reducer.try_with(|input| shrink(input, &large));
    reducer.keep_only_needed();
    if !is_small {
        let large = reducer.large();
        reducer.change_some(&large, shrink);
    }
    reducer.try_with(|input| input.grid = None);
    let values: Vec<usize> = reducer.found.input.values.keys().rev().copied().collect();
    for at in values {
        reducer.shorten(at);
    }
    (reducer.largest() <= ELEMENTS).then_some(reducer.found)
}

fn shrink(input: &mut ChosenInput, values: &[usize]) {
    for at in values {
        input.values.insert(*at, ChosenValue::Integer(SMALL));
    }
}

struct Reducer<'a> {
    trials: &'a Trials<'a>,
    found: Witness,
    /// The number of trials that are left.
    left: u32,
}

impl Reducer<'_> {
    /// Runs a trial with another input, if there is one left.
    fn trial(&mut self, input: &ChosenInput) -> Trial {
        if self.left == 0 {
            return Trial::Nothing(BTreeSet::new());
        }
        self.left -= 1;
        // With an open number of iterations a run can take as long as it is given.
        let most = TRIAL.instructions.min(LONGER + self.found.spent);
        self.trials.run(input, most)
    }

    /// Changes the input if the same defect occurs with the changed one; returns whether it does.
    fn try_with(&mut self, change: impl FnOnce(&mut ChosenInput)) -> bool {
        let mut input = self.found.input.clone();
        change(&mut input);
        if input == self.found.input {
            return true;
        }
        match self.trial(&input) {
            Trial::Shows(other) if other.is_as(&self.found) => {
                self.found = *other;
                true
            }
            _ => false,
        }
    }

    /// Returns the large numbers of the input.
    fn large(&self) -> Vec<usize> {
        let is_large =
            |value: &ChosenValue| matches!(value, ChosenValue::Integer(value) if *value > SMALL);
        let values = self.found.input.values.iter().rev();
        values.filter(|(_, value)| is_large(value)).map(|(at, _)| *at).collect()
    }

    /// Leaves all values open, and states again what something open depends on, until the defect occurs.
    fn keep_only_needed(&mut self) {
        let mut kept = BTreeSet::new();
        loop {
            let mut input = self.found.input.clone();
            input.values.retain(|at, _| kept.contains(at));
            let needed = match self.trial(&input) {
                Trial::Shows(other) if other.is_as(&self.found) => {
                    self.found = *other;
                    return;
                }
                Trial::Nothing(depends_on) | Trial::Limited(depends_on) => depends_on,
                Trial::Shows(_) => BTreeSet::new(),
            };
            let values = &self.found.input.values;
            let before = kept.len();
            kept.extend(needed.into_iter().filter(|at| values.contains_key(at)));
            if kept.len() == before {
                let others = values.keys().filter(|at| !kept.contains(at)).copied();
                let others: Vec<usize> = others.collect();
                self.change_some(&others, |input, some| {
                    input.values.retain(|at, _| !some.contains(at));
                });
                return;
            }
        }
    }

    /// Changes as many of these values as possible, which cannot all be changed together.
    fn change_some(&mut self, values: &[usize], change: fn(&mut ChosenInput, &[usize])) {
        if values.len() > 1 {
            let (first, second) = values.split_at(values.len() / 2);
            if self.try_with(|input| change(input, first)) {
                self.change_some(second, change);
            } else {
                self.change_some(first, change);
                if !self.try_with(|input| change(input, second)) {
                    self.change_some(second, change);
                }
            }
        }
    }

    /// Shortens the contents of a buffer to a power of two of elements.
    fn shorten(&mut self, at: usize) {
        let mut count = SHORT;
        while count <= ELEMENTS && !self.cut(at, count) {
            count *= 2;
        }
        if count == SHORT {
            while count > 1 && self.cut(at, count / 2) {
                count /= 2;
            }
        }
    }

    /// Leaves only so many elements of the contents of a buffer; returns whether that was possible.
    fn cut(&mut self, at: usize, count: usize) -> bool {
        let Some(ChosenValue::Contents(element, bytes)) = self.found.input.values.get(&at) else {
            return false;
        };
        let (element, size) = (*element, count * element.bytes);
        let Some(first) = bytes.get(..size).map(<[u8]>::to_vec) else { return false };
        self.try_with(|input| {
            input.values.insert(at, ChosenValue::Contents(element, first));
        })
    }

    /// Returns the number of elements of the largest buffer.
    fn largest(&self) -> usize {
        let elements = self.found.input.values.values().map(|value| match value {
            ChosenValue::Contents(element, bytes) => bytes.len() / element.bytes,
            _ => 0,
        });
        elements.max().unwrap_or(0)
    }
}
