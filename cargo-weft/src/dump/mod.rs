//! `cargo weft dump`: what the checker works with, printed.

mod isa;

use crate::arguments::Dump;
use crate::exit::{Exit, Failure};
use crate::print::Printer;

/// Prints one of the things that can be printed.
pub(crate) fn run(what: &Dump, printer: &mut Printer) -> Result<Exit, Failure> {
    match what {
        Dump::Isa(arguments) => isa::run(*arguments, printer),
    }
}
