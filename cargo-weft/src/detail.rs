//! Prints the long form: reports that are not clean in full, allowed findings, and the assumptions of clean verdicts.

use std::collections::BTreeMap;
use std::io;

use weft_core::finding::{Assumption, Report, Verdict};
use weft_core::report::{escape, human, short};
use weft_harness::case::Job;
use weft_harness::render::Sources;

use crate::options::Verbosity;
use crate::print::Printer;
use crate::unlaunched::{self, is_unlaunched};

/// Prints every report that has findings, those without a launch together; with `--verbose`, each report in full.
pub(crate) fn reports(jobs: &[&Job], printer: &mut Printer) -> io::Result<()> {
    for job in jobs {
        let Some(report) = job.outcome().remaining() else { continue };
        if printer.verbosity != Verbosity::Verbose && is_unlaunched(report) {
            continue;
        }
        if !report.findings.is_empty() || printer.verbosity == Verbosity::Verbose {
            printer.line(&format!("\n---- {} ----", job.short_name()))?;
            full(job, report, printer)?;
        }
    }
    if printer.verbosity == Verbosity::Verbose {
        Ok(())
    } else {
        unlaunched::summary(jobs, printer)
    }
}

fn full(job: &Job, report: &Report, printer: &mut Printer) -> io::Result<()> {
    let sources = sources(job);
    let source = |name: &str| sources.text(name);
    printer.text(&human::report(
        &job.module,
        &job.file.display,
        report,
        &source,
        printer.styled,
    ))?;
    if printer.verbosity == Verbosity::Verbose {
        for (finding, allow) in job.outcome().accepted() {
            let place = short::finding(&job.file.display, finding);
            printer.line(&format!("allowed: {place} ({})", escape(&allow.reason)))?;
        }
    }
    Ok(())
}

/// Returns the source files that a report can quote: those of the package, or those around a file that was named on the
/// command line.
pub(crate) fn sources(job: &Job) -> Sources {
    if job.package.is_empty() {
        Sources::around(&job.file.path, &job.dir)
    } else {
        Sources::of_package(&job.dir)
    }
}

/// Prints each assumption of the clean verdicts once, with the number of verdicts that rely on it.
pub(crate) fn assumptions(jobs: &[&Job], printer: &mut Printer) -> io::Result<()> {
    let reports = jobs.iter().filter_map(|job| job.outcome().remaining());
    let clean: Vec<&Report> = reports.filter(|report| report.verdict() == Verdict::Clean).collect();
    let mut kernels: BTreeMap<&Assumption, usize> = BTreeMap::new();
    for assumption in clean.iter().flat_map(|report| &report.assumptions) {
        *kernels.entry(assumption).or_default() += 1;
    }
    if kernels.is_empty() {
        return Ok(());
    }
    printer.line("\nwhat is clean is proved under these assumptions:")?;
    let kernels: Vec<_> = kernels.into_iter().collect();
    for kind in kernels.chunk_by(|(own, _), (next, _)| own.general() == next.general()) {
        let count: usize = kind.iter().map(|(_, count)| count).sum();
        // What they name differs from kernel to kernel: `--verbose` has it for each.
        let sentence = match kind {
            [(only, _)] => only.sentence(),
            [(first, _), ..] => first.general().into(),
            [] => continue,
        };
        printer.line(&format!("  {sentence} ({count} of {})", clean.len()))?;
    }
    Ok(())
}
