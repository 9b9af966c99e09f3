//! `cargo weft report`: checks as `test` does, or as `check` for files, and writes what came of it as an HTML page.

use std::path::{Path, PathBuf};

use weft_core::report::checked::RunProblem;

use crate::account::{self, Request};
use crate::arguments::ReportArgs;
use crate::exit::{Exit, Failure};
use crate::files::{self, FileJobs, Files};
use crate::formats::html::Html;
use crate::formats::{Renderer, RunContext};
use crate::print::{self, Printer};
use crate::settings::CommandSettings;
use crate::solver::Solver;
use crate::subset::Subset;
use crate::test::{self, PackageCheck};

/// Where the page is written if nobody says where, below the target directory.
const PLACE: &str = "weft/report.html";

/// Checks the kernels and writes the page.
pub(crate) fn run(arguments: &ReportArgs, printer: &mut Printer) -> Result<Exit, Failure> {
    if arguments.targets.files.is_empty() {
        of_packages(arguments, printer)
    } else {
        of_files(arguments, printer)
    }
}

fn of_packages(arguments: &ReportArgs, printer: &mut Printer) -> Result<Exit, Failure> {
    let check = PackageCheck {
        selection: &arguments.targets.selection,
        config: arguments.targets.config.as_deref(),
        subset: Subset { kernel: arguments.targets.kernel.as_ref(), ..Subset::default() },
        no_cache: arguments.no_cache,
        solver: &arguments.solver,
    };
    let renderer = |surroundings: &RunContext, target: &Path| -> Box<dyn Renderer> {
        let path = arguments.output.clone().unwrap_or_else(|| target.join(PLACE));
        Box::new(Html::new(path, target, subject(surroundings)))
    };
    test::check(check, renderer, printer)
}

/// Names what is checked: the folder of the workspace, without its parent folders, which say nothing to a reader.
fn subject(surroundings: &RunContext) -> String {
    let root = surroundings.workspace.as_deref();
    let name = root.and_then(|root| root.file_name()).map(|name| name.to_string_lossy());
    name.unwrap_or_default().into_owned()
}

/// Names the files, or counts them if they are many.
fn named(files: &[PathBuf]) -> String {
    const NAMED: usize = 3;
    if files.len() > NAMED {
        return format!("{} files", files.len());
    }
    files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn of_files(arguments: &ReportArgs, printer: &mut Printer) -> Result<Exit, Failure> {
    let targets = &arguments.targets;
    let checker = arguments.solver.solver()?.map(Solver::checker).unwrap_or_default();
    let FileJobs { jobs, failures, records } = files::jobs(Files::of(targets, &checker), printer)?;
    let problem = |failure| RunProblem {
        is_defect: false,
        name: "cargo-weft::read".to_owned(),
        message: print::message(failure),
    };
    let failed: Vec<RunProblem> = failures.iter().map(|failure| problem(failure)).collect();
    let target = Path::new("target");
    let path = arguments.output.clone().unwrap_or_else(|| target.join(PLACE));
    let mut page = Html::new(path, target, named(&targets.files));
    let whole = targets.kernel.is_none() && targets.settings == CommandSettings::default();
    let request = Request { failed: &failed, whole, cache: None, records: &records };
    Ok(account::of(&jobs, request, &mut page, printer)?)
}
