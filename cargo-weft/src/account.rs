//! Runs kernels in parallel, counts their verdicts, and hands them to the renderer of the output format in the order in
//! which they were planned.

use std::io;

use weft_core::report::checked::RunProblem;
use weft_core::report::json::Counts;
use weft_harness::case::{Job, JobError, Standing, dead_allows};
use weft_harness::config::Allow;

use crate::coverage::{self, RunRecords};
use crate::exit::Exit;
use crate::formats::{Ending, Renderer};
use crate::parallel::{RunWait, in_order};
use crate::print::{self, Printer};
use weft_harness::cache::Cache;

/// What to take into account besides the kernels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    /// The packages or files that could not be planned. Their errors are already printed; they count as unchecked.
    pub(crate) failed: &'a [RunProblem],
    /// Whether the jobs are all that is configured, so that an `allow` that accepts nothing is an error.
    pub(crate) whole: bool,
    /// The verdicts kept by earlier runs, if there is a cache.
    pub(crate) cache: Option<&'a Cache>,
    /// The records of launches.
    pub(crate) records: &'a RunRecords,
}

/// An `allow` that accepts no finding.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.unused())]
struct DeadAllow(Allow);

/// Checks all jobs, those of a package in succession, prints the results and returns the exit code.
pub(crate) fn of(
    jobs: &[Job],
    request: Request<'_>,
    renderer: &mut dyn Renderer,
    printer: &mut Printer,
) -> io::Result<Exit> {
    let packages =
        jobs.chunk_by(|one, next| (&one.package, &one.dir) == (&next.package, &next.dir));
    let jobs: Vec<&Job> = jobs.iter().collect();
    renderer.start(request.failed, printer)?;
    settle(&jobs, request.cache, |job, wait| {
        if let Some(wait) = wait {
            printer.waiting("checking", &job.short_name(), wait);
            return Ok(());
        }
        if let Err(error) = &job.outcome().report {
            complain(job, error, printer);
        }
        renderer.kernel(job, printer)
    })?;
    let packages = packages.filter(|_| request.whole);
    let dead: Vec<(String, DeadAllow)> = packages.flat_map(dead).collect();
    let unlaunched = request.records.unlaunched(&jobs);
    let invalid = request.records.invalid(&jobs, request.whole);
    let (doubtful, certain): (Vec<_>, Vec<_>) = invalid.iter().partition(|call| call.is_doubtful());
    for call in doubtful {
        printer.notice(&call.to_string());
    }
    let lost = request.records.lost(&jobs, request.whole);
    let mut counts = counts(&jobs, request.failed.len() + dead.len() + lost.len());
    counts.defect += certain.len();
    let exit = exit(counts);
    let mut problems: Vec<RunProblem> = dead.iter().map(problem).collect();
    problems.extend(certain.into_iter().map(coverage::problem));
    problems.extend(lost.iter().map(coverage::lost_problem));
    let (unlaunched, invalid) = (&unlaunched[..], &invalid[..]);
    let end = Ending { jobs: &jobs, counts, exit, problems: &problems, unlaunched, invalid };
    renderer.finish(end, printer)?;
    for (_, error) in &dead {
        printer.failure(error);
    }
    for own in &lost {
        printer.failure(own);
    }
    Ok(exit)
}

fn problem((name, error): &(String, DeadAllow)) -> RunProblem {
    RunProblem { is_defect: false, name: name.clone(), message: print::message(error) }
}

/// Returns the `allow` entries of a package that accept nothing, each with the name of the test case that fails for it.
fn dead(jobs: &[Job]) -> Vec<(String, DeadAllow)> {
    let name = jobs.first().map(|job| match job.package.as_str() {
        "" => "allow".to_owned(),
        package => format!("{package}::allow"),
    });
    let name = name.unwrap_or_default();
    dead_allows(jobs).into_iter().map(|allow| (name.clone(), DeadAllow(allow))).collect()
}

/// Runs all jobs and passes each to `take` when it and all before it are done. If a job takes long, `take` first gets it once
/// a second, with how the run stands.
pub(crate) fn settle<'j>(
    jobs: &[&'j Job],
    cache: Option<&Cache>,
    mut take: impl FnMut(&'j Job, Option<RunWait>) -> io::Result<()>,
) -> io::Result<()> {
    match cache {
        None => in_order(jobs, Job::outcome, |job, turn| take(job, turn.wait())),
        Some(cache) => {
            let work = |(job, key): (&'j Job, _)| cache.outcome(job, &key);
            in_order(&cache.keyed(jobs), work, |(job, _), turn| take(job, turn.wait()))
        }
    }
}

/// Prints why a kernel could not be checked; nothing if the configuration skips it.
pub(crate) fn complain(job: &Job, error: &JobError, printer: &mut Printer) {
    match error {
        JobError::Skipped { .. } => {}
        // The other errors already name the file.
        error @ JobError::Check { .. } => printer.error(&job.short_name(), error),
        other => printer.failure(other),
    }
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
        let files = vec![PtxFile { path, display, text: text.into(), unread: None, saved: None }];
        let package = Package::new("p", PathBuf::new(), Config::default(), files);
        let checker = Checker::new(|module, kernel, launch| {
            assert_eq!(module.name(kernel.name), "two", "an invariant is broken");
            weft_core::check(module, kernel, launch)
        });
        let jobs = plan_with(&package, &checker).expect("there are kernels");
        let jobs: Vec<&Job> = jobs.iter().collect();
        let mut seen = Vec::new();
        let all = in_order(&jobs, Job::outcome, |job, turn| {
            if turn.wait().is_none() {
                seen.push((job.kernel.mangled.clone(), job.outcome().report.is_ok()));
            }
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
