//! `cargo weft test`: builds the selected packages, collects their PTX, checks all kernels and prints the results.

use std::path::Path;

use crate::account::{self, Request};
use crate::arguments::Test;
use crate::cache::{Cache, CacheError};
use crate::collect::{self, Plan};
use crate::exit::{Exit, Failure};
use crate::print::Printer;
use crate::solver::Solver;

/// Checks all kernels of the selected packages.
pub(crate) fn run(arguments: &Test, printer: &mut Printer) -> Result<Exit, Failure> {
    let solver = arguments.solver.solver()?;
    let identity = solver.as_ref().map(Solver::identity);
    let checker = solver.map(Solver::checker).unwrap_or_default();
    let Plan { packages, failures, target } =
        collect::plan(&arguments.selection, &checker, printer)?;
    for failure in &failures {
        printer.failure(failure);
    }
    let cache =
        if arguments.no_cache { None } else { opened(&target, identity.as_deref(), printer) };
    let (format, failed) = (arguments.message_format, failures.len());
    let request = Request { format, failed, whole: true, cache: cache.as_ref() };
    let exit = account::of(&packages, request, printer)?;
    if let Some(Err(error)) = cache.map(Cache::close) {
        printer.warning(&error);
    }
    Ok(exit)
}

/// Opens the cache. If that fails, prints a warning and returns `None`; everything is then checked anew.
fn opened(target: &Path, solver: Option<&str>, printer: &mut Printer) -> Option<Cache> {
    let warn = |error: &CacheError| printer.warning(error);
    Cache::open(target, solver).inspect_err(warn).ok()
}
