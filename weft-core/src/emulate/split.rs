//! Open conditions that are taken to hold or not, so that what they decide can be run: each way is checked by itself.

use std::collections::BTreeSet;

use super::origin::Origin;
use super::term::{Lane, Terms};
use crate::flow::PlaceId;

/// Conditions decided in one run.
const MAX_CHOICES: usize = 24;

/// A condition on a term, taken one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    condition: Lane,
    /// Whether it holds.
    pub holds: bool,
    /// The branch or guard that asked first.
    pub place: PlaceId,
}

impl Choice {
    /// Where the condition comes from.
    pub fn origin(&self, terms: &Terms) -> Option<Origin> {
        terms.origin(self.condition.term?)
    }
}

/// Which open conditions are decided, and how.
#[derive(Clone, Debug, Default)]
pub struct Splits {
    at: BTreeSet<PlaceId>,
    choices: Vec<Choice>,
}

impl Splits {
    /// Decides conditions here from now on; false if that was so.
    pub fn insert(&mut self, place: PlaceId) -> bool {
        self.at.insert(place)
    }

    /// Whether nothing is decided.
    pub(super) fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    /// Takes back all ways.
    pub fn restart(&mut self) {
        self.choices.clear();
    }

    /// What the run decided.
    pub fn choices(&self) -> &[Choice] {
        &self.choices
    }

    /// Goes on to the next way: the last condition that was taken to hold, taken not to. False if all were taken.
    pub fn next_way(&mut self) -> bool {
        while let Some(last) = self.choices.pop() {
            if last.holds {
                self.choices.push(Choice { holds: false, ..last });
                return true;
            }
        }
        false
    }

    /// Whether a condition holds, if it is decided.
    pub(super) fn decide(&mut self, place: PlaceId, condition: Lane) -> Option<bool> {
        if let Some(known) = self.choices.iter().find(|own| own.condition == condition) {
            return Some(known.holds);
        }
        if !self.at.contains(&place) || self.choices.len() >= MAX_CHOICES {
            return None;
        }
        self.choices.push(Choice { condition, holds: true, place });
        Some(true)
    }
}
