//! The result of a job: the checker's report, and what remains of it after the findings that an `allow` accepts.

use std::sync::Arc;

use weft_core::finding::{Check, Code, Finding, Report, Verdict};
use weft_core::ptx::Module;

use super::{Job, JobError, Standing, outside};
use crate::config::Allow;

/// A report together with the part of it that no `allow` accepts.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The report as the checker returned it, or why there is none.
    pub report: Result<Report, JobError>,
    /// For each finding of the report, the `allow` that accepts it, if any.
    pub allowed: Vec<Option<Allow>>,
    /// The verdict on the findings that no `allow` accepts; open if the kernel was not checked.
    pub verdict: Verdict,
    /// What came of the kernel.
    pub standing: Standing,
    /// The module that was checked.
    pub module: Arc<Module>,
    told: Option<Report>,
    remaining: Option<Report>,
}

impl Outcome {
    pub(super) fn new(report: Result<Report, JobError>, job: &Job) -> Self {
        let told = report.as_ref().ok().map(|report| noted(report, job));
        let findings = told.as_ref().map(|report| report.findings.as_slice()).unwrap_or_default();
        let allowed = acceptances(findings, job);
        let split = |is_accepted: bool| {
            let all = findings.iter().zip(&allowed);
            all.filter(move |(_, allow)| allow.is_some() == is_accepted).map(|(finding, _)| finding)
        };
        let remaining = told
            .as_ref()
            .map(|report| Report { findings: split(false).cloned().collect(), ..report.clone() });
        let verdict = remaining.as_ref().map_or(Verdict::Open, Report::verdict);
        let standing = match &report {
            Ok(_) => Standing::of(verdict, split(true)),
            Err(JobError::Skipped { .. }) => Standing::Skipped,
            Err(_) => Standing::Unchecked,
        };
        Self {
            report,
            allowed,
            verdict,
            standing,
            module: Arc::clone(&job.module),
            told,
            remaining,
        }
    }

    /// Returns the report with notes on what the configuration has to do with its findings; `None` if the kernel was not
    /// checked.
    pub fn told(&self) -> Option<&Report> {
        self.told.as_ref()
    }

    /// Returns the report without the accepted findings; `None` if the kernel was not checked.
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
        let findings = self.told.as_ref().map(|report| report.findings.as_slice());
        let findings = findings.unwrap_or_default().iter().zip(&self.allowed);
        findings.filter_map(|(finding, allow)| Some((finding, allow.as_ref()?)))
    }
}

/// Returns for each finding the first `allow` that accepts it and has not accepted as many as it may.
fn acceptances(findings: &[Finding], job: &Job) -> Vec<Option<Allow>> {
    let mut left: Vec<usize> =
        job.allow.iter().map(|allow| allow.most.unwrap_or(usize::MAX)).collect();
    let mut one = |finding: &Finding| {
        let mut fitting = job.allow.iter().zip(&mut left);
        let (allow, left) = fitting
            .find(|(allow, left)| **left > 0 && allow.matches(finding, &job.file.display))?;
        *left -= 1;
        Some(allow.clone())
    };
    findings.iter().map(&mut one).collect()
}

/// Returns the report with notes on the block that its findings rest on, and on an `allow` that accepts them no longer.
fn noted(report: &Report, job: &Job) -> Report {
    let mut report = report.clone();
    outside::note(&mut report, job);
    help_with_contents(&mut report, job);
    let block = block_note(&report, job);
    let origin = job.recorded.as_ref().and_then(|note| note.origin.as_ref());
    let origin = origin.map(|origin| format!("launched by {origin}"));
    for finding in report.findings.iter_mut().filter(|own| own.code != Code::NoLaunch) {
        finding.notes.extend(block.clone());
        finding.notes.extend(origin.clone());
        let ended = job.ended.iter().find(|allow| allow.matches(finding, &job.file.display));
        if let Some((until, place)) = ended.and_then(|allow| Some((allow.until?, &allow.place))) {
            finding.notes.push(format!("it was allowed until {until}, at {place}"));
        }
    }
    report
}

/// Says of contents that are not known how a record gets them, or how they are stated for a recorded launch.
fn help_with_contents(report: &mut Report, job: &Job) {
    let Some(note) = &job.recorded else { return };
    for help in report.findings.iter_mut().filter_map(|own| own.help.as_mut()) {
        if help.starts_with("give them in weft.toml: ") {
            let stated = "state this launch in weft.toml, as `cargo weft init --from-record` writes it, with what they are on a device";
            *help = note.doubts.unkept.map_or_else(|| stated.to_owned(), |bytes| format!(
                "record anew with `--contents {bytes}`, which keeps allocations of so many bytes, if the program copies them in; or {stated}"
            ));
        }
    }
}

/// Returns what to say of a block that nobody states for this kernel in particular.
fn block_note(report: &Report, job: &Job) -> Option<String> {
    let block = report.block?;
    if report.has_guessed_block() {
        return Some(format!("nobody states the block: {block} is a guess"));
    }
    job.has_default_block.then(|| {
        format!("block {block} is that of `[default]`: no `[[kernel]]` states one for this kernel")
    })
}

/// Returns the `allow` entries that are about no finding of any of `jobs`, which must be all jobs of a package. Runs the
/// jobs that have not run yet. The `allow` entries of a kernel that was not checked count as used.
pub fn dead_allows<'j>(jobs: impl IntoIterator<Item = &'j Job>) -> Vec<Allow> {
    let (mut stated, mut used): (Vec<&Allow>, Vec<&Allow>) = (Vec::new(), Vec::new());
    for job in jobs {
        let own = || job.allow.iter().chain(&job.ended);
        if own().next().is_none() {
            continue;
        }
        stated.extend(own());
        match &job.outcome().report {
            Ok(report) => used.extend(own().filter(|allow| {
                report.findings.iter().any(|finding| allow.matches(finding, &job.file.display))
            })),
            Err(_) => used.extend(own()),
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
