//! `cargo weft test`: builds the selected packages, collects their PTX, checks all kernels and prints the results.

use std::path::Path;

use weft_core::report::checked::RunProblem;

use crate::account::{self, Request};
use crate::arguments::Test;
use crate::collect::{self, Plan};
use crate::exit::{Exit, Failure};
use crate::formats::{self, RunContext};
use crate::print::{self, Printer};
use crate::solver::Solver;
use weft_harness::cache::{Cache, CacheError};

/// Checks all kernels of the selected packages.
pub(crate) fn run(arguments: &Test, printer: &mut Printer) -> Result<Exit, Failure> {
    let result = checked(arguments, printer);
    if let Err(failure) = &result {
        let (format, exit) = (arguments.message_format, failure.exit());
        formats::without_kernels(format, &[problem(failure)], exit, printer)?;
    }
    result
}

fn checked(arguments: &Test, printer: &mut Printer) -> Result<Exit, Failure> {
    let solver = arguments.solver.solver()?;
    let identity = solver.as_ref().map(Solver::identity);
    let checker = solver.map(Solver::checker).unwrap_or_default();
    let Plan { packages, failures, target, root, crates } =
        collect::plan(&arguments.selection, &checker, printer)?;
    for failure in &failures {
        printer.failure(failure);
    }
    let cache =
        if arguments.no_cache { None } else { opened(&target, identity.as_deref(), printer) };
    let failed: Vec<RunProblem> = failures.iter().map(problem).collect();
    let request = Request {
        format: arguments.message_format,
        failed: &failed,
        surroundings: &RunContext { workspace: Some(root), crates },
        whole: true,
        cache: cache.as_ref(),
    };
    let exit = account::of(&packages, request, printer)?;
    if let Some(Err(error)) = cache.map(Cache::close) {
        printer.warning(&error);
    }
    Ok(exit)
}

fn problem(failure: &Failure) -> RunProblem {
    RunProblem { name: "cargo-weft::plan".to_owned(), message: print::message(failure) }
}

/// Opens the cache. If that fails, prints a warning and returns `None`; everything is then checked anew.
fn opened(target: &Path, solver: Option<&str>, printer: &mut Printer) -> Option<Cache> {
    let warn = |error: &CacheError| printer.warning(error);
    Cache::open(target, solver).inspect_err(warn).ok()
}
