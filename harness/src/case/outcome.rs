//! The result of a job: the checker's report, and what remains of it after the findings that an `allow` accepts.

use std::sync::Arc;

use weft_core::finding::{Check, Finding, Report, Verdict};
use weft_core::ptx::Module;

use super::{Job, JobError};
use crate::config::Allow;

/// A report together with the part of it that no `allow` accepts.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The complete report, or why the kernel could not be checked.
    pub report: Result<Report, JobError>,
    /// For each finding of the report, the `allow` that accepts it, if any.
    pub allowed: Vec<Option<Allow>>,
    /// The verdict on the findings that no `allow` accepts; open if the kernel could not be checked.
    pub verdict: Verdict,
    /// The module that was checked.
    pub module: Arc<Module>,
    remaining: Option<Report>,
}

impl Outcome {
    pub(super) fn new(report: Result<Report, JobError>, job: &Job) -> Self {
        let findings = report.as_ref().map(|report| report.findings.as_slice()).unwrap_or_default();
        let accepted = |finding| {
            job.allow.iter().find(|allow| allow.matches(finding, &job.file.display)).cloned()
        };
        let allowed: Vec<Option<Allow>> = findings.iter().map(accepted).collect();
        let remaining = report.as_ref().ok().map(|report| {
            let kept = report.findings.iter().zip(&allowed).filter(|(_, allow)| allow.is_none());
            Report {
                findings: kept.map(|(finding, _)| finding.clone()).collect(),
                ..report.clone()
            }
        });
        let verdict = remaining.as_ref().map_or(Verdict::Open, Report::verdict);
        Self { report, allowed, verdict, module: Arc::clone(&job.module), remaining }
    }

    /// Returns the report without the accepted findings; `None` if the kernel could not be checked.
    pub fn remaining(&self) -> Option<&Report> {
        self.remaining.as_ref()
    }

    /// Returns the verdict of one check on the findings that no `allow` accepts. If all barrier defects are accepted,
    /// the barriers count as sound, so that the races are judged.
    pub fn verdict_of(&self, check: Check) -> Verdict {
        self.remaining.as_ref().map_or(Verdict::Open, |report| report.verdict_of(check))
    }

    /// Returns the findings of one check that no `allow` accepts.
    pub fn findings_of(&self, check: Check) -> impl Iterator<Item = &Finding> {
        self.remaining.iter().flat_map(move |report| report.findings_of(check))
    }

    /// Returns the accepted findings, each with the `allow` that accepts it.
    pub fn accepted(&self) -> impl Iterator<Item = (&Finding, &Allow)> {
        let findings =
            self.report.as_ref().map(|report| report.findings.as_slice()).unwrap_or_default();
        findings
            .iter()
            .zip(&self.allowed)
            .filter_map(|(finding, allow)| Some((finding, allow.as_ref()?)))
    }
}

/// Returns the `allow` entries that accept nothing in any of `jobs`, which must be all jobs of a package. Runs the jobs
/// that have not run yet. The `allow` entries of a kernel that could not be checked count as used.
pub fn dead_allows<'j>(jobs: impl IntoIterator<Item = &'j Job>) -> Vec<Allow> {
    let (mut stated, mut used): (Vec<&Allow>, Vec<&Allow>) = (Vec::new(), Vec::new());
    for job in jobs.into_iter().filter(|job| !job.allow.is_empty()) {
        let outcome = job.outcome();
        stated.extend(&job.allow);
        match &outcome.report {
            Ok(report) => used.extend(job.allow.iter().filter(|allow| {
                report.findings.iter().any(|finding| allow.matches(finding, &job.file.display))
            })),
            Err(_) => used.extend(&job.allow),
        }
    }
    let mut dead: Vec<Allow> = stated
        .into_iter()
        .filter(|own| !used.iter().any(|other| other.place == own.place))
        .cloned()
        .collect();
    dead.sort_by(|a, b| a.place.cmp(&b.place));
    dead.dedup();
    dead
}
