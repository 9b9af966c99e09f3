//! The result of a job after what its author accepts.

use std::sync::Arc;

use weft_core::finding::{Check, Finding, Report, Verdict};
use weft_core::ptx::Module;

use super::{Job, JobError};
use crate::config::Allow;

/// A report and what remains of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Everything that was found, or why nothing could be.
    pub report: Result<Report, JobError>,
    /// For each finding of the report the `allow` that accepts it.
    pub allowed: Vec<Option<Allow>>,
    /// The verdict over the findings that are not accepted; open if the kernel could not be checked.
    pub verdict: Verdict,
    /// The PTX as read.
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

    /// The report without the accepted findings; `None` if the kernel could not be checked.
    pub fn remaining(&self) -> Option<&Report> {
        self.remaining.as_ref()
    }

    /// The verdict of one check over the findings that are not accepted. Who accepts a defect of a barrier vouches for
    /// the barriers, so that the races are judged.
    pub fn verdict_of(&self, check: Check) -> Verdict {
        self.remaining.as_ref().map_or(Verdict::Open, |report| report.verdict_of(check))
    }

    /// The findings of one check that are not accepted.
    pub fn findings_of(&self, check: Check) -> impl Iterator<Item = &Finding> {
        self.remaining.iter().flat_map(move |report| report.findings_of(check))
    }

    /// The accepted findings with what accepts them.
    pub fn accepted(&self) -> impl Iterator<Item = (&Finding, &Allow)> {
        let findings =
            self.report.as_ref().map(|report| report.findings.as_slice()).unwrap_or_default();
        findings
            .iter()
            .zip(&self.allowed)
            .filter_map(|(finding, allow)| Some((finding, allow.as_ref()?)))
    }
}

/// The `allow`s that accept nothing in any of `jobs`, which must be all jobs of a package; runs what has not run yet.
/// Says nothing about the `allow`s of a kernel that could not be checked.
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
