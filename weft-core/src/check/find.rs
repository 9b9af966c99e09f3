//! What a launch is checked with: first what takes little and mostly is enough, then what leaves less open.

use std::collections::BTreeSet;

use super::names::Names;
use super::passes::Passes;
use super::ways::{self, Outcome};
use super::{ctas, key};
use crate::emulate::{Assumed, Inputs, Terms};
use crate::finding::{Class, Code, Finding};
use crate::launch::{Atomics, Limit};
use crate::slice::{self, Floats, Slice};

/// Of the instructions that a check may run, this part may be spent on leaving floating-point arithmetic open.
const ROUGH_PART: u64 = 4;

/// What was found with a slice.
pub(super) struct Found {
    pub(super) slice: Slice,
    pub(super) outcome: Outcome,
    pub(super) assumed: Assumed,
    /// Whether counters are told apart, and so taken not to wrap around.
    pub(super) tells_counters: bool,
    /// How many ctas it is about.
    pub(super) ctas: u64,
    /// Whether there were too many open values to tell them apart.
    mixes_values: bool,
    /// Whether values were drawn from what may be a counter.
    draws: bool,
    /// Instructions that the check has run until then.
    spent: u64,
}

impl Found {
    fn of(&self, class: Class) -> impl Iterator<Item = &Finding> {
        self.outcome.findings.iter().filter(move |finding| finding.code.class() == class)
    }

    fn has(&self, is_meant: impl Fn(Class) -> bool) -> bool {
        self.outcome.findings.iter().any(|finding| is_meant(finding.code.class()))
    }

    fn is_open(&self) -> bool {
        !self.has(|class| class == Class::Defect) && self.has(|class| class == Class::Open)
    }

    /// Whether something is open, and there were too many open values to tell them apart.
    pub(super) fn is_too_open(&self) -> bool {
        self.mixes_values && self.has(|class| class == Class::Open)
    }

    /// Whether it has a verdict where the other is open, or leaves open only part of what the other does.
    fn settles_more_than(&self, other: &Self) -> bool {
        let open = |found: &Self| found.of(Class::Open).map(key).collect::<BTreeSet<_>>();
        let (own, others) = (open(self), open(other));
        !self.is_open() || own.len() < others.len() && own.is_subset(&others)
    }
}

/// As the launch takes atomics. `Auto`: counters are told apart only if that settles what is open otherwise.
pub(super) fn find(names: &Names<'_>, inputs: &Inputs) -> Found {
    let mut first = among_more(names, inputs, 0);
    if names.atomics != Atomics::Auto || !first.is_open() || !first.draws {
        return first;
    }
    let mut unique = inputs.clone();
    unique.options.atomics = Atomics::Unique;
    let second = among_more(names, &unique, first.spent);
    if second.settles_more_than(&first) {
        return second;
    }
    // With a higher limit it might.
    let limits = second.outcome.findings.into_iter().filter(|own| own.code == Code::Limit);
    first.outcome.findings.extend(limits);
    first
}

/// Of a grid with many ctas first the first ones, then more of them as long as all are clean. All at once if it matters
/// what else there is. `spent`: instructions that were run before.
fn among_more(names: &Names<'_>, inputs: &Inputs, spent: u64) -> Found {
    let all = names.grid.count();
    let (mut count, mut floats, mut spent) = (ctas::FIRST, Floats::Open, spent);
    while count < all && !names.past_findings {
        let first = among(names, inputs, count, floats, spent);
        if first.has(|class| class != Class::Warning) {
            return first;
        }
        (floats, spent) = (first.slice.floats, first.spent);
        count = count.saturating_mul(ctas::FIRST);
    }
    among(names, inputs, all, floats, spent)
}

/// Among the first ctas, first for whatever floating-point arithmetic computes, which takes little and mostly is enough;
/// if that leaves anything to settle, with its values. `floats`: the values, if it is known that they are needed.
fn among(names: &Names<'_>, inputs: &Inputs, ctas: u64, floats: Floats, spent: u64) -> Found {
    let mark = |floats| slice::mark(names.program, &BTreeSet::new(), floats);
    let most = names.limit.instructions;
    let mut before = spent;
    if floats == Floats::Open {
        let rough = mark(floats);
        if !rough.leaves_open() {
            return with_slice(names, inputs, ctas, rough, (spent, most));
        }
        let part = spent + (most - spent) / ROUGH_PART;
        let found = with_slice(names, inputs, ctas, rough, (spent, part));
        if !found.has(|class| class != Class::Defect) {
            return found;
        }
        before = found.spent;
    }
    with_slice(names, inputs, ctas, mark(Floats::Computed), (before, most))
}

fn with_slice(
    names: &Names<'_>,
    inputs: &Inputs,
    ctas: u64,
    slice: Slice,
    (spent, most): (u64, u64),
) -> Found {
    let limit = Limit { instructions: most, ..names.limit };
    let terms = Terms::within(limit, spent.min(most));
    let mut passes = Passes { names, inputs, slice: &slice, ctas, terms };
    let outcome = ways::check(&mut passes);
    let Passes { terms, .. } = passes;
    Found {
        outcome,
        assumed: terms.assumed,
        tells_counters: inputs.options.atomics == Atomics::Unique,
        ctas,
        mixes_values: terms.is_full,
        draws: terms.draws,
        spent: terms.spent(),
        slice,
    }
}
