//! What all passes over a launch share, and the deciding pass.

use std::collections::BTreeSet;

use super::decision::Decision;
use super::detector::Detector;
use crate::emulate::{Clustering, Cta, CtaRun, Events, Facts, Inputs, OrderQuery, Origin};
use crate::explain::Names;
use crate::race::OpenAccesses;
use crate::slice::Slice;

/// A launch, the slice that is run, and the facts that passes have found out.
pub(super) struct PassContext<'a> {
    pub(super) names: &'a Names<'a>,
    pub(super) inputs: &'a Inputs,
    pub(super) slice: &'a Slice,
    /// The number of ctas that are run; they are the first ones of the launch.
    pub(super) ctas: u64,
    pub(super) facts: Facts,
    /// The origins of open values because of which accesses only might race.
    pub(super) doubted: BTreeSet<Origin>,
}

impl PassContext<'_> {
    /// Runs the ctas in order, until one ends the pass because running further ctas gains nothing.
    pub(super) fn decide(&mut self, open: OpenAccesses) -> Decision {
        let mut decision = Decision::new(self.names, open);
        self.facts.begin();
        while decision.stats.ctas < self.ctas {
            if self.decide_one(&mut decision) || self.decide_side_by_side(&mut decision) {
                break;
            }
        }
        decision
    }

    /// Runs the next cluster; returns whether it ends the pass.
    fn decide_one(&mut self, decision: &mut Decision) -> bool {
        let clustering = self.clustering();
        let cta = clustering.first(decision.stats.ctas / clustering.size());
        let mut open = std::mem::take(&mut decision.open);
        open.next_cta();
        let memory = self.names.limit.memory;
        let has_others = self.ctas > clustering.size();
        let of = (self.names.program, self.inputs);
        let mut detector = Detector::new(of, has_others, memory, open);
        let run = self.run(self.slice, cta, &mut detector, &mut decision.reached);
        decision.open = std::mem::take(&mut detector.open);
        let (found, footprint) = detector.close();
        decision.take_in(self.names, cta, run, found, footprint)
    }

    /// How the ctas of the launch form clusters.
    pub(super) fn clustering(&self) -> Clustering {
        self.inputs.clustering()
    }

    /// Runs the cluster that begins with a cta with this slice; returns how the run ended.
    pub(super) fn run(
        &mut self,
        slice: &Slice,
        cta: Cta,
        events: &mut (impl Events + OrderQuery),
        reached: &mut [bool],
    ) -> CtaRun {
        crate::emulate::run(
            self.names.program,
            slice,
            self.inputs,
            cta,
            &mut self.facts,
            events,
            reached,
        )
    }
}
