//! The report about a placement: what the search needs of the reports about the changed kernel.

use std::collections::BTreeSet;

use super::patch::Patched;
use super::points::PointId;
use crate::finding::{Assumption, Check, Class, Code, Finding, Report, Role, Site, Verdict};
use crate::ptx::{Module, Span};

/// How far apart the threads of a race are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Distance {
    /// All are of one warp.
    Warp,
    /// Some are of different warps.
    Cta,
}

/// Two accesses that race.
#[derive(Clone, Debug)]
pub(super) struct RacingPair {
    pub(super) accesses: [Span; 2],
    pub(super) distance: Distance,
    /// Whether they race; otherwise they might, because of values that are open, perhaps since another pair races.
    pub(super) is_certain: bool,
    pub(super) finding: Finding,
}

impl RacingPair {
    /// Whether the two are uses of an mbarrier object in phases that follow each other.
    pub(super) fn is_of_phases(&self) -> bool {
        self.finding.code == Code::MbarrierPhase
    }
}

/// What the reports about a placement say, with places in the original text.
#[derive(Clone, Debug, Default)]
pub(super) struct PlacementReport {
    pub(super) is_clean: bool,
    pub(super) pairs: Vec<RacingPair>,
    /// Points whose barrier is part of a defect or of an open question.
    pub(super) faulty: BTreeSet<PointId>,
    /// The faulty points whose barrier some threads do not reach.
    pub(super) divergent: BTreeSet<PointId>,
    /// Branches because of which threads do not reach a barrier together.
    pub(super) branches: BTreeSet<Span>,
    /// Open branches at which a warp stops.
    pub(super) stops: BTreeSet<Span>,
    /// Findings that are about no barrier of the placement, races included.
    pub(super) others: Vec<Finding>,
    pub(super) assumptions: Vec<Assumption>,
}

impl PlacementReport {
    /// `original`: the module without the placement.
    pub(super) fn of(original: &Module, patched: &Patched, reports: &[Report]) -> Self {
        let mut report = Self {
            is_clean: reports.iter().all(|own| own.verdict() == Verdict::Clean),
            ..Self::default()
        };
        for finding in reports.iter().flat_map(|report| &report.findings) {
            report.add(original, patched, finding);
        }
        report.assumptions = assumptions(reports);
        report
    }

    /// Returns the accesses that race within a cta.
    pub(super) fn accesses(&self) -> impl Iterator<Item = Span> {
        self.pairs.iter().flat_map(|pair| pair.accesses)
    }

    /// Whether all threads reach the kernel's own barriers together.
    pub(super) fn is_uniform(&self) -> bool {
        self.others.iter().all(|finding| finding.code != Code::BarrierDivergence)
    }

    fn add(&mut self, original: &Module, patched: &Patched, finding: &Finding) {
        if finding.code.class() == Class::Warning {
            return;
        }
        let points = finding.sites.iter().filter_map(|site| patched.place(site.span).err());
        let points: BTreeSet<PointId> = points.collect();
        if !points.is_empty() {
            let branches = finding.sites.iter().filter(|site| site.role == Role::Branch);
            self.branches.extend(branches.filter_map(|site| patched.place(site.span).ok()));
            if finding.code == Code::BarrierDivergence {
                self.divergent.extend(&points);
            }
            self.faulty.extend(points);
            return;
        }
        let finding = restored(original, patched, finding);
        let pair = racing_pair(&finding);
        if pair.is_none() && finding.code == Code::DependsOnInput {
            self.stops.extend(finding.sites.first().map(|site| site.span));
        }
        self.pairs.extend(pair);
        if !self.others.iter().any(|known| is_alike(known, &finding)) {
            self.others.push(finding);
        }
    }
}

/// Returns what reports rest on, each assumption once.
pub(super) fn assumptions(reports: &[Report]) -> Vec<Assumption> {
    let mut all: Vec<Assumption> = Vec::new();
    for assumption in reports.iter().flat_map(|report| &report.assumptions) {
        if !all.contains(assumption) {
            all.push(assumption.clone());
        }
    }
    all
}

/// Whether two findings are the same, of different launches.
fn is_alike(one: &Finding, other: &Finding) -> bool {
    let spans = |finding: &Finding| finding.sites.iter().map(|site| site.span).collect::<Vec<_>>();
    one.code == other.code && spans(one) == spans(other)
}

/// Returns the two instructions that a barrier might separate: the accesses of a race within a cta, or two uses of a named
/// barrier of which the later one does not wait for the earlier.
fn racing_pair(finding: &Finding) -> Option<RacingPair> {
    let is_race = matches!(
        finding.code,
        Code::SharedRace
            | Code::GlobalRace
            | Code::AsyncRace
            | Code::ProxyFence
            | Code::BenignRace
            | Code::UnorderedStrong
            | Code::PossibleRace
            | Code::RaceForInput
            | Code::Unsupported
            | Code::BarrierRecycling
            | Code::MbarrierPhase
    );
    if finding.code == Code::DependsOnInput {
        return open_access(finding);
    }
    let roles = [Role::Read, Role::Write, Role::Atomic, Role::Previous, Role::Arrival];
    let mut both = finding.sites.iter().filter(|site| roles.contains(&site.role));
    let first = both.next().filter(|_| is_race)?;
    let second = both.next().unwrap_or(first);
    let distance = match finding.pairs {
        Some(pairs) if pairs.between_ctas > 0 => return None,
        Some(pairs) if pairs.between_warps == 0 => Distance::Warp,
        _ => Distance::Cta,
    };
    Some(RacingPair {
        accesses: [first.span, second.span],
        distance,
        is_certain: finding.code.class() == Class::Defect || finding.code == Code::RaceForInput,
        finding: finding.clone(),
    })
}

/// Returns an access whose address is open, as a pair with itself: it might race with any other access.
fn open_access(finding: &Finding) -> Option<RacingPair> {
    let is_race = finding.check.is_some_and(|check| check != Check::Barriers);
    let site = finding.sites.first().filter(|_| is_race)?;
    Some(RacingPair {
        accesses: [site.span; 2],
        distance: Distance::Cta,
        is_certain: false,
        finding: finding.clone(),
    })
}

/// Returns the finding with its places in the original text.
fn restored(original: &Module, patched: &Patched, finding: &Finding) -> Finding {
    let site = |site: &Site| match patched.place(site.span) {
        Ok(span) => Site { span, ptx: original.position(span), ..site.clone() },
        Err(_) => site.clone(),
    };
    Finding { sites: finding.sites.iter().map(site).collect(), ..finding.clone() }
}
