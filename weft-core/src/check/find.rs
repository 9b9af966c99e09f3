//! What a launch is checked with: first what takes little and mostly is enough, then what leaves less open.

use std::collections::BTreeSet;

use super::key;
use super::names::Names;
use super::passes::Passes;
use super::ways::{self, Outcome};
use crate::emulate::{Cta, Inputs, Terms};
use crate::finding::{Class, Finding};
use crate::launch::Atomics;
use crate::ptx::isa::Effect;
use crate::slice::{self, Floats, Slice};

/// Of the instructions that a check may run, this part may be spent on leaving floating-point arithmetic open.
const ROUGH_PART: u64 = 4;

/// What was found with a slice.
pub(super) struct Found {
    pub(super) slice: Slice,
    pub(super) outcome: Outcome,
    pub(super) assumes_indices: bool,
    /// Whether counters are taken not to wrap around.
    pub(super) assumes_unique: bool,
    /// Whether values were drawn from what may be a counter.
    draws: bool,
    /// Instructions that were run.
    spent: u64,
}

impl Found {
    fn of(&self, class: Class) -> impl Iterator<Item = &Finding> {
        self.outcome.findings.iter().filter(move |finding| finding.code.class() == class)
    }

    /// Whether it leaves nothing to settle.
    fn is_settled(&self) -> bool {
        self.outcome.findings.iter().all(|finding| finding.code.class() == Class::Defect)
    }

    fn is_open(&self) -> bool {
        self.of(Class::Defect).next().is_none() && self.of(Class::Open).next().is_some()
    }

    /// Whether it has a verdict where the other is open, or leaves open only part of what the other does.
    fn settles_more_than(&self, other: &Self) -> bool {
        let open = |found: &Self| found.of(Class::Open).map(key).collect::<BTreeSet<_>>();
        let (own, others) = (open(self), open(other));
        !self.is_open() || own.len() < others.len() && own.is_subset(&others)
    }
}

/// As the launch takes atomics. `Auto`: counters are told apart only if that settles what is open otherwise.
pub(super) fn find(names: &Names<'_>, inputs: &Inputs, ctas: &[Cta], most: u64) -> Found {
    let first = with_floats(names, inputs, ctas, most);
    let rest = most.saturating_sub(first.spent);
    if names.atomics != Atomics::Auto || !first.is_open() || !first.draws || rest == 0 {
        return first;
    }
    let mut unique = inputs.clone();
    unique.options.atomics = Atomics::Unique;
    Some(with_floats(names, &unique, ctas, rest))
        .filter(|second| second.settles_more_than(&first))
        .unwrap_or(first)
}

/// First for whatever floating-point arithmetic computes; if that leaves anything to settle, with its values.
fn with_floats(names: &Names<'_>, inputs: &Inputs, ctas: &[Cta], most: u64) -> Found {
    let mark = |floats| slice::mark(names.program, &BTreeSet::new(), floats);
    let rough = mark(Floats::Open);
    if !rough.leaves_open() {
        return with_slice(names, inputs, ctas, rough, most);
    }
    let first = with_slice(names, inputs, ctas, rough, most / ROUGH_PART);
    if first.is_settled() {
        return first;
    }
    let second = with_slice(names, inputs, ctas, mark(Floats::Computed), most);
    Found { spent: first.spent + second.spent, ..second }
}

fn with_slice(names: &Names<'_>, inputs: &Inputs, ctas: &[Cta], slice: Slice, most: u64) -> Found {
    let terms = Terms::within(most);
    let start = terms.spent();
    let mut passes = Passes { names, inputs, slice: &slice, ctas, terms };
    let outcome = ways::check(&mut passes);
    let Passes { terms, .. } = passes;
    let has_atomics = names.program.code.iter().any(|instr| instr.effect() == Effect::Atomic);
    Found {
        outcome,
        assumes_indices: terms.assumes_indices,
        assumes_unique: inputs.options.atomics == Atomics::Unique && has_atomics,
        draws: terms.draws,
        spent: terms.spent() - start,
        slice,
    }
}
