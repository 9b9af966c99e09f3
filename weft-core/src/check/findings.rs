//! Collects the findings of a decision.

use std::collections::BTreeSet;

use super::decision::Decision;
use super::detector::CtaResult;
use super::detector::MAX_FAULTS;
use super::passes::PassContext;
use super::racing;
use crate::emulate::{End, Fault, FaultKind, Origin};
use crate::explain::doubts::Progress;
use crate::explain::{barriers, beyond, doubts, faults, given, peers, tensors};
use crate::finding::Finding;
use crate::flow::Pc;

impl PassContext<'_> {
    /// Returns all findings of a decision, apart from those about coverage, in this order: how the ctas ended, which
    /// accesses race, which limits were reached, which accesses are wrong by themselves, which might race.
    pub(super) fn findings(&mut self, decision: &Decision) -> Vec<Finding> {
        let mut findings = self.of_ends(decision);
        let (races, racing) = if decision.is_ordered() {
            racing::explain(self, decision)
        } else {
            (Vec::new(), BTreeSet::new())
        };
        findings.extend(races);
        findings.extend(self.of_limits(decision));
        findings.extend(self.wrong_by_themselves(decision, &racing));
        let mixed = self.facts.tensors.uses.mixed();
        findings.extend(mixed.map(|(map, places)| tensors::mixed(self.names, map, places)));
        let doubtful = decision.doubtful.iter();
        findings.extend(doubtful.map(|access| doubts::open_access(self.names, access)));
        findings
    }

    /// Returns the findings about barriers, and about what stopped ctas.
    fn of_ends(&self, decision: &Decision) -> Vec<Finding> {
        let (names, progress) = (self.names, self.progress(decision));
        let mut findings = Vec::new();
        for cta in &decision.ctas {
            let CtaResult { recycled, phases, .. } = &cta.found;
            findings.extend(barriers::unsettled(names, cta.cta, recycled, phases));
            findings.extend(barriers::end(names, cta.cta, &cta.end));
            let peers = cta.found.peers.iter();
            findings.extend(peers.map(|fault| peers::absence(names, cta.cta, fault)));
            let exits = cta.found.exits.values();
            findings.extend(exits.map(|exit| barriers::barrier_exit(names, cta.cta, exit)));
            let bypasses = cta.found.bypasses.iter();
            findings.extend(bypasses.map(|branch| doubts::possible_bypass(names, *branch)));
            if let End::Undecided(doubt) = &cta.end {
                findings.extend(beyond::explain(names, doubt, progress));
            }
        }
        findings
    }

    /// Returns the findings about limits that were reached after the runs: of the second look at open accesses, of
    /// memory, and of faults.
    fn of_limits(&self, decision: &Decision) -> Vec<Finding> {
        let (names, progress) = (self.names, self.progress(decision));
        let is_cut_short = !decision.doubtful.is_empty() && decision.limit().is_none();
        let cut = decision.cut.as_ref().filter(|_| is_cut_short);
        let mut findings: Vec<_> =
            cut.map(|doubt| doubts::explain(names, doubt, progress)).into_iter().collect();
        if decision.is_full() {
            findings.push(doubts::too_much_memory(names, progress));
        }
        if decision.ctas.iter().any(|decided| decided.found.faults.len() >= MAX_FAULTS) {
            findings.push(doubts::too_many_faults(names, MAX_FAULTS));
        }
        findings
    }

    fn progress(&self, decision: &Decision) -> Progress {
        Progress { ended: decision.ended(), instructions: self.facts.spent() }
    }

    /// Returns the findings about accesses that are wrong by themselves. `racing`: the instructions that race.
    fn wrong_by_themselves(&self, decision: &Decision, racing: &BTreeSet<Pc>) -> Vec<Finding> {
        let (names, mut findings) = (self.names, Vec::new());
        let numbers = given::numbers(names, decision.ctas.iter().flat_map(|cta| &cta.found.faults));
        for decided in &decision.ctas {
            let mut unwritten = decided.found.unwritten.clone();
            // An instruction that races might read before or after the memory is written, depending on the schedule.
            unwritten.retain(|pc, read| {
                let variable = names.variable_of(read);
                !racing.contains(pc) && !decision.open.may_be_written(variable)
            });
            let is_it = |fault: &&Fault| matches!(fault.kind, FaultKind::Uninitialized(_));
            let is_reported = |fault: &&Fault| !is_it(fault) || !racing.contains(&fault.pc);
            let mut faults: Vec<_> =
                decided.found.faults.iter().filter(is_reported).copied().collect();
            let is_cut = matches!(&decided.end, End::Undecided(doubt) if doubt.kind.is_limit());
            for fault in &mut faults {
                // A store at an open address might have written what was read. If a limit ended the run, such a store
                // might have come later.
                if is_it(&&*fault) && (is_cut || !unwritten.contains_key(&fault.pc)) {
                    fault.condition = fault.condition.or(Some(Origin::PerhapsUnwritten(fault.pc)));
                }
            }
            findings.extend(
                faults.iter().map(|fault| faults::explain(names, decided.cta, fault, &numbers)),
            );
            let emitted: BTreeSet<Pc> = faults.iter().filter(is_it).map(|fault| fault.pc).collect();
            let reads = unwritten.iter().filter(|(pc, _)| !emitted.contains(pc));
            findings
                .extend(reads.map(|(pc, read)| faults::unwritten(names, decided.cta, *pc, read)));
        }
        findings
    }
}
