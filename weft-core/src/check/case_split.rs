//! Case splits: both cases of an open condition that barriers depend on are checked, each by itself. A defect that only
//! some cases have is open.

use std::collections::{BTreeMap, BTreeSet};

use super::decision::Decision;
use super::key;
use super::passes::PassContext;
use crate::emulate::{Choice, End, Splits, Symbolics};
use crate::explain::{Names, OPEN_VALUE, doubts};
use crate::finding::{Class, Code, Finding, Thread};
use crate::flow::{Pc, PlaceId};

/// The most runs before the check gives up a case split.
const MAX_RUNS: u32 = 64;
/// The most instructions that all cases together can run. Cases that settle a verdict mostly run a hundredth of these.
const MAX_INSTRUCTIONS: u64 = 1 << 23;

/// Likewise of cases of conditions that no barrier depends on.
const MAX_UNNEEDED: u64 = 1 << 21;

/// The findings of a launch, and the decisions of all its cases.
pub(super) struct LaunchResult {
    pub(super) findings: Vec<Finding>,
    pub(super) decisions: Vec<Decision>,
    /// The accesses at open addresses that might race, if nothing else is open about the ctas that ran and there is no defect.
    pub(super) open: Option<BTreeSet<Pc>>,
}

/// One case: how its conditions are decided, and what ran.
struct SplitCase {
    splits: Splits,
    decision: Decision,
}

/// Checks a launch, with case splits where they help.
pub(super) fn check(passes: &mut PassContext<'_>) -> LaunchResult {
    let Some(mut whole) = passes.settle() else { return unsettled(passes.names) };
    if let Some(place) = split_of(&whole)
        && let Some(cases) = split(passes, place, MAX_INSTRUCTIONS)
    {
        return merged(passes, cases);
    }
    passes.facts.splits = Splits::default();
    passes.look_again(&mut whole);
    let findings = passes.findings(&whole);
    whole.close();
    let open = open_accesses(passes, &whole, &findings);
    LaunchResult { findings, decisions: vec![whole], open }
}

/// Checks a launch with all cases of the conditions at these places, which no barrier depends on. `None` if there are too many
/// cases, or they take too many instructions.
pub(super) fn check_cases(
    passes: &mut PassContext<'_>,
    places: &[PlaceId],
) -> Option<LaunchResult> {
    let (first, others) = places.split_first()?;
    for place in others {
        passes.facts.splits.insert(*place);
    }
    let cases = split(passes, *first, MAX_UNNEEDED)?;
    Some(merged(passes, cases))
}

/// Returns the accesses at open addresses that might race in a case, if nothing else is open there and there is no defect.
fn open_accesses(
    passes: &PassContext<'_>,
    decision: &Decision,
    findings: &[Finding],
) -> Option<BTreeSet<Pc>> {
    let is_whole = decision.is_finished() && decision.stats.ctas == passes.ctas;
    let own = decision.doubtful.iter().map(|access| doubts::open_access(passes.names, access));
    let is_own = own.map(|finding| key(&finding)).collect::<BTreeSet<_>>();
    let others = findings.iter().filter(|finding| finding.code.class() != Class::Warning);
    let others: Vec<_> = others.map(key).collect();
    let is_only = others.len() == decision.doubtful.len()
        && others.iter().all(|other| other.0 == Code::DependsOnInput && is_own.contains(other));
    (is_whole && is_only).then(|| decision.doubtful.iter().map(|access| access.pc).collect())
}

fn unsettled(names: &Names<'_>) -> LaunchResult {
    let findings = vec![doubts::unsettled(names)];
    LaunchResult { findings, decisions: Vec::new(), open: None }
}

/// Returns the condition to split at, if deciding it might let a run that stopped continue.
pub(super) fn split_of(decision: &Decision) -> Option<PlaceId> {
    decision.ctas.iter().find_map(|cta| match &cta.end {
        End::Undecided(doubt) => doubt.split,
        _ => None,
    })
}

/// Runs all cases of a split; `None` if there are too many or one of them cannot be decided. What they find is looked at
/// only once all of them have run. `most`: the instructions that all of them together can run.
fn split(passes: &mut PassContext<'_>, place: PlaceId, most: u64) -> Option<Vec<SplitCase>> {
    passes.facts.splits.insert(place);
    let mut cases = Vec::new();
    let most = passes.facts.spent().saturating_add(most);
    for _ in 0..MAX_RUNS {
        if passes.facts.spent() > most {
            return None;
        }
        let changes = passes.facts.changes();
        let mut decision = passes.settle()?;
        // New facts make the results so far invalid, and other conditions might have been asked for: all cases start
        // again.
        if passes.facts.changes() != changes {
            cases.clear();
            passes.facts.splits.restart();
            continue;
        }
        if let Some(place) = split_of(&decision) {
            if passes.facts.splits.insert(place) {
                continue;
            }
            return None;
        }
        let splits = passes.facts.splits.clone();
        // If no choice is a cta's own, all ctas of a launch are in this case if one of them is, because the conditions that
        // they evaluate are common to all. So no cta of this case races with a cta of another case.
        if !splits.has_own() && decision.racing().next().is_none() {
            decision.close();
        }
        cases.push(SplitCase { splits, decision });
        if !passes.facts.splits.next_case() {
            return Some(cases);
        }
    }
    None
}

