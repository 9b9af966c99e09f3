//! What a check has found out so far, over all its passes and ctas: about open values, and what is decided of them.
//!
//! Every fact is found out while a pass runs. A pass that found out something that it should have known from its start is
//! run again: [`Facts::settle`] says so.

mod apart;
mod assumed;

use std::collections::BTreeSet;

use super::anchor::Anchors;
use super::contention::Contention;
use super::inherited::Inherited;
use super::passed_on::PassedOn;
use super::reach::Reach;
use super::split::Splits;
use super::term::Symbolics;
use super::ticket::Tickets;
use crate::flow::Pc;
use crate::launch::Limit;

pub use apart::Told;
pub use assumed::Assumed;

/// What the passes of a check found out.
#[derive(Debug, Default)]
pub struct Facts {
    /// The open values that these are about.
    pub symbolics: Symbolics,
    pub(super) anchors: Anchors,
    pub(super) tickets: Tickets,
    pub(super) contention: Contention,
    pub(super) reach: Reach,
    pub(super) passed_on: PassedOn,
    pub(super) inherited: Inherited,
    /// Open conditions that are decided.
    pub splits: Splits,
    /// Loads that race, where the values that are stored are compared: what they see is up to the schedule.
    pub racing: BTreeSet<Pc>,
    /// Instructions of the runs so far, and what the check may take.
    pub(super) spent: u64,
    pub(super) limit: Limit,
    /// What is taken for granted.
    pub(super) assumed: Assumed,
    /// Whether some atomic returned a value of what may be a counter, where counters are not told apart.
    pub draws: bool,
    /// Passes that found out something that they should have known from their start.
    pub(super) changes: u32,
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
        self.tickets.begin();
        self.contention.begin();
        self.inherited.begin();
    }

    /// How often a pass had to be run again: what was found before that may say nothing any more.
    pub(crate) const fn changes(&self) -> u32 {
        self.changes
    }

    /// Whether the pass that has ended knew all from the start that it found out about anchors, counters, polled memory,
    /// where stores go, what iterations write, and what they pass on of memory that nothing wrote.
    pub fn settle(&mut self) -> bool {
        let is_settled = self.tickets.settle()
            & self.contention.settle()
            & self.reach.settle()
            & self.passed_on.settle()
            & self.inherited.settle()
            & self.anchors.settle();
        self.changes += u32::from(!is_settled);
        is_settled
    }
}
