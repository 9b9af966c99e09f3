//! Runs kernels in parallel and gives account of them in the order in which they were planned.
//!
//! First a line for each kernel and launch, as soon as it and all before it are done; then what is not clean, in full;
//! then what the clean verdicts take for granted; then the counts. JSON and the short form leave the prose out.

use std::io;

use weft_core::finding::{Report, Verdict};
use weft_core::report::json::{self, Counts, Subject};
use weft_core::report::short;
use weft_harness::case::{Job, JobError, dead_allows};
use weft_harness::config::Allow;

use crate::cache::Cache;
use crate::detail;
use crate::exit::Exit;
use crate::options::{Format, Verbosity};
use crate::parallel::in_order;
use crate::print::{self, Printer};

/// How to give account.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    /// The form.
    pub(crate) format: Format,
    /// What could not even be planned; it has been told already, and counts as unchecked.
    pub(crate) failed: usize,
    /// Whether these are all jobs, as configured, so that an `allow` that accepts nothing is an error.
    pub(crate) whole: bool,
    /// What is known from earlier runs.
    pub(crate) cache: Option<&'a Cache>,
}

/// An `allow` that accepts nothing.
#[derive(Debug, thiserror::Error)]
#[error("{}: this `allow` of `{}` accepts nothing any more; remove it", .0.place, .0.code)]
struct DeadAllow(Allow);

/// Checks all jobs of all packages and prints what came of them.
pub(crate) fn of(
    packages: &[Vec<Job>],
    request: Request<'_>,
    printer: &mut Printer,
) -> io::Result<Exit> {
    let jobs: Vec<&Job> = packages.iter().flatten().collect();
    settle(&jobs, request.cache, |job, late| match late {
        Some(count) => {
            printer.progress(&waiting(job, count));
            Ok(())
        }
        None => line(job, request.format, printer),
    })?;
    let dead =
        if request.whole { packages.iter().flat_map(dead_allows).collect() } else { Vec::new() };
    let counts = counts(&jobs, request.failed + dead.len());
    match request.format {
        Format::Json => printer.line(&json::summary(counts))?,
        Format::Short => printer.line(&sentence(&jobs, counts))?,
        Format::Human => {
            detail::reports(&jobs, printer)?;
            if printer.verbosity != Verbosity::Quiet {
                detail::assumptions(&jobs, printer)?;
            }
            printer.line(&format!("\n{}", sentence(&jobs, counts)))?;
        }
    }
    for allow in dead {
        printer.failure(&DeadAllow(allow));
    }
    Ok(exit(counts))
}

/// What is said of a kernel that takes long while so many behind it are done.
pub(crate) fn waiting(job: &Job, count: usize) -> String {
    let kernels = if count == 1 { "kernel behind it is" } else { "kernels behind it are" };
    format!("still checking {}; {count} {kernels} done", detail::name(job))
}

