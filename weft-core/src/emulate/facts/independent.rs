//! Ctas that run side by side: each starts from nothing, and tells those that follow what it found out.

use super::Facts;
use super::assumed::Assumed;
use super::interference::Loaded;
use super::reach::Reach;
use crate::launch::Limit;

/// What a cta that ran apart tells those that follow.
#[derive(Clone, Debug, Default)]
pub struct CtaFacts {
    assumed: Assumed,
    loaded: Loaded,
    reach: Reach,
    draws: bool,
}

/// Of the memory that a check may take, each cta that runs apart from others may take this part.
const APART_PART: u64 = 8;

impl Facts {
    /// Whether what ran so far says nothing to other ctas: no address is open, nothing is counted, contended or decided.
    pub fn are_independent(&self) -> bool {
        self.aliases.is_empty()
            && self.counters.is_empty()
            && self.interference.is_empty()
            && self.inherited.is_empty()
            && self.passed_on.is_empty()
            && self.splits.is_empty()
    }

    /// For a cta that runs apart from others, for as long as one may that comes next.
    #[must_use]
    pub fn fork(&self) -> Self {
        let memory = self.limit.memory / APART_PART;
        let limit = Limit { memory, ..self.limit };
        Self { reach: self.reach.fork(), ..Self::within(limit, self.spent) }
    }

    /// What a cta that ran apart tells those that follow, once it has run.
    pub fn take_cta_facts(&mut self) -> CtaFacts {
        let loaded = self.interference.take_loaded();
        CtaFacts { assumed: self.assumed(), loaded, reach: self.reach, draws: self.draws }
    }

    /// Takes in that a cta ran so many instructions apart, and what it tells; false if those before it leave it less.
    pub fn join(&mut self, spent: u64, facts: CtaFacts) -> bool {
        let fits = self.spent + spent < self.limit.instructions;
        if fits {
            self.spent += spent;
            self.assumed.join(facts.assumed);
            self.interference.join(facts.loaded);
            self.reach.join(facts.reach);
            self.draws |= facts.draws;
        }
        fits
    }
}
