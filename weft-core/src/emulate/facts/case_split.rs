//! Open conditions that are taken to hold or not, so that what they decide can be run: each way is checked by itself.
//!
//! A condition on what all ctas see is one choice for all of them. One on what a cta has for itself, such as the result
//! of an atomic, is a choice of the cta: its `nth` at this place. In one way all ctas choose alike, so that there are no
//! more ways than one cta has; what ctas do that choose otherwise is seen in other ways.

use std::collections::BTreeSet;

use crate::emulate::value::lane::Lane;
use crate::emulate::value::origin::Origin;
use crate::emulate::value::symbolics::Symbolics;
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
    /// Of a condition that each cta has for itself: how many others the cta was asked at this place before.
    nth: Option<usize>,
}

impl Choice {
    /// Where the condition comes from.
    pub fn origin(&self, symbolics: &Symbolics) -> Option<Origin> {
        symbolics.origin(self.condition.symbol?)
    }

    /// Whether each cta has a condition of its own here.
    pub const fn is_own(&self) -> bool {
        self.nth.is_some()
    }

    /// Whether ctas can choose the two in one launch.
    pub fn agrees(&self, other: &Self) -> bool {
        self.is_own()
            || other.is_own()
            || self.condition != other.condition
            || self.holds == other.holds
    }
}

/// Which open conditions are decided, and how.
#[derive(Clone, Debug, Default)]
pub struct Splits {
    at: BTreeSet<PlaceId>,
    choices: Vec<Choice>,
    /// The conditions that the running cta has for itself, in the order in which they were asked.
    own: Vec<(PlaceId, Lane)>,
}

impl Splits {
    /// A cta starts.
    pub(crate) fn begin(&mut self) {
        self.own.clear();
    }

    /// Decides conditions here from now on; false if that was so.
    pub fn insert(&mut self, place: PlaceId) -> bool {
        self.at.insert(place)
    }

    /// Whether nothing is decided.
    pub(crate) fn is_empty(&self) -> bool {
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
    pub fn next_case(&mut self) -> bool {
        while let Some(last) = self.choices.pop() {
            if last.holds {
                self.choices.push(Choice { holds: false, ..last });
                return true;
            }
        }
        false
    }

    /// Whether a condition holds, if it is decided. `is_own`: each cta has one for itself.
    pub(crate) fn decide(&mut self, place: PlaceId, condition: Lane, is_own: bool) -> Option<bool> {
        let asked = self.own.iter().position(|(_, value)| *value == condition);
        let place = asked.map_or(place, |at| self.own[at].0);
        let before = &self.own[..asked.unwrap_or(self.own.len())];
        let nth = is_own.then(|| before.iter().filter(|(asked_at, _)| *asked_at == place).count());
        let is_it = |choice: &&Choice| match nth {
            Some(_) => (choice.place, choice.nth) == (place, nth),
            None => choice.condition == condition,
        };
        let known = self.choices.iter().find(is_it).map(|decided| decided.holds);
        let can_ask = self.at.contains(&place) && self.choices.len() < MAX_CHOICES;
        if known.is_none() && !can_ask {
            return None;
        }
        if is_own && asked.is_none() {
            self.own.push((place, condition));
        }
        if known.is_none() {
            self.choices.push(Choice { condition, holds: true, place, nth });
        }
        known.or(Some(true))
    }
}
