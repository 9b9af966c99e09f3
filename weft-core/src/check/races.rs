//! Races: the explaining pass over the ctas that race, and its findings.

use std::collections::BTreeSet;
use std::ops::Range;

use super::ctas;
use super::decision::{Decided, Decision};
use super::detector::full_warps;
use super::names::Names;
use super::passes::Passes;
use super::recorder::Recorder;
use crate::emulate::{End, Kind, Origin};
use crate::finding::{Check, Code, Finding, Role, Site, ThreadPairs};
use crate::flow::{Pc, Program};
use crate::order::Order;
use crate::ptx::Space;
use crate::ptx::isa::{Decoded, Effect, Family, Modifier};
use crate::race::{Conflict, CtaHistory, Example, History, Pair, Pairs, Side, Watched};
use crate::slice::{self, Floats, Slice};

/// Of the memory that a check may take, each of the histories and the pairs may take this part: there are no shadows then.
const HISTORY_PART: u64 = 16;

/// Names every racing pair of instructions; the findings, and all instructions that race.
pub(super) fn explain(
    passes: &mut Passes<'_>,
    decision: &Decision,
) -> (Vec<Finding>, BTreeSet<Pc>) {
    let races = !decision.between.racing().is_empty() || decision.ctas.iter().any(Decided::races);
    if !races && decision.earlier.is_empty() {
        return Default::default();
    }
    let (mut pairs, is_whole) = all(passes, decision);
    // Some schedule has these. While other races show that there is one, they would be named under that one alone.
    if pairs.iter().all(|(_, pair)| pair.conflict == Conflict::Possible) {
        pairs.take_worse(&decision.earlier);
    }
    let names = passes.names;
    let may_order = hands_over(names.program);
    let mut findings: Vec<_> =
        pairs.iter().map(|(space, pair)| finding(names, space, pair, may_order)).collect();
    if findings.is_empty() {
        findings.push(super::doubts::unexplained(names));
    } else if pairs.is_cut() || !is_whole {
        findings.push(super::doubts::unlisted(names));
    }
    findings.sort_by_key(|finding| finding.sites.first().map(|site| site.span));
    let sides = pairs.iter().flat_map(|(_, pair)| [pair.example.first, pair.example.second]);
    (findings, sides.map(|side| side.pc).collect())
}

/// All racing pairs of instructions, and whether all was seen: first which race; then, with the values of stores that race
/// with each other, which races are benign.
pub(super) fn all(passes: &mut Passes<'_>, decision: &Decision) -> (Pairs, bool) {
    let (mut pairs, is_whole) = record(passes, decision, passes.slice, None);
    tell_values(passes, decision, &mut pairs);
    (pairs, is_whole)
}

