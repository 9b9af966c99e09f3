//! The page of `cargo weft report`: collects what [`weft_core::report::html`] renders, and writes the file.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf, absolute};

use weft_core::finding::{Chart, Class, Finding};
use weft_core::report::checked::RunProblem;
use weft_core::report::escape;
use weft_core::report::html::{self, PageKernel, PageReport, PageResult, ReportPage};
use weft_harness::case::{Causes, FirstFindings, Job, JobError, Surroundings, launch_notes};

use super::{Ending, Renderer, human};
use crate::detail;
use crate::parallel::{Turn, in_order};
use crate::print::{self, Printer};

/// The most pictures on a page: each runs a kernel again.
const PICTURES: usize = 20;

/// A page that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write `{}`", .path.display())]
struct PageWriteError {
    path: PathBuf,
    source: io::Error,
}

/// Writes a page, and prints its path and the counts. Without any kernel there is no page: an earlier one stays as it is.
#[derive(Debug)]
pub(crate) struct Html {
    path: PathBuf,
    target: PathBuf,
    subject: String,
    problems: Vec<RunProblem>,
}

impl Html {
    /// Returns the renderer of a page at `path` on `subject`: the folder of a workspace, or files. Folders are made in the
    /// target directory alone.
    pub(crate) fn new(path: PathBuf, target: &Path, subject: String) -> Self {
        Self { path, target: target.to_owned(), subject, problems: Vec::new() }
    }

    fn write(&self, text: &str) -> Result<(), PageWriteError> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let made = if self.is_in_target() { fs::create_dir_all(folder) } else { Ok(()) };
        made.and_then(|()| fs::write(&self.path, text))
            .map_err(|source| PageWriteError { path: self.path.clone(), source })
    }

    fn is_in_target(&self) -> bool {
        let climbs = self.path.components().any(|part| part == Component::ParentDir);
        let inner = absolute(&self.path).ok().zip(absolute(&self.target).ok());
        !climbs && inner.is_some_and(|(path, target)| path.starts_with(target))
    }
}

impl Renderer for Html {
    fn start(&mut self, problems: &[RunProblem], _printer: &mut Printer) -> io::Result<()> {
        self.problems = problems.to_vec();
        Ok(())
    }

    fn kernel(&mut self, _job: &Job, _printer: &mut Printer) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, end: Ending<'_>, printer: &mut Printer) -> io::Result<()> {
        let jobs = end.jobs;
        if jobs.is_empty() {
            let path = escape(&self.path.display().to_string()).into_owned();
            printer.note(&format!("there is no kernel to report on: {path} is not written"));
            return printer.line(&human::sentence(end));
        }
        let first = Causes::of(jobs).first(jobs);
        let pictures = pictures(jobs, &first, printer)?;
        let surroundings: Vec<_> = jobs.iter().map(|job| Surroundings::of(job)).collect();
        let told = first.into_iter().zip(pictures).zip(&surroundings);
        let kernels = jobs.iter().zip(told);
        let unchecked = self.problems.iter().chain(end.problems).filter(|own| !own.is_defect);
        let page = ReportPage {
            subject: self.subject.clone(),
            sentence: human::sentence(end),
            counts: end.counts,
            kernels: kernels
                .map(|(job, ((first, picture), around))| kernel(job, first, picture, around))
                .collect(),
            problems: unchecked.cloned().collect(),
            notes: notes(jobs),
            invalid: end.invalid.iter().map(ToString::to_string).collect(),
            unlaunched: end
                .unlaunched
                .iter()
                .map(|job| format!("{}::{}", super::suite(job), job.title))
                .collect(),
            assumptions: detail::assumption_lines(jobs),
        };
        let text = html::page(&page).map_err(io::Error::other)?;
        self.write(&text).map_err(|error| io::Error::new(error.source.kind(), error))?;
        printer.line(&escape(&self.path.display().to_string()))?;
        printer.line(&human::sentence(end))
    }
}

/// Returns what is said of saved PTX, and of recorded launches that might be others on a device.
fn notes(jobs: &[&Job]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for file in jobs.iter().map(|job| &job.file) {
        let note = file.saved.as_ref().and_then(|own| own.note(&file.display));
        notes.extend(note.filter(|note| !notes.contains(note)));
    }
    notes.extend(launch_notes(jobs.iter().copied()).into_iter().map(|note| note.text));
    notes
}

/// A picture, or why there is none; `None`: none is wanted.
type Picture = Option<Result<Chart, String>>;

/// Draws the first finding of each kernel, if it is a defect, of so many kernels at most.
fn pictures(
    jobs: &[&Job],
    first: &[FirstFindings],
    printer: &mut Printer,
) -> io::Result<Vec<Picture>> {
    let wanted = jobs.iter().zip(first).enumerate().filter_map(|(index, (job, first))| {
        Some((index, *job, number(job, first.findings.first()?)?))
    });
    let wanted: Vec<(usize, &Job, usize)> = wanted.take(PICTURES).collect();
    let mut pictures: Vec<Picture> = jobs.iter().map(|_| None).collect();
    let draw = |(_, job, number): (usize, &Job, usize)| job.chart(Some(number));
    in_order(&wanted, draw, |(index, job, _), turn| {
        match turn {
            Turn::Waiting(wait) => printer.waiting("drawing", &job.short_name(), wait),
            Turn::Done(chart) => {
                pictures[index] = Some(chart.map_err(|error| print::message(&error)));
            }
        }
        Ok(())
    })?;
    Ok(pictures)
}

/// Returns the number of a defect in the report of its kernel, from 1; `None` if the finding is none.
fn number(job: &Job, finding: &Finding) -> Option<usize> {
    let is_it = |own: &Finding| {
        (own.code, &own.message, &own.sites) == (finding.code, &finding.message, &finding.sites)
    };
    let is_defect = finding.code.class() == Class::Defect;
    let index = job.outcome().told()?.findings.iter().position(is_it).filter(|_| is_defect)?;
    Some(index + 1)
}

fn kernel<'a>(
    job: &'a Job,
    first: FirstFindings,
    picture: Picture,
    surroundings: &'a Surroundings,
) -> PageKernel<'a> {
    let outcome = job.outcome();
    let result = match (&outcome.report, outcome.remaining()) {
        (Err(JobError::Skipped { reason }), _) => PageResult::Skipped(reason.clone()),
        (Err(error), _) => PageResult::Unchecked(print::message(error)),
        (Ok(report), remaining) => {
            let accepted = outcome.accepted();
            PageResult::Report(Box::new(PageReport {
                remaining: remaining.unwrap_or(report),
                findings: first.findings,
                told_before: first.told_before,
                accepted: accepted.map(|(own, allow)| (own, allow.reason.as_str())).collect(),
                picture,
            }))
        }
    };
    let is_kernel = !job.is_unread();
    PageKernel {
        context: surroundings.context(false),
        suite: super::suite(job),
        label: job.label.as_deref(),
        verdict: outcome.standing.name(),
        launch: if is_kernel { job.launch_in_words() } else { String::new() },
        holds_for: outcome.remaining().map(human::extent).unwrap_or_default(),
        result,
    }
}
