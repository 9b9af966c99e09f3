//! Draws up the chart of a kernel's synchronization, as Figure 2 of PLDI'15 shows one: runs the cta of a finding once more
//! and records its barriers and the accesses that the finding is about.
//!
//! The rows are those of one run. For barriers one schedule stands for all if the kernel is well-synchronized (PLDI'15 §4);
//! what no barrier orders might happen in another order.
//!
//! [`recorder`] observes the run, [`log`] is what it keeps, [`fold`] shortens it, [`lanes`] and [`rows`] make the chart from
//! it, and [`subject`] chooses the finding and its marks.

mod fold;
mod lanes;
mod log;
mod recorder;
mod rows;
mod subject;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::check::{CheckError, Replay, ReplayedCta, ReplayedLaunch, full_warps};
use crate::emulate::{Cta, End, PerWarp, Stuck, WarpId};
use crate::explain::doubts::Progress;
use crate::explain::{Names, barriers, beyond};
use crate::finding::name::demangle;
use crate::finding::{Chart, ChartRow, Finding, Report, Role, Site};
use crate::flow::Pc;
use crate::launch::Launch;
use crate::ptx::isa::Effect;
use crate::ptx::{Function, Module};
use log::ClosedLog;
use recorder::ChartRecorder;
use rows::{ShownCta, WarpMark, WarpStop};
use subject::{ChartSubject, MarkedSite};

/// Why there is no chart.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChartError {
    /// The kernel cannot be checked.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// The report has no finding with this number.
    #[error("there is no finding {number}: the report has {count}, numbered from 1")]
    NoFinding {
        /// The number as given.
        number: usize,
        /// The number of findings.
        count: usize,
    },
    /// Nobody states a block, and none was found to run the kernel with.
    #[error("the block size of this kernel is not stated: give one, such as `--block 128`")]
    NoBlock,
    /// The ctas of a cluster run together.
    #[error("no charts are drawn of kernels whose ctas form clusters of several")]
    Clusters,
}

/// A checked kernel, of whose findings charts can be made.
pub struct ChartedKernel<'m> {
    replay: Replay<'m>,
}

impl<'m> ChartedKernel<'m> {
    /// Checks a kernel under a launch.
    ///
    /// # Errors
    /// A launch that the kernel cannot have, or PTX that does not link.
    pub fn new(
        module: &'m Module,
        kernel: &'m Function,
        launch: &Launch,
    ) -> Result<Self, CheckError> {
        Ok(Self { replay: Replay::new(module, kernel, launch)? })
    }

    /// Returns the report of the check.
    pub fn report(&self) -> &Report {
        &self.replay.report
    }

    /// Returns the chart of a finding. `number`: which one, among those that [`Report::told`] returns, from 1; `None`: the
    /// first defect or, if there is none, the first finding that has something to show.
    ///
    /// If the run depends on what the launch leaves open, the chart is of a launch with ordinary values, and says so.
    ///
    /// # Errors
    /// A finding that there is not, or a kernel that cannot be run because nobody states its block.
    pub fn chart(&self, number: Option<usize>) -> Result<Chart, ChartError> {
        let replay = &self.replay;
        let subject = ChartSubject::new(&replay.report, number)?;
        if replay.has_clusters()? {
            return Err(ChartError::Clusters);
        }
        let is_first = subject.is_first(&replay.report);
        let reported = replay.reported(is_first)?;
        let mut runs_of_report = None;
        if let Some(reported) = &reported {
            let runs = run(replay, reported, &subject)?;
            if subject.is_shown_by(&runs) || !subject.marked.is_empty() {
                return Ok(draw(replay, reported, &subject, runs));
            }
            runs_of_report = Some((reported, runs));
        }
        if let Some(ordinary) = replay.ordinary()? {
            let runs = run(replay, &ordinary, &subject)?;
            return Ok(draw(replay, &ordinary, &subject, runs));
        }
        let (reported, runs) = runs_of_report.ok_or(ChartError::NoBlock)?;
        Ok(draw(replay, reported, &subject, runs))
    }
}