/// Has all jobs done, and hands over each when it and all before it are; or how many behind it are, where it takes long.
fn settle<'j>(
    jobs: &[&'j Job],
    cache: Option<&Cache>,
    mut take: impl FnMut(&'j Job, Option<usize>) -> io::Result<()>,
) -> io::Result<()> {
    match cache {
        None => in_order(jobs, Job::outcome, |job, turn| take(job, turn.late())),
        Some(cache) => {
            let work = |(job, key): (&'j Job, _)| cache.outcome(job, &key);
            in_order(&cache.keyed(jobs), work, |(job, _), turn| take(job, turn.late()))
        }
    }
}

/// What is printed for a kernel as soon as it is checked.
fn line(job: &Job, format: Format, printer: &mut Printer) -> io::Result<()> {
    let outcome = job.outcome();
    let (report, remaining) = match (&outcome.report, outcome.remaining()) {
        (Ok(report), Some(remaining)) => (report, remaining),
        (Ok(report), None) => (report, report),
        (Err(error), _) => return unchecked(job, error, format, printer),
    };
    match format {
        Format::Json => {
            let reasons: Vec<_> =
                outcome.allowed.iter().map(|allow| Some(allow.as_ref()?.reason.as_str())).collect();
            let path = job.file.path.to_string_lossy();
            printer.line(&json::kernel(report, subject(job, &path), &reasons))
        }
        Format::Short => printer.text(&short::report(&job.file.display, remaining)),
        Format::Human
            if printer.verbosity == Verbosity::Quiet && outcome.verdict == Verdict::Clean =>
        {
            Ok(())
        }
        Format::Human => {
            let verdict = print::verdict(outcome.verdict);
            printer.line(&format!("{verdict} {}  ({})", detail::name(job), scope(report)))
        }
    }
}

/// What stands beside a report in JSON; `path` is that of the job's PTX.
pub(crate) fn subject<'a>(job: &'a Job, path: &'a str) -> Subject<'a> {
    Subject {
        package: (!job.package.is_empty()).then_some(job.package.as_str()),
        file: path,
        demangled: &job.kernel.demangled,
        label: job.label.as_deref(),
    }
}

/// Tells of a kernel without a report: an error, whatever the form.
pub(crate) fn unchecked(
    job: &Job,
    error: &JobError,
    format: Format,
    printer: &mut Printer,
) -> io::Result<()> {
    let name = detail::name(job);
    match error {
        // The others name the file themselves.
        JobError::Check(error) => printer.error(&name, error),
        other => printer.failure(other),
    }
    if format == Format::Human {
        printer.line(&format!("{} {name}", print::unchecked()))
    } else {
        Ok(())
    }
}

/// What a verdict is about: `grid 2, block 160, 2 ctas, 31/31 sites`.
fn scope(report: &Report) -> String {
    let block = report.block.map_or_else(|| "unknown".to_owned(), |block| block.to_string());
    let ctas = if report.stats.ctas == 1 {
        "1 cta".to_owned()
    } else {
        format!("{} ctas", report.stats.ctas)
    };
    let coverage = report.coverage;
    format!(
        "grid {}, block {block}, {ctas}, {}/{} sites",
        report.grid, coverage.reached, coverage.sites
    )
}

/// The verdicts of all jobs, and what could not be checked: `failed` and some jobs.
pub(crate) fn counts(jobs: &[&Job], failed: usize) -> Counts {
    let mut counts = Counts { unchecked: failed, ..Counts::default() };
    for outcome in jobs.iter().map(|job| job.outcome()) {
        *match outcome.remaining().map(Report::verdict) {
            Some(Verdict::Clean) => &mut counts.clean,
            Some(Verdict::Defect) => &mut counts.defect,
            Some(Verdict::Open) => &mut counts.open,
            None => &mut counts.unchecked,
        } += 1;
    }
    counts
}

/// The last line: `weft: 4 clean, 1 defect, 0 open`, and what else there is to know.
fn sentence(jobs: &[&Job], counts: Counts) -> String {
    let unchecked = match counts.unchecked {
        0 => String::new(),
        number => format!(", {number} could not be checked"),
    };
    let allowed = match jobs.iter().map(|job| job.outcome().accepted().count()).sum::<usize>() {
        0 => String::new(),
        1 => "; 1 finding allowed".to_owned(),
        number => format!("; {number} findings allowed"),
    };
    format!(
        "weft: {} clean, {} defect, {} open{unchecked}{allowed}",
        counts.clean, counts.defect, counts.open
    )
}

/// The worst that is among them.
pub(crate) fn exit(counts: Counts) -> Exit {
    let found = [
        (Exit::Open, counts.open),
        (Exit::Defect, counts.defect),
        (Exit::Unchecked, counts.unchecked),
    ];
    found
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(exit, _)| exit)
        .max()
        .unwrap_or(Exit::Clean)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use weft_harness::case::{Package, plan_with};
    use weft_harness::config::Config;
    use weft_harness::discover::PtxFile;

    use super::*;

    #[test]
    fn a_panic_counts_as_unchecked_and_the_others_go_on() {
        let text = ".version 8.0\n.target sm_80\n.address_size 64\n\
                    .entry one() { ret; }\n.entry two() { ret; }\n";
        let (path, display) = (PathBuf::from("k.ptx"), "k.ptx".to_owned());
        let files = vec![PtxFile { path, display, text: text.into(), unread: None }];
        let package =
            Package { name: "p".into(), dir: PathBuf::new(), config: Config::default(), files };
        let jobs = plan_with(&package, |module, kernel, launch| {
            assert_eq!(module.name(kernel.name), "two", "an invariant is broken");
            weft_core::check(module, kernel, launch)
        });
        let jobs = jobs.expect("there are kernels");
        let jobs: Vec<&Job> = jobs.iter().collect();
        let mut seen = Vec::new();
        let all = in_order(&jobs, Job::outcome, |job, _| {
            seen.push((job.kernel.mangled.clone(), job.outcome().report.is_ok()));
            Ok(())
        });
        assert!(all.is_ok());
        assert_eq!(seen, [("one".to_owned(), false), ("two".to_owned(), true)]);
        let counts = counts(&jobs, 0);
        assert_eq!((counts.clean, counts.unchecked), (1, 1));
        assert_eq!(exit(counts), Exit::Unchecked);
    }

    #[test]
    fn the_worst_outcome_decides() {
        let clean = Counts { clean: 3, ..Counts::default() };
        let open = Counts { open: 1, ..clean };
        let defect = Counts { defect: 1, ..open };
        let unchecked = Counts { unchecked: 1, ..defect };
        let exits = [clean, open, defect, unchecked].map(exit);
        assert_eq!(exits, [Exit::Clean, Exit::Open, Exit::Defect, Exit::Unchecked]);
    }
}
