//! `cargo weft list`: lists what `test` would check, one kernel and launch a line.

use weft_core::report::{escape, json};
use weft_harness::case::{Checker, Job, RecordNote};

use crate::arguments::{List, PackageKernels};
use crate::collect;
use crate::exit::{Exit, Failure};
use crate::formats::json::subject;
use crate::options::ListFormat;
use crate::print::Printer;
use crate::subset::Subset;

/// Prints all kernels and launches under the names that `test` uses.
pub(crate) fn run(arguments: &List, printer: &mut Printer) -> Result<Exit, Failure> {
    let List { filters, kernels, message_format } = arguments;
    let PackageKernels { selection, config, .. } = kernels;
    let mut plan = collect::plan(selection, config.as_deref(), &Checker::default(), printer)?;
    for failure in &plan.failures {
        printer.failure(failure);
    }
    let jobs = Subset::new(filters, kernels).of(&mut plan, printer)?;
    let (unread, listed): (Vec<&Job>, Vec<&Job>) = jobs.iter().partition(|job| job.is_unread());
    for job in listed {
        printer.line(&match message_format {
            ListFormat::Human => format!("{}  ({})", job.short_name(), words(job)),
            ListFormat::Json => object(job),
        })?;
    }
    for error in unread.iter().filter_map(|job| job.outcome().report.as_ref().err()) {
        printer.failure(error);
    }
    Ok(if plan.failures.is_empty() && unread.is_empty() { Exit::Clean } else { Exit::Unchecked })
}

/// Returns what is said of a launch: what it states, or why it is not checked.
fn words(job: &Job) -> String {
    match &job.skip {
        Some(reason) if reason == RecordNote::NEVER => reason.clone(),
        Some(reason) => format!("{}; skipped: {}", job.launch_in_words(), escape(reason)),
        None => job.launch_in_words(),
    }
}

/// Returns the JSON object of a kernel and launch.
fn object(job: &Job) -> String {
    let path = job.file.path.to_string_lossy();
    let block = job.known_block().map(|known| known.size);
    json::launch(
        &job.short_name(),
        &job.kernel.mangled,
        subject(job, &path),
        &job.launch,
        block,
        job.skip.as_deref(),
    )
}
