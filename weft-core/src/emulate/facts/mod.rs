//! What a check has found out so far, over all its passes and ctas: about open values, and what is decided of them.
//!
//! Every fact is found out while a pass runs. A pass that found out something that it should have known from its start is
//! run again: [`Facts::settle`] says so.

pub(crate) mod alias;
pub(crate) mod assumed;
pub(crate) mod case_split;
pub(crate) mod count;
pub(crate) mod counter_index;
pub(crate) mod counters;
pub(crate) mod draw_order;
pub(crate) mod independent;
pub(crate) mod inherited;
pub(crate) mod interference;
pub(crate) mod passed_on;
pub(crate) mod reach;
pub(crate) mod representative;

use std::collections::BTreeSet;

use crate::emulate::memory::region::MemoryRegion;
use crate::emulate::value::symbolics::Symbolics;
use crate::flow::{Pc, Program};
use crate::launch::Limit;
use alias::AliasClasses;
use assumed::Assumed;
use case_split::Splits;
use counters::Counters;
use inherited::Inherited;
use interference::{Interference, Loaded};
use passed_on::PassedOn;
use reach::Reach;

/// What the passes of a check found out.
#[derive(Debug, Default)]
pub struct Facts {
    /// The open values that these are about.
    pub symbolics: Symbolics,
    pub(crate) aliases: AliasClasses,
    pub(crate) counters: Counters,
    pub(crate) interference: Interference,
    pub(crate) reach: Reach,
    pub(crate) passed_on: PassedOn,
    pub(crate) inherited: Inherited,
    /// Open conditions that are decided.
    pub splits: Splits,
    /// Loads that race, where the values that are stored are compared: what they see is up to the schedule.
    pub racing: BTreeSet<Pc>,
    /// Instructions of the runs so far, and what the check may take.
    pub(crate) spent: u64,
    pub(crate) limit: Limit,
    /// What is taken for granted.
    pub(crate) assumed: Assumed,
    /// Whether some atomic returned a value of what may be a counter, where counters are not told apart.
    pub draws: bool,
    /// Passes that found out something that they should have known from their start.
    changes: u32,
}

impl Facts {
    /// None yet.
    pub fn new() -> Self {
        Self::within(Limit::default(), 0)
    }

    /// None yet, for runs that together take no more than this, after so many instructions.
    pub fn within(limit: Limit, spent: u64) -> Self {
        Self { symbolics: Symbolics::within(limit.memory), spent, limit, ..Self::default() }
    }

    /// Instructions of the runs so far.
    pub const fn spent(&self) -> u64 {
        self.spent
    }

    /// Bytes that the check may take.
    pub const fn memory(&self) -> u64 {
        self.limit.memory
    }

    /// What is taken for granted of open values.
    pub fn assumed(&self) -> Assumed {
        Assumed { indices: self.symbolics.assumes_unwrapped, ..self.assumed }
    }

    /// A pass begins.
    pub fn begin(&mut self) {
        self.counters.begin();
        self.interference.begin();
        self.inherited.begin();
    }

    /// How often a pass had to be run again: what was found before that may say nothing any more.
    pub(crate) const fn changes(&self) -> u32 {
        self.changes
    }

    /// Whether the pass that has ended knew all from the start that it found out about anchors, counters, polled memory,
    /// where stores go, what iterations write, and what they pass on of memory that nothing wrote.
    pub fn settle(&mut self) -> bool {
        let is_settled = self.counters.settle()
            & self.interference.settle()
            & self.reach.settle()
            & self.passed_on.settle()
            & self.inherited.settle()
            & self.aliases.settle();
        self.changes += u32::from(!is_settled);
        is_settled
    }

    /// What the pass that has ended read as memory held it.
    pub fn take_loaded(&mut self) -> Loaded {
        self.interference.take_loaded()
    }

    /// These bytes race, and all bytes of these regions might. Whether that is news to the pass that read so much.
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
