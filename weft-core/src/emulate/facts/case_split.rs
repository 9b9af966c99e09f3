//! Open conditions that are assumed to hold or not to hold, so that what they decide can be run. Each combination of
//! outcomes is a case that is checked by itself.
//!
//! A condition that all ctas see alike is one choice for all of them. Other conditions, such as the result of an atomic or
//! one that depends on `%ctaid`, are choices of each cta: the ctas make the first such choice at a place alike, and so on.
//! So there are no more cases than one cta has; what ctas do that choose otherwise is seen in other cases.

use std::collections::BTreeSet;

use crate::emulate::value::lane::Lane;
use crate::emulate::value::origin::Origin;
use crate::emulate::value::symbolics::Symbolics;
use crate::flow::PlaceId;

/// Most conditions that are decided in one run.
const MAX_CHOICES: usize = 24;

/// An open condition with an assumed outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    condition: Lane,
    /// Whether the condition is assumed to hold.
    pub holds: bool,
    /// The branch or guard that first depended on the condition.
    pub place: PlaceId,
    /// Whether ctas make the choice for different conditions.
    is_own: bool,
}

impl Choice {
    /// Where the condition comes from.
    pub fn origin(&self, symbolics: &Symbolics) -> Option<Origin> {
        symbolics.origin(self.condition.symbol?)
    }

    /// Whether two ctas of one launch can make these choices.
    fn agrees(&self, other: &Self) -> bool {
        self.is_own
            || other.is_own
            || self.condition != other.condition
            || self.holds == other.holds
    }
}

/// Which open conditions are decided, and how in the running case.
#[derive(Clone, Debug, Default)]
pub struct Splits {
    at: BTreeSet<PlaceId>,
    choices: Vec<Choice>,
    /// The conditions that the running cta has come to, each with the index of its choice.
    asked: Vec<(Lane, usize)>,
}

impl Splits {
    /// Prepares for the next cta.
    pub(crate) fn begin(&mut self) {
        self.asked.clear();
    }

    /// Decides conditions at this place from now on. Returns false if they were decided there already.
    pub fn insert(&mut self, place: PlaceId) -> bool {
        self.at.insert(place)
    }

    /// Whether no condition is decided.
    pub(crate) fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    /// Discards all choices, to start again with the first case.
    pub fn restart(&mut self) {
        self.choices.clear();
    }

    /// The choices of the running case.
    pub fn choices(&self) -> &[Choice] {
        &self.choices
    }

    /// Whether some choice is one that each cta makes for itself.
    pub fn has_own(&self) -> bool {
        self.choices.iter().any(|choice| choice.is_own)
    }

    /// Whether two ctas of one launch can make these and those choices.
    pub fn agree(&self, others: &Self) -> bool {
        self.choices.iter().all(|own| others.choices.iter().all(|other| own.agrees(other)))
    }

    /// Moves on to the next case: the last condition that was assumed to hold is assumed not to. Returns false after
    /// the last case.
    pub fn next_case(&mut self) -> bool {
        while let Some(last) = self.choices.pop() {
            if last.holds {
                self.choices.push(Choice { holds: false, ..last });
                return true;
            }
        }
        false
    }

    /// The outcome of a condition; `None` if it is not decided. `is_own`: the condition belongs to the running cta.
    pub(crate) fn decide(&mut self, place: PlaceId, condition: Lane, is_own: bool) -> Option<bool> {
        let at = self.choice_of(place, condition, is_own)?;
        Some(self.choices[at].holds)
    }

    /// The index of the choice for a condition: the one that this cta has made for it before, or another cta; otherwise the
    /// first one at this place that this cta has not made for another condition, or a new one.
    fn choice_of(&mut self, place: PlaceId, condition: Lane, is_own: bool) -> Option<usize> {
        if let Some((_, at)) = self.asked.iter().find(|(value, _)| *value == condition) {
            return Some(*at);
        }
        let position = |is_it: &dyn Fn(&Choice) -> bool| {
            let is_free = |at: &usize| self.asked.iter().all(|(_, taken)| taken != at);
            (0..self.choices.len()).filter(is_free).find(|at| is_it(&self.choices[*at]))
        };
        let at = match position(&|choice| choice.condition == condition) {
            Some(same) => same,
            None if !self.at.contains(&place) => return None,
            None => match position(&|choice| choice.place == place) {
                Some(alike) => {
                    self.choices[alike].is_own = true;
                    alike
                }
                None if self.choices.len() == MAX_CHOICES => return None,
                None => {
                    self.choices.push(Choice { condition, holds: true, place, is_own });
                    self.choices.len() - 1
                }
            },
        };
        self.asked.push((condition, at));
        Some(at)
    }
}
