//! Runs ctas in parallel that are independent of each other because they access only known addresses.

use rayon::prelude::*;

use super::decision::Decision;
use super::detector::{CtaResult, Detector};
use super::passes::PassContext;
use crate::emulate::{Cta, CtaFacts, CtaRun, End};
use crate::race::{Footprint, OpenAccesses};

/// The most ctas that run in parallel: the results of each are kept until all are done.
const MOST: u64 = 32;

/// What was found in one cluster that ran by itself.
struct IndependentRun {
    cta: Cta,
    run: CtaRun,
    found: CtaResult,
    footprint: Option<Footprint>,
    open: OpenAccesses,
    reached: Vec<bool>,
    /// Instructions that it ran.
    spent: u64,
    /// The facts that later ctas need.
    facts: CtaFacts,
    /// Whether it has found out nothing that other ctas depend on.
    is_independent: bool,
    /// Whether it takes too much memory to run in parallel with others.
    is_heavy: bool,
}

impl PassContext<'_> {
    /// Runs the next ctas in parallel as long as earlier ones have found nothing that they depend on. Returns whether
    /// the last of them ends the pass.
    pub(super) fn decide_side_by_side(&mut self, decision: &mut Decision) -> bool {
        // Starts with a few: if one cta does not end, it ends the pass, and those next to it have run in vain.
        let mut most = 2;
        while self.facts.are_independent() && decision.open.is_empty() && !decision.is_heavy {
            let size = self.clustering().size();
            let first = decision.stats.ctas / size;
            let count = most.min(self.ctas / size - first);
            if count == 0 {
                return false;
            }
            let next = (0..usize::try_from(count).unwrap_or(0)).into_par_iter();
            let all: Vec<IndependentRun> = next.map(|at| self.alone(first + at as u64)).collect();
            for mut alone in all {
                decision.is_heavy = alone.is_heavy;
                let emitted = std::mem::take(&mut alone.facts);
                if alone.is_heavy || !alone.is_independent || !self.facts.join(alone.spent, emitted)
                {
                    return false;
                }
                if decision.take_alone(self, alone) {
                    return true;
                }
            }
            most = MOST.min(2 * (most + 1));
        }
        false
    }

    /// Runs the cluster of this number by itself.
    fn alone(&self, number: u64) -> IndependentRun {
        let cta = self.clustering().first(number);
        let (mut facts, mut reached) =
            (self.facts.fork(), vec![false; self.names.program.code.len()]);
        let (start, memory) = (facts.spent(), facts.memory());
        let mut events =
            Detector::new((self.names.program, self.inputs), true, memory, OpenAccesses::default());
        let run = crate::emulate::run(
            self.names.program,
            self.slice,
            self.inputs,
            cta,
            &mut facts,
            &mut events,
            &mut reached,
        );
        let open = std::mem::take(&mut events.open);
        let (found, footprint) = events.close();
        let is_out = matches!(&run.end, End::Undecided(doubt) if doubt.kind.is_memory());
        let is_footprint_full = footprint.as_ref().is_some_and(Footprint::is_full);
        IndependentRun {
            is_independent: open.is_empty() && facts.are_independent(),
            is_heavy: facts.symbolics.is_full || found.is_full || is_footprint_full || is_out,
            spent: facts.spent() - start,
            facts: facts.take_cta_facts(),
            cta,
            run,
            found,
            footprint,
            open,
            reached,
        }
    }
}

impl Decision {
    /// Adds what a cta found by itself; returns whether it ends the pass.
    fn take_alone(&mut self, passes: &PassContext<'_>, alone: IndependentRun) -> bool {
        self.open.take_in(alone.open);
        for (all, reached) in self.reached.iter_mut().zip(alone.reached) {
            *all |= reached;
        }
        self.take_in(passes.names, alone.cta, alone.run, alone.found, alone.footprint)
    }
}
