//! Prints the long form: reports that are not clean in full, allowed findings, and the assumptions of clean verdicts.

use std::collections::BTreeMap;
use std::io;

use weft_core::finding::{Assumption, Class, Code, Report, Verdict};
use weft_core::report::{escape, human, short};
use weft_harness::case::{Causes, FirstFindings, Job, Surroundings};
use weft_harness::render::openable;

use crate::options::Verbosity;
use crate::print::Printer;
use crate::unlaunched::{self, is_unlaunched};

/// Prints the findings of every job, those with the same cause once, and those without a launch together; with
/// `--verbose`, each report in full.
pub(crate) fn reports(jobs: &[&Job], printer: &mut Printer) -> io::Result<()> {
    if printer.verbosity == Verbosity::Verbose {
        return jobs.iter().try_for_each(|job| in_full(job, printer));
    }
    let (mut lacks_remedy, mut without_package) = (false, None);
    for (job, first) in jobs.iter().zip(Causes::of(jobs).first(jobs)) {
        let Some(report) = job.outcome().remaining() else { continue };
        if !report.findings.is_empty() && !is_unlaunched(report) {
            once(job, report, &first, printer)?;
        }
        let is_told = !first.findings.is_empty();
        if is_told && has_race_within_ctas(job) && !first.has_remedy {
            lacks_remedy = true;
            without_package = without_package.or(job.package.is_empty().then_some(job));
        }
    }
    unlaunched::summary(jobs, printer)?;
    if lacks_remedy {
        // Of files that no package has, one has to be named.
        let file = without_package.map(|job| format!(" {}", openable(&job.file.path)));
        let command = format!("cargo weft repair{}", file.unwrap_or_default());
        printer.line(&format!(
            "\nhelp: `{command}` finds the barriers that remove races within a cta"
        ))?;
    }
    Ok(())
}

/// Whether a job has a race that barriers might remove.
fn has_race_within_ctas(job: &Job) -> bool {
    let findings = job.outcome().remaining().map(|report| report.findings.as_slice());
    findings.unwrap_or_default().iter().any(|finding| {
        finding.code.class() == Class::Defect
            && finding.code != Code::ProxyFence
            && finding.pairs.is_some_and(|pairs| pairs.between_ctas == 0)
    })
}

/// Prints the report of a job with all its findings, and those that are allowed.
fn in_full(job: &Job, printer: &mut Printer) -> io::Result<()> {
    let Some(report) = job.outcome().remaining() else { return Ok(()) };
    printer.line(&format!("\n---- {} ----", job.short_name()))?;
    let surroundings = Surroundings::of(job);
    let context = surroundings.context(printer.styled);
    printer.text(&human::report(context, report))?;
    for (finding, allow) in job.outcome().accepted() {
        let place = short::finding(context, finding);
        printer.line(&format!("allowed: {place} ({})", escape(&allow.reason)))?;
    }
    Ok(())
}

/// Prints the findings whose causes no job before has, and what they hold for. A job that has no others is a line.
fn once(
    job: &Job,
    report: &Report,
    first: &FirstFindings,
    printer: &mut Printer,
) -> io::Result<()> {
    let before = match first.told_before {
        0 => None,
        1 => Some("1 finding is alike to one above".to_owned()),
        count => Some(format!("{count} findings are alike to those above")),
    };
    if first.findings.is_empty() {
        let told = before.unwrap_or_default();
        return printer.line(&format!("\n---- {} ----\n{told}", job.short_name()));
    }
    printer.line(&format!("\n---- {} ----", job.short_name()))?;
    let surroundings = Surroundings::of(job);
    let context = surroundings.context(printer.styled);
    for finding in &first.findings {
        printer.line(&human::finding(context, finding))?;
    }
    if let Some(told) = before {
        printer.line(&format!("{told}\n"))?;
    }
    printer.text(&human::summary(context, report))
}

/// Prints each assumption of the clean verdicts once, with the number of verdicts that rely on it.
pub(crate) fn assumptions(jobs: &[&Job], printer: &mut Printer) -> io::Result<()> {
    let lines = assumption_lines(jobs);
    if lines.is_empty() {
        return Ok(());
    }
    printer.line("\nwhat is clean is proved under these assumptions:")?;
    lines.iter().try_for_each(|line| printer.line(&format!("  {line}")))
}

/// Returns each assumption of the clean verdicts, with the number of verdicts that rely on it.
pub(crate) fn assumption_lines(jobs: &[&Job]) -> Vec<String> {
    let reports = jobs.iter().filter_map(|job| job.outcome().remaining());
    let clean: Vec<&Report> = reports.filter(|report| report.verdict() == Verdict::Clean).collect();
    let mut kernels: BTreeMap<&Assumption, usize> = BTreeMap::new();
    for assumption in clean.iter().flat_map(|report| &report.assumptions) {
        *kernels.entry(assumption).or_default() += 1;
    }
    let kernels: Vec<_> = kernels.into_iter().collect();
    let kinds = kernels.chunk_by(|(own, _), (next, _)| own.general() == next.general());
    let line = |kind: &[(&Assumption, usize)]| {
        let count: usize = kind.iter().map(|(_, count)| count).sum();
        // What they name differs from kernel to kernel: `--verbose` has it for each.
        let sentence = match kind {
            [(only, _)] => only.sentence(),
            [(first, _), ..] => first.general().into(),
            [] => return None,
        };
        Some(format!("{sentence} ({count} of {})", clean.len()))
    };
    kinds.filter_map(line).collect()
}