/// Returns what a case finds. `earlier`: the cases before it.
fn findings(
    passes: &mut PassContext<'_>,
    case: &mut SplitCase,
    earlier: &[SplitCase],
) -> Vec<Finding> {
    passes.facts.splits = case.splits.clone();
    let open = case.decision.open.clone();
    let meets = race_with_others(passes, case, earlier);
    passes.look_again(&mut case.decision);
    let mut findings = passes.findings(&case.decision);
    findings.extend(meets.then(|| doubts::other_cases(passes.names)));
    case.decision.open = open;
    if !case.splits.has_own() {
        case.decision.close();
    }
    findings
}

/// Compares what ctas did in this case with what ctas did in earlier cases, if each cta chooses for itself and ctas of
/// one launch can be in both cases. Returns whether accesses at known addresses of the two might race.
fn race_with_others(passes: &PassContext<'_>, case: &mut SplitCase, earlier: &[SplitCase]) -> bool {
    let SplitCase { splits, decision } = case;
    if passes.ctas < 2 || !splits.has_own() {
        return false;
    }
    let mut meets = false;
    for other in earlier.iter().filter(|other| splits.agree(&other.splits)) {
        meets |= decision.between.may_meet(&other.decision.between);
        decision.open.take_in(other.decision.open.clone());
    }
    meets
}

/// What makes findings of two cases the same. If each cta chooses for itself, the ctas of a launch might choose
/// differently. What is found in all cases then holds in all launches only if it concerns one cta, or the same threads
/// and known addresses.
type FindingIdentity =
    (super::FindingKey, BTreeSet<[u32; 3]>, Vec<(Vec<Thread>, String)>, Option<usize>);

fn identity(finding: &Finding, is_own: bool, way: usize) -> FindingIdentity {
    if !is_own {
        return (key(finding), BTreeSet::new(), Vec::new(), None);
    }
    let threads = finding.sites.iter().flat_map(|site| &site.threads);
    let ctas: BTreeSet<_> = threads.map(|thread| thread.cta).collect();
    let sites = finding.sites.iter().map(|site| (site.threads.clone(), site.label.clone()));
    let sites: Vec<_> = if ctas.len() > 1 { sites.collect() } else { Vec::new() };
    let is_open = sites.iter().any(|(_, label)| label.contains(OPEN_VALUE));
    (key(finding), ctas, sites, is_open.then_some(way))
}

fn merged(passes: &mut PassContext<'_>, mut cases: Vec<SplitCase>) -> LaunchResult {
    let mut of_cases = Vec::new();
    for at in 0..cases.len() {
        let (earlier, others) = cases.split_at_mut(at);
        of_cases.push(findings(passes, &mut others[0], earlier));
    }
    let open = cases
        .iter()
        .zip(&of_cases)
        .map(|(case, found)| open_accesses(passes, &case.decision, found))
        .collect::<Option<Vec<_>>>();
    let open = open.map(|all| all.into_iter().flatten().collect());
    let (names, symbolics) = (passes.names, &passes.facts.symbolics);
    let mut found: BTreeMap<_, usize> = BTreeMap::new();
    let is_own = cases.iter().any(|case| case.splits.has_own());
    for (way, findings) in of_cases.iter().enumerate() {
        let all: BTreeSet<_> =
            findings.iter().map(|finding| identity(finding, is_own, way)).collect();
        for key in all {
            *found.entry(key).or_default() += 1;
        }
    }
    let count = cases.len();
    let sure: Vec<bool> = cases
        .iter()
        .map(|case| {
            let only = case.splits.only_choice();
            only.is_some_and(|only| passes.facts.signals.is_sure_case(only))
        })
        .collect();
    let mut outcome = LaunchResult { findings: Vec::new(), decisions: Vec::new(), open };
    for (way, (case, findings)) in cases.into_iter().zip(of_cases).enumerate() {
        outcome.findings.extend(findings.into_iter().map(|found_finding| {
            match found[&identity(&found_finding, is_own, way)] {
                alternatives if alternatives == count || sure[way] => found_finding,
                _ => in_some_cases(names, symbolics, case.splits.choices(), found_finding),
            }
        }));
        outcome.decisions.push(case.decision);
    }
    outcome
}

/// Turns a defect that depends on open conditions into an open finding, and says which conditions it depends on.
fn in_some_cases(
    names: &Names<'_>,
    symbolics: &Symbolics,
    choices: &[Choice],
    finding: Finding,
) -> Finding {
    let code = match finding.code {
        code if code.class() != Class::Defect => code,
        Code::SharedRace
        | Code::GlobalRace
        | Code::AsyncRace
        | Code::ProxyFence
        | Code::ClusterLifetime
        | Code::BenignRace
        | Code::UnorderedStrong => Code::PossibleRace,
        _ => Code::DependsOnInput,
    };
    let mut notes = finding.notes;
    let mut help = finding.help;
    for (at, choice) in choices.iter().enumerate() {
        if choices[..at].iter().any(|other| other.place == choice.place) {
            continue;
        }
        let (origin, settle) = names.origin(choice.origin(symbolics));
        let at_place = choices.iter().filter(|other| other.place == choice.place);
        let words: Vec<_> =
            at_place.map(|decided| if decided.holds { "holds" } else { "does not hold" }).collect();
        let (line, words) = (names.line_of(choice.place), words.join(", then "));
        notes.push(format!(
            "this is so if the condition at line {line}, which depends on {origin}, {words}"
        ));
        help = settle.or(help);
    }
    Finding { code, notes, help, ..finding }
}
