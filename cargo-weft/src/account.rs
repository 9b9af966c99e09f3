//! Runs kernels in parallel and prints the results in the order in which the kernels were planned.
//!
//! The human form is: a line for each kernel and launch, printed as soon as it and all before it are done; then every
//! report that is not clean, in full; then the assumptions of the clean verdicts; then the counts. JSON and the short
//! form leave out the last three.

use std::io;

use weft_core::finding::{Code, Report};
use weft_core::report::json::{self, Counts, Subject};
use weft_core::report::{escape, short};
use weft_harness::case::{Job, JobError, Outcome, Standing, Surroundings, alike, dead_allows};
use weft_harness::config::Allow;

use crate::cache::Cache;
use crate::detail;
use crate::exit::Exit;
use crate::options::{Format, Verbosity};
use crate::parallel::in_order;
use crate::print::{self, Printer};

/// How to print the results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    /// The output format.
    pub(crate) format: Format,
    /// Number of packages or files that could not be planned. Their errors are already printed; they count as
    /// unchecked.
    pub(crate) failed: usize,
    /// Whether the jobs are all that is configured, so that an `allow` that accepts nothing is an error.
    pub(crate) whole: bool,
    /// The verdicts kept by earlier runs, if there is a cache.
    pub(crate) cache: Option<&'a Cache>,
}

/// An `allow` that accepts no finding.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.unused())]
struct DeadAllow(Allow);

/// Checks all jobs of all packages, prints the results and returns the exit code.
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

/// Returns the message for a kernel that is still being checked while `count` kernels behind it are done.
pub(crate) fn waiting(job: &Job, count: usize) -> String {
    let kernels = if count == 1 { "kernel behind it is" } else { "kernels behind it are" };
    format!("still checking {}; {count} {kernels} done", job.short_name())
}

/// Runs all jobs and passes each to `take` when it and all before it are done. If a job takes long, `take` first gets
/// it with the number of jobs behind it that are done.
pub(crate) fn settle<'j>(
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

/// Prints the result of a kernel as soon as it is its turn.
fn line(job: &Job, format: Format, printer: &mut Printer) -> io::Result<()> {
    let outcome = job.outcome();
    let (report, remaining) = match (&outcome.report, outcome.told(), outcome.remaining()) {
        (Err(error), ..) => return unchecked(job, error, format, printer),
        (Ok(report), told, remaining) => (told.unwrap_or(report), remaining.unwrap_or(report)),
    };
    match format {
        Format::Json => {
            let reasons: Vec<_> =
                outcome.allowed.iter().map(|allow| Some(allow.as_ref()?.reason.as_str())).collect();
            let path = job.file.path.to_string_lossy();
            printer.line(&json::kernel(report, subject(job, &path), &reasons))
        }
        Format::Short => {
            let surroundings = Surroundings::of(job);
            let context = surroundings.context(false);
            alike(remaining.told()).into_iter().try_for_each(|(finding, others)| {
                let more = if others == 0 { String::new() } else { format!(" (+{others} alike)") };
                printer.line(&(short::finding(context, finding) + &more))
            })
        }
        Format::Human
            if printer.verbosity == Verbosity::Quiet && outcome.standing <= Standing::Skipped =>
        {
            Ok(())
        }
        Format::Human => {
            let standing = print::standing(outcome.standing);
            let accepted = if outcome.standing == Standing::Allowed {
                reasons(outcome)
            } else {
                String::new()
            };
            printer.line(&format!(
                "{standing} {}  ({}{accepted})",
                job.short_name(),
                scope(remaining)
            ))
        }
    }
}

/// Returns what the JSON object holds besides the report; `path` is the path of the job's PTX file.
pub(crate) fn subject<'a>(job: &'a Job, path: &'a str) -> Subject<'a> {
    Subject {
        package: (!job.package.is_empty()).then_some(job.package.as_str()),
        file: path,
        demangled: &job.kernel.demangled,
        label: job.label.as_deref(),
    }
}

/// Returns the codes that are allowed, each with its reason, to follow what the verdict covers.
fn reasons(outcome: &Outcome) -> String {
    let mut told: Vec<String> = Vec::new();
    for (finding, allow) in outcome.accepted() {
        let own = format!("; {} allowed: {}", finding.code, escape(&allow.reason));
        if !told.contains(&own) {
            told.push(own);
        }
    }
    told.concat()
}

