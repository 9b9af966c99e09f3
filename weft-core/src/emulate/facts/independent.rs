//! Facts of ctas that run in parallel: each starts with no facts of the others, and the facts that it found are joined
//! later.

use super::assumed::Assumed;
use super::interference::Loaded;
use super::store::Facts;
use super::strays::Strays;
use super::tensors::TensorUses;
use crate::launch::Limit;

/// What an independent cta found out.
#[derive(Clone, Debug, Default)]
pub struct CtaFacts {
    assumed: Assumed,
    loaded: Loaded,
    reach: Strays,
    draws: bool,
    tensors: TensorUses,
}

/// An independent cta takes at most the memory limit of the check divided by this.
const CTA_PART: u64 = 8;

impl Facts {
    /// Whether the runs so far found nothing that other ctas depend on: no open address, counter, interfering byte,
    /// inherited word, unwritten value passed on, box of a tensor map, signal or decided condition.
    pub fn are_independent(&self) -> bool {
        self.aliases.is_empty()
            && self.counters.is_empty()
            && self.interference.is_empty()
            && self.inherited.is_empty()
            && self.passed_on.is_empty()
            && self.splits.is_empty()
            && self.signals.is_empty()
            && !self.tensors.has_news()
    }

    /// The facts that an independent cta starts with, within the limits that the next cta has.
    #[must_use]
    pub fn fork(&self) -> Self {
        let memory = self.limit.memory / CTA_PART;
        let limit = Limit { memory, ..self.limit };
        let (strays, tensors) = (self.strays.fork(), self.tensors.fork());
        Self { strays, tensors, ..Self::within(limit, self.spent) }
    }

    /// Takes what an independent cta found out, after it has run.
    pub fn take_cta_facts(&mut self) -> CtaFacts {
        let loaded = self.interference.take_loaded();
        let tensors = std::mem::take(&mut self.tensors.uses);
        CtaFacts { assumed: self.assumed(), loaded, reach: self.strays, draws: self.draws, tensors }
    }

    /// Joins the facts of an independent cta that ran `spent` instructions. Returns false, and joins nothing, if the
    /// instruction limit leaves less than that.
    pub fn join(&mut self, spent: u64, facts: CtaFacts) -> bool {
        let fits = self.spent + spent < self.limit.instructions;
        if fits {
            self.spent += spent;
            self.assumed.join(facts.assumed);
            self.interference.join(facts.loaded);
            self.strays.join(facts.reach);
            self.draws |= facts.draws;
            self.tensors.uses.join(facts.tensors);
        }
        fits
    }
}
