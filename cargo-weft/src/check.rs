//! `cargo weft check FILE.ptx...`: PTX files without cargo.

use std::error::Error;

use weft_core::report::checked::RunProblem;

use crate::account::{self, Request};
use crate::arguments::CheckArgs;
use crate::exit::{Exit, Failure};
use crate::files::{self, FileJobs, Files};
use crate::formats::{self, RunContext};
use crate::print::{self, Printer};
use crate::settings::CommandSettings;
use crate::solver::Solver;

/// Checks the kernels of the files, or those that `--kernel` selects. A file that cannot be read does not keep the
/// other files from being checked.
pub(crate) fn run(arguments: &CheckArgs, printer: &mut Printer) -> Result<Exit, Failure> {
    let result = checked(arguments, printer);
    if let Err(failure) = &result {
        let (format, exit) = (arguments.message_format, failure.exit());
        formats::without_kernels(format, &[problem(failure)], exit, printer)?;
    }
    result
}

fn checked(arguments: &CheckArgs, printer: &mut Printer) -> Result<Exit, Failure> {
    let solver = arguments.solver.solver()?;
    let checker = solver.map(Solver::checker).unwrap_or_default();
    let most = arguments.most.most_launches.unwrap_or_default();
    let files = Files {
        paths: &arguments.files,
        record: arguments.record.as_deref().map(|folder| (folder, most)),
        kernel: arguments.kernel.as_ref(),
        settings: &arguments.settings,
        config: arguments.config.as_deref(),
        checker: &checker,
    };
    let FileJobs { jobs, failures, records } = files::jobs(files, printer)?;
    let failed: Vec<RunProblem> = failures.iter().map(|failure| problem(failure)).collect();
    let format = arguments.message_format;
    if arguments.record.is_none() && failures.len() == arguments.files.len() {
        formats::without_kernels(format, &failed, Exit::Unchecked, printer)?;
        return Ok(Exit::Unchecked);
    }
    let whole = arguments.kernel.is_none() && arguments.settings == CommandSettings::default();
    let mut renderer = formats::renderer(format, &RunContext::default());
    let request = Request { failed: &failed, whole, cache: None, records: &records };
    Ok(account::of(&jobs, request, &mut *renderer, printer)?)
}

fn problem(failure: &dyn Error) -> RunProblem {
    let message = print::message(failure);
    RunProblem { is_defect: false, name: "cargo-weft::read".to_owned(), message }
}
