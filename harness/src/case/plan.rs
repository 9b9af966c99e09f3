//! A package to its jobs. Whatever would leave something unchecked in silence is an error.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use weft_core::launch::Launch;
use weft_core::ptx::{self, Module};

use super::job::guarded;
use super::{Job, JobError, Package};
use crate::config::{ConfigError, DeadEntry, NamedLaunch};
use crate::discover::{DiscoverError, PtxFile};
use crate::name::KernelName;

/// Read errors listed for one file; the rest is counted.
const ERRORS: usize = 20;

/// Why there are no jobs.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The PTX cannot be gathered.
    #[error(transparent)]
    Discover(#[from] DiscoverError),
    /// There is no PTX.
    #[error(
        "package `{package}` has no PTX: its build script left none in OUT_DIR, and its configuration names none; \
         name saved files in weft.toml, such as `ptx = [\"kernels/*.ptx\"]`"
    )]
    NoPtx {
        /// The package.
        package: String,
    },
    /// There is PTX, but no kernel in it.
    #[error("package `{package}` has no kernel: there is no `.entry` in {files}")]
    NoKernels {
        /// The package.
        package: String,
        /// Its PTX files.
        files: String,
    },
    /// `[[kernel]]` tables that no kernel fits.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    DeadEntries(Vec<DeadEntry>),
}

/// The jobs of a package, at least one, in the order of files, kernels and launches. A file that cannot be read is a
/// job too, one that fails.
pub fn plan(package: &Package) -> Result<Vec<Job>, PlanError> {
    if package.files.is_empty() {
        return Err(PlanError::NoPtx { package: package.name.clone() });
    }
    let (mut jobs, mut names) = (Vec::new(), Vec::new());
    for file in distinct(&package.files) {
        match read(&file) {
            Ok(module) => of_file(package, &Arc::new(file), module, &mut jobs, &mut names),
            Err(error) => jobs.push(unread(package, file, error)),
        }
    }
    if jobs.is_empty() {
        let files =
            package.files.iter().map(|file| file.display.as_str()).collect::<Vec<_>>().join(", ");
        return Err(PlanError::NoKernels { package: package.name.clone(), files });
    }
    let dead = package.config.dead_entries(&names);
    if dead.is_empty() || jobs.iter().any(Job::is_unread) {
        Ok(jobs)
    } else {
        Err(PlanError::DeadEntries(dead))
    }
}

/// The files with names that tell them apart.
fn distinct(files: &[PtxFile]) -> Vec<PtxFile> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let named = files.iter().map(|file| {
        let count = seen.entry(&file.display).or_default();
        *count += 1;
        let display =
            if *count == 1 { file.display.clone() } else { format!("{}#{count}", file.display) };
        PtxFile { display, ..file.clone() }
    });
    named.collect()
}

fn read(file: &PtxFile) -> Result<Module, JobError> {
    if file.text.is_empty()
        && let Err(DiscoverError::Read { source, .. }) = PtxFile::read(&file.path, &file.display)
    {
        return Err(JobError::Read(vec![format!("{}: cannot be read: {source}", file.display)]));
    }
    if let Some((before, _)) = file.text.split_once('\u{fffd}') {
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").len() + 1;
        return Err(JobError::Read(vec![format!(
            "{}:{line}:{column}: the file is not UTF-8",
            file.display
        )]));
    }
    let module = guarded("-", &file.display, || ptx::parse(&file.text))?;
    if module.errors.is_empty() {
        return Ok(module);
    }
    let mut lines: Vec<String> = module
        .errors
        .iter()
        .take(ERRORS)
        .map(|error| {
            format!(
                "{}:{}: {}",
                file.display,
                module.position(error.span),
                weft_core::report::escape(&error.to_string())
            )
        })
        .collect();
    if module.errors.len() > ERRORS {
        lines.push(format!("{}: {} more errors", file.display, module.errors.len() - ERRORS));
    }
    Err(JobError::Read(lines))
}

fn of_file(
    package: &Package,
    file: &Arc<PtxFile>,
    module: Module,
    jobs: &mut Vec<Job>,
    names: &mut Vec<KernelName>,
) {
    let module = Arc::new(module);
    let kernels: Vec<KernelName> =
        module.kernels().map(|kernel| KernelName::new(module.name(kernel.name))).collect();
    let shorts: Vec<String> = kernels.iter().map(KernelName::short).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for short in &shorts {
        *counts.entry(short).or_default() += 1;
    }
    for (kernel, short) in kernels.iter().zip(&shorts) {
        let is_alone = counts.get(short.as_str()) == Some(&1);
        let title = if is_alone { short } else { &kernel.mangled };
        for NamedLaunch { label, launch, allow } in package.config.launches(kernel) {
            jobs.push(Job {
                package: package.name.clone(),
                dir: package.dir.clone(),
                file: Arc::clone(file),
                module: Arc::clone(&module),
                kernel: kernel.clone(),
                title: weft_core::report::escape(title).into_owned(),
                label: label.map(|label| weft_core::report::escape(&label).into_owned()),
                launch,
                allow,
                unread: None,
                outcome: OnceLock::new(),
            });
        }
    }
    names.extend(kernels);
}

fn unread(package: &Package, file: PtxFile, error: JobError) -> Job {
    Job {
        package: package.name.clone(),
        dir: package.dir.clone(),
        file: Arc::new(file),
        module: Arc::new(ptx::parse("")),
        kernel: KernelName::default(),
        title: "read".to_owned(),
        label: None,
        launch: Launch::default(),
        allow: Vec::new(),
        unread: Some(error),
        outcome: OnceLock::new(),
    }
}
