//! Chooses the settings that a launch is checked with: first cheap ones that are mostly enough, then ones that leave
//! less open.

use std::collections::BTreeSet;

use super::case_split::{self, LaunchResult};
use super::ctas;
use super::decision::Decision;
use super::key;
use super::passes::PassContext;
use crate::emulate::{Assumed, Drawn, Facts, Inputs, Origin, Tensors};
use crate::explain::Names;
use crate::finding::{Class, Code, Finding};
use crate::launch::{Atomics, Limit, Schedule};
use crate::slice::{self, Floats, Slice};

/// What a check is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// A verdict: what is open is tried again with less left open.
    Verdict,
    /// A witness: one defect is enough.
    Trial,
}

/// When floating-point arithmetic is left open, the check can spend its remaining instructions divided by this.
const ROUGH_PART: u64 = 4;
/// Likewise of a trial, which is mostly enough.
const ROUGH_PART_OF_TRIAL: u64 = 2;

/// The result of checking a launch with one slice.
#[allow(clippy::struct_excessive_bools, reason = "each is about the check as a whole")]
pub(super) struct SliceResult {
    pub(super) slice: Slice,
    pub(super) outcome: LaunchResult,
    pub(super) assumed: Assumed,
    /// The tensor maps of copies that were run.
    pub(super) tensors: Tensors,
    /// Whether results of counters are taken to be distinct, and counters not to wrap around.
    pub(super) distinguishes_counters: bool,
    /// The number of ctas that were checked.
    pub(super) ctas: u64,
    /// Whether there were too many open values to distinguish them all.
    mixes_values: bool,
    /// Whether values were drawn from memory that might be a counter.
    draws: bool,
    /// Whether a condition asked what a signal returned, which is known only if all ctas run.
    asks_signals: bool,
    /// What is known about the values drawn from counters.
    drawn: Drawn,
    /// The instructions that the check has run so far, including earlier slices.
    pub(super) spent: u64,
    /// The origins of open values because of which something is open.
    pub(super) doubted: BTreeSet<Origin>,
}

impl SliceResult {
    fn of(&self, class: Class) -> impl Iterator<Item = &Finding> {
        self.outcome.findings.iter().filter(move |finding| finding.code.class() == class)
    }

    fn has(&self, is_meant: impl Fn(Class) -> bool) -> bool {
        self.outcome.findings.iter().any(|finding| is_meant(finding.code.class()))
    }

    fn is_open(&self) -> bool {
        !self.has(|class| class == Class::Defect) && self.has(|class| class == Class::Open)
    }

    /// Whether the values of floating-point arithmetic might change the findings: not those of defects, nor what is open
    /// because of values that the launch leaves open.
    fn might_depend_on_floats(&self) -> bool {
        let is_decided = |finding: &Finding| {
            finding.code.class() == Class::Defect || finding.code == Code::DependsOnInput
        };
        let mut origins = self.outcome.decisions.iter().flat_map(Decision::open_origins);
        self.outcome.decisions.len() != 1
            || !self.outcome.findings.iter().all(is_decided)
            || !origins.all(|origin| origin.is_some_and(Origin::is_of_launch))
    }

    /// Whether something is open, and there were too many open values to distinguish them all.
    pub(super) fn is_too_open(&self) -> bool {
        self.mixes_values && self.has(|class| class == Class::Open)
    }

    /// Adds the result for another order in which ctas take over the work of others.
    fn joined(mut self, other: Self) -> Self {
        self.outcome.findings.extend(other.outcome.findings);
        self.outcome.decisions.extend(other.outcome.decisions);
        self.outcome.open = self.outcome.open.zip(other.outcome.open).map(|(mut own, more)| {
            own.extend(more);
            own
        });
        self.assumed.join(other.assumed);
        self.tensors.uses.join(other.tensors.uses);
        self.distinguishes_counters |= other.distinguishes_counters;
        self.mixes_values |= other.mixes_values;
        self.spent = other.spent;
        self.doubted.extend(other.doubted);
        self
    }

    /// Whether it has a verdict where the other result is open, or leaves only some of the other's findings open.
    fn settles_more_than(&self, other: &Self) -> bool {
        let open = |found: &Self| found.of(Class::Open).map(key).collect::<BTreeSet<_>>();
        let (here, others) = (open(self), open(other));
        !self.is_open() || here.len() < others.len() && here.is_subset(&others)
    }
}

