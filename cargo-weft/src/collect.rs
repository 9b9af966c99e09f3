//! Collects the kernels and launches of the selected packages from what their build scripts produced.
//!
//! A package with neither PTX nor a configuration has no kernels to check and is skipped silently. A package with a
//! configuration but without PTX is an error, since success would be misleading.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use cargo_metadata::Package as CargoPackage;
use weft_harness::case::{self, Checker, Job, LaunchNote, Package, PlanError};
use weft_harness::discover::PtxFile;

use crate::arguments::Selection;
use crate::capture::{self, Capture};
use crate::compile::{self, Manners, OutDirs};
use crate::coverage::RunRecords;
use crate::exit::Failure;
use crate::ignored::IgnoredConfig;
use crate::nothing::NothingFound;
use crate::options::Verbosity;
use crate::print::Printer;
use crate::recordings::Recordings;
use crate::select;

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
    /// The records of the packages.
    pub(crate) records: RunRecords,
    /// The folders of those that are only dependencies, and members of no workspace that is checked.
    pub(crate) outside: BTreeSet<PathBuf>,
}

/// A package whose build script has run, if it has one.
#[derive(Clone, Debug)]
pub(crate) struct BuiltPackage {
    /// Its name.
    pub(crate) name: String,
    /// What cargo says of it.
    pub(crate) cargo: CargoPackage,
    /// The folder of its manifest.
    pub(crate) dir: PathBuf,
    /// Its manifest.
    pub(crate) manifest: PathBuf,
    /// Whether it is selected itself, or a member of a workspace that is checked, and not only a dependency.
    pub(crate) is_asked_for: bool,
    /// Where its build script wrote to; more than one if it ran both for the host and for a target.
    pub(crate) out_dirs: Vec<PathBuf>,
}

impl BuiltPackage {
    /// Whether a PTX file is there only because nvcc's compilations were captured: `cargo test` does not see it.
    pub(crate) fn is_captured(&self, file: &PtxFile) -> bool {
        self.out_dirs.iter().any(|dir| file.path.starts_with(dir.join(capture::FOLDER)))
    }
}

/// The packages of a selection.
#[derive(Debug, Default)]
pub(crate) struct Built {
    /// The packages of the groups that could be built.
    pub(crate) packages: Vec<BuiltPackage>,
    /// One for each group that could not be built.
    pub(crate) failures: Vec<Failure>,
    /// The target directory of the build, as an absolute path from cargo.
    pub(crate) target: PathBuf,
    /// The folder of the workspace.
    pub(crate) root: PathBuf,
    /// The configurations that no package has.
    pub(crate) ignored: Vec<IgnoredConfig>,
}

/// Runs the build scripts of a selection.
pub(crate) fn built(selection: &Selection, printer: &mut Printer) -> Result<Built, Failure> {
    limit_threads(selection.build.jobs);
    let groups = select::groups(selection)?;
    let capture = match groups.first() {
        Some(group) if selection.build.capture_nvcc => Some(Capture::prepare(&group.target)?),
        _ => None,
    };
    let manners = Manners {
        resolution: selection.resolution,
        build: &selection.build,
        capture: capture.as_ref(),
        color: printer.color,
        quiet: printer.verbosity == Verbosity::Quiet,
    };
    let mut built = Built { ignored: IgnoredConfig::of(&groups), ..Built::default() };
    for group in groups {
        built.target.clone_from(&group.target);
        built.root.clone_from(&group.root);
        match compile::build_scripts(&group, manners) {
            Ok(mut out_dirs) => {
                let all = group.all().map(|(own, asked)| package(own, asked, &mut out_dirs));
                built.packages.extend(all);
            }
            Err(error) => built.failures.push(error.into()),
        }
    }
    if capture.is_some() {
        let out_dirs = |own: &BuiltPackage| own.out_dirs.clone().into_iter();
        for package in &built.packages {
            let settled = out_dirs(package).flat_map(|dir| capture::settle(&package.name, &dir));
            built.failures.extend(settled.map(Failure::from));
        }
        let has_called =
            built.packages.iter().flat_map(out_dirs).any(|dir| dir.join(capture::FOLDER).is_dir());
        // A script that was not run to its end might have called nvcc.
        if !has_called && built.failures.is_empty() {
            printer.note("--capture-nvcc: no build script of the selected packages called nvcc");
        }
    }
    Ok(built)
}

/// Lets so many checks run at a time.
fn limit_threads(jobs: Option<NonZeroUsize>) {
    /// Starting more threads takes longer than they save.
    const MOST: usize = 256;
    if let Some(jobs) = jobs {
        // It fails only if the pool has threads already, and a command builds packages before it checks anything.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(jobs.get().min(MOST)).build_global();
    }
}

