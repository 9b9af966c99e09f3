//! `cargo weft list`: lists what `test` would check, one kernel and launch a line.

use weft_harness::case::{Checker, Job};

use crate::arguments::Selection;
use crate::collect::{self, Plan};
use crate::exit::{Exit, Failure};
use crate::print::Printer;

/// Prints the names of all kernels and launches in the form in which `test` prints them.
pub(crate) fn run(selection: &Selection, printer: &mut Printer) -> Result<Exit, Failure> {
    let Plan { packages, failures, .. } = collect::plan(selection, &Checker::default(), printer)?;
    let (unread, kernels): (Vec<&Job>, Vec<&Job>) =
        packages.iter().flatten().partition(|job| job.is_unread());
    for job in kernels {
        printer.line(&format!("{}  ({})", job.short_name(), job.launch_in_words()))?;
    }
    for failure in &failures {
        printer.failure(failure);
    }
    for error in unread.iter().filter_map(|job| job.outcome().report.as_ref().err()) {
        printer.failure(error);
    }
    Ok(if failures.is_empty() && unread.is_empty() { Exit::Clean } else { Exit::Unchecked })
}
