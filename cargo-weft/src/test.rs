//! `cargo weft test`: build, collect, check, say.

use crate::account::{self, Request};
use crate::arguments::Test;
use crate::collect::{self, Plan};
use crate::exit::{Exit, Failure};
use crate::print::Printer;

/// Checks all kernels of the selected packages.
pub(crate) fn run(arguments: &Test, printer: &mut Printer) -> Result<Exit, Failure> {
    let Plan { packages, failures } = collect::plan(&arguments.selection, printer)?;
    for failure in &failures {
        printer.failure(failure);
    }
    let request = Request { format: arguments.message_format, failed: failures.len(), whole: true };
    Ok(account::of(&packages, request, printer)?)
}
