//! Ctas that have nothing to say to each other run side by side, as ctas do that access known addresses only.

use rayon::prelude::*;

use super::detector::Detector;
use super::passes::{Decided, Decision, Passes};
use crate::emulate::{Cta, Terms};
use crate::race::{Ctas, OpenAccesses};

/// Ctas that run side by side, at most: what each found is kept until all are done.
const MOST: usize = 32;

/// What one cta found by itself.
struct Alone {
    decided: Decided,
    terms: Terms,
    reached: Vec<bool>,
}

impl Passes<'_> {
    /// Runs the next ctas side by side while what ran so far says nothing to them. How many were decided; whether the
    /// last of them ends the pass.
    pub(super) fn decide_apart(&mut self, ctas: &[Cta], decision: &mut Decision) -> (usize, bool) {
        let mut count = 0;
        while count < ctas.len() && self.terms.is_apart() && decision.open.is_empty() {
            // A few at first: a cta that does not end ends the pass, and those beside it have run in vain.
            let most = MOST.min(2 * (count + 1));
            let next = &ctas[count..ctas.len().min(count + most)];
            let start = self.terms.spent();
            let all: Vec<Alone> = next.par_iter().map(|cta| self.alone(*cta)).collect();
            for own in all {
                let is_apart = own.decided.detector.open.is_empty();
                if !is_apart || !self.terms.join(&own.terms, start) {
                    return (count, false);
                }
                count += 1;
                if decision.take_in(own.decided, &own.reached) {
                    return (count, true);
                }
            }
        }
        (count, false)
    }

    fn alone(&self, cta: Cta) -> Alone {
        let (block, has_others) = (self.inputs.block, true);
        let (between, open) = (Ctas::new(), OpenAccesses::default());
        let mut detector = Detector::new(block, cta.index, has_others, between, open);
        let (mut terms, mut reached) =
            (self.terms.fork(), vec![false; self.names.program.code.len()]);
        let (program, events) = (self.names.program, &mut detector);
        let run = crate::emulate::run(
            program,
            self.slice,
            self.inputs,
            cta,
            &mut terms,
            events,
            &mut reached,
        );
        detector.shared.close();
        detector.global.close();
        Alone { decided: Decided { cta, run, detector }, terms, reached }
    }
}

impl Decision {
    /// Takes in what a cta found by itself; whether it ends the pass.
    fn take_in(&mut self, mut own: Decided, reached: &[bool]) -> bool {
        self.between.take_in(std::mem::take(&mut own.detector.between));
        self.open.take_in(std::mem::take(&mut own.detector.open));
        for (all, own) in self.reached.iter_mut().zip(reached) {
            *all |= own;
        }
        let is_last = own.is_broken();
        self.ctas.push(own);
        is_last
    }
}