/// Runs the ctas of a finding, each with a recorder.
fn run<'r>(
    replay: &Replay<'_>,
    launch: &'r ReplayedLaunch<'_>,
    subject: &ChartSubject<'_>,
) -> Result<Vec<ReplayedCta<ChartRecorder<'r>>>, ChartError> {
    let observer = |cta: Cta| {
        let watches = subject.watches(cta.at, launch.block);
        ChartRecorder::new(launch.program, full_warps(launch.block), watches)
    };
    let is_enough = |runs: &[ReplayedCta<ChartRecorder<'r>>]| subject.is_shown_by(runs);
    Ok(replay.run(launch, &subject.ctas, &observer, &is_enough)?)
}

/// Makes the chart of runs.
fn draw(
    replay: &Replay<'_>,
    launch: &ReplayedLaunch<'_>,
    subject: &ChartSubject<'_>,
    runs: Vec<ReplayedCta<ChartRecorder<'_>>>,
) -> Chart {
    let names = replay.names(launch);
    let (points, disorder) = subject.points(&runs);
    let warps = full_warps(launch.block).count();
    let shown = |run: ReplayedCta<ChartRecorder<'_>>| {
        let own = points.iter().filter(|point| point.cta == run.cta.at);
        let marks = own.map(|point| {
            let ends_early = run.events.ended_early.contains(&point.mark);
            (point.number, mark_of(&names, &subject.marked[point.mark], ends_early))
        });
        let marks = marks.collect();
        shown_cta(&names, run.cta, run.events.log.close(), &run.end, warps, marks)
    };
    let ctas: Vec<ShownCta> = runs.into_iter().map(shown).collect();
    let lanes = lanes::lanes(&ctas);
    let rows = rows::rows(&ctas, &lanes, &|pc| line(&names, pc));
    let is_mark = |row: &&ChartRow| matches!(row, ChartRow::Mark(_));
    let marks = rows.iter().filter(is_mark).count();
    Chart {
        kernel: demangle(&replay.report.kernel),
        launch: format!("block {}, grid {}", launch.block, launch.grid),
        verdict: replay.report.verdict(),
        finding: subject.finding.map(|found| (found.code.name(), found.message.clone())),
        notes: notes(&replay.report, launch, subject, marks),
        lanes,
        rows,
        disorder: disorder.filter(|_| marks == 2),
    }
}

/// Returns what is shown of a cta.
fn shown_cta(
    names: &Names<'_>,
    cta: Cta,
    log: ClosedLog,
    end: &End,
    warps: usize,
    marks: BTreeMap<usize, WarpMark>,
) -> ShownCta {
    let ClosedLog { entries, kinds, open } = log;
    let is_shown = |entry: &log::Entry| match entry {
        log::Entry::Point(number) => marks.contains_key(number),
        _ => true,
    };
    let entries: Vec<_> = entries.into_iter().filter(is_shown).collect();
    let mut stuck = BTreeMap::new();
    if let End::Deadlock(all) = end {
        for (barrier, need) in all.iter().filter_map(Stuck::barrier) {
            stuck.insert(barrier, barriers::need(barrier, need));
        }
    }
    ShownCta {
        at: cta.at,
        warps,
        parts: fold::fold(&entries),
        kinds,
        open,
        stuck,
        is_cut: !matches!(end, End::Finished | End::Deadlock(_)),
        marks,
        stops: stops(names, cta, end, warps),
    }
}

