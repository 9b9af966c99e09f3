//! Turns jobs into cases of a libtest-compatible test binary: three cases for each job, which share its report.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use weft_core::finding::{Check, Finding, Verdict};
use weft_core::report::checked::INVALID_LAUNCH;

use super::remedy::remedy;
use super::{Job, Package, Surroundings, alike, dead_allows};
use crate::config::Allow;
use crate::render::human;

/// What is done with a job before its result is asked for, such as to take it from an earlier run.
pub type Settle = Arc<dyn Fn(&Job) + Send + Sync>;

/// Returns the test cases of `jobs`, which are all jobs of one package. Messages have no colour.
pub fn trials(jobs: Vec<Job>) -> Vec<Trial> {
    trials_with(jobs, false, &(Arc::new(|_: &Job| ()) as Settle))
}

/// Returns the test cases of `jobs`, which are all jobs of one package: `PACKAGE::FILE::KERNEL[@LAUNCH]::CHECK`;
/// `PACKAGE::FILE::read` for a file that cannot be read; and, if the configuration has any `allow`, `PACKAGE::allow`,
/// which fails if an `allow` accepts nothing. The cases of a skipped launch are ignored. With `color`, messages contain
/// ANSI codes.
pub fn trials_with(jobs: Vec<Job>, color: bool, settle: &Settle) -> Vec<Trial> {
    let jobs: Vec<Arc<Job>> = jobs.into_iter().map(Arc::new).collect();
    let mut trials = Vec::with_capacity(jobs.len() * Check::ALL.len() + 1);
    for job in &jobs {
        if job.is_unread() {
            let own = Arc::clone(job);
            trials.push(Trial::test(job.name(), move || verdict(&own, Check::Barriers, color)));
            continue;
        }
        for check in Check::ALL {
            let (own, settle) = (Arc::clone(job), Arc::clone(settle));
            let trial = Trial::test(job.case(check), move || {
                settle(&own);
                verdict(&own, check, color)
            });
            trials.push(trial.with_ignored_flag(job.skip.is_some()));
        }
    }
    if let Some(first) = jobs.iter().find(|job| !job.allow.is_empty() || !job.ended.is_empty()) {
        let name = format!("{}::allow", first.package);
        let settle = Arc::clone(settle);
        trials.push(Trial::test(name, move || {
            for job in &jobs {
                settle(job);
            }
            live(&jobs)
        }));
    }
    trials
}

/// Returns the case that fails for the calls in a package's records which CUDA refuses, and which do not rest on results that were never
/// computed; `None` if there are none. No list of kernels that are skipped or accepted holds for it.
pub fn refused_calls(package: &Package) -> Option<Trial> {
    let calls = package.records.records.iter().flat_map(|record| &record.refused);
    let calls: BTreeSet<_> = calls.filter(|call| !call.is_doubtful()).collect();
    let lines: Vec<String> =
        calls.into_iter().map(|call| format!("error[{INVALID_LAUNCH}]: {call}")).collect();
    let name = format!("{}::{INVALID_LAUNCH}", package.name);
    (!lines.is_empty()).then(|| Trial::test(name, move || Err(Failed::from(lines.join("\n")))))
}

/// The name of the case that fails for launches which no kernel is checked under.
pub const UNCHECKED_LAUNCH: &str = "unchecked-launch";

/// Returns the case that fails for the launches in a package's records that could not be checked, since they cannot be read or no PTX of
/// their kernels is there; `None` if there are none.
pub fn lost_launches(package: &Package) -> Option<Trial> {
    let lost = package.records.lost(&package.files);
    let lines: Vec<String> = lost.iter().map(ToString::to_string).collect();
    let name = format!("{}::{UNCHECKED_LAUNCH}", package.name);
    (!lines.is_empty()).then(|| Trial::test(name, move || Err(Failed::from(lines.join("\n")))))
}

fn verdict(job: &Job, check: Check, color: bool) -> Result<(), Failed> {
    failure(job, check, color).map_or(Ok(()), |message| Err(Failed::from(message)))
}

fn live(jobs: &[Arc<Job>]) -> Result<(), Failed> {
    let dead = dead_allows(jobs.iter().map(AsRef::as_ref));
    if dead.is_empty() {
        return Ok(());
    }
    Err(Failed::from(dead.iter().map(Allow::unused).collect::<Vec<_>>().join("\n")))
}

/// Returns the failure message of a job for one check; `None` if that check is clean. Runs the job if it has not run
/// yet.
pub fn failure(job: &Job, check: Check, color: bool) -> Option<String> {
    let outcome = job.outcome();
    let report = match (&outcome.report, outcome.remaining()) {
        (Err(error), _) => return Some(error.to_string()),
        (Ok(_), None) => return None,
        (Ok(_), Some(report)) => report,
    };
    if outcome.verdict_of(check) == Verdict::Clean {
        return None;
    }
    let surroundings = Surroundings::of(job);
    let context = surroundings.context(color);
    let mut message = String::new();
    let mut remedy = remedy(&[job]);
    for (finding, others) in alike(report.findings_of(check)) {
        let help = remedy.take().or_else(|| finding.help.clone());
        let finding = Finding { help, ..finding.clone() };
        message.push_str(&human::finding(context, &finding));
        if others > 0 {
            let _ = writeln!(message, "   = note: {others} more alike in this kernel");
        }
        message.push('\n');
    }
    if message.is_empty() {
        let barriers = job.case(Check::Barriers);
        message = format!(
            "open: races can only be judged once the barriers are sound; see {barriers}\n\n"
        );
    }
    message.push_str(&human::summary(context, report));
    Some(message)
}
