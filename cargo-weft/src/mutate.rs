//! `cargo weft mutate`: weakens the synchronization of clean kernels in one place at a time, checks each mutant, and
//! reports the synchronization that a kernel does not need.
//!
//! A kernel that is not clean is named and not mutated: a finding in its mutants would not show that the change caused
//! it.

use std::collections::BTreeSet;
use std::io;

use rayon::prelude::*;
use weft_core::finding::{Advice, Report, Verdict};
use weft_core::mutate::{Mutant, Weakening};
use weft_core::report::json::{self, Tally};
use weft_core::report::{human, short};
use weft_harness::case::{Job, JobError, Surroundings};

use crate::account;
use crate::arguments::Mutate;
use crate::exit::{Exit, Failure};
use crate::formats;
use crate::options::{Format, Verbosity};
use crate::parallel::{Turn, in_order};
use crate::print::{self, Printer};
use crate::targets;

/// The results of a kernel's mutants.
#[derive(Debug, Default)]
struct Mutation {
    tally: Tally,
    /// The surviving mutants: for each instruction, its deletion if that survives, otherwise each weaker change that
    /// does.
    advice: Vec<Advice>,
    /// Errors of mutants on which the checker failed.
    errors: Vec<JobError>,
}

/// Mutates all selected kernels.
pub(crate) fn run(arguments: &Mutate, printer: &mut Printer) -> Result<Exit, Failure> {
    let (jobs, failed) = targets::jobs(&arguments.targets, printer)?;
    let jobs: Vec<&Job> = jobs.iter().collect();
    Ok(account_of(&jobs, failed, arguments.message_format, printer)?)
}

/// Mutates all jobs and prints the results.
fn account_of(
    jobs: &[&Job],
    failed: usize,
    format: Format,
    printer: &mut Printer,
) -> io::Result<Exit> {
    let mut all = Vec::with_capacity(jobs.len());
    in_order(jobs, mutation, |job, turn| {
        let mutation = match turn {
            Turn::Done(mutation) => mutation,
            Turn::Waiting(wait) => {
                printer.waiting("mutating", &job.short_name(), wait);
                return Ok(());
            }
        };
        line(job, &mutation, format, printer)?;
        all.push(mutation);
        Ok(())
    })?;
    let tally = all.iter().map(|mutation| mutation.tally).fold(Tally::default(), sum);
    let counts = account::counts(jobs, failed);
    match format {
        Format::Json => printer.line(&json::mutants_summary(counts, tally))?,
        Format::Short => printer.line(&sentence(counts.clean, tally))?,
        Format::Human => {
            for (job, mutation) in jobs.iter().zip(&all) {
                survivors(job, mutation, printer)?;
            }
            printer.line(&format!("\n{}", sentence(counts.clean, tally)))?;
        }
    }
    let exit = account::exit(counts);
    Ok(if tally.unchecked > 0 { exit.max(Exit::Unchecked) } else { exit })
}

/// Checks a kernel and, if it is clean, its mutants.
fn mutation(job: &Job) -> Mutation {
    let Some(report) = clean(job) else { return Mutation::default() };
    let mutants = match job.mutants() {
        Ok(mutants) => mutants,
        Err(error) => {
            let tally = Tally { mutants: 1, unchecked: 1, ..Tally::default() };
            return Mutation { tally, errors: vec![error], ..Mutation::default() };
        }
    };
    let results: Vec<_> =
        mutants.list.par_iter().map(|mutant| (mutant, job.mutated(mutant))).collect();
    let mut mutation = Mutation::default();
    mutation.tally.unreached = mutants.unreached;
    let mut gone = BTreeSet::new();
    for (mutant, result) in results {
        mutation.add(mutant, result, report, &mut gone);
    }
    mutation
}

/// Returns the report of a job if the job is clean, without the findings that an `allow` accepts.
fn clean(job: &Job) -> Option<&Report> {
    let outcome = job.outcome();
    outcome.remaining().filter(|_| outcome.verdict == Verdict::Clean)
}

