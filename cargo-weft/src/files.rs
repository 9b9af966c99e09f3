//! PTX files that are named on the command line, checked without cargo: selects their kernels and launches.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use regex::Regex;
use weft_harness::case::{self, Checker, Job, Package, PlanError};
use weft_harness::config::{Config, ConfigError, DeadEntry};
use weft_harness::discover::{DiscoverError, PtxFile};
use weft_harness::record::{MostLaunches, Record, RecordError};

use crate::arguments::KernelArgs;
use crate::collect;
use crate::coverage::RunRecords;
use crate::print::Printer;
use crate::settings::{CommandSettings, NoParameter};

/// Why files cannot be checked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    #[error(transparent)]
    Read(#[from] DiscoverError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Plan(PlanError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error("there is no record of launches in {}", .folder.display())]
    NoRecord { folder: PathBuf },
    #[error(transparent)]
    Parameter(#[from] NoParameter),
    #[error("nothing to check: there is no kernel (`.entry`) in {files}")]
    NoKernels { files: String },
    #[error("no kernel matches `{pattern}`; there {}", known(.kernels))]
    NoMatch {
        pattern: Regex,
        kernels: Vec<String>,
        /// Whether a package or file could not be read, so that its kernels are not known.
        is_partial: bool,
    },
}

/// The files, the selection of kernels, and the launch settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Files<'a> {
    pub(crate) paths: &'a [PathBuf],
    /// The folder of a record of launches, and how many of these are checked.
    pub(crate) record: Option<(&'a Path, MostLaunches)>,
    pub(crate) kernel: Option<&'a Regex>,
    pub(crate) settings: &'a CommandSettings,
    pub(crate) config: Option<&'a Path>,
    pub(crate) checker: &'a Checker,
}

impl<'a> Files<'a> {
    /// Returns the files that the arguments of a command name.
    pub(crate) fn of(targets: &'a KernelArgs, checker: &'a Checker) -> Self {
        let KernelArgs { files, kernel, settings, config, .. } = targets;
        let (kernel, config) = (kernel.as_ref(), config.as_deref());
        Self { paths: files, record: None, kernel, settings, config, checker }
    }
}

/// The kernels of files, and what there is beside them.
#[derive(Debug, Default)]
pub(crate) struct FileJobs {
    /// The selected kernels and launches; none if no file can be read.
    pub(crate) jobs: Vec<Job>,
    /// The errors of files that cannot be read, which are printed.
    pub(crate) failures: Vec<DiscoverError>,
    /// The record.
    pub(crate) records: RunRecords,
}

/// Returns the jobs of the selected kernels and launches.
pub(crate) fn jobs(files: Files<'_>, printer: &mut Printer) -> Result<FileJobs, RequestError> {
    let config = files.config.map(Config::read).transpose()?.unwrap_or_default();
    let (found, failures) = read(files.paths);
    for failure in &failures {
        printer.failure(failure);
    }
    for name in files.paths.iter().filter(|path| is_name(path)) {
        let name = name.display();
        printer.note(&format!(
            "`{name}` is taken for the path of a PTX file; a kernel is selected by its name with `--kernel {name}`"
        ));
    }
    if found.is_empty() && files.record.is_none() {
        return Ok(FileJobs { failures, ..FileJobs::default() });
    }
    let package = package(found, config.clone(), files.record)?;
    let mut records = RunRecords::default();
    records.add(&package);
    records.add_lost(&[&package]);
    if package.files.is_empty() {
        return Ok(FileJobs { failures, records, ..FileJobs::default() });
    }
    let all = plan(&package, files.checker)?;
    collect::launch_notes(&package.recorded_notes(), printer);
    collect::launch_notes(&case::launch_notes(&all), printer);
    if let Some(note) = without_tables(&config, &all) {
        printer.note(&note);
    }
    let mut jobs = matching(all, files.kernel, !failures.is_empty())?;
    for job in &mut jobs {
        let names = job.parameters();
        if !job.is_unread() {
            files.settings.apply(&mut job.launch, &names)?;
            // What does not fit might be a flag.
            if *files.settings != CommandSettings::default() {
                job.places.clear();
            }
        }
    }
    Ok(FileJobs { jobs, failures, records })
}

fn read(paths: &[PathBuf]) -> (Vec<PtxFile>, Vec<DiscoverError>) {
    let (mut files, mut failures) = (Vec::new(), Vec::new());
    for path in paths {
        match PtxFile::read(path, &path.display().to_string()) {
            Ok(file) => files.push(file),
            Err(error) => failures.push(error),
        }
    }
    (files, failures)
}

/// Whether a path of the command line names no file, and might be the name of a kernel: it has no folder and no ending.
fn is_name(path: &Path) -> bool {
    path.components().count() == 1 && path.extension().is_none() && !path.exists()
}

/// Returns all files as one package with an empty name, with a record of launches.
fn package(
    files: Vec<PtxFile>,
    config: Config,
    record: Option<(&Path, MostLaunches)>,
) -> Result<Package, RequestError> {
    let dir = env::current_dir().unwrap_or_default();
    let mut package = Package::new("", dir.clone(), config, files);
    if let Some((folder, most)) = record {
        package.records.most = most;
        let none = || RequestError::NoRecord { folder: folder.to_owned() };
        let own = Record::read(folder)?.filter(|own| !own.is_empty()).ok_or_else(none)?;
        package.records.records.push(Arc::new(own));
        let strangers = package.records.strangers(&package.files, &dir);
        package.files.extend(strangers);
    }
    Ok(package)
}

/// Plans the kernels of a package.
fn plan(package: &Package, checker: &Checker) -> Result<Vec<Job>, RequestError> {
    case::plan_with(package, checker).map_err(|error| match error {
        PlanError::NoKernels { files, .. } => RequestError::NoKernels { files },
        other => RequestError::Plan(other),
    })
}

/// Returns the jobs whose kernel matches `pattern`, and those of unreadable files, since their kernels are unknown.
/// `is_partial`: whether there are packages or files of which no jobs are known.
pub(crate) fn matching(
    jobs: Vec<Job>,
    pattern: Option<&Regex>,
    is_partial: bool,
) -> Result<Vec<Job>, RequestError> {
    let Some(pattern) = pattern else { return Ok(jobs) };
    let (kept, others): (Vec<_>, Vec<_>) = jobs
        .into_iter()
        .partition(|job| job.is_unread() || job.kernel.is_meant(|name| pattern.is_match(name)));
    if kept.iter().any(|job| !job.is_unread()) {
        return Ok(kept);
    }
    let mut kernels: Vec<_> = others.iter().map(|job| job.kernel.demangled.clone()).collect();
    kernels.dedup();
    if kernels.is_empty() {
        Ok(kept)
    } else {
        Err(RequestError::NoMatch { pattern: pattern.clone(), kernels, is_partial })
    }
}

/// Returns the note that no `[[kernel]]` table of a configuration is about these kernels; `None` if one is, or might be.
fn without_tables(config: &Config, jobs: &[Job]) -> Option<String> {
    /// The most tables that are listed.
    const LISTED: usize = 5;
    let kernels: Vec<_> = jobs.iter().map(|job| job.kernel.clone()).collect();
    let dead = config.dead_entries(&kernels);
    let is_one_meant = dead.len() < config.kernels.len() || jobs.iter().any(Job::is_unread);
    if dead.is_empty() || is_one_meant {
        return None;
    }
    let line = |own: &DeadEntry| format!("\n  {}: `{}`", own.place, own.pattern);
    let rest = dead.len().checked_sub(LISTED).filter(|rest| *rest > 0);
    let rest = rest.map(|rest| format!("\n  and {rest} more"));
    let lines: String = dead.iter().take(LISTED).map(line).chain(rest).collect();
    Some(format!(
        "no `[[kernel]]` table of the configuration matches a kernel of these files; {}{lines}",
        dead[0].instead()
    ))
}

fn known(kernels: &[String]) -> String {
    let names = kernels
        .iter()
        .map(|name| format!("`{}`", weft_core::report::escape(name)))
        .collect::<Vec<_>>();
    let verb = if names.len() == 1 { "is" } else { "are" };
    format!("{verb} {}", names.join(", "))
}