/// Prints a kernel without a report: it is skipped, or there is an error, which is printed in every format.
pub(crate) fn unchecked(
    job: &Job,
    error: &JobError,
    format: Format,
    printer: &mut Printer,
) -> io::Result<()> {
    let name = job.short_name();
    let standing = job.outcome().standing;
    match error {
        JobError::Skipped { .. } => {}
        // The other errors already name the file.
        JobError::Check(error) => printer.error(&name, error),
        other => printer.failure(other),
    }
    match format {
        Format::Json => {
            let path = job.file.path.to_string_lossy();
            let reason = error.to_string();
            printer.line(&json::unchecked(
                &job.kernel.mangled,
                subject(job, &path),
                standing.name(),
                &reason,
            ))
        }
        Format::Human if standing == Standing::Skipped && printer.verbosity == Verbosity::Quiet => {
            Ok(())
        }
        Format::Human if standing == Standing::Skipped => printer.line(&format!(
            "{} {name}  ({})",
            print::standing(standing),
            error.to_string().trim_start_matches("skipped: ")
        )),
        Format::Human => printer.line(&format!("{} {name}", print::standing(standing))),
        Format::Short => Ok(()),
    }
}

/// Returns what a verdict covers, such as `grid 2, block 160, 2 ctas, 31/31 sites`.
fn scope(report: &Report) -> String {
    if let Some(proved) = report.proved_in_words() {
        return proved;
    }
    let (grid, block) = (report.grid_in_words(), report.block_in_words());
    if report.stats.ctas == 0 {
        if report.findings.iter().any(|finding| finding.code == Code::RaceForInput) {
            return format!("a defect for an input: {}", Code::RaceForInput);
        }
        let is_stated = report.launch.grid.is_some() || report.launch.block.is_some();
        return if is_stated {
            format!("grid {grid}, block {block}")
        } else {
            "no launch is stated".to_owned()
        };
    }
    let ctas = if report.stats.ctas == 1 {
        "1 cta".to_owned()
    } else {
        format!("{} ctas", report.stats.ctas)
    };
    let coverage = report.coverage;
    format!("grid {grid}, block {block}, {ctas}, {}/{} sites", coverage.reached, coverage.sites)
}

/// Counts the verdicts of all jobs. `failed` and the jobs without a report count as unchecked.
pub(crate) fn counts(jobs: &[&Job], failed: usize) -> Counts {
    let mut counts = Counts { unchecked: failed, ..Counts::default() };
    for outcome in jobs.iter().map(|job| job.outcome()) {
        *match outcome.standing {
            Standing::Clean => &mut counts.clean,
            Standing::Allowed => &mut counts.allowed,
            Standing::Skipped => &mut counts.skipped,
            Standing::Defect => &mut counts.defect,
            Standing::Open => &mut counts.open,
            Standing::Unchecked => &mut counts.unchecked,
        } += 1;
    }
    counts
}

/// Returns the last line: `weft: 4 clean, 1 defect, 0 open`, and what is allowed, skipped or could not be checked.
fn sentence(jobs: &[&Job], counts: Counts) -> String {
    let others = [
        (counts.allowed, "allowed"),
        (counts.skipped, "skipped"),
        (counts.unchecked, "could not be checked"),
    ];
    let others: Vec<String> = others
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!(", {count} {word}"))
        .collect();
    let others = others.concat();
    let findings = match jobs.iter().map(|job| job.outcome().accepted().count()).sum::<usize>() {
        0 => String::new(),
        1 => "; 1 finding allowed".to_owned(),
        number => format!("; {number} findings allowed"),
    };
    format!(
        "weft: {} clean, {} defect, {} open{others}{findings}",
        counts.clean, counts.defect, counts.open
    )
}

/// Returns the exit code of the worst outcome.
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

    use weft_harness::case::{Checker, Package, plan_with};
    use weft_harness::config::Config;
    use weft_harness::discover::PtxFile;

    use super::*;

    #[test]
    fn a_panic_counts_as_unchecked_and_the_others_go_on() {
        let text = ".version 8.0\n.target sm_80\n.address_size 64\n\
                    .entry one() { ret; }\n.entry two() { ret; }\n";
        let (path, display) = (PathBuf::from("k.ptx"), "k.ptx".to_owned());
        let files = vec![PtxFile { path, display, text: text.into(), unread: None }];
        let package = Package::new("p", PathBuf::new(), Config::default(), files);
        let checker = Checker::new(|module, kernel, launch| {
            assert_eq!(module.name(kernel.name), "two", "an invariant is broken");
            weft_core::check(module, kernel, launch)
        });
        let jobs = plan_with(&package, &checker).expect("there are kernels");
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
