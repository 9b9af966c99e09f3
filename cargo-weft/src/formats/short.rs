//! `--message-format short`: one line for each finding, those with one cause once, then the counts.

use std::io;

use weft_core::report::short;
use weft_harness::case::{Job, Surroundings, alike};

use super::{Ending, Renderer, human};
use crate::print::Printer;

/// Prints one line for each finding.
#[derive(Debug)]
pub(super) struct Short;

impl Renderer for Short {
    fn kernel(&mut self, job: &Job, printer: &mut Printer) -> io::Result<()> {
        match job.outcome().remaining() {
            Some(remaining) => {
                let surroundings = Surroundings::of(job);
                let context = surroundings.context(false);
                alike(remaining.told()).into_iter().try_for_each(|(finding, others)| {
                    let more =
                        if others == 0 { String::new() } else { format!(" (+{others} alike)") };
                    printer.line(&(short::finding(context, finding) + &more))
                })
            }
            None => Ok(()),
        }
    }

    fn finish(&mut self, end: Ending<'_>, printer: &mut Printer) -> io::Result<()> {
        human::defects(end.problems, printer)?;
        printer.line(&human::sentence(end))
    }
}
