//! What a chart is about: a finding, the sites of it that are marked, and the ctas that are shown.

use super::ChartError;
use super::recorder::{ChartRecorder, RunPoint, SitePoints, Watch};
use crate::check::ReplayedCta;
use crate::emulate::{End, WARP, WarpId};
use crate::finding::{Class, Code, Disorder, Finding, Report, Role, Site, Thread};
use crate::launch::Dim3;

/// A site that is marked, with one of its threads.
pub(super) struct MarkedSite<'r> {
    pub(super) site: &'r Site,
    pub(super) thread: Thread,
}

/// A point of a run that is marked.
pub(super) struct MarkedPoint {
    /// The index of the mark.
    pub(super) mark: usize,
    pub(super) cta: [u32; 3],
    /// The number of the point in the run of the cta.
    pub(super) number: usize,
}

/// What a chart is about.
pub(super) struct ChartSubject<'r> {
    pub(super) finding: Option<&'r Finding>,
    /// At most two.
    pub(super) marked: Vec<MarkedSite<'r>>,
    /// At least one.
    pub(super) ctas: Vec<[u32; 3]>,
    /// Whether the finding is about the use of barriers.
    is_of_barriers: bool,
}

/// Returns the warp and the lane of a thread, by its coordinates in a block.
pub(super) fn place(block: Dim3, thread: [u32; 3]) -> (WarpId, usize) {
    let linear = usize::try_from(block.index(thread)).unwrap_or(usize::MAX);
    // A thread of another block than the one that is run is in no warp of it.
    (WarpId::new((linear / WARP).min(usize::from(u16::MAX))), linear % WARP)
}

impl<'r> ChartSubject<'r> {
    /// Chooses the finding. `number`: among those that the reader is told, from 1; `None`: the first defect, or else the first
    /// one that is not a warning.
    ///
    /// # Errors
    /// A number without a finding.
    pub(super) fn new(report: &'r Report, number: Option<usize>) -> Result<Self, ChartError> {
        let told: Vec<&Finding> = report.told().collect();
        let finding = match number {
            Some(number) => {
                let at = number.checked_sub(1).and_then(|at| told.get(at));
                Some(*at.ok_or(ChartError::NoFinding { number, count: told.len() })?)
            }
            None => chosen(&told),
        };
        let marked = finding.map(marked).unwrap_or_default();
        let threads = finding.iter().flat_map(|found| &found.sites).flat_map(|site| &site.threads);
        let mut ctas: Vec<[u32; 3]> = match marked.as_slice() {
            [] => threads.map(|thread| thread.cta).take(1).collect(),
            marked => marked.iter().map(|own| own.thread.cta).collect(),
        };
        ctas.sort_by_key(|[x, y, z]| [*z, *y, *x]);
        ctas.dedup();
        if ctas.is_empty() {
            ctas.push([0; 3]);
        }
        let waits = |found: &&Finding| found.sites.iter().any(|site| site.role == Role::Waits);
        let is_of_barriers = finding.as_ref().is_some_and(waits);
        Ok(Self { finding, marked, ctas, is_of_barriers })
    }

    /// Whether it is the first finding of a report.
    pub(super) fn is_first(&self, report: &Report) -> bool {
        match (self.finding, report.findings.first()) {
            (Some(own), Some(first)) => std::ptr::eq(own, first),
            _ => false,
        }
    }

    /// Returns the sites to watch in a cta.
    pub(super) fn watches(&self, cta: [u32; 3], block: Dim3) -> Vec<Watch> {
        let own = self.marked.iter().enumerate().filter(|(_, own)| own.thread.cta == cta);
        own.map(|(mark, own)| {
            let (warp, lane) = place(block, own.thread.thread);
            Watch { mark, span: own.site.span, warp, lane }
        })
        .collect()
    }

