//! The barriers with which a racing kernel is clean, as the help of its first finding: a reader who knows them need not read
//! the other findings. They are checked in the PTX; their place in the source is that beside an access, or between two.

use weft_core::finding::{Class, Code, Finding, Report, Site, Verdict};
use weft_core::launch::{Dimensions, Launch, Limit};
use weft_core::repair::{Action, Aim, Change, Costs, Mend, RepairOutcome, SourcePlace};

use super::repair::repaired_with;
use super::{Job, Surroundings};
use crate::render::{escape, short};

/// The most placements of barriers that are checked: most kernels lack one barrier, which two or three checks find.
const CHECKS: usize = 24;

/// The most instructions, counted once per warp, of a kernel that is checked so often beside its own check.
const INSTRUCTIONS: u64 = 100_000;

/// Returns what makes a kernel clean under its launches, and where; `None` if no launch races, if barriers do not suffice, if
/// another kind of finding is told, or if the kernel is too large to be checked again and again. `jobs`: launches of one kernel.
/// Runs jobs that have not run yet.
pub(super) fn remedy(jobs: &[&Job]) -> Option<String> {
    let first = jobs.first()?;
    let reports = jobs.iter().map(|job| job.outcome().remaining());
    let reports: Vec<&Report> = reports.collect::<Option<_>>()?;
    let is_small = |report: &&Report| report.stats.warp_instructions <= INSTRUCTIONS;
    let is_racing = reports.iter().any(|report| report.verdict() == Verdict::Defect);
    if !is_racing || !reports.iter().all(is_small) || !reports.iter().all(|own| is_of_races(own)) {
        return None;
    }
    let sources = Surroundings::of(first).sources;
    let is_source = |file: &str| sources.path(file).is_some();
    let repair =
        repaired_with(jobs, (Aim::Insert, Costs::default()), CHECKS, &is_source, &as_checked);
    match repair.ok()?.outcome {
        RepairOutcome::Mended(mend) => sentence(first, &mend, jobs.len()),
        _ => None,
    }
}

/// Whether all findings are races that barriers might remove.
fn is_of_races(report: &Report) -> bool {
    let is_race = |finding: &Finding| {
        let is_within_ctas = finding.pairs.is_some_and(|pairs| pairs.between_ctas == 0);
        finding.code.class() == Class::Defect && is_within_ctas
    };
    let mut told = report.told().filter(|own| own.code.class() != Class::Warning);
    told.all(|own| own.code != Code::BenignRace && is_race(own))
}

/// Returns the launch that was checked, with little work allowed.
fn as_checked(job: &Job, launch: Launch) -> Launch {
    let used = job.outcome().remaining().map(|report| (report.grid, report.stats));
    let Some((grid, stats)) = used else { return launch };
    let instructions = (stats.warp_instructions * 16 + 10_000).min(launch.limit.instructions);
    Launch {
        grid: launch.grid.or(Some(Dimensions::Is(grid))),
        limit: Limit { instructions, ..launch.limit },
        ..launch
    }
}

/// Returns what to insert in one sentence; `None` if that is not all that has to change: a statement has to be split, or threads
/// that have ended do not reach the barrier, which CUDA asks for.
fn sentence(job: &Job, mend: &Mend, launches: usize) -> Option<String> {
    let surroundings = Surroundings::of(job);
    let context = surroundings.context(false);
    let part = |change: &Change| match change.action {
        Action::Insert(kind, side) if !change.is_skipped && !is_within_line(change) => {
            let place = match &change.place {
                SourcePlace::Between(lines) => lines
                    .words(|line| format!("{}:{}", escape(&context.path(&line.file)), line.line)),
                _ => format!("{} {}", side.name(), short::place(context, &change.site)),
            };
            Some(format!("{} {place}", change.barrier_name(kind)))
        }
        _ => None,
    };
    let parts = mend.changes.iter().map(part).collect::<Option<Vec<_>>>()?;
    let (make, launch) = (
        if parts.len() == 1 { "makes" } else { "make" },
        if launches == 1 { "this launch" } else { "these launches" },
    );
    Some(format!(
        "in the PTX, {} {make} the kernel clean under {launch}; `cargo weft repair` looks for the place in the source",
        parts.join(" and ")
    ))
}

/// Whether both accesses that the barrier separates are in the line that it would stand beside.
fn is_within_line(change: &Change) -> bool {
    let line = |site: &Site| site.source.first().map(|line| (line.file.clone(), line.line));
    if let SourcePlace::Between(lines) = &change.place {
        return lines.is_within_line();
    }
    let own = line(&change.site);
    let is_there = |race: &Finding| race.sites.iter().all(|site| line(site) == own);
    own.is_some() && change.separates.iter().any(is_there)
}
