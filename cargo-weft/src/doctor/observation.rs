//! What `cargo weft doctor` finds.

use std::io;

use crate::print::Printer;

/// How serious a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grade {
    /// As it should be.
    Good,
    /// Could be better; everything is checked.
    Note,
    /// Something is not checked.
    Problem,
}

/// Something that was found, with what to do about it.
pub(super) type Observation = (Grade, String);

/// Prints what was found.
pub(super) fn told(lines: &[Observation], printer: &mut Printer) -> io::Result<()> {
    for (grade, text) in lines {
        let word = match grade {
            Grade::Good => "ok     ",
            Grade::Note => "note   ",
            Grade::Problem => "PROBLEM",
        };
        printer.line(&format!("  {word} {text}"))?;
    }
    Ok(())
}
