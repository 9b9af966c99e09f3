//! `--message-format json`: an object for each kernel and launch, then what a record says beside its launches, then a summary,
//! one a line.

use std::io;

use weft_core::report::json::{self, InvalidCall, Subject};
use weft_harness::case::{Job, JobError};
use weft_harness::record::RefusedCall;

use super::{Ending, Renderer};
use crate::print::Printer;

/// Prints one object for each kernel and launch.
#[derive(Debug)]
pub(super) struct Json;

impl Renderer for Json {
    fn kernel(&mut self, job: &Job, printer: &mut Printer) -> io::Result<()> {
        let outcome = job.outcome();
        let report = match (&outcome.report, outcome.told()) {
            (Err(error), _) => return unchecked(job, error, printer),
            (Ok(report), told) => told.unwrap_or(report),
        };
        let reasons: Vec<_> =
            outcome.allowed.iter().map(|allow| Some(allow.as_ref()?.reason.as_str())).collect();
        let path = job.file.path.to_string_lossy();
        printer.line(&json::kernel(report, subject(job, &path), &reasons))
    }

    fn finish(&mut self, end: Ending<'_>, printer: &mut Printer) -> io::Result<()> {
        for job in end.unlaunched {
            let path = job.file.path.to_string_lossy();
            printer.line(&json::unlaunched(&job.kernel.mangled, subject(job, &path)))?;
        }
        for call in end.invalid {
            let RefusedCall { function, error, kernel, reason, .. } = call;
            let (kernel, after_read) = (kernel.as_deref(), call.is_doubtful());
            let call = InvalidCall { function, error, kernel, message: reason, after_read };
            printer.line(&json::invalid_call(call))?;
        }
        printer.line(&json::summary(end.counts))
    }
}

/// Prints the object of a kernel that was not checked.
pub(crate) fn unchecked(job: &Job, error: &JobError, printer: &mut Printer) -> io::Result<()> {
    let path = job.file.path.to_string_lossy();
    let (subject, verdict) = (subject(job, &path), job.outcome().standing.name());
    printer.line(&json::unchecked(&job.kernel.mangled, subject, verdict, &error.to_string()))
}

/// Returns what the object of a kernel holds besides the report; `path` is the path of the job's PTX file.
pub(crate) fn subject<'a>(job: &'a Job, path: &'a str) -> Subject<'a> {
    Subject {
        package: (!job.package.is_empty()).then_some(job.package.as_str()),
        file: path,
        demangled: &job.kernel.demangled,
        label: job.label.as_deref(),
    }
}