fn package(package: &CargoPackage, is_asked_for: bool, out_dirs: &mut OutDirs) -> BuiltPackage {
    let manifest = package.manifest_path.clone().into_std_path_buf();
    let dir = manifest.parent().unwrap_or(&manifest).to_owned();
    let out_dirs = out_dirs.remove(&package.id.repr).unwrap_or_default();
    let (name, cargo) = (package.name.to_string(), package.clone());
    BuiltPackage { name, cargo, dir, manifest, is_asked_for, out_dirs }
}

/// Builds and collects the kernels of a selection. `config`: the file that is read instead of the configuration of its only
/// package. The failure of one package does not hide the kernels of another.
pub(crate) fn plan(
    selection: &Selection,
    config: Option<&Path>,
    checker: &Checker,
    printer: &mut Printer,
) -> Result<Plan, Failure> {
    let Built { packages, failures, target, root, ignored } = built(selection, printer)?;
    for own in &ignored {
        printer.warning(own);
    }
    let count = packages.len() + failures.len();
    if config.is_some() && count != 1 {
        return Err(Failure::OneConfig { count });
    }
    let mut plan = Plan { failures, target, root, ..Plan::default() };
    let opened = packages.iter().map(|package| (package.opened(config), package));
    let mut opened: Vec<(Result<Package, PlanError>, &BuiltPackage)> = opened.collect();
    let mut records = Recordings::open(&plan.target, selection)?;
    let others =
        records.add_to(opened.iter_mut().filter_map(|(own, _)| own.as_mut().ok()), &plan.root);
    records.required(&plan.target)?;
    for own in opened.iter().filter_map(|(own, _)| own.as_ref().ok()).chain(&others) {
        plan.records.add(own);
    }
    let all: Vec<&Package> =
        opened.iter().filter_map(|(own, _)| own.as_ref().ok()).chain(&others).collect();
    plan.records.add_lost(&all);
    for own in &all {
        launch_notes(&own.recorded_notes(), printer);
    }
    saved_notes(opened.iter().filter_map(|(own, _)| own.as_ref().ok()), printer);
    for (own, package) in opened {
        match own.and_then(|own| jobs(&own, checker)) {
            Ok(jobs) if jobs.is_empty() => {}
            Ok(jobs) => {
                plan.packages.push(jobs);
                plan.crates.insert(package.dir.clone(), package.cargo.clone());
                if !package.is_asked_for {
                    plan.outside.insert(package.dir.clone());
                }
            }
            Err(error) => plan.failures.push(Failure::Plan(Box::new(error))),
        }
    }
    if let Some(others) = others {
        let jobs = jobs(&others, checker).map_err(|error| Failure::Plan(Box::new(error)))?;
        plan.packages.extend(Some(jobs).filter(|jobs| !jobs.is_empty()));
    }
    if plan.packages.is_empty() && plan.failures.is_empty() {
        plan.failures.extend(std::mem::take(&mut plan.records.lost).into_iter().map(Failure::Lost));
    }
    if plan.packages.is_empty() && plan.failures.is_empty() {
        return Err(NothingFound::of(&packages).into());
    }
    launch_notes(&records.notes(&plan.packages, &plan.records), printer);
    Ok(plan)
}

impl BuiltPackage {
    /// Opens the package. `config`: the file that is read instead of its configuration.
    fn opened(&self, config: Option<&Path>) -> Result<Package, PlanError> {
        let out_dirs = self.out_dirs.iter().map(AsRef::<Path>::as_ref);
        Package::open_with(&self.name, &self.dir, config, out_dirs)
    }
}

/// Says what there is to say of recorded launches; with `--quiet`, what must be known.
pub(crate) fn launch_notes(notes: &[LaunchNote], printer: &mut Printer) {
    for LaunchNote { text, is_vital } in notes {
        if *is_vital { printer.notice(text) } else { printer.note(text) }
    }
}

/// Says which PTX was not compiled in this build, also with `--quiet`, but then in one line: a verdict on it is one on what its
/// source once was.
fn saved_notes<'p>(packages: impl Iterator<Item = &'p Package>, printer: &mut Printer) {
    let notes: Vec<(String, String)> = packages.flat_map(Package::notes).collect();
    match &notes[..] {
        several @ [_, _, ..] if printer.verbosity == Verbosity::Quiet => {
            let names: Vec<&str> = several.iter().map(|(name, _)| &name[..]).collect();
            printer.notice(&format!(
                "{} files are saved PTX, not compiled in this build: changes of their sources since are not seen: {}",
                names.len(),
                names.join(", ")
            ));
        }
        all => {
            for (_, note) in all {
                printer.notice(note);
            }
        }
    }
}

/// Returns the jobs of a package; none if the package has neither PTX nor a configuration.
fn jobs(own: &Package, checker: &Checker) -> Result<Vec<Job>, PlanError> {
    if own.files.is_empty() && own.config.path.is_none() {
        return Ok(Vec::new());
    }
    case::plan_with(own, checker)
}
