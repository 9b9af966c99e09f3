//! `cargo weft baseline`: writes the findings that the selected packages have now into their baselines, so that from now
//! on only other findings fail.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use weft_core::finding::Class;
use weft_core::finding::name::short;
use weft_core::report::escape;
use weft_harness::case::{Checker, Job};
use weft_harness::config::{AcceptedFinding, Baseline};

use crate::account;
use crate::arguments::Selection;
use crate::collect::{self, Plan};
use crate::exit::{Exit, Failure};
use crate::print::Printer;

/// A baseline that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}", .path.display())]
pub(crate) struct BaselineError {
    path: PathBuf,
    source: io::Error,
}

/// Checks the selected packages and writes the baseline of each. A package without findings has none.
pub(crate) fn run(selection: &Selection, printer: &mut Printer) -> Result<Exit, Failure> {
    let Plan { mut packages, failures, crates, outside, .. } =
        collect::plan(selection, None, &Checker::default(), printer)?;
    for failure in &failures {
        printer.failure(failure);
    }
    let mut exit = if failures.is_empty() { Exit::Clean } else { Exit::Unchecked };
    for jobs in &mut packages {
        let dir = jobs.first().map(|job| job.dir.clone()).unwrap_or_default();
        let package = crates.get(&dir);
        let is_asked_for = !outside.contains(&dir);
        if let Some(failure) = package.and_then(|own| Failure::foreign(own, is_asked_for)) {
            printer.failure(&failure);
            exit = Exit::Unchecked;
            continue;
        }
        // As with any `allow`, checking goes on behind what is accepted.
        for job in jobs.iter_mut() {
            job.launch.options.past_findings = true;
        }
        let jobs: Vec<&Job> = jobs.iter().collect();
        account::settle(&jobs, None, |job, wait| {
            if let Some(wait) = wait {
                printer.waiting("checking", &job.short_name(), wait);
            }
            Ok(())
        })?;
        for job in jobs.iter().filter(|job| job.skip.is_none()) {
            if let Err(error) = &job.outcome().report {
                account::complain(job, error, printer);
                exit = Exit::Unchecked;
            }
        }
        if let Some(first) = jobs.first() {
            let (path, found) = (first.dir.join(Baseline::FILE), known(&jobs));
            let before = before(&path);
            let whole = of_unstated(&jobs, &found);
            let said = written(&path, &found);
            printer.line(&said.map_err(|source| BaselineError { path, source })?)?;
            if let Some(before) = &before {
                changes(before, &found, printer)?;
            }
            if whole > 0 {
                printer.line(&format!(
                    "note: {} is accepted as a whole, because nobody states its launch: another race of it might give \
                     the same finding; state `block` and `grid` in weft.toml, and write the baseline again",
                    counted(whole, "kernel")
                ))?;
            }
        }
    }
    Ok(exit)
}

/// Returns the findings of a baseline that is there and can be read.
fn before(path: &Path) -> Option<Vec<AcceptedFinding>> {
    let text = fs::read_to_string(path).ok()?;
    Some(Baseline::parse(&text, path).ok()?.findings().cloned().collect())
}

/// Prints what is not in a baseline any more, and what is new in it.
fn changes<'a>(
    before: &'a [AcceptedFinding],
    now: &'a [AcceptedFinding],
    printer: &mut Printer,
) -> io::Result<()> {
    let told = |word: &str, finding: &AcceptedFinding| {
        let AcceptedFinding { kernel, code, message, .. } = finding;
        format!("  {word} {code} of `{}`: {}", escape(&short(kernel)), escape(message))
    };
    let only = |of: &'a [AcceptedFinding], other: &'a [AcceptedFinding]| {
        of.iter().filter(move |own| !other.contains(own))
    };
    only(before, now).try_for_each(|own| printer.line(&told("removed", own)))?;
    only(now, before).try_for_each(|own| printer.line(&told("ADDED  ", own)))
}

/// Returns the number of kernels of which findings are accepted that concern launches which nobody states.
fn of_unstated(jobs: &[&Job], found: &[AcceptedFinding]) -> usize {
    let is_unstated = |job: &&&Job| {
        let report = job.outcome().report.as_ref();
        report.is_ok_and(|report| report.block.is_none())
            && found
                .iter()
                .any(|own| own.file == job.file.display && own.kernel == job.kernel.mangled)
    };
    jobs.iter().filter(is_unstated).count()
}

/// Returns the defects and open questions of the jobs that no `allow` of the configuration accepts.
fn known(jobs: &[&Job]) -> Vec<AcceptedFinding> {
    let of_job = |job: &&Job| {
        let outcome = job.outcome();
        let findings = outcome.report.as_ref().map(|report| report.findings.as_slice());
        let findings = findings.unwrap_or_default().iter().zip(&outcome.allowed);
        let is_new = |allow: &Option<_>| {
            allow.as_ref().is_none_or(|allow: &weft_harness::config::Allow| allow.message.is_some())
        };
        let own =
            findings.filter(|(own, allow)| own.code.class() != Class::Warning && is_new(allow));
        own.map(|(finding, _)| AcceptedFinding {
            file: job.file.display.clone(),
            count: 1,
            kernel: job.kernel.mangled.clone(),
            launch: job.label.clone(),
            code: finding.code,
            message: finding.message.clone(),
        })
        .collect::<Vec<_>>()
    };
    Baseline::counted(jobs.iter().flat_map(of_job).collect())
}

/// Writes a baseline with these findings, or removes it if there are none; returns what was done.
fn written(path: &Path, findings: &[AcceptedFinding]) -> io::Result<String> {
    let shown = path.display();
    if findings.is_empty() {
        return match fs::remove_file(path) {
            Ok(()) => Ok(format!("removed {shown}: there is nothing to accept")),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Ok(format!("{shown} is not needed: there is nothing to accept"))
            }
            Err(error) => Err(error),
        };
    }
    let kernels: BTreeSet<_> = findings.iter().map(|known| (&known.file, &known.kernel)).collect();
    let (kernels, all) = (kernels.len(), findings.iter().map(|known| known.count).sum());
    let counts = format!("{} of {}", counted(all, "finding"), counted(kernels, "kernel"));
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))?;
    file.write_all(Baseline::text(findings).as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(format!("wrote {shown}: {counts}"))
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
