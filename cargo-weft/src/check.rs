//! `cargo weft check FILE.ptx...`: PTX files without cargo.

use crate::account::{self, Request};
use crate::arguments::CheckArgs;
use crate::exit::{Exit, Failure};
use crate::files::{self, Files};
use crate::print::Printer;
use crate::settings::CommandSettings;
use crate::solver::Solver;

/// Checks the kernels of the files, or those that `--kernel` selects. A file that cannot be read does not keep the
/// other files from being checked.
pub(crate) fn run(arguments: &CheckArgs, printer: &mut Printer) -> Result<Exit, Failure> {
    let solver = arguments.solver.solver()?;
    let checker = solver.map(Solver::checker).unwrap_or_default();
    let files = Files {
        paths: &arguments.files,
        kernel: arguments.kernel.as_ref(),
        settings: &arguments.settings,
        config: arguments.config.as_deref(),
        checker: &checker,
    };
    let (jobs, failures) = files::jobs(files)?;
    for failure in &failures {
        printer.failure(failure);
    }
    if failures.len() == arguments.files.len() {
        return Ok(Exit::Unchecked);
    }
    let whole = arguments.kernel.is_none() && arguments.settings == CommandSettings::default();
    let failed = failures.len();
    let request = Request { format: arguments.message_format, failed, whole, cache: None };
    Ok(account::of(&[jobs], request, printer)?)
}
