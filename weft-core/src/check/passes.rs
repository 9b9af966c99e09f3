//! The passes over a launch: those that decide, until nothing new is found out about open addresses, and what is found.

use std::collections::BTreeSet;

use super::ctas;
use super::decision::Decision;
use super::detector::{Detector, MAX_FAULTS};
use super::doubts::Progress;
use super::names::Names;
use super::{barriers, beyond, doubts, faults, given, races};
use crate::emulate::bytes::PAGE;
use crate::emulate::{Cta, End, Events, Fault, FaultKind, Inputs, Origin, Run, Terms};
use crate::finding::Finding;
use crate::flow::Pc;
use crate::race::{OpenAccesses, Pairs};
use crate::slice::Slice;

/// A launch to pass over.
pub(super) struct Passes<'a> {
    pub(super) names: &'a Names<'a>,
    pub(super) inputs: &'a Inputs,
    pub(super) slice: &'a Slice,
    /// How many ctas are run, the first ones of the launch.
    pub(super) ctas: u64,
    pub(super) terms: Terms,
}

/// Passes that decide, before the check gives up.
const MAX_PASSES: u32 = 16;

impl Passes<'_> {
    /// Runs the ctas, up to one behind which there is nothing to be gained.
    fn decide(&mut self, open: OpenAccesses) -> Decision {
        let mut decision = Decision::new(self.names, open);
        self.terms.begin();
        while decision.stats.ctas < self.ctas {
            if self.decide_one(&mut decision) || self.decide_apart(&mut decision) {
                break;
            }
        }
        decision
    }

    /// Runs a cta; whether it ends the pass.
    fn decide_one(&mut self, decision: &mut Decision) -> bool {
        let cta = ctas::at(self.names.grid, decision.stats.ctas);
        let mut open = std::mem::take(&mut decision.open);
        open.next_cta();
        let memory = self.names.limit.memory;
        let mut detector = Detector::new(self.inputs.block, self.ctas > 1, memory, open);
        let run = self.run(self.slice, cta, &mut detector, &mut decision.reached);
        decision.open = std::mem::take(&mut detector.open);
        let (found, footprint) = detector.close();
        decision.take_in(self.names, cta, run, found, footprint)
    }

    /// Runs one cta.
    pub(super) fn run(
        &mut self,
        slice: &Slice,
        cta: Cta,
        events: &mut impl Events,
        reached: &mut [bool],
    ) -> Run {
        crate::emulate::run(
            self.names.program,
            slice,
            self.inputs,
            cta,
            &mut self.terms,
            events,
            reached,
        )
    }

    /// Decides until all is known from the start that is found out about open addresses and about what loads may see
    /// change; `None`: it never is.
    pub(super) fn settle(&mut self) -> Option<Decision> {
        let mut earlier = Pairs::default();
        (0..MAX_PASSES).find_map(|_| {
            let choices = self.terms.splits.choices().len();
            let mut decision = self.decide(OpenAccesses::default());
            decision.open.set_apart(self.terms.apart());
            // A condition that was first decided late in a pass stood open before: the next pass knows it from the start.
            let is_chosen = self.terms.splits.choices().len() == choices;
            if !is_chosen {
                earlier = Pairs::default();
            }
            if !self.terms.settle() || !is_chosen || self.contend(&mut decision, &mut earlier) {
                return None;
            }
            decision.earlier = std::mem::take(&mut earlier);
            Some(decision)
        })
    }

    /// Finds out which loads saw what another schedule might change: whether the pass must be run again without it.
    fn contend(&mut self, decision: &mut Decision, earlier: &mut Pairs) -> bool {
        let loaded = self.terms.take_loaded();
        let unsettled = self.look_again(decision);
        if !decision.is_ordered() {
            return false;
        }
        let mut harmful: Vec<(bool, u64)> =
            decision.racing().filter(|&(is_global, byte)| loaded.reads(is_global, byte)).collect();
        if !harmful.is_empty() {
            let (pairs, is_whole) = races::all(self, decision);
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
        self.terms.contend(self.names.program, &loaded, harmful, unsettled)
    }

    /// Which accesses at open addresses may conflict: the first look knows no order, the second one does. The places that
    /// they make unsettled.
    pub(super) fn look_again(
        &mut self,
        decision: &mut Decision,
    ) -> BTreeSet<(bool, Option<usize>)> {
        let has_others = self.ctas > 1;
        decision.doubtful = decision.open.doubtful(has_others);
        let unsettled = decision.open.unsettled(has_others);
        if decision.doubtful.is_empty() && unsettled.is_empty() || !decision.is_ordered() {
            return unsettled;
        }
        let again = self.decide(decision.open.ordered());
        // What does not run to the same end has not seen all: the first look stands.
        if !again.has_ends_of(decision) {
            decision.cut = again.limit();
            return unsettled;
        }
        decision.doubtful = again.open.doubtful(has_others);
        again.open.unsettled(has_others)
    }

    /// What there is to say, apart from coverage.
    pub(super) fn findings(&mut self, decision: &Decision) -> Vec<Finding> {
        let Decision { ctas: decided, doubtful, .. } = decision;
        let names = self.names;
        let progress = self.progress(decision);
        let mut findings = Vec::new();
        for own in decided {
            findings.extend(barriers::explain(names, own.cta, &own.end, &own.found.recycled));
            let exits = own.found.exits.values();
            findings.extend(exits.map(|exit| barriers::barrier_exit(names, own.cta, exit)));
            let bypasses = own.found.bypasses.iter();
            findings.extend(bypasses.map(|branch| doubts::possible_bypass(names, *branch)));
            if let End::Undecided(doubt) = &own.end {
                findings.extend(beyond::explain(names, doubt, progress));
            }
        }
        let mut racing = BTreeSet::new();
        if decision.is_ordered() {
            let races;
            (races, racing) = races::explain(self, decision);
            findings.extend(races);
        }
        let cut =
            decision.cut.as_ref().filter(|_| !doubtful.is_empty() && decision.limit().is_none());
        findings.extend(cut.map(|doubt| doubts::explain(names, doubt, progress)));
        if decision.is_full() {
            findings.push(doubts::too_much_memory(names, progress));
        }
        if decided.iter().any(|own| own.found.faults.len() >= MAX_FAULTS) {
            findings.push(doubts::too_many_faults(names));
        }
        findings.extend(self.wrong_by_themselves(decision, &racing));
        findings.extend(doubtful.iter().map(|access| doubts::open_access(names, access)));
        findings
    }

    fn progress(&self, decision: &Decision) -> Progress {
        Progress { ended: decision.ended(), instructions: self.terms.spent() }
    }

    /// Accesses that are wrong by themselves. `racing`: the instructions that race.
    fn wrong_by_themselves(&self, decision: &Decision, racing: &BTreeSet<Pc>) -> Vec<Finding> {
        let (names, mut findings) = (self.names, Vec::new());
        let numbers = given::numbers(names, decision.ctas.iter().flat_map(|own| &own.found.faults));
        for own in &decision.ctas {
            let mut unwritten = own.found.unwritten.clone();
            // An instruction that races may read before what it races with is written, or after: up to the schedule.
            unwritten.retain(|pc, read| {
                let variable = names.variable_of(read);
                !racing.contains(pc) && !decision.open.may_be_written(variable)
            });
            let is_it = |fault: &&Fault| matches!(fault.kind, FaultKind::Uninitialized(_));
            let is_told = |fault: &&Fault| !is_it(fault) || !racing.contains(&fault.pc);
            let mut faults: Vec<_> = own.found.faults.iter().filter(is_told).copied().collect();
            let is_cut = matches!(&own.end, End::Undecided(doubt) if doubt.kind.is_limit());
            for fault in &mut faults {
                // A store at an open address might have written what was read. Where a limit ended the run, such a
                // store might have come later.
                if is_it(&&*fault) && (is_cut || !unwritten.contains_key(&fault.pc)) {
                    fault.maybe = fault.maybe.or(Some(Origin::PerhapsUnwritten(fault.pc)));
                }
            }
            findings.extend(
                faults.iter().map(|fault| faults::explain(names, own.cta, fault, &numbers)),
            );
            let told: BTreeSet<Pc> = faults.iter().filter(is_it).map(|fault| fault.pc).collect();
            let reads = unwritten.iter().filter(|(pc, _)| !told.contains(pc));
            findings.extend(reads.map(|(pc, read)| faults::unwritten(names, own.cta, *pc, read)));
        }
        findings
    }
}
