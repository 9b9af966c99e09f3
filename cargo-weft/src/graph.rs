//! `cargo weft graph`: draws the synchronization of one kernel under one launch as an SVG picture.

use std::fs;
use std::path::PathBuf;

use weft_core::ChartError;
use weft_core::report::{escape, svg};
use weft_harness::case::{Job, JobError};

use crate::arguments::GraphArgs;
use crate::exit::{Exit, Failure};
use crate::print::Printer;
use crate::targets;

/// The most kernels that a message names.
const MOST_NAMES: usize = 12;

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GraphError {
    /// Several kernels or launches are selected.
    #[error(
        "a picture shows one kernel under one launch, and these are selected: {}; choose one with `--kernel '^NAME$'`, \
         or one of its launches with `--launch LABEL`",
        named(.names)
    )]
    Several { names: Vec<String> },
    /// No selected kernel has a launch with this label.
    #[error("no launch of the selected kernels is labelled `{label}`; there are: {}", named(.names))]
    NoLaunch { label: String, names: Vec<String> },
    /// The report has no finding with this number.
    #[error("{name}: {error}")]
    NoFinding { name: String, error: Box<JobError> },
    /// The kernel cannot be drawn.
    #[error("{name}: {error}")]
    Kernel { name: String, error: Box<JobError> },
    /// All selected kernels are left out by weft.toml.
    #[error("nothing to draw: weft.toml skips every kernel that is selected")]
    Skipped,
    /// No file or package could be read.
    #[error("no kernel was drawn")]
    Unread,
    /// The picture cannot be written.
    #[error("cannot write `{}`", .path.display())]
    Write { path: PathBuf, source: std::io::Error },
}

/// Names some jobs.
fn named(names: &[String]) -> String {
    let mut all: Vec<_> =
        names.iter().take(MOST_NAMES).map(|name| format!("`{}`", escape(name))).collect();
    if names.len() > MOST_NAMES {
        all.push(format!("{} more", names.len() - MOST_NAMES));
    }
    all.join(", ")
}

/// Draws the selected kernel.
pub(crate) fn run(arguments: &GraphArgs, printer: &mut Printer) -> Result<Exit, Failure> {
    let (jobs, failed) = targets::jobs(&arguments.targets, printer)?;
    if jobs.is_empty() {
        return Err(if failed > 0 { GraphError::Unread } else { GraphError::Skipped }.into());
    }
    let job = selected(&jobs, arguments.launch.as_deref())?;
    let chart = job.chart(arguments.finding).map_err(|error| undrawn(job, error))?;
    let picture = svg::chart(&chart);
    match &arguments.output {
        Some(path) => fs::write(path, picture)
            .map_err(|source| GraphError::Write { path: path.clone(), source })?,
        None => printer.text(&picture)?,
    }
    Ok(Exit::Clean)
}

fn undrawn(job: &Job, error: JobError) -> GraphError {
    let (name, error) = (job.short_name(), Box::new(error));
    match *error {
        JobError::Chart(ChartError::NoFinding { .. }) => GraphError::NoFinding { name, error },
        _ => GraphError::Kernel { name, error },
    }
}

/// Returns the only job with this label, or the only one.
fn selected<'j>(jobs: &'j [Job], label: Option<&str>) -> Result<&'j Job, GraphError> {
    let is_meant = |job: &&Job| label.is_none() || job.label.as_deref() == label;
    let meant: Vec<&Job> = jobs.iter().filter(is_meant).collect();
    let names = |jobs: &[&Job]| jobs.iter().map(|job| job.short_name()).collect();
    match (meant.as_slice(), label) {
        ([job], _) => Ok(job),
        ([], Some(label)) => {
            let names = names(&jobs.iter().collect::<Vec<_>>());
            Err(GraphError::NoLaunch { label: label.to_owned(), names })
        }
        (meant, _) => Err(GraphError::Several { names: names(meant) }),
    }
}
