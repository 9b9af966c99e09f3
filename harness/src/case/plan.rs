//! Turns a package into jobs. Everything that would silently leave a kernel unchecked is an error.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use weft_core::launch::Launch;
use weft_core::ptx::{self, Function, Module, Position, ReadError};

use super::guard::guarded;
use super::{Checker, Job, JobError, Package, recorded};
use crate::config::{ConfigError, DeadEntry, NamedLaunch};
use crate::discover::{DiscoverError, PtxFile};
use crate::name::KernelName;
use crate::record::{MostLaunches, RecordError, module_name};
use crate::render::Sources;
use crate::signature::{ParameterNames, Signatures};

/// Number of read errors that are listed for one file; further ones are only counted.
const ERRORS: usize = 20;

/// Why a package gives no jobs.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The PTX files cannot be gathered.
    #[error(transparent)]
    Discover(#[from] DiscoverError),
    /// The record of launches cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The environment does not say how many launches are checked.
    #[error("{}: {said}", MostLaunches::VARIABLE)]
    MostLaunches {
        /// What is wrong.
        said: String,
    },
    /// There is no PTX.
    #[error(
        "package `{package}` has no PTX: its build script left none in OUT_DIR, and its configuration names none; \
         name saved files in weft.toml, such as `ptx = [\"kernels/*.ptx\"]`; if the script compiles with nvcc to machine \
         code, `cargo weft --capture-nvcc` compiles the same to PTX"
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
    /// `[[kernel]]` tables that match no kernel of a package.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    DeadEntries(Vec<DeadEntry>),
}

/// Returns the jobs of a package, at least one, in the order of files, kernels and launches. A file that cannot be read
/// gives a job that fails. A package without a name stands for some files of which the configuration might say more than
/// about these: tables that match none of their kernels are no error.
pub fn plan(package: &Package) -> Result<Vec<Job>, PlanError> {
    plan_with(package, &Checker::default())
}

/// Like [`plan`], but with another checker.
pub fn plan_with(package: &Package, checker: &Checker) -> Result<Vec<Job>, PlanError> {
    if package.files.is_empty() {
        return Err(PlanError::NoPtx { package: package.name.clone() });
    }
    let (mut jobs, mut names) = (Vec::new(), Vec::new());
    let mut present = BTreeSet::new();
    if !package.records.records.is_empty() {
        let own = package.files.iter().filter(|file| !package.records.has(file));
        present.extend(recorded::names(own));
    }
    let of_package = (!package.name.is_empty()).then(|| Sources::of_package(&package.dir));
    for file in distinct(&package.files) {
        match read(&file) {
            Ok((module, kernels)) => {
                let signatures = match &of_package {
                    Some(sources) => Signatures::of(&module, sources),
                    None => Signatures::of(&module, &Sources::around(&file.path, &package.dir)),
                };
                let named = parameters(&module, &kernels, &signatures);
                let file = Arc::new(file);
                jobs.extend(of_file(package, (&file, &present), module, &named, checker)?);
                names.extend(kernels);
            }
            Err(error) => jobs.push(unread(package, file, error)),
        }
    }
    if jobs.is_empty() {
        let files =
            package.files.iter().map(|file| file.display.as_str()).collect::<Vec<_>>().join(", ");
        return Err(PlanError::NoKernels { package: package.name.clone(), files });
    }
    // The tables might be about kernels of a file that cannot be read, or of one that is not named.
    if package.name.is_empty() || jobs.iter().any(Job::is_unread) {
        return Ok(jobs);
    }
    let dead = package.config.dead_entries(&names);
    if dead.is_empty() { Ok(jobs) } else { Err(PlanError::DeadEntries(dead)) }
}

/// Returns the files with unique display names: a number is added to a name that occurs again.
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

/// Reads a file and returns its module and the names of its kernels. Saved PTX that is older than its source is not read: a
/// verdict on it would be one on another program.
fn read(file: &PtxFile) -> Result<(Module, Vec<KernelName>), JobError> {
    if let Some(reason) = &file.unread {
        return Err(JobError::Read(vec![format!("{}: cannot be read: {reason}", file.display)]));
    }
    if let Some(reason) = file.saved.as_ref().and_then(|own| own.outdated(&file.display)) {
        return Err(JobError::Outdated(reason));
    }
    let (module, kernels) = guarded(&file.display, || {
        let module = ptx::parse_shared(&file.text);
        let name = |kernel: &Function| KernelName::new(module.name(kernel.name));
        let kernels = module.kernels().map(name).collect();
        (module, kernels)
    })?;
    if module.errors.is_empty() {
        return Ok((module, kernels));
    }
    Err(JobError::Read(encoding(file).map_or_else(|| errors(file, &module), |error| vec![error])))
}

