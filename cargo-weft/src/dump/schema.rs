//! `cargo weft dump schema`: prints the JSON Schema of `weft.toml`.

use crate::exit::{Exit, Failure};
use crate::print::Printer;

/// Prints the schema.
pub(super) fn run(printer: &mut Printer) -> Result<Exit, Failure> {
    printer.line(&format!("{:#}", weft_harness::config::schema()))?;
    Ok(Exit::Clean)
}
