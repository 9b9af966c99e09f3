//! Accesses that threads perform in turn: each in a critical section of one lock, or to take and to release it.

use super::base::AddressBase;
use super::intervals::{BarrierInterval, IterationRelation};
use super::outcome::Gap;
use super::proof::Prover;
use crate::emulate::Nearness;
use crate::ptx::Space;
use crate::race::{Conflict, conflict};

impl Prover<'_> {
    /// Whether two accesses that might overlap are ordered by a lock, or are those by which threads ask for it.
    pub(super) fn are_in_turn(
        &mut self,
        a: usize,
        b: usize,
        relation: Option<IterationRelation>,
    ) -> bool {
        let ordered_by = self.are_of_lock(a, b, relation).or_else(|| self.lock(a, b, relation));
        self.relied_on.extend(ordered_by);
        ordered_by.is_some()
    }

    /// The base of a lock that two accesses are both ordered by, if they overlap: the words of their locks are one then.
    fn lock(
        &mut self,
        a: usize,
        b: usize,
        relation: Option<IterationRelation>,
    ) -> Option<AddressBase> {
        let [first, second] = [a, b].map(|at| self.accesses[at].index);
        for [one, other] in self.sections.common(first, second) {
            if relation.is_none() && one.base.space(self.program) == Space::Shared {
                // Each cta has its own.
                continue;
            }
            let unequal = Some([one.offset, other.offset]);
            if let Some(assumed) = self.disjointness((a, b), relation, unequal) {
                self.assumed.extend(assumed);
                return Some(one.base);
            }
        }
        None
    }

    /// The base of two strong accesses if they are those by which threads ask for, look at and release the locks there, whose
    /// order does not matter.
    fn are_of_lock(
        &self,
        a: usize,
        b: usize,
        relation: Option<IterationRelation>,
    ) -> Option<AddressBase> {
        let (first, second) = (&self.accesses[a], &self.accesses[b]);
        let locks = self.sections.locks.get(&first.base)?;
        let is_part = |at: usize| !locks.strays.contains(&at);
        let nearness = if relation.is_some() { Nearness::Cta } else { Nearness::Grid };
        let are_strong = conflict(first.kind, second.kind, nearness) == Some(Conflict::Strong);
        (is_part(a) && is_part(b) && are_strong).then_some(first.base)
    }

    /// Checks that nothing else writes to the words of locks that order accesses: where it might, a thread could take a lock
    /// that another one has.
    pub(super) fn check_locks(&mut self, intervals: &[BarrierInterval]) {
        let relied_on: Vec<_> = self.relied_on.iter().copied().collect();
        for base in relied_on {
            let locks = self.sections.locks[&base].clone();
            let pairs = locks.strays.iter().flat_map(|stray| {
                locks.takings.iter().map(move |taking| (*stray.min(taking), *stray.max(taking)))
            });
            for (a, b) in pairs {
                let relations = self.relations_to_tell_apart(a, b, intervals);
                let is_common = self.accesses[a].space != Space::Shared && !self.is_one_cta();
                let between = is_common.then_some(None);
                for relation in relations.into_iter().map(Some).chain(between) {
                    self.must_be_apart(a, b, relation);
                }
            }
        }
    }

    fn must_be_apart(&mut self, a: usize, b: usize, relation: Option<IterationRelation>) {
        let is_apart =
            self.is_over() || self.are_disjoint(a, b, relation) || self.is_refuted(a, b, relation);
        let pair = Gap::Pair(self.accesses[a].pc, self.accesses[b].pc);
        if !is_apart && !self.gaps.contains(&pair) {
            self.gaps.push(pair);
        }
    }
}