/// Returns what is wrong with the encoding of a file that does not parse; `None` if the encoding is not the reason. (A
/// file that parses can hold any bytes in comments and in names of source files.)
fn encoding(file: &PtxFile) -> Option<String> {
    if file.text.starts_with('\u{feff}') {
        let remedy = "it starts with a byte order mark; save it as UTF-8 without one";
        return Some(format!("{}:1:1: {remedy}", file.display));
    }
    let (before, _) = file.text.split_once('\u{fffd}')?;
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").len() + 1;
    Some(format!("{}:{line}:{column}: the file is not UTF-8; save it as such", file.display))
}

/// Returns the read errors of a file, the first one at each position.
fn errors(file: &PtxFile, module: &Module) -> Vec<String> {
    let mut errors: Vec<_> =
        module.errors.iter().map(|error| (module.position(error.span), error)).collect();
    errors.dedup_by_key(|(position, _)| *position);
    let line = |(position, error): &(Position, &ReadError)| {
        let text = error.to_string();
        format!("{}:{position}: {}", file.display, weft_core::report::escape(&text))
    };
    let mut lines: Vec<String> = errors.iter().take(ERRORS).map(line).collect();
    if errors.len() > ERRORS {
        lines.push(format!("{}: {} more errors", file.display, errors.len() - ERRORS));
    }
    lines
}

/// Returns each kernel with the names of its parameters.
fn parameters(
    module: &Module,
    kernels: &[KernelName],
    signatures: &Signatures,
) -> Vec<(KernelName, ParameterNames)> {
    let names = |kernel: &KernelName| {
        let function = module.kernel(&kernel.mangled);
        function
            .map_or_else(ParameterNames::default, |own| ParameterNames::of(module, own, signatures))
    };
    kernels.iter().map(|kernel| (kernel.clone(), names(kernel))).collect()
}

fn of_file(
    package: &Package,
    (file, present): (&Arc<PtxFile>, &BTreeSet<String>),
    module: Module,
    kernels: &[(KernelName, ParameterNames)],
    checker: &Checker,
) -> Result<Vec<Job>, ConfigError> {
    let has_records = !package.records.records.is_empty();
    let text = if has_records { module_name(&file.text) } else { String::new() };
    let module = Arc::new(module);
    let mut jobs = Vec::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (kernel, _) in kernels {
        *counts.entry(&kernel.short).or_default() += 1;
    }
    for (kernel, names) in kernels {
        let is_alone = counts.get(kernel.short.as_str()) == Some(&1);
        let title = if is_alone { &kernel.short } else { &kernel.mangled };
        let stated = package.config.launches(kernel, names)?;
        let of_kernel = (&*module, &kernel.mangled[..]);
        for (own, recorded) in package.records.over(stated, of_kernel, (file, &text), present) {
            let NamedLaunch { label, mut launch, mut allow, skip, places, has_default_block } = own;
            allow.extend(package.config.baseline.of(&file.display, kernel, label.as_deref()));
            // Checking goes on after findings: that an `allow` accepts those of the first ctas says nothing about the
            // later ctas.
            launch.options.past_findings = !allow.is_empty();
            let (ended, allow) = allow.into_iter().partition(|own| own.has_ended(package.today));
            jobs.push(Job {
                package: package.name.clone(),
                dir: package.dir.clone(),
                file: Arc::clone(file),
                module: Arc::clone(&module),
                kernel: kernel.clone(),
                title: weft_core::report::escape(title).into_owned(),
                label: label.map(|label| weft_core::report::escape(&label).into_owned()),
                launch,
                places,
                has_default_block,
                allow,
                ended,
                skip,
                recorded,
                checker: checker.clone(),
                unread: None,
                outcome: OnceLock::new(),
            });
        }
    }
    Ok(jobs)
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
        places: BTreeMap::new(),
        has_default_block: false,
        allow: Vec::new(),
        ended: Vec::new(),
        skip: None,
        recorded: None,
        checker: Checker::default(),
        unread: Some(error),
        outcome: OnceLock::new(),
    }
}