    /// Whether runs show what the finding says.
    pub(super) fn is_shown_by(&self, runs: &[ReplayedCta<ChartRecorder<'_>>]) -> bool {
        if runs.is_empty() {
            return false;
        }
        if self.marked.is_empty() {
            let is_shown = |end: &End| match end {
                End::Undecided(_) => false,
                End::Finished => !self.is_of_barriers,
                _ => true,
            };
            return runs.iter().all(|run| is_shown(&run.end));
        }
        match runs {
            [run] if self.marked.len() == 2 => run.events.pair.is_some(),
            runs => runs.iter().flat_map(|run| &run.events.points).all(|own| own.first.is_some()),
        }
    }

    /// Returns the points that are marked, and what is to be said of their order.
    pub(super) fn points(
        &self,
        runs: &[ReplayedCta<ChartRecorder<'_>>],
    ) -> (Vec<MarkedPoint>, Option<Disorder>) {
        let point = |run: &ReplayedCta<ChartRecorder<'_>>, site: usize, number| MarkedPoint {
            mark: run.events.watches[site].mark,
            cta: run.cta.at,
            number,
        };
        let pair = match runs {
            [run] => run.events.pair.map(|[a, b]| vec![point(run, 0, a), point(run, 1, b)]),
            [one, two] => meeting(&one.events, &two.events)
                .map(|[a, b]| vec![point(one, 0, a), point(two, 0, b)]),
            _ => None,
        };
        let points = pair.unwrap_or_else(|| runs.iter().flat_map(first_points).collect());
        let is_recycling = self.is_recycling();
        let disorder = match (runs, self.finding.map(|found| found.code)) {
            _ if self.marked.len() != 2 => return (points, None),
            ([_, _], _) => Disorder::BetweenCtas,
            ([run], _) if run.events.pair.is_none() => Disorder::NotSeen,
            _ if is_recycling => Disorder::Recycled,
            (_, Some(Code::PossibleRace | Code::Unsupported)) => Disorder::MaybeRacing,
            (_, Some(Code::BenignRace | Code::UnorderedStrong)) => Disorder::Tolerated,
            _ => Disorder::Unordered,
        };
        (points, Some(disorder))
    }

    fn is_recycling(&self) -> bool {
        self.marked.iter().any(|own| own.site.role == Role::Previous)
    }
}

/// Returns the finding to show if none is asked for.
fn chosen<'r>(told: &[&'r Finding]) -> Option<&'r Finding> {
    let is_defect =
        |found: &&&Finding| found.code.class() == Class::Defect || found.code == Code::RaceForInput;
    let is_open = |found: &&&Finding| found.code.class() == Class::Open;
    let shows = |found: &&&Finding| is_open(found) && !marked(found).is_empty();
    let found = told.iter().find(is_defect).or_else(|| told.iter().find(shows));
    found.or_else(|| told.iter().find(is_open)).copied()
}

/// Returns the sites of a finding that are marked: accesses, and uses of a barrier that might mix.
fn marked(finding: &Finding) -> Vec<MarkedSite<'_>> {
    let is_recycling = finding.sites.iter().any(|site| site.role == Role::Previous);
    let is_marked = |site: &&Site| match site.role {
        Role::Read | Role::Write | Role::Atomic => true,
        Role::Arrival | Role::Previous => is_recycling,
        _ => false,
    };
    let sites = finding.sites.iter().filter(is_marked);
    let each = |site| {
        let Site { threads, .. }: &Site = site;
        threads.iter().map(move |thread| MarkedSite { site, thread: *thread })
    };
    sites.flat_map(each).take(2).collect()
}

/// Returns the first points of the sites of a run.
fn first_points<'a>(
    run: &'a ReplayedCta<ChartRecorder<'_>>,
) -> impl Iterator<Item = MarkedPoint> + use<'a> {
    let sites = run.events.watches.iter().zip(&run.events.points);
    sites.filter_map(|(watch, points)| {
        let first = points.first.as_ref()?;
        Some(MarkedPoint { mark: watch.mark, cta: run.cta.at, number: first.number })
    })
}

/// Returns points of two ctas, with one site each, that access a common byte.
fn meeting(one: &ChartRecorder<'_>, two: &ChartRecorder<'_>) -> Option<[usize; 2]> {
    let ([one], [two]) = (one.points.as_slice(), two.points.as_slice()) else { return None };
    let all = |site: &'_ SitePoints| -> Vec<RunPoint> {
        site.first.iter().chain(&site.last).cloned().collect()
    };
    let others = all(two);
    all(one).iter().find_map(|point| {
        let other = others.iter().find(|other| point.overlaps(other))?;
        Some([point.number, other.number])
    })
}
