//! The explaining pass: runs the ctas that race again, to find the racing pairs of instructions and whether their
//! values differ.

use std::collections::BTreeSet;
use std::ops::Range;

use super::decision::{DecidedCta, Decision};
use super::detector;
use super::passes::PassContext;
use super::recorder::Recorder;
use crate::emulate::{End, Nearness, has_signals};
use crate::explain::{doubts, races};
use crate::finding::Finding;
use crate::flow::Pc;
use crate::race::{
    Conflict, CopiesInFlight, CtaHistory, Example, HandOvers, LaunchHistory, Pair, Pairs,
    PerhapsOrdered, Watched,
};
use crate::slice::{self, Floats, Slice};

/// The histories and the pairs can each take the memory of the check divided by this: this pass keeps no shadows.
const HISTORY_PART: u64 = 16;

/// Returns the findings for every racing pair of instructions, and the set of all instructions that race.
pub(super) fn explain(
    passes: &mut PassContext<'_>,
    decision: &Decision,
) -> (Vec<Finding>, BTreeSet<Pc>) {
    let races =
        !decision.between.racing().is_empty() || decision.ctas.iter().any(DecidedCta::races);
    if !races && decision.earlier.is_empty() {
        return Default::default();
    }
    let RacingPairs { mut pairs, is_whole, are_valued } = all(passes, decision);
    pairs.keep_races();
    // Races of earlier passes occur in some schedule, and are added if this pass shows no certain race. Otherwise they
    // would be reported under the one schedule whose values those passes saw.
    if pairs.iter().all(|(_, pair)| pair.conflict == Conflict::Possible) {
        pairs.take_worse(&decision.earlier);
    }
    let names = passes.names;
    let are_grouped = passes.facts.assumed().grouped && names.program.synchronizes_groups();
    // Threads hand on through memory, or lanes synchronize in groups of which it is not known who is in them, and perhaps hand
    // on to other warps.
    let patterns = names.program.hands_over.then(|| hand_overs(passes, Nearness::Cta));
    let finding = |(space, pair): (_, &Pair)| {
        let [one, other] = [pair.example.first.pc, pair.example.second.pc];
        let is_handed_over = patterns.as_ref().is_some_and(|own| own.might_order(one, other));
        let mut finding = races::finding(names, space, pair, is_handed_over || are_grouped);
        if !are_valued && stores_race(pair) && !pair.is_benign {
            finding.notes.push(races::UNVALUED.to_owned());
        }
        finding
    };
    let mut findings: Vec<_> = pairs.iter().map(finding).collect();
    if findings.is_empty() {
        findings.push(doubts::unexplained(names));
    } else if pairs.is_cut() || !is_whole {
        findings.push(doubts::unlisted(names));
    }
    findings.sort_by_key(|finding| finding.sites.first().map(|site| site.span));
    let sides = || pairs.iter().flat_map(|(_, pair)| [pair.example.first, pair.example.second]);
    passes.doubted.extend(sides().filter_map(|side| side.condition));
    (findings, sides().map(|side| side.pc).collect())
}

/// The racing pairs of instructions.
pub(super) struct RacingPairs {
    pub(super) pairs: Pairs,
    /// Whether the pass saw all of them.
    pub(super) is_whole: bool,
    /// Whether it is known which of the races are benign.
    are_valued: bool,
}

/// Returns all racing pairs of instructions. It first finds the pairs; then, with the values of stores that race with each
/// other, which of the races are benign.
pub(super) fn all(passes: &mut PassContext<'_>, decision: &Decision) -> RacingPairs {
    let (mut pairs, is_whole) = record(passes, decision, passes.slice, None);
    let are_valued = record_values(passes, decision, &mut pairs);
    RacingPairs { pairs, is_whole, are_valued }
}

/// Finds out which races between stores are benign. Computing the values can need loops that reach the limit of
/// instructions; then no race is taken to be benign, and the result is `false`.
fn record_values(passes: &mut PassContext<'_>, decision: &Decision, pairs: &mut Pairs) -> bool {
    let stores: BTreeSet<Pc> =
        pairs.iter().filter_map(|(_, pair)| stores(pair)).flatten().collect();
    if stores.is_empty() {
        return true;
    }
    let mark = |floats| slice::mark(passes.names.program, &stores, floats);
    let computed = mark(Floats::Computed);
    // If floating-point arithmetic is computed anyway, or decides no branch, its values cost little. Otherwise they are
    // left open in a first run.
    let may_be_long =
        passes.slice.floats == Floats::Open && computed.branches != passes.slice.branches;
    let rough = may_be_long.then(|| mark(Floats::Open)).filter(Slice::leaves_open);
    let mut are_valued = false;
    for slice in rough.iter().chain([&computed]) {
        if !pairs.iter().any(|(_, pair)| stores_race(pair) && !pair.is_benign) {
            return true;
        }
        passes.facts.symbolics.distinguishes_floats = true;
        passes.facts.racing = loads(pairs);
        let (valued, is_whole) = record(passes, decision, slice, Some(&stores));
        passes.facts.racing.clear();
        passes.facts.symbolics.distinguishes_floats = false;
        are_valued = is_whole && !valued.is_cut();
        if are_valued {
            pairs.take_values(&valued);
        }
    }
    are_valued
}

