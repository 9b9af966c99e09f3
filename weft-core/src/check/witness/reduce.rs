//! Leaves open again what a defect does not depend on, and makes small what has to be stated.

use super::{TRIAL, Trials, Witness};
use crate::explain::witness::{ChosenInput, ChosenValue};

/// The most trials that reduce one input.
const TRIALS: u32 = 48;
/// The most elements of a buffer that a finding states.
const ELEMENTS: usize = 1024;
/// The value that large numbers are replaced with, so that fewer elements are accessed.
const SMALL: i128 = 8;
/// A trial can run so many times as long as the one that found the defect, and a little longer.
const AS_LONG: u64 = 64;
const SHORTEST: u64 = 1 << 15;
/// The number of elements that is tried first.
const SHORT: usize = 8;

/// Returns a witness of the same defect with fewer and smaller values; `None` if it needs more elements than a finding
/// can state.
pub(super) fn reduced(trials: &Trials<'_>, found: Witness) -> Option<Witness> {
    let mut reducer = Reducer { trials, found, left: TRIALS };
    let values: Vec<usize> = reducer.found.input.values.keys().rev().copied().collect();
    // First what is cheap: trials with small numbers, and with open ones only after that.
    for at in &values {
        reducer.shrink(*at);
    }
    for at in &values {
        reducer.shorten(*at);
    }
    for at in &values {
        reducer.try_with(|input| drop(input.values.remove(at)));
    }
    if reducer.found.input.grid.is_some() {
        reducer.try_with(|input| input.grid = None);
    }
    (reducer.largest() <= ELEMENTS).then_some(reducer.found)
}

struct Reducer<'a> {
    trials: &'a Trials<'a>,
    found: Witness,
    /// The number of trials that are left.
    left: u32,
}

impl Reducer<'_> {
    /// Changes the input if the same defect occurs with the changed one; returns whether it does.
    fn try_with(&mut self, change: impl FnOnce(&mut ChosenInput)) -> bool {
        let mut input = self.found.input.clone();
        change(&mut input);
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        // With an open number of iterations a run can take as long as it is given.
        let most = TRIAL.instructions.min(SHORTEST + AS_LONG * self.found.instructions);
        let other = self.trials.run(&input, most).filter(|other| other.is_as(&self.found));
        let is_found = other.is_some();
        if let Some(other) = other {
            self.found = other;
        }
        is_found
    }

    /// Replaces a large number with a small one.
    fn shrink(&mut self, at: usize) {
        if matches!(self.found.input.values.get(&at), Some(ChosenValue::Integer(value)) if *value > SMALL)
        {
            self.try_with(|input| drop(input.values.insert(at, ChosenValue::Integer(SMALL))));
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
