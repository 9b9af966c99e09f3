//! Open conditions that are assumed to hold or not to hold, so that what they decide can be run. Each combination of
//! outcomes is a case that is checked by itself.
//!
//! A condition that all ctas see alike is one choice for all of them. A condition that belongs to one cta, such as the
//! result of an atomic, is a choice of that cta: the `nth` at its place. In one case all ctas choose alike, so there
//! are no more cases than one cta has; what ctas do that choose otherwise is seen in other cases.

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
    /// For a condition that belongs to one cta: the number of other such conditions that the cta evaluated at this
    /// place before. `None` for a condition of all ctas.
    nth: Option<usize>,
}

impl Choice {
    /// Where the condition comes from.
    pub fn origin(&self, symbolics: &Symbolics) -> Option<Origin> {
        symbolics.origin(self.condition.symbol?)
    }

    /// Whether the condition belongs to one cta.
    const fn is_own(&self) -> bool {
        self.nth.is_some()
    }

    /// Whether two ctas of one launch can make these choices.
    fn agrees(&self, other: &Self) -> bool {
        self.is_own()
            || other.is_own()
            || self.condition != other.condition
            || self.holds == other.holds
    }
}

/// Which open conditions are decided, and how in the running case.
#[derive(Clone, Debug, Default)]
pub struct Splits {
    at: BTreeSet<PlaceId>,
    /// Where conditions that could be decided were left open, so that both sides ran, outside of loops.
    left_open: BTreeSet<PlaceId>,
    choices: Vec<Choice>,
    /// The conditions that belong to the running cta, in the order in which they were first evaluated.
    own: Vec<(PlaceId, Lane)>,
}

impl Splits {
    /// Prepares for the next cta.
    pub(crate) fn begin(&mut self) {
        self.own.clear();
    }

    /// Decides conditions at this place from now on. Returns false if they were decided there already.
    pub fn insert(&mut self, place: PlaceId) -> bool {
        self.at.insert(place)
    }

    /// Records that a condition was left open that could be decided at this place.
    pub(crate) fn leave_open(&mut self, place: PlaceId) {
        self.left_open.insert(place);
    }

    /// The places that were left open.
    pub fn left_open(&self) -> impl Iterator<Item = PlaceId> + '_ {
        self.left_open.iter().copied()
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

    /// The only choice of the case, if there is one: its place, and whether its condition holds.
    pub(crate) fn only_choice(&self) -> Option<(PlaceId, bool)> {
        let [choice] = self.choices.as_slice() else { return None };
        Some((choice.place, choice.holds))
    }

    /// The conditions of the running cta that are decided, each with its outcome.
    pub(crate) fn outcomes(&self) -> impl Iterator<Item = (Lane, bool)> {
        self.own.iter().enumerate().filter_map(|(at, (place, condition))| {
            let before = self.own[..at].iter().filter(|(asked_at, _)| asked_at == place);
            let own = (*place, Some(before.count()));
            let choice = self.choices.iter().find(|choice| (choice.place, choice.nth) == own)?;
            Some((*condition, choice.holds))
        })
    }

    /// Whether some choice is one that each cta makes for itself.
    pub fn has_own(&self) -> bool {
        self.choices.iter().any(Choice::is_own)
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
