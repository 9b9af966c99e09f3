//! `cargo weft explain CODE`: prints what a finding code means.

use weft_core::finding::{Class, Code};

use crate::exit::{Exit, Failure};
use crate::print::{Printer, wrap};

/// Prints the explanation of a code, wrapped for a terminal.
pub(crate) fn run(code: Code, printer: &mut Printer) -> Result<Exit, Failure> {
    let class = match code.class() {
        Class::Defect => "a defect",
        Class::Open => "an open question",
        Class::Warning => "a warning",
    };
    printer.line(&format!("{code} ({class}): {}", code.summary()))?;
    printer.line("")?;
    for line in wrap(code.explanation(), 80) {
        printer.line(&line)?;
    }
    Ok(Exit::Clean)
}
