//! The passes over a launch: those that decide, until nothing new is found out about open addresses, and what is found.

use std::collections::BTreeSet;

use super::detector::{Detector, MAX_FAULTS};
use super::names::Names;
use super::{barriers, doubts, faults, races};
use crate::emulate::bytes::PAGE;
use crate::emulate::{Cta, DoubtKind, End, Events, Fault, FaultKind, Inputs, OpenAccess, Run, Terms};
use crate::finding::Finding;
use crate::flow::Pc;
use crate::race::{Ctas, OpenAccesses, Pairs};
use crate::slice::Slice;

/// What the pass that decides found in one cta.
pub(super) struct Decided {
    pub(super) cta: Cta,
    pub(super) run: Run,
    pub(super) detector: Detector,
}

/// What the pass that decides found in all ctas.
pub(super) struct Decision {
    pub(super) ctas: Vec<Decided>,
    pub(super) between: Ctas,
    pub(super) open: OpenAccesses,
    /// The accesses at open addresses that may conflict with others.
    pub(super) doubtful: Vec<OpenAccess>,
    /// What raced in earlier passes, in which loads of racing bytes read what one schedule leaves there.
    pub(super) earlier: Pairs,
    /// By instruction.
    pub(super) reached: Vec<bool>,
}

/// A launch to pass over.
pub(super) struct Passes<'a> {
    pub(super) names: &'a Names<'a>,
    pub(super) inputs: &'a Inputs,
    pub(super) slice: &'a Slice,
    pub(super) ctas: &'a [Cta],
    pub(super) terms: Terms,
}

/// Passes that decide, before the check gives up.
const MAX_PASSES: u32 = 16;

impl Decided {
    /// Whether its barriers are broken, or it ran for too long: no further cta is run.
    pub(super) fn is_broken(&self) -> bool {
        let end = &self.run.end;
        let is_out_of_fuel = matches!(end, End::Undecided(doubt) if doubt.kind == DoubtKind::Fuel);
        barriers::is_defect(end) || !self.detector.recycled.is_empty() || is_out_of_fuel
    }
}

impl Decision {
    /// Whether barriers are never used again too early, so that the order of this run is that of all.
    fn is_ordered(&self) -> bool {
        self.ctas.iter().all(|own| own.detector.recycled.is_empty())
    }

    /// All bytes that race: of global memory or of the shared memory of some cta.
    fn racing(&self) -> impl Iterator<Item = (bool, u64)> {
        let of = |own: &'_ Decided| {
            let shared = own.detector.shared.racing().keys().map(|byte| (false, *byte));
            let global = own.detector.global.racing().keys().map(|byte| (true, *byte));
            shared.chain(global).collect::<Vec<_>>()
        };
        self.ctas.iter().flat_map(of).chain(self.between.racing().iter().map(|byte| (true, *byte)))
    }
}

