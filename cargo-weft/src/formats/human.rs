//! `--message-format human`, the default: a line for each kernel and launch; then every report that is not clean, in
//! full; then the assumptions of the clean verdicts; then the counts.

use std::io;

use weft_core::finding::{Code, Report};
use weft_core::report::checked::{INVALID_LAUNCH, RunProblem};
use weft_core::report::escape;
use weft_harness::case::{Job, JobError, Outcome, Standing};

use super::{Ending, Renderer};
use crate::detail;
use crate::options::Verbosity;
use crate::print::{self, Printer};

/// Prints reports for people.
#[derive(Debug)]
pub(super) struct Human;

impl Renderer for Human {
    fn kernel(&mut self, job: &Job, printer: &mut Printer) -> io::Result<()> {
        let outcome = job.outcome();
        let remaining = match (&outcome.report, outcome.remaining()) {
            (Err(error), _) => return unchecked(job, error, printer),
            (Ok(report), remaining) => remaining.unwrap_or(report),
        };
        if printer.verbosity == Verbosity::Quiet && outcome.standing <= Standing::Skipped {
            return Ok(());
        }
        let standing = print::standing(outcome.standing);
        let accepted =
            if outcome.standing == Standing::Allowed { reasons(outcome) } else { String::new() };
        let scope = scope(remaining);
        printer.line(&format!("{standing} {}  ({scope}{accepted})", job.short_name()))
    }

    fn finish(&mut self, end: Ending<'_>, printer: &mut Printer) -> io::Result<()> {
        detail::reports(end.jobs, printer)?;
        if printer.verbosity != Verbosity::Quiet {
            detail::assumptions(end.jobs, printer)?;
        }
        if end.problems.iter().any(|own| own.is_defect) {
            printer.line("")?;
        }
        defects(end.problems, printer)?;
        printer.line(&format!("\n{}", sentence(end)))
    }
}

/// Prints those problems that are defects, a line for each.
pub(super) fn defects(problems: &[RunProblem], printer: &mut Printer) -> io::Result<()> {
    problems.iter().filter(|own| own.is_defect).try_for_each(|own| {
        let head = print::error_head(&format!("error[{INVALID_LAUNCH}]"));
        printer.line(&format!("{head}: {}", escape(&own.message)))
    })
}

/// Prints the line of a kernel that was not checked.
pub(crate) fn unchecked(job: &Job, error: &JobError, printer: &mut Printer) -> io::Result<()> {
    let (name, standing) = (job.short_name(), job.outcome().standing);
    let word = print::standing(standing);
    if standing != Standing::Skipped {
        return printer.line(&format!("{word} {name}"));
    }
    if printer.verbosity == Verbosity::Quiet {
        return Ok(());
    }
    let reason = error.to_string();
    printer.line(&format!("{word} {name}  ({})", reason.trim_start_matches("skipped: ")))
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

/// Returns what a verdict covers, such as `grid 2, block 160, 2 ctas, 31/31 sites`.
fn scope(report: &Report) -> String {
    let (extent, coverage) = (extent(report), report.coverage);
    if report.proved.is_some() || report.stats.ctas == 0 {
        return extent;
    }
    format!("{extent}, {}/{} sites", coverage.reached, coverage.sites)
}

/// Returns the launches that a verdict covers, such as `grid 2, block 160, 2 ctas`.
pub(super) fn extent(report: &Report) -> String {
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
    format!("grid {grid}, block {block}, {ctas}")
}

/// Returns the last line: `weft: 4 clean, 1 defect, 0 open`, and what is allowed, skipped or could not be checked.
pub(super) fn sentence(end: Ending<'_>) -> String {
    let Ending { jobs, counts, .. } = end;
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
    let invalid = match end.problems.iter().filter(|own| own.is_defect).count() {
        0 => "",
        1 => "; 1 defect is an invalid call",
        number => &format!("; {number} defects are invalid calls"),
    };
    format!(
        "weft: {} clean, {} defect, {} open{others}{findings}{invalid}",
        counts.clean, counts.defect, counts.open
    )
}