/// Checks a launch: where ctas might take over the work of others, once without that, and once with as much of it as there
/// can be.
pub(super) fn find(names: &Names<'_>, inputs: &Inputs, effort: Effort) -> SliceResult {
    let first = find_drawn(names, inputs, effort, 0);
    if !names.program.takes_over() || first.has(|class| class == Class::Defect) {
        return first;
    }
    let mut busy = inputs.clone();
    busy.takes_over = true;
    let second = find_drawn(names, &busy, effort, first.spent);
    first.joined(second)
}

/// Checks a launch with the treatment of atomics that it asks for. `Auto`: counters are taken to be unique only if that
/// settles what is open otherwise. `spent`: instructions that were run before.
fn find_drawn(names: &Names<'_>, inputs: &Inputs, effort: Effort, spent: u64) -> SliceResult {
    let mut first = among_more(names, inputs, effort, spent);
    if names.atomics == Atomics::Unique {
        return refuted(names, inputs, first);
    }
    if names.atomics != Atomics::Auto || !first.is_open() || !first.draws {
        return first;
    }
    let mut unique = inputs.clone();
    unique.options.atomics = Atomics::Unique;
    let second = refuted(names, &unique, among_more(names, &unique, effort, first.spent));
    if second.settles_more_than(&first) {
        return second;
    }
    first.outcome.findings.extend(limits(second.outcome.findings));
    first
}

/// Returns the findings that a limit was reached, which kept a check from settling more.
fn limits(findings: Vec<Finding>) -> impl Iterator<Item = Finding> {
    findings.into_iter().filter(|finding| finding.code == Code::Limit)
}

const IN_TURN: &str =
    "this is so in one order of what is drawn from counters, in which ctas take turns";
const COUNT_ALL: &str = "let the atomic add as much as is indexed with the value that it returns";

/// Refutes what is open with unique counters: reports the defects of a run in which the ctas draw from counters in
/// turn.
fn refuted(names: &Names<'_>, inputs: &Inputs, mut found: SliceResult) -> SliceResult {
    // The ctas of a cluster can wait for each other, so that they might not take turns.
    let takes_turns = inputs.cluster.count() == 1;
    if !found.is_open() || found.drawn != Drawn::Distinct || !takes_turns {
        return found;
    }
    let mut in_turn = inputs.clone();
    in_turn.draws_in_turn = true;
    // The schedule is fixed so that the findings do not depend on the one that the launch asks for.
    in_turn.options.schedule = Schedule::InOrder;
    let so_far = (Effort::Verdict, found.spent);
    let other = among(names, &in_turn, found.ctas, Floats::Open, so_far);
    found.spent = other.spent;
    let happens = other.drawn == Drawn::InOrder;
    let is_defect = |finding: &Finding| happens && finding.code.class() == Class::Defect;
    let (mut defects, others): (Vec<_>, Vec<_>) =
        other.outcome.findings.into_iter().partition(is_defect);
    if defects.is_empty() {
        found.outcome.findings.extend(limits(others));
        return found;
    }
    let emitted: BTreeSet<_> = defects
        .iter()
        .flat_map(|found_finding| &found_finding.sites)
        .map(|site| site.span)
        .collect();
    let is_replaced = |candidate: &Finding| {
        candidate.code == Code::DependsOnInput
            && candidate.sites.iter().all(|site| emitted.contains(&site.span))
    };
    let replaced: Vec<Finding> =
        found.outcome.findings.extract_if(.., |candidate| is_replaced(candidate)).collect();
    let indexed: BTreeSet<_> =
        replaced.iter().flat_map(|own| &own.sites).map(|site| site.span).collect();
    for defect in &mut defects {
        defect.notes.push(IN_TURN.to_owned());
        let is_indexed = defect.sites.iter().any(|site| indexed.contains(&site.span));
        if is_indexed && matches!(defect.code, Code::SharedRace | Code::GlobalRace) {
            defect.help = Some(COUNT_ALL.to_owned());
        }
    }
    found.outcome.findings.extend(defects);
    found
}

/// Checks the first ctas of a large grid, then more of them as long as all are clean; checks all at once if the
/// findings of all ctas are needed. `spent`: instructions that were run before.
fn among_more(names: &Names<'_>, inputs: &Inputs, effort: Effort, spent: u64) -> SliceResult {
    let clustering = inputs.clustering();
    let all = inputs.running() * clustering.size();
    let (mut count, mut floats, mut spent) = (ctas::FIRST, Floats::Open, spent);
    loop {
        count = clustering.whole(count);
        if count >= all || names.past_findings {
            break;
        }
        let first = among(names, inputs, count, floats, (effort, spent));
        let is_enough = first.has(|class| class == Class::Defect) || !first.asks_signals;
        if is_enough && first.has(|class| class != Class::Warning) {
            return first;
        }
        (floats, spent) = (first.slice.floats, first.spent);
        if first.asks_signals {
            break;
        }
        count = count.saturating_mul(ctas::FIRST);
    }
    among(names, inputs, all, floats, (effort, spent))
}