impl Passes<'_> {
    /// Runs the ctas, up to one whose barriers are broken.
    fn decide(&mut self, open: OpenAccesses) -> Decision {
        let program = self.names.program;
        let reached = vec![false; program.code.len()];
        let (between, doubtful, earlier) = (Ctas::new(), Vec::new(), Pairs::default());
        let mut decision =
            Decision { ctas: Vec::new(), between, open, doubtful, earlier, reached };
        self.terms.begin();
        let mut rest = self.ctas;
        while let [cta, others @ ..] = rest {
            if self.decide_one(*cta, &mut decision) {
                break;
            }
            let (count, is_last) = self.decide_apart(others, &mut decision);
            if is_last {
                break;
            }
            rest = &others[count..];
        }
        decision
    }

    /// Runs a cta; whether it ends the pass.
    fn decide_one(&mut self, cta: Cta, decision: &mut Decision) -> bool {
        let (between, mut open) =
            (std::mem::take(&mut decision.between), std::mem::take(&mut decision.open));
        open.next_cta();
        let has_others = self.ctas.len() > 1;
        let mut detector = Detector::new(self.inputs.block, cta.index, has_others, between, open);
        let run = self.run(self.slice, cta, &mut detector, &mut decision.reached);
        detector.shared.close();
        detector.global.close();
        decision.between = std::mem::take(&mut detector.between);
        decision.open = std::mem::take(&mut detector.open);
        let own = Decided { cta, run, detector };
        let is_last = own.is_broken();
        decision.ctas.push(own);
        is_last
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
        // Without well-synchronization the order of one run says nothing about races in another (PLDI'15 §4).
        if !decision.is_ordered() {
            return false;
        }
        let read: Vec<(bool, u64)> =
            decision.racing().filter(|&(is_global, byte)| loaded.reads(is_global, byte)).collect();
        let mut harmful = read.clone();
        if !read.is_empty() {
            let between = decision.between.racing().clone();
            let (pairs, is_whole) = races::all(self, &decision.ctas, &between);
            let bytes = pairs.harmful();
            let is_harmful = |&(is_global, byte): &(bool, u64)| {
                let page = bytes.get(&(is_global, byte / PAGE));
                page.is_some_and(|bytes| bytes >> (byte % PAGE) & 1 == 1)
            };
            if is_whole {
                harmful.retain(is_harmful);
            }
            earlier.take_worse(&pairs);
        }
        self.terms.contend(self.names.program, &loaded, harmful, unsettled)
    }

    /// Which accesses at open addresses may conflict: the first look knows no order, the second one does. The places that
    /// they make unsettled.
    fn look_again(&mut self, decision: &mut Decision) -> BTreeSet<(bool, Option<usize>)> {
        let ctas = self.ctas.len();
        decision.doubtful = decision.open.doubtful(ctas);
        let unsettled = decision.open.unsettled(ctas);
        if decision.doubtful.is_empty() && unsettled.is_empty() || !decision.is_ordered() {
            return unsettled;
        }
        let again = self.decide(decision.open.ordered());
        // What does not run to the same end has not seen all: the first look stands.
        let ends = |decided: &[Decided]| -> Vec<_> {
            decided.iter().map(|own| own.run.end.clone()).collect()
        };
        if ends(&again.ctas) != ends(&decision.ctas) {
            return unsettled;
        }
        decision.doubtful = again.open.doubtful(ctas);
        again.open.unsettled(ctas)
    }

    /// What there is to say, apart from coverage.
    pub(super) fn findings(&mut self, decision: &Decision) -> Vec<Finding> {
        let Decision { ctas: decided, between, open, doubtful, earlier, .. } = decision;
        let names = self.names;
        let mut findings = Vec::new();
        for own in decided {
            let recycled = &own.detector.recycled;
            findings.extend(barriers::explain(names, own.cta, &own.run.end, recycled));
            if let End::Undecided(doubt) = &own.run.end {
                findings.push(doubts::explain(names, doubt));
            }
        }
        let mut racing = BTreeSet::new();
        if decision.is_ordered() {
            let races;
            (races, racing) = races::explain(self, decided, between.racing(), earlier);
            findings.extend(races);
        }
        let is_full =
            |own: &Decided| own.detector.global.is_full() || own.detector.shared.is_full();
        if between.is_full() || decided.iter().any(is_full) {
            findings.push(doubts::too_much_memory(names));
        }
        if decided.iter().any(|own| own.detector.faults.len() >= MAX_FAULTS) {
            findings.push(doubts::too_many_faults(names));
        }
        for own in decided {
            let mut unwritten = own.detector.shared.unwritten();
            // An instruction that races may read before what it races with is written, or after: up to the schedule.
            unwritten.retain(|pc, read| {
                let end = read.address.saturating_add(u64::from(read.bytes));
                let variable = names.program.shared_variable(read.address, end);
                !racing.contains(pc) && !open.may_be_written(variable)
            });
            let is_sure = |fault: &&Fault| match fault.kind {
                FaultKind::Uninitialized(_) => unwritten.contains_key(&fault.pc),
                _ => true,
            };
            let faults: Vec<_> = own.detector.faults.iter().filter(is_sure).collect();
            findings.extend(faults.iter().map(|fault| faults::explain(names, own.cta, fault)));
            let is_it = |fault: &&&Fault| matches!(fault.kind, FaultKind::Uninitialized(_));
            let told: BTreeSet<Pc> = faults.iter().filter(is_it).map(|fault| fault.pc).collect();
            let reads = unwritten.iter().filter(|(pc, _)| !told.contains(pc));
            findings.extend(reads.map(|(pc, read)| faults::unwritten(names, own.cta, *pc, read)));
        }
        findings.extend(doubtful.iter().map(|access| doubts::open_access(names, access)));
        findings
    }
}