impl Mutation {
    /// Counts a mutant. If the deletion of an instruction survives, its span is added to `gone`, and weaker changes of
    /// the same instruction give no advice.
    fn add(
        &mut self,
        mutant: &Mutant,
        result: Result<Report, JobError>,
        kernel: &Report,
        gone: &mut BTreeSet<weft_core::ptx::Span>,
    ) {
        self.tally.mutants += 1;
        let count = match result {
            Err(error) => {
                self.errors.push(error);
                &mut self.tally.unchecked
            }
            Ok(report) => match report.verdict() {
                Verdict::Defect => &mut self.tally.defect,
                Verdict::Open => &mut self.tally.open,
                Verdict::Clean => {
                    if mutant.change == Weakening::Delete {
                        gone.insert(mutant.site.span);
                        gone.extend(mutant.also.iter().map(|site| site.span));
                    }
                    if mutant.change == Weakening::Delete || !gone.contains(&mutant.site.span) {
                        self.advice.push(mutant.advice(&report, kernel));
                    }
                    &mut self.tally.survived
                }
            },
        };
        *count += 1;
    }
}

fn sum(one: Tally, other: Tally) -> Tally {
    Tally {
        mutants: one.mutants + other.mutants,
        defect: one.defect + other.defect,
        open: one.open + other.open,
        survived: one.survived + other.survived,
        unchecked: one.unchecked + other.unchecked,
        unreached: one.unreached + other.unreached,
    }
}

/// Prints the results of a kernel's mutants as soon as they are checked.
fn line(job: &Job, mutation: &Mutation, format: Format, printer: &mut Printer) -> io::Result<()> {
    for error in &mutation.errors {
        printer.error(&job.short_name(), error);
    }
    let outcome = job.outcome();
    let report = match &outcome.report {
        Ok(report) => outcome.remaining().unwrap_or(report),
        Err(error) => {
            account::complain(job, error, printer);
            return match format {
                Format::Json => formats::json::unchecked(job, error, printer),
                Format::Human => formats::human::unchecked(job, error, printer),
                Format::Short => Ok(()),
            };
        }
    };
    let Mutation { tally, advice, .. } = mutation;
    match format {
        Format::Json => {
            let path = job.file.path.to_string_lossy();
            let subject = formats::json::subject(job, &path);
            printer.line(&json::mutants(report, subject, outcome.verdict, *tally, advice))
        }
        Format::Short => {
            let surroundings = Surroundings::of(job);
            let context = surroundings.context(false);
            advice.iter().try_for_each(|own| printer.line(&short::advice(context, own)))
        }
        Format::Human if printer.verbosity == Verbosity::Quiet && advice.is_empty() => Ok(()),
        Format::Human => {
            let verdict = print::standing(outcome.standing);
            let name = job.short_name();
            match outcome.verdict {
                Verdict::Clean => printer.line(&format!("{verdict} {name}  ({})", told(*tally))),
                _ => printer.line(&format!("{verdict} {name}  (not mutated)")),
            }
        }
    }
}

/// Prints the advice on a kernel in full, and the launch and assumptions for which it holds.
fn survivors(job: &Job, mutation: &Mutation, printer: &mut Printer) -> io::Result<()> {
    let Some(report) = clean(job).filter(|_| !mutation.advice.is_empty()) else { return Ok(()) };
    printer.line(&format!("\n---- {} ----", job.short_name()))?;
    let surroundings = Surroundings::of(job);
    let context = surroundings.context(printer.styled);
    for own in &mutation.advice {
        let text = human::advice(context, own);
        printer.line(&text)?;
    }
    printer.text(&human::summary(context, report))
}

/// Returns the counts in words, such as `14 mutants: 12 defect, 1 open, 1 survives`.
fn told(tally: Tally) -> String {
    let Tally { mutants, defect, open, survived, unchecked, unreached } = tally;
    let of = |number: usize, one: &str, many: &str| match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {many}"),
    };
    let found = match mutants {
        0 => "no mutants".to_owned(),
        _ => format!(
            "{}: {defect} defect, {open} open, {}",
            of(mutants, "mutant", "mutants"),
            of(survived, "survives", "survive")
        ),
    };
    let unchecked = match unchecked {
        0 => String::new(),
        number => format!(", {number} could not be checked"),
    };
    let unreached = match unreached {
        0 => String::new(),
        number => format!("; {} not reached", of(number, "instruction", "instructions")),
    };
    format!("{found}{unchecked}{unreached}")
}

/// Returns the last line.
fn sentence(clean: usize, tally: Tally) -> String {
    let kernels = if clean == 1 { "kernel" } else { "kernels" };
    format!("weft: {clean} clean {kernels}, {}", told(tally))
}
