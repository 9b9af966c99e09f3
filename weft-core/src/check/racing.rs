//! The explaining pass over the ctas that race: which pairs of instructions do, and with which values.

use std::collections::BTreeSet;
use std::ops::Range;

use super::ctas;
use super::decision::{DecidedCta, Decision};
use super::detector::full_warps;
use super::passes::Passes;
use super::recorder::Recorder;
use crate::emulate::End;
use crate::explain::{doubts, races};
use crate::finding::Finding;
use crate::flow::Pc;
use crate::order::Order;
use crate::race::{Conflict, CtaHistory, Example, History, Pair, Pairs, Watched};
use crate::slice::{self, Floats, Slice};

/// Of the memory that a check may take, each of the histories and the pairs may take this part: there are no shadows then.
const HISTORY_PART: u64 = 16;

/// Names every racing pair of instructions; the findings, and all instructions that race.
pub(super) fn explain(
    passes: &mut Passes<'_>,
    decision: &Decision,
) -> (Vec<Finding>, BTreeSet<Pc>) {
    let races =
        !decision.between.racing().is_empty() || decision.ctas.iter().any(DecidedCta::races);
    if !races && decision.earlier.is_empty() {
        return Default::default();
    }
    let (mut pairs, is_whole) = all(passes, decision);
    // Some schedule has these. While other races show that there is one, they would be named under that one alone.
    if pairs.iter().all(|(_, pair)| pair.conflict == Conflict::Possible) {
        pairs.take_worse(&decision.earlier);
    }
    let names = passes.names;
    let may_order = races::hands_over(names.program);
    let mut findings: Vec<_> =
        pairs.iter().map(|(space, pair)| races::finding(names, space, pair, may_order)).collect();
    if findings.is_empty() {
        findings.push(doubts::unexplained(names));
    } else if pairs.is_cut() || !is_whole {
        findings.push(doubts::unlisted(names));
    }
    findings.sort_by_key(|finding| finding.sites.first().map(|site| site.span));
    let sides = pairs.iter().flat_map(|(_, pair)| [pair.example.first, pair.example.second]);
    (findings, sides.map(|side| side.pc).collect())
}

/// All racing pairs of instructions, and whether all was seen: first which race; then, with the values of stores that race
/// with each other, which races are benign.
pub(super) fn all(passes: &mut Passes<'_>, decision: &Decision) -> (Pairs, bool) {
    let (mut pairs, is_whole) = record(passes, decision, passes.slice, None);
    record_values(passes, decision, &mut pairs);
    (pairs, is_whole)
}

/// Finds out which races of stores are benign. The values may take loops that run out of fuel: then none is.
fn record_values(passes: &mut Passes<'_>, decision: &Decision, pairs: &mut Pairs) {
    let stores: BTreeSet<Pc> =
        pairs.iter().filter_map(|(_, pair)| stores(pair)).flatten().collect();
    if stores.is_empty() {
        return;
    }
    let mark = |floats| slice::mark(passes.names.program, &stores, floats);
    let computed = mark(Floats::Computed);
    // Where addresses depend on such arithmetic, it is computed; and where it decides no branch, that takes little.
    let may_be_long =
        passes.slice.floats == Floats::Open && computed.branches != passes.slice.branches;
    let rough = may_be_long.then(|| mark(Floats::Open)).filter(Slice::leaves_open);
    for slice in rough.iter().chain([&computed]) {
        if !pairs.iter().any(|(_, pair)| stores_race(pair) && !pair.is_benign) {
            return;
        }
        passes.facts.symbolics.distinguishes_floats = true;
        passes.facts.racing = loads(pairs);
        let (valued, is_whole) = record(passes, decision, slice, Some(&stores));
        passes.facts.racing.clear();
        passes.facts.symbolics.distinguishes_floats = false;
        if is_whole && !valued.is_cut() {
            pairs.take_values(&valued);
        }
    }
}

/// The loads that race.
fn loads(pairs: &Pairs) -> BTreeSet<Pc> {
    let sides = pairs.iter().flat_map(|(_, pair)| [pair.example.first, pair.example.second]);
    sides.filter(|side| !side.kind.writes).map(|side| side.pc).collect()
}

/// Whether it is a race of two stores.
fn stores_race(pair: &Pair) -> bool {
    let Example { first, second } = pair.example;
    pair.conflict == Conflict::Race && first.kind.writes && second.kind.writes
}

/// The instructions of a race of two stores.
fn stores(pair: &Pair) -> Option<[Pc; 2]> {
    stores_race(pair).then_some([pair.example.first.pc, pair.example.second.pc])
}

impl DecidedCta {
    /// Whether there are races within the cta.
    fn races(&self) -> bool {
        !self.found.shared.is_empty() || !self.found.global.is_empty()
    }

    /// The bytes that race within the cta.
    fn watched(&self) -> Watched {
        let bytes = |ranges: &[Range<u64>]| ranges.iter().cloned().flatten().collect();
        Watched { shared: bytes(&self.found.shared), global: bytes(&self.found.global) }
    }
}

/// The races of some instructions, or all; and whether all was seen.
fn record(
    passes: &mut Passes<'_>,
    decision: &Decision,
    slice: &Slice,
    only: Option<&BTreeSet<Pc>>,
) -> (Pairs, bool) {
    let memory = passes.names.limit.memory / HISTORY_PART;
    let between = decision.between.racing();
    let mut pairs = Pairs::within(memory);
    let mut across = CtaHistory::within(memory, between.clone());
    let mut is_whole = true;
    passes.facts.begin();
    let mut decided = decision.ctas.iter().peekable();
    for index in 0..decision.stats.ctas {
        let cta = ctas::at(passes.names.grid, index);
        let decided_cta = decided.next_if(|candidate| candidate.cta == cta);
        if between.is_empty() && !decided_cta.is_some_and(DecidedCta::races) {
            continue;
        }
        let watched = decided_cta.map_or_else(Watched::default, DecidedCta::watched);
        let mut reached = vec![false; passes.names.program.code.len()];
        let history = History::within(memory, &watched);
        let order = Order::new(full_warps(passes.inputs.block));
        let mut recorder = Recorder {
            order,
            history,
            between: &mut across,
            pairs: &mut pairs,
            only,
            cta: cta.index,
        };
        let run = passes.run(slice, cta, &mut recorder, &mut reached);
        is_whole &= run.end == decided_cta.map_or(End::Finished, |candidate| candidate.end.clone());
        if !is_whole && matches!(&run.end, End::Undecided(doubt) if doubt.kind.is_limit()) {
            break;
        }
    }
    (pairs, is_whole)
}
