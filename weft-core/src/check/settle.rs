//! The pass loop: runs deciding passes until one of them knew from its start everything that it found out.

use std::collections::BTreeSet;

use super::decision::Decision;
use super::passes::PassContext;
use super::racing::{self, RacingPairs};
use crate::emulate::MemoryRegion;
use crate::emulate::memory::bytes::PAGE;
use crate::race::{OpenAccesses, Pairs};

/// The most deciding passes before the check gives up.
const MAX_PASSES: u32 = 16;

impl PassContext<'_> {
    /// Runs deciding passes until one finds out nothing new about open addresses, conditions, and loads whose values
    /// another schedule might change. `None` if that does not happen within `MAX_PASSES`. Which accesses at open addresses
    /// are doubtful, [`Self::look_again`] says.
    pub(super) fn settle(&mut self) -> Option<Decision> {
        let mut earlier = Pairs::default();
        (0..MAX_PASSES).find_map(|_| {
            let choices = self.facts.splits.choices().len();
            let mut decision = self.decide(OpenAccesses::default());
            decision.open.set_disjoint(self.facts.disjoint_indices());
            // A condition that was first decided late in a pass was open in the earlier ctas: the next pass knows the
            // decision from its start.
            let is_chosen = self.facts.splits.choices().len() == choices;
            if !is_chosen {
                earlier = Pairs::default();
            }
            let is_whole = self.is_whole(&decision);
            if !self.facts.settle(is_whole)
                || !is_chosen
                || self.find_interference(&mut decision, &mut earlier)
            {
                return None;
            }
            decision.earlier = std::mem::take(&mut earlier);
            Some(decision)
        })
    }

    /// Whether a pass ran all ctas of the launch to their ends.
    pub(super) fn is_whole(&self, decision: &Decision) -> bool {
        decision.is_finished()
            && decision.stats.ctas == self.ctas
            && self.ctas == self.inputs.grid.count()
    }

    /// Finds the loads that saw bytes which another schedule might change; returns whether the pass must be run again
    /// because these bytes have become open.
    fn find_interference(&mut self, decision: &mut Decision, earlier: &mut Pairs) -> bool {
        let loaded = self.facts.take_loaded();
        let has_others = self.ctas > 1;
        let unsettled = match decision.open.unsettled(has_others) {
            regions if regions.is_empty() => regions,
            _ => self.look_again(decision),
        };
        if !decision.is_ordered() {
            return false;
        }
        let mut harmful: Vec<(bool, u64)> =
            decision.racing().filter(|&(is_global, byte)| loaded.reads(is_global, byte)).collect();
        if !harmful.is_empty() {
            let RacingPairs { pairs, is_whole, .. } = racing::all(self, decision);
            let bytes = pairs.harmful();
            let is_harmful = |&(is_global, byte): &(bool, u64)| {
                let page = bytes.get(&(is_global, byte / PAGE));
                page.is_some_and(|bytes| bytes >> (byte % PAGE) & 1 == 1)
            };
            if is_whole && !pairs.is_cut() {
                harmful.retain(is_harmful);
            }
            earlier.take_worse(&pairs);
        }
        // When signals order what a cta writes before what another one reads, the ctas run after the reader count too.
        harmful.extend(decision.unsteady());
        self.facts.interfere(self.names.program, &loaded, harmful, unsettled)
    }

    /// Finds the accesses at open addresses that might conflict. The first pass does not know how they are ordered, a
    /// second one takes the order into account. Returns the memory regions that these accesses leave unsettled.
    pub(super) fn look_again(&mut self, decision: &mut Decision) -> BTreeSet<MemoryRegion> {
        let has_others = self.ctas > 1;
        decision.doubtful = decision.open.doubtful(has_others);
        let unsettled = decision.open.unsettled(has_others);
        if decision.doubtful.is_empty() && unsettled.is_empty() || !decision.is_ordered() {
            return unsettled;
        }
        let again = self.decide(decision.open.ordered());
        // If the second pass ends differently, it has not seen everything: the result of the first one is kept.
        if !again.has_ends_of(decision) {
            decision.cut = again.limit();
            return unsettled;
        }
        decision.doubtful = again.open.doubtful(has_others);
        again.open.unsettled(has_others)
    }
}