/// Returns the loads that race.
fn loads(pairs: &Pairs) -> BTreeSet<Pc> {
    let sides = pairs.iter().flat_map(|(_, pair)| [pair.example.first, pair.example.second]);
    sides.filter(|side| !side.kind.writes).map(|side| side.pc).collect()
}

/// Whether a pair is a certain race of two stores.
fn stores_race(pair: &Pair) -> bool {
    let Example { first, second } = pair.example;
    pair.conflict == Conflict::Race && first.kind.writes && second.kind.writes
}

/// What might order accesses of different ctas of a launch. A thread that did not come to its end might have signalled later,
/// and a cta that did not run might have handed on what it saw.
fn perhaps_ordered(passes: &PassContext<'_>, decision: &Decision) -> PerhapsOrdered {
    let program = passes.names.program;
    let is_followed = has_signals(program, passes.inputs)
        && program.signals_by_atomics()
        && !passes.facts.signals.are_mixed()
        && passes.is_whole(decision);
    if !program.hands_over {
        PerhapsOrdered::Never
    } else if is_followed {
        PerhapsOrdered::BySignals
    } else {
        PerhapsOrdered::ByPatterns(hand_overs(passes, Nearness::Grid))
    }
}

/// What release and acquire patterns might order. In lock step, a lane might release what another one did.
fn hand_overs(passes: &PassContext<'_>, nearness: Nearness) -> HandOvers {
    let program = passes.names.program;
    if passes.inputs.options.warp_synchronous {
        HandOvers::unknown(program)
    } else {
        HandOvers::of(program, nearness)
    }
}

/// Returns the instructions of a race of two stores.
fn stores(pair: &Pair) -> Option<[Pc; 2]> {
    stores_race(pair).then_some([pair.example.first.pc, pair.example.second.pc])
}

impl DecidedCta {
    /// Whether there are races within the cta.
    fn races(&self) -> bool {
        !self.found.shared.is_empty() || !self.found.global.is_empty()
    }

    /// Returns the bytes that race within the cta.
    fn watched(&self) -> Watched {
        let bytes = |ranges: &[Range<u64>]| ranges.iter().cloned().flatten().collect();
        Watched { shared: bytes(&self.found.shared), global: bytes(&self.found.global) }
    }
}

/// Runs the racing ctas again, or all ctas if bytes race between them, and returns the racing pairs, and whether everything was seen. `only`: the instructions
/// to watch, if not all.
fn record(
    passes: &mut PassContext<'_>,
    decision: &Decision,
    slice: &Slice,
    only: Option<&BTreeSet<Pc>>,
) -> (Pairs, bool) {
    let memory = passes.names.limit.memory / HISTORY_PART;
    let between = decision.between.racing();
    let mut pairs = Pairs::within(memory, passes.names.limit.instructions);
    if passes.clustering().size() > 1 {
        pairs = pairs.in_clusters(detector::full_warps(passes.inputs.block).count());
    }
    let mut across =
        LaunchHistory::within(memory, between.clone(), perhaps_ordered(passes, decision));
    let mut is_whole = true;
    passes.facts.begin();
    let mut decided = decision.ctas.iter().peekable();
    let clustering = passes.clustering();
    for number in 0..decision.stats.ctas / clustering.size() {
        let cta = clustering.first(number);
        let decided_cta = decided.next_if(|candidate| candidate.cta == cta);
        if between.is_empty() && !decided_cta.is_some_and(DecidedCta::races) {
            continue;
        }
        let watched = decided_cta.map_or_else(Watched::default, DecidedCta::watched);
        let mut reached = vec![false; passes.names.program.code.len()];
        let history = CtaHistory::within(memory, &watched);
        let order = detector::order(passes.names.program, passes.inputs);
        let mut recorder = Recorder {
            order,
            history,
            copies: CopiesInFlight::default(),
            between: &mut across,
            pairs: &mut pairs,
            only,
            cta: cta.index,
        };
        let run = passes.run(slice, cta, &mut recorder, &mut reached);
        let tags = recorder.order.signal_tags();
        across.end_cta(&tags, &passes.facts.symbolics, &mut pairs);
        pairs.end_cta();
        is_whole &= run.end == decided_cta.map_or(End::Finished, |candidate| candidate.end.clone());
        if !is_whole && matches!(&run.end, End::Undecided(doubt) if doubt.kind.is_limit()) {
            break;
        }
    }
    (pairs, is_whole)
}
