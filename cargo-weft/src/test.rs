//! `cargo weft test`: builds the selected packages, collects their PTX, checks all kernels and prints the results.

use std::path::Path;

use weft_core::report::checked::RunProblem;

use crate::account::{self, Request};
use crate::arguments::{PackageKernels, Selection, SolverArgs, Test, TestOptions};
use crate::collect::{self, Plan};
use crate::exit::{Exit, Failure};
use crate::formats::{self, Renderer, RunContext};
use crate::print::{self, Printer};
use crate::solver::Solver;
use crate::subset::Subset;
use weft_harness::cache::{Cache, CacheError};

/// Checks all kernels of the selected packages.
pub(crate) fn run(arguments: &Test, printer: &mut Printer) -> Result<Exit, Failure> {
    let Test { filters, options } = arguments;
    let TestOptions { kernels, no_cache, solver, message_format } = options;
    let PackageKernels { selection, config, .. } = kernels;
    let config = config.as_deref();
    let subset = Subset::new(filters, kernels);
    let own = PackageCheck { selection, config, subset, no_cache: *no_cache, solver };
    let renderer =
        |surroundings: &RunContext, _: &Path| formats::renderer(*message_format, surroundings);
    let result = check(own, renderer, printer);
    if let Err(failure) = &result {
        let exit = failure.exit();
        formats::without_kernels(*message_format, &[problem(failure)], exit, printer)?;
    }
    result
}

/// Which kernels of packages are checked, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackageCheck<'a> {
    /// The packages.
    pub(crate) selection: &'a Selection,
    /// The configuration of the only package, instead of its own.
    pub(crate) config: Option<&'a Path>,
    /// Which kernels and launches of them.
    pub(crate) subset: Subset<'a>,
    /// Whether every kernel is checked anew.
    pub(crate) no_cache: bool,
    /// Which other program is asked.
    pub(crate) solver: &'a SolverArgs,
}

/// Checks kernels of packages. `renderer` returns what prints the results; it is given where the run takes place and the
/// target directory.
pub(crate) fn check(
    own: PackageCheck<'_>,
    renderer: impl FnOnce(&RunContext, &Path) -> Box<dyn Renderer>,
    printer: &mut Printer,
) -> Result<Exit, Failure> {
    let solver = own.solver.solver()?;
    let identity = solver.as_ref().map(Solver::identity);
    let checker = solver.map(Solver::checker).unwrap_or_default();
    let mut plan = collect::plan(own.selection, own.config, &checker, printer)?;
    for failure in &plan.failures {
        printer.failure(failure);
    }
    let jobs = own.subset.of(&mut plan, printer)?;
    let Plan { failures, target, root, crates, records, .. } = plan;
    let cache = if own.no_cache { None } else { opened(&target, identity.as_deref(), printer) };
    let failed: Vec<RunProblem> = failures.iter().map(problem).collect();
    let whole = own.subset.is_whole();
    let request = Request { failed: &failed, whole, cache: cache.as_ref(), records: &records };
    let mut renderer = renderer(&RunContext { workspace: Some(root), crates }, &target);
    let exit = account::of(&jobs, request, &mut *renderer, printer)?;
    if let Some(Err(error)) = cache.map(Cache::close) {
        printer.warning(&error);
    }
    Ok(exit)
}

fn problem(failure: &Failure) -> RunProblem {
    let message = print::message(failure);
    RunProblem { is_defect: false, name: "cargo-weft::plan".to_owned(), message }
}

/// Opens the cache. If that fails, prints a warning and returns `None`; everything is then checked anew.
fn opened(target: &Path, solver: Option<&str>, printer: &mut Printer) -> Option<Cache> {
    let warn = |error: &CacheError| printer.warning(error);
    Cache::open(target, solver).inspect_err(warn).ok()
}
