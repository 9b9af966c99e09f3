//! `--message-format short`: one line for each finding, then the counts.

use std::io;

use weft_core::report::short;
use weft_harness::case::Job;

use super::{Ending, Renderer, human};
use crate::print::Printer;

/// Prints one line for each finding.
#[derive(Debug)]
pub(super) struct Short;

impl Renderer for Short {
    fn kernel(&mut self, job: &Job, printer: &mut Printer) -> io::Result<()> {
        match job.outcome().remaining() {
            Some(remaining) => printer.text(&short::report(&job.file.display, remaining)),
            None => Ok(()),
        }
    }

    fn finish(&mut self, end: Ending<'_>, printer: &mut Printer) -> io::Result<()> {
        printer.line(&human::sentence(end))
    }
}
