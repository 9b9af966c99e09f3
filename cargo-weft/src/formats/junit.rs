//! `--message-format junit`: one JUnit XML document, at the end.

use std::io;

use weft_core::report::checked::RunProblem;
use weft_core::report::junit::Junit;
use weft_harness::case::Job;

use super::paths::Root;
use super::{Ending, Renderer, RunContext};
use crate::print::Printer;

/// Gathers the cases and prints them at the end.
#[derive(Debug)]
pub(super) struct JunitFormat {
    root: Root,
    document: Junit,
}

impl JunitFormat {
    pub(super) fn of(surroundings: &RunContext) -> Self {
        Self { root: Root::new(&surroundings.repository()), document: Junit::default() }
    }
}

impl Renderer for JunitFormat {
    fn start(&mut self, problems: &[RunProblem], _: &mut Printer) -> io::Result<()> {
        for problem in problems {
            self.document.problem(problem);
        }
        Ok(())
    }

    fn kernel(&mut self, job: &Job, _: &mut Printer) -> io::Result<()> {
        self.root.checked(job, |checked| self.document.add(checked));
        Ok(())
    }

    fn finish(&mut self, end: Ending<'_>, printer: &mut Printer) -> io::Result<()> {
        for problem in end.problems {
            self.document.problem(problem);
        }
        printer.line(&self.document.document())
    }
}