/// Returns which warps cannot go on, beside those that wait at a barrier for ever.
fn stops(names: &Names<'_>, cta: Cta, end: &End, warps: usize) -> Vec<WarpStop> {
    let stop = |warps, site: &Site, label: &str, is_defect| WarpStop {
        warps,
        label: label.to_owned(),
        place: site_line(site),
        is_defect,
        is_of_all: !is_defect,
    };
    match end {
        End::Finished => Vec::new(),
        End::Deadlock(stuck) => {
            let others = stuck.iter().filter(|own| own.barrier().is_none());
            let of = |own: &Stuck| {
                let instr = &names.program.code[own.pc.index()];
                let label = match instr.effect() {
                    Effect::Barrier => "waits for ever for the other lanes of its warp",
                    Effect::RegisterCount => "waits for ever for registers",
                    Effect::TensorMemory => "waits for ever for tensor memory",
                    _ => "waits for ever for lanes of its mask",
                };
                let place = line(names, own.pc);
                let label = label.to_owned();
                WarpStop { warps: vec![own.warp], label, place, is_defect: true, is_of_all: false }
            };
            others.map(of).collect()
        }
        End::Undecided(doubt) => {
            let progress = Progress { ended: 0, instructions: 0 };
            let all = PerWarp::new(warps, |_| ()).ids().collect();
            let found = beyond::explain(names, doubt, progress).into_iter().next();
            let site = found.as_ref().and_then(|found| found.sites.first());
            let (Some(found), Some(site)) = (&found, site) else { return Vec::new() };
            vec![stop(all, site, &format!("not known from here: {}", found.message), false)]
        }
        End::Misuse { .. }
        | End::MbarrierMisuse { .. }
        | End::TensorMisuse { .. }
        | End::Diverged { .. }
        | End::Mask { .. } => {
            let found = barriers::end(names, cta, end);
            let sites = found.iter().flat_map(|found: &Finding| &found.sites);
            let warps_of = |site: &Site| -> Vec<WarpId> {
                let threads = site.threads.iter().map(|thread| thread.thread);
                threads.map(|thread| subject::place(names.block, thread).0).collect()
            };
            // The first arrival at a barrier is not where a thread cannot go on.
            let is_end = |site: &&Site| !site.threads.is_empty() && site.role != Role::First;
            let own = sites.filter(is_end);
            own.map(|site| stop(warps_of(site), site, &site.label, true)).collect()
        }
    }
}

fn mark_of(names: &Names<'_>, marked: &MarkedSite<'_>, ends_early: bool) -> WarpMark {
    let thread = marked.thread.to_string();
    let thread = match names.grid.count() {
        1 => thread.trim_end_matches(" of cta 0"),
        _ => &thread,
    };
    let (warp, _) = subject::place(names.block, marked.thread.thread);
    let place = format!("{thread}, {}", site_line(marked.site));
    WarpMark { warp, label: marked.site.label.clone(), place, ends_early }
}

/// Returns the line of an instruction, such as `reduce.cu:12`, or its line in the PTX if the source is not known. Of
/// inlined code, the outermost line is where the reader should look.
fn line(names: &Names<'_>, pc: Pc) -> String {
    let site = names.site(Role::Here, pc, Vec::new(), String::new());
    site_line(&site)
}

fn site_line(site: &Site) -> String {
    match site.source.last() {
        Some(source) => {
            let file = source.file.rsplit('/').next().unwrap_or(&source.file);
            format!("{file}:{}", source.line)
        }
        None => format!("line {} of the PTX", site.ptx.line),
    }
}

/// Returns what a reader has to know of the run.
fn notes(
    report: &Report,
    launch: &ReplayedLaunch<'_>,
    subject: &ChartSubject<'_>,
    marks: usize,
) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(proved) = report.proved_in_words() {
        notes.push(format!("proved for {proved}; shown is one launch"));
    }
    let is_said =
        |chosen: &&String| subject.finding.is_some_and(|own| own.message.contains(*chosen));
    if let Some(chosen) = launch.chosen.as_ref().filter(|chosen| !is_said(chosen)) {
        notes.push(format!("nobody states these, so that they were chosen: {chosen}"));
    }
    if launch.grid.count() > 1 {
        let ctas: Vec<_> = subject.ctas.iter().map(|cta| cta_name(*cta)).collect();
        notes.push(format!("shown: {}", ctas.join(" and ")));
    }
    if marks < subject.marked.len() {
        notes.push("an access of the finding did not happen in the run that is shown".to_owned());
    }
    notes
}

/// Returns the name of a cta, such as `cta 3` or `cta (1,2,0)`.
fn cta_name(at: [u32; 3]) -> String {
    match at {
        [x, 0, 0] => format!("cta {x}"),
        [x, y, z] => format!("cta ({x},{y},{z})"),
    }
}
