//! `--message-format github`: annotations of GitHub Actions as they come, then the counts. If the environment names the
//! summary of the job, tables are appended to it.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::PathBuf;

use weft_core::report::checked::RunProblem;
use weft_core::report::github::{self, Summary};
use weft_harness::case::Job;

use super::paths::Root;
use super::{Ending, Renderer, RunContext, human};
use crate::print::Printer;

/// The environment variable in which GitHub Actions names the file of the job's summary.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// A summary that cannot be written. The results are in the annotations all the same.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the summary of the job to {}", .path.display())]
struct SummaryError {
    path: PathBuf,
    source: io::Error,
}

/// Prints annotations, and gathers the summary.
#[derive(Debug)]
pub(super) struct Github {
    root: Root,
    summary: Summary,
}

impl Github {
    pub(super) fn of(surroundings: &RunContext) -> Self {
        Self { root: Root::new(&surroundings.repository()), summary: Summary::default() }
    }

    fn problems(&mut self, problems: &[RunProblem], printer: &mut Printer) -> io::Result<()> {
        problems.iter().try_for_each(|problem| {
            self.summary.problem(problem);
            printer.text(&github::problem(problem))
        })
    }
}

impl Renderer for Github {
    fn start(&mut self, problems: &[RunProblem], printer: &mut Printer) -> io::Result<()> {
        self.problems(problems, printer)
    }

    fn kernel(&mut self, job: &Job, printer: &mut Printer) -> io::Result<()> {
        let commands = self.root.checked(job, |checked| {
            self.summary.add(checked);
            github::kernel(checked)
        });
        printer.text(&commands)
    }

    fn finish(&mut self, end: Ending<'_>, printer: &mut Printer) -> io::Result<()> {
        self.problems(end.problems, printer)?;
        printer.line(&human::sentence(end))?;
        if let Some(path) = std::env::var_os(SUMMARY).filter(|path| !path.is_empty()) {
            let path = PathBuf::from(path);
            let file = OpenOptions::new().append(true).create(true).open(&path);
            let text = self.summary.text(end.run());
            if let Err(source) = file.and_then(|mut file| file.write_all(text.as_bytes())) {
                printer.warning(&SummaryError { path, source });
            }
        }
        Ok(())
    }
}
