//! The output formats of `test` and `check`, one file each. [`crate::account`] runs the kernels and counts; a renderer
//! prints what it is told. The texts of the formats are made by `weft_core::report`.

pub(crate) mod human;
pub(crate) mod json;
mod short;

use std::io;

use weft_core::report::json::Counts;
use weft_harness::case::Job;

use crate::options::MessageFormat;
use crate::print::Printer;

/// The end of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End<'a> {
    /// All kernels, in the order in which they were printed.
    pub(crate) jobs: &'a [&'a Job],
    /// Their verdicts.
    pub(crate) counts: Counts,
}

/// Prints the results of a run in one format.
pub(crate) trait Renderer {
    /// Prints the result of a kernel as soon as it and all before it are done. Errors are already on standard error.
    fn kernel(&mut self, job: &Job, printer: &mut Printer) -> io::Result<()>;

    /// Prints what comes after all kernels.
    fn finish(&mut self, end: End<'_>, printer: &mut Printer) -> io::Result<()>;
}

/// Returns the renderer of a format.
pub(crate) fn renderer(format: MessageFormat) -> Box<dyn Renderer> {
    match format {
        MessageFormat::Human => Box::new(human::Human),
        MessageFormat::Short => Box::new(short::Short),
        MessageFormat::Json => Box::new(json::Json),
    }
}