/// Finds out which races of stores are benign. The values may take loops that run out of fuel: then none is.
fn tell_values(passes: &mut Passes<'_>, decision: &Decision, pairs: &mut Pairs) {
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
        passes.terms.tells_floats = true;
        passes.terms.racing = loads(pairs);
        let (valued, is_whole) = record(passes, decision, slice, Some(&stores));
        passes.terms.racing.clear();
        passes.terms.tells_floats = false;
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

impl Decided {
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
    passes.terms.begin();
    let mut decided = decision.ctas.iter().peekable();
    for index in 0..decision.stats.ctas {
        let cta = ctas::at(passes.names.grid, index);
        let own = decided.next_if(|own| own.cta == cta);
        if between.is_empty() && !own.is_some_and(Decided::races) {
            continue;
        }
        let watched = own.map_or_else(Watched::default, Decided::watched);
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
        is_whole &= run.end == own.map_or(End::Finished, |own| own.end.clone());
        if !is_whole && matches!(&run.end, End::Undecided(doubt) if doubt.kind.is_limit()) {
            break;
        }
    }
    (pairs, is_whole)
}

pub(super) const fn word(kind: Kind) -> (&'static str, Role) {
    if kind.is_atomic {
        ("atomic", Role::Atomic)
    } else if kind.writes {
        ("write", Role::Write)
    } else {
        ("read", Role::Read)
    }
}

/// Whether threads may order each other through memory: release and acquire patterns (PTX ISA §8.8), which are not
/// followed. They need such an access, or a fence together with strong accesses.
fn hands_over(program: &Program) -> bool {
    const ORDERED: [Modifier; 3] = [Modifier::Acquire, Modifier::Release, Modifier::AcqRel];
    const STRONG: [Modifier; 3] = [Modifier::Volatile, Modifier::Relaxed, Modifier::Mmio];
    let has = |wanted: fn(&Decoded) -> bool| {
        program.code.iter().filter_map(|instr| instr.decoded()).any(wanted)
    };
    let is_ordered = |own: &Decoded| {
        own.row.family == Family::Access && own.modifiers.first_of(&ORDERED).is_some()
    };
    let is_fence = |own: &Decoded| own.row.family == Family::Fence;
    let is_strong = |own: &Decoded| {
        own.row.effect == Effect::Atomic || own.modifiers.first_of(&STRONG).is_some()
    };
    has(is_ordered) || has(is_fence) && has(is_strong)
}

fn finding(names: &Names<'_>, space: Space, pair: &Pair, may_order: bool) -> Finding {
    let (first, second) = (pair.example.first, pair.example.second);
    let by_line = |side: &Side| (names.program.place(side.pc).span, side.cta, side.warp, side.lane);
    let (first, second) =
        if by_line(&first) <= by_line(&second) { (first, second) } else { (second, first) };
    let both_write = first.kind.writes && second.kind.writes;
    let (check, race) = match space {
        Space::Shared => (Check::Shared, Code::SharedRace),
        _ => (Check::Global, Code::GlobalRace),
    };
    let unmodelled = match first.maybe.or(second.maybe) {
        Some(Origin::Unsupported(pc)) => Some(pc),
        _ => None,
    };
    let code = match pair.conflict {
        Conflict::Possible if unmodelled.is_some() => Code::Unsupported,
        Conflict::Possible => Code::PossibleRace,
        Conflict::Strong | Conflict::Race if may_order => Code::PossibleRace,
        Conflict::Strong => Code::UnorderedStrong,
        Conflict::Race if both_write && pair.is_benign => Code::BenignRace,
        Conflict::Race => race,
    };
    let mut message = message(names, space, code, &first, &second);
    let mut sites = sites(names, space, &first, &second);
    if let Some(pc) = unmodelled.filter(|_| code == Code::Unsupported) {
        message = format!("{message}, depending on {}", names.what(pc));
        sites.insert(0, names.site(Role::Here, pc, Vec::new(), "its result is needed".into()));
    }
    let &Pair { within_warps, between_warps, between_ctas, .. } = pair;
    Finding {
        code,
        check: Some(check),
        message,
        sites,
        notes: vec![counts(pair)],
        help: Some(help(names, code, &first, &second)),
        pairs: Some(ThreadPairs { within_warps, between_warps, between_ctas }),
    }
}

fn message(names: &Names<'_>, space: Space, code: Code, first: &Side, second: &Side) -> String {
    let kinds = match (first.kind, second.kind) {
        (a, b) if a.is_atomic != b.is_atomic => "atomic-plain",
        (a, b) if a.is_atomic && b.is_atomic => "atomic-atomic",
        (a, b) if a.writes && b.writes => "write-write",
        _ => "read-write",
    };
    let level = if first.cta != second.cta {
        "ctas"
    } else if first.warp == second.warp {
        "lanes of a warp"
    } else {
        "warps"
    };
    let what = match code {
        Code::BenignRace => "benign race: the same value is stored",
        Code::UnorderedStrong => "unordered strong accesses",
        Code::PossibleRace | Code::Unsupported => "possible race",
        _ => "race",
    };
    let memory = if space == Space::Shared { "shared" } else { "global" };
    let address = names.address(space, first.address.max(second.address));
    format!("{kinds} {what} between {level} on {memory} memory, at {address}")
}

fn sites(names: &Names<'_>, space: Space, first: &Side, second: &Side) -> Vec<Site> {
    let thread =
        |side: &Side| names.thread(side.cta, usize::from(side.warp), usize::from(side.lane));
    let site = |side: &Side| {
        let (word, role) = word(side.kind);
        let address = names.address(space, side.address);
        let label = format!("{}-byte {word} of {address}", side.bytes);
        names.site(role, side.pc, vec![thread(side)], label)
    };
    if first.pc != second.pc {
        return vec![site(first), site(second)];
    }
    let mut both = site(first);
    both.threads.push(thread(second));
    vec![both]
}

fn counts(pair: &Pair) -> String {
    let mut parts = Vec::new();
    let mut part = |count: u64, text: &str| {
        if count > 0 {
            parts.push(format!("{count} {text}"));
        }
    };
    part(pair.within_warps, "within a warp");
    part(pair.between_warps, "between warps");
    part(pair.between_ctas, "or more between ctas");
    format!("racing pairs of threads: {}", parts.join(", "))
}

fn help(names: &Names<'_>, code: Code, first: &Side, second: &Side) -> String {
    let open = first.maybe.or(second.maybe);
    match code {
        Code::PossibleRace if open.is_none() => {
            "fences, acquires and releases of this kernel may order the two; such patterns are not followed".into()
        }
        Code::PossibleRace | Code::Unsupported => {
            let (origin, help) = names.origin(open);
            let settle = help.map_or_else(String::new, |help| format!("; {help}"));
            format!("whether both happen, and where, depends on {origin}{settle}")
        }
        Code::BenignRace | Code::UnorderedStrong => {
            "if this is intended, allow it in weft.toml with a reason".into()
        }
        _ if first.kind.is_atomic
            && second.kind.is_atomic
            && first.kind.element != second.kind.element =>
        {
            "atomics of different sizes do not protect each other: use one size, or put a barrier between the two".into()
        }
        _ if first.cta != second.cta => {
            "nothing orders ctas of one launch: give each its own part of the memory".into()
        }
        _ => "put a barrier between the two that both threads take part in".into(),
    }
}
