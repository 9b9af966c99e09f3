//! `cargo weft dump`: prints the tables that the checker and the reader of `weft.toml` work with.

mod isa;
mod schema;

use crate::arguments::Dump;
use crate::exit::{Exit, Failure};
use crate::print::Printer;

/// Prints the table that `what` names.
pub(crate) fn run(what: &Dump, printer: &mut Printer) -> Result<Exit, Failure> {
    match what {
        Dump::Isa(arguments) => isa::run(*arguments, printer),
        Dump::Schema => schema::run(printer),
    }
}
