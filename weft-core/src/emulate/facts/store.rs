//! What a check has found out over all its passes and ctas: facts about open values, and which open conditions are
//! decided.
//!
//! Facts are found while a pass runs. A pass that found a fact which it should have known from its start is run again;
//! [`Facts::settle`] decides this.

use std::collections::BTreeSet;

use super::alias::AliasClasses;
use super::assumed::Assumed;
use super::awaits::Awaits;
use super::case_split::Splits;
use super::counters::Counters;
use super::inherited::Inherited;
use super::interference::{Interference, Loaded};
use super::passed_on::PassedOn;
use super::signals::Signals;
use super::strays::Strays;
use super::tensors::Tensors;
use crate::emulate::memory::region::MemoryRegion;
use crate::emulate::value::symbolics::Symbolics;
use crate::flow::{Pc, Program};
use crate::launch::Limit;

/// The facts of a check.
#[derive(Debug, Default)]
pub struct Facts {
    /// The symbolic values that the facts are about.
    pub symbolics: Symbolics,
    pub(crate) aliases: AliasClasses,
    pub(crate) counters: Counters,
    pub(crate) interference: Interference,
    pub(crate) strays: Strays,
    pub(crate) passed_on: PassedOn,
    pub(crate) inherited: Inherited,
    pub(crate) tensors: Tensors,
    pub(crate) signals: Signals,
    /// The locations of which threads wait for a value.
    pub(crate) awaits: Awaits,
    /// Open conditions that are decided in this case.
    pub splits: Splits,
    /// Loads of racing bytes, in a pass that compares stored values: what these loads see depends on the schedule.
    pub racing: BTreeSet<Pc>,
    /// Number of instructions that ran so far, and the limits of the check.
    pub(crate) spent: u64,
    pub(crate) limit: Limit,
    /// What is assumed.
    pub(crate) assumed: Assumed,
    /// Whether an atomic that might update a counter returned a value, in passes that do not take counter values to be
    /// unique.
    pub draws: bool,
    /// Number of passes that found something that they should have known from their start.
    pub(super) changes: u32,
}

impl Facts {
    /// No facts yet, within the default limits.
    pub fn new() -> Self {
        Self::within(Limit::default(), 0)
    }

    /// No facts yet, for runs within `limit`, of which `spent` instructions have run already.
    pub fn within(limit: Limit, spent: u64) -> Self {
        Self { symbolics: Symbolics::within(limit.memory), spent, limit, ..Self::default() }
    }

    /// Number of instructions that ran so far.
    pub const fn spent(&self) -> u64 {
        self.spent
    }

    /// Memory limit of the check in bytes.
    pub const fn memory(&self) -> u64 {
        self.limit.memory
    }

    /// What is assumed of open values.
    pub fn assumed(&self) -> Assumed {
        Assumed { indices: self.symbolics.assumes_unwrapped, ..self.assumed }
    }

    /// Prepares for a new pass.
    pub fn begin(&mut self) {
        self.counters.begin();
        self.interference.begin();
        self.inherited.begin();
        self.signals.begin();
        self.awaits.begin();
    }

    /// Number of times that a pass had to be run again. What was found before such a change might not hold any more.
    pub(crate) const fn changes(&self) -> u32 {
        self.changes
    }

    /// Whether the pass that has ended knew from its start everything that it found out about counters, polled memory,
    /// where stores go, what loop iterations write, what they pass on of memory that nothing wrote, boxes of tensor maps,
    /// alias classes, and signals. `is_whole`: it ran all ctas of the launch to their ends.
    pub fn settle(&mut self, is_whole: bool) -> bool {
        let is_settled = self.counters.settle()
            & self.signals.settle(is_whole)
            & self.awaits.settle(is_whole)
            & self.interference.settle()
            & self.strays.settle()
            & self.passed_on.settle()
            & self.inherited.settle()
            & self.tensors.settle()
            & self.aliases.settle();
        self.changes += u32::from(!is_settled);
        is_settled
    }

    /// Takes what the pass that has ended loaded as memory held it.
    pub fn take_loaded(&mut self) -> Loaded {
        self.interference.take_loaded()
    }

    /// Records that `bytes` race, and that all bytes of `regions` might. Returns whether the pass that loaded `loaded`
    /// should have known it.
    pub fn interfere(
        &mut self,
        program: &Program,
        loaded: &Loaded,
        bytes: impl IntoIterator<Item = (bool, u64)>,
        regions: impl IntoIterator<Item = MemoryRegion>,
    ) -> bool {
        let extents = regions.into_iter().map(|region| (region.is_global, region.extent(program)));
        let is_news = self.interference.interfere(loaded, bytes, extents);
        self.changes += u32::from(is_news);
        is_news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pass_read_is_of_this_pass() {
        let mut facts = Facts::new();
        facts.begin();
        assert!(facts.interference.load(true, 8, 4));
        facts.begin();
        assert!(facts.interference.load(true, 16, 4));
        let loaded = facts.take_loaded();
        assert!(!loaded.reads(true, 8) && loaded.reads(true, 16));
    }
}
