//! Collects the kernels and launches of the selected packages from what their build scripts produced.
//!
//! A package with neither PTX nor a configuration has no kernels to check and is skipped silently. A package with a
//! configuration but without PTX is an error, since success would be misleading.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cargo_metadata::Package as CargoPackage;
use weft_harness::case::{self, Checker, Job, Package, PlanError};

use crate::arguments::Selection;
use crate::compile::{self, Manners, OutDirs};
use crate::exit::Failure;
use crate::options::Verbosity;
use crate::print::Printer;
use crate::select::{self, Group};

/// The kernels to check, and the errors of collecting them.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// The kernels and launches of each package, in the order of groups and names.
    pub(crate) packages: Vec<Vec<Job>>,
    /// One for each package or group that failed.
    pub(crate) failures: Vec<Failure>,
    /// The target directory of the build, as an absolute path from cargo.
    pub(crate) target: PathBuf,
    /// The folder of the workspace.
    pub(crate) root: PathBuf,
    /// The packages that have kernels, by their folders.
    pub(crate) crates: BTreeMap<PathBuf, CargoPackage>,
}

/// Builds and collects the kernels of a selection. The failure of one package does not hide the kernels of another.
pub(crate) fn plan(
    selection: &Selection,
    checker: &Checker,
    printer: &Printer,
) -> Result<Plan, Failure> {
    let manners = Manners {
        resolution: selection.resolution,
        color: printer.color,
        quiet: printer.verbosity == Verbosity::Quiet,
    };
    let mut plan = Plan::default();
    for group in select::groups(selection)? {
        plan.target.clone_from(&group.target);
        plan.root.clone_from(&group.root);
        match compile::build_scripts(&group, manners) {
            Ok(out_dirs) => add(&group, &out_dirs, checker, &mut plan),
            Err(error) => plan.failures.push(error.into()),
        }
    }
    if plan.packages.is_empty() && plan.failures.is_empty() {
        Err(Failure::Nothing)
    } else {
        Ok(plan)
    }
}

fn add(group: &Group, out_dirs: &OutDirs, checker: &Checker, plan: &mut Plan) {
    for package in &group.packages {
        match jobs(package, out_dirs, checker) {
            Ok(None) => {}
            Ok(Some(jobs)) => {
                plan.packages.push(jobs);
                plan.crates.insert(folder(package).to_path_buf(), package.clone());
            }
            Err(error) => plan.failures.push(Failure::Plan(Box::new(error))),
        }
    }
}

/// Returns the jobs of a package; `None` if the package has neither PTX nor a configuration.
fn jobs(
    package: &CargoPackage,
    out_dirs: &OutDirs,
    checker: &Checker,
) -> Result<Option<Vec<Job>>, PlanError> {
    let dir = folder(package);
    let out_dirs = out_dirs.get(&package.id.repr).into_iter().flatten().map(AsRef::<Path>::as_ref);
    let own = Package::open(&package.name, dir, out_dirs)?;
    if own.files.is_empty() && own.config.path.is_none() {
        return Ok(None);
    }
    case::plan_with(&own, checker).map(Some)
}

fn folder(package: &CargoPackage) -> &Path {
    let manifest = package.manifest_path.as_std_path();
    manifest.parent().unwrap_or(manifest)
}