/// Checks the first ctas of a launch, first with the results of floating-point arithmetic left open, which is cheap and
/// mostly enough; if its values might change the findings, with these. `floats`: `Computed` if the values are known to
/// be needed.
fn among(
    names: &Names<'_>,
    inputs: &Inputs,
    ctas: u64,
    floats: Floats,
    (effort, spent): (Effort, u64),
) -> SliceResult {
    let mark = |floats| slice::mark(names.program, &BTreeSet::new(), floats);
    let most = names.limit.instructions;
    let mut before = spent;
    if floats == Floats::Open {
        let rough = mark(floats);
        if !rough.leaves_open() {
            return with_slice(names, inputs, ctas, rough, (spent, most));
        }
        let part = match effort {
            Effort::Verdict => ROUGH_PART,
            Effort::Trial => ROUGH_PART_OF_TRIAL,
        };
        let part = spent + (most - spent) / part;
        let found = with_slice(names, inputs, ctas, rough, (spent, part));
        // Of several cases of a condition, those might not happen that a floating-point value decides.
        let is_one = found.outcome.decisions.len() == 1;
        let is_enough =
            effort == Effort::Trial && is_one && found.has(|class| class == Class::Defect);
        if is_enough || !found.might_depend_on_floats() {
            return found;
        }
        before = found.spent;
    }
    with_slice(names, inputs, ctas, mark(Floats::Computed), (before, most))
}

/// Returns the facts that a check begins with. `spent`: instructions that were run before, of `most`.
fn no_facts(names: &Names<'_>, inputs: &Inputs, ctas: u64, (spent, most): (u64, u64)) -> Facts {
    let limit = Limit { instructions: most, ..names.limit };
    let mut facts = Facts::within(limit, spent.min(most));
    if inputs.draws_in_turn {
        facts.choose_draw_order(ctas);
    }
    facts
}

/// Most places at which conditions are decided that no barrier depends on.
const MOST_PLACES: usize = 3;

/// Checks a launch again whose verdict is open, with all cases of the conditions that were left open. Returns the result if
/// that decides the verdict.
fn in_cases<'a>(
    open: &PassContext<'a>,
    outcome: &LaunchResult,
    most: u64,
) -> Option<(PassContext<'a>, LaunchResult)> {
    let places: Vec<_> = open.facts.splits.left_open().collect();
    let is = |class, found: &[Finding]| found.iter().any(|found| found.code.class() == class);
    let is_open = !is(Class::Defect, &outcome.findings) && is(Class::Open, &outcome.findings);
    if !is_open || places.is_empty() || places.len() > MOST_PLACES {
        return None;
    }
    let facts = no_facts(open.names, open.inputs, open.ctas, (open.facts.spent(), most));
    let mut passes = PassContext { facts, doubted: BTreeSet::new(), ..*open };
    let found = case_split::check_cases(&mut passes, &places)?;
    let is_decided = is(Class::Defect, &found.findings) || !is(Class::Open, &found.findings);
    is_decided.then_some((passes, found))
}

fn with_slice(
    names: &Names<'_>,
    inputs: &Inputs,
    ctas: u64,
    slice: Slice,
    (spent, most): (u64, u64),
) -> SliceResult {
    let facts = no_facts(names, inputs, ctas, (spent, most));
    let doubted = BTreeSet::new();
    let mut passes = PassContext { names, inputs, slice: &slice, ctas, facts, doubted };
    let mut outcome = case_split::check(&mut passes);
    if let Some(decided) = in_cases(&passes, &outcome, most) {
        (passes, outcome) = decided;
    }
    let PassContext { mut facts, mut doubted, .. } = passes;
    doubted.extend(outcome.decisions.iter().flat_map(Decision::open_origins).flatten());
    SliceResult {
        outcome,
        assumed: facts.assumed(),
        tensors: std::mem::take(&mut facts.tensors),
        distinguishes_counters: inputs.options.atomics == Atomics::Unique,
        ctas,
        mixes_values: facts.symbolics.is_full,
        draws: facts.draws,
        asks_signals: facts.signals.were_asked(),
        drawn: facts.drawn(),
        spent: facts.spent(),
        doubted,
        slice,
    }
}
