//! The output formats of `test` and `check`, one file each. [`crate::account`] runs the kernels and counts; a renderer
//! prints what it is told. The texts of the formats are made by `weft_core::report`.

mod github;
pub(crate) mod html;
pub(crate) mod human;
pub(crate) mod json;
mod junit;
mod paths;
mod rustc;
mod sarif;
mod short;
mod surroundings;

use std::io;

use weft_core::report::checked::{RunEnd, RunProblem};
use weft_core::report::json::Counts;
use weft_harness::case::Job;
use weft_harness::record::RefusedCall;

use crate::exit::Exit;
use crate::options::MessageFormat;
use crate::print::Printer;
pub(crate) use surroundings::RunContext;

/// The end of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending<'a> {
    /// All kernels, in the order in which they were printed.
    pub(crate) jobs: &'a [&'a Job],
    /// Their verdicts; problems count as unchecked, or as defects.
    pub(crate) counts: Counts,
    /// How the process ends.
    pub(crate) exit: Exit,
    /// What came up at the end and concerns no kernel, such as an `allow` that accepts nothing, or a call that CUDA refuses.
    pub(crate) problems: &'a [RunProblem],
    /// A job of each kernel that was never launched while launches were recorded.
    pub(crate) unlaunched: &'a [&'a Job],
    /// The calls of the recorded program that CUDA refuses. Those that are certain are among the problems too.
    pub(crate) invalid: &'a [RefusedCall],
}

impl Ending<'_> {
    fn run(&self) -> RunEnd {
        RunEnd { counts: self.counts, exit_code: self.exit.code() }
    }
}

/// Prints the results of a run in one format. Errors are also printed on standard error, by others: the formats that
/// people read, and JSON, say nothing of problems that concern no kernel, but of defects.
pub(crate) trait Renderer {
    /// Prints the problems that are known before any kernel is checked.
    fn start(&mut self, _problems: &[RunProblem], _printer: &mut Printer) -> io::Result<()> {
        Ok(())
    }

    /// Prints the result of a kernel as soon as it and all before it are done.
    fn kernel(&mut self, job: &Job, printer: &mut Printer) -> io::Result<()>;

    /// Prints what comes after all kernels.
    fn finish(&mut self, end: Ending<'_>, printer: &mut Printer) -> io::Result<()>;
}

/// Returns the part of a job's name that its file has in common: `PACKAGE::FILE`, or `FILE`.
fn suite(job: &Job) -> String {
    let parts = [job.package.as_str(), &job.file.display];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("::")
}

/// Returns the renderer of a format.
pub(crate) fn renderer(format: MessageFormat, surroundings: &RunContext) -> Box<dyn Renderer> {
    match format {
        MessageFormat::Human => Box::new(human::Human),
        MessageFormat::Short => Box::new(short::Short),
        MessageFormat::Json => Box::new(json::Json),
        MessageFormat::Sarif => Box::new(sarif::SarifFormat::of(surroundings)),
        MessageFormat::Junit => Box::new(junit::JunitFormat::of(surroundings)),
        MessageFormat::Github => Box::new(github::Github::of(surroundings)),
        MessageFormat::Rustc => Box::new(rustc::Rustc::of(surroundings)),
    }
}

/// Prints a run without kernels, in those formats whose readers expect a document or a last line in any case.
pub(crate) fn without_kernels(
    format: MessageFormat,
    problems: &[RunProblem],
    exit: Exit,
    printer: &mut Printer,
) -> io::Result<()> {
    if matches!(format, MessageFormat::Human | MessageFormat::Short | MessageFormat::Json) {
        return Ok(());
    }
    let mut renderer = renderer(format, &RunContext::default());
    renderer.start(problems, printer)?;
    let counts = Counts { unchecked: problems.len(), ..Counts::default() };
    let end = Ending { jobs: &[], counts, exit, problems: &[], unlaunched: &[], invalid: &[] };
    renderer.finish(end, printer)
}
