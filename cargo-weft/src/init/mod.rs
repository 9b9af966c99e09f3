//! `cargo weft init`: writes a first weft.toml and what the checks in `cargo test` need, from the kernels of a package as
//! they are.
//!
//! The kernels are checked without a configuration: those that are proved for every launch need none.

mod error;
mod launch;
mod manifest;
mod recorded;
mod saved;
mod tables;

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::mem;
use std::path::{Path, PathBuf};

use weft_core::finding::Verdict;
use weft_core::report::escape;
use weft_harness::case::{self, Checker, Job, Package, PlanError};
use weft_harness::config::Config;
use weft_harness::discover;
use weft_harness::render::openable;

use crate::account;
use crate::arguments::Init;
use crate::collect::{self, BuiltPackage};
use crate::exit::{Exit, Failure};
use crate::nothing::NothingFound;
use crate::print::Printer;
use weft_harness::cache::Cache;

use recorded::InitRecords;

pub(crate) use error::InitError;

pub(crate) use manifest::{HarnessEntries, parse as parse_manifest};

/// The whole of `tests/weft.rs`.
const TEST: &str = "weft_harness::main!();\n";
/// What runs the checks on GitHub, with what is said of nvcc and with the command in place of `NVCC` and `COMMAND`.
const WORKFLOW: &str = "\
# .github/workflows/weft.yml; a runner needs no GPU, NVCC
name: weft
on: [push, pull_request]
jobs:
  weft:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: cargo install --locked --git https://github.com/cargo-weft/cargo-weft cargo-weft
      - run: COMMAND";

/// What is said of kernels that only `--capture-nvcc` finds.
const UNSEEN: &str = "are in PTX that only `--capture-nvcc` makes, which `cargo test` does not see: it checks the PTX that a \
                      build script leaves in OUT_DIR, such as the crate `weft-build` compiles";

/// A file of a package and what becomes of it.
#[derive(Debug)]
struct NewFile {
    path: PathBuf,
    /// The path in the package, by which its purpose is known.
    name: &'static str,
    text: String,
    /// The text that it replaces. `None`: the file must not be there.
    old: Option<String>,
}

/// Writes the files of the selected packages that have kernels.
pub(crate) fn run(arguments: &Init, printer: &mut Printer) -> Result<Exit, Failure> {
    let built = collect::built(&arguments.selection, printer)?;
    for failure in &built.failures {
        printer.failure(failure);
    }
    let records = if arguments.from_record { Some(InitRecords::open(&built)?) } else { None };
    let mut exit = if built.failures.is_empty() { Exit::Clean } else { Exit::Unchecked };
    let (mut count, mut is_captured) = (0, false);
    for package in &built.packages {
        match init((package, records.as_ref()), &built.target, arguments, printer) {
            Ok(None) => {}
            Ok(Some(own)) => {
                count += 1;
                is_captured |= own.is_captured;
                exit = exit.max(own.exit);
            }
            Err(failure) => {
                printer.failure(&failure);
                exit = Exit::Unchecked;
            }
        }
    }
    if count == 0 && exit == Exit::Clean {
        return Err(NothingFound::of(&built.packages).into());
    }
    if count > 0 {
        printer.line(&next(arguments, is_captured))?;
    }
    Ok(exit)
}

/// Returns what to do next. `is_captured`: whether there are kernels that only `--capture-nvcc` finds.
fn next(arguments: &Init, is_captured: bool) -> String {
    let (flag, nvcc) = if is_captured {
        (" --capture-nvcc", "but nvcc, which the build script calls")
    } else {
        ("", "and nvcc only if the build script needs it")
    };
    let next = if arguments.dry_run {
        let options =
            [(arguments.from_record, " --from-record"), (arguments.config_only, " --config-only")];
        let options = options.into_iter().filter_map(|(is_set, option)| is_set.then_some(option));
        format!("To write this, run\n  cargo weft init{flag}{}", options.collect::<String>())
    } else if arguments.from_record {
        format!("Next: read weft.toml, which states what was recorded, and run\n  cargo weft{flag}")
    } else {
        format!(
            "Next: read weft.toml, state there what the host launches, and run\n  cargo weft{flag}"
        )
    };
    let workflow = WORKFLOW.replace("NVCC", nvcc).replace("COMMAND", &format!("cargo weft{flag}"));
    format!("\n{next}\n\nIn continuous integration, on GitHub for example:\n\n{workflow}")
}

/// What came of a package with kernels.
#[derive(Clone, Copy, Debug)]
struct Initialized {
    /// Whether each of its kernels could be checked.
    exit: Exit,
    /// Whether some of its kernels are found by `--capture-nvcc` alone.
    is_captured: bool,
}

/// Writes the files of a package; `None` if it has no kernels. `records`: those whose launches are written.
fn init(
    (package, records): (&BuiltPackage, Option<&InitRecords>),
    target: &Path,
    arguments: &Init,
    printer: &mut Printer,
) -> Result<Option<Initialized>, Failure> {
    let dir = &package.dir;
    let out_dirs = package.out_dirs.iter().map(PathBuf::as_path);
    let plan_error = |error| Failure::Plan(Box::new(error));
    let mut own = Package::open(&package.name, dir, out_dirs).map_err(plan_error)?;
    // A configuration cannot name the PTX that is in a record alone.
    own.files.retain(|file| !own.records.has(file));
    let saved_records = mem::take(&mut own.records);
    let is_configured = own.config.path.is_some();
    let patterns = saved::patterns(dir, target);
    let is_saved = own.files.is_empty();
    if is_saved {
        own.files = discover::globs(dir, &patterns).map_err(|error| plan_error(error.into()))?;
    }
    if own.files.is_empty() {
        return Ok(None);
    }
    if let Some(failure) = Failure::foreign(&package.cargo, package.is_asked_for) {
        return Err(failure);
    }
    own.config = Config::default();
    let jobs = case::plan_with(&own, &Checker::default()).map_err(plan_error)?;
    check(&jobs, target, printer)?;
    printer.line(&summary(&package.name, &jobs))?;
    let launches = records.map(|records| records.launches(&own, saved_records));
    let launches = launches.transpose().map_err(plan_error)?.unwrap_or_default();
    if records.is_some() && launches.is_empty() {
        printer.line("  note   no recorded launch is one of these kernels")?;
    }
    let text = tables::text(&jobs, &launches, &patterns, is_saved);
    let path = dir.join("weft.toml");
    // What is written must be accepted.
    own.config = Config::parse(&text, &path).map_err(|error| plan_error(PlanError::from(error)))?;
    case::plan_with(&own, &Checker::default()).map_err(plan_error)?;
    let mut files = vec![NewFile { path, name: "weft.toml", text, old: None }];
    let captured = own.files.iter().filter(|file| package.is_captured(file)).count();
    let is_seen_by_tests = captured < own.files.len();
    if !arguments.config_only && is_seen_by_tests {
        files.extend(harness(package)?);
    }
    for file in &files {
        let is_taken = file.name == "weft.toml" && is_configured;
        printer.line(&written(file, is_taken, arguments.dry_run)?)?;
    }
    if !arguments.config_only && captured > 0 {
        let which = if is_seen_by_tests { "some of these kernels" } else { "these kernels" };
        printer.line(&format!("  note   {which} {UNSEEN}"))?;
    }
    let is_checked = jobs.iter().all(|job| job.outcome().report.is_ok());
    let exit = if is_checked { Exit::Clean } else { Exit::Unchecked };
    Ok(Some(Initialized { exit, is_captured: captured > 0 }))
}

/// Checks the kernels without a configuration.
fn check(jobs: &[Job], target: &Path, printer: &mut Printer) -> Result<(), Failure> {
    let jobs: Vec<&Job> = jobs.iter().collect();
    let cache = Cache::open(target, None).ok();
    account::settle(&jobs, cache.as_ref(), |job, wait| {
        if let Some(wait) = wait {
            printer.waiting("checking", &job.short_name(), wait);
        }
        Ok(())
    })?;
    if let Some(Err(error)) = cache.map(Cache::close) {
        printer.warning(&error);
    }
    for error in jobs.iter().filter_map(|job| job.outcome().report.as_ref().err()) {
        printer.failure(error);
    }
    Ok(())
}

/// Returns what was found in a package.
fn summary(package: &str, jobs: &[Job]) -> String {
    let count = |verdict| {
        jobs.iter()
            .filter(|job| job.outcome().report.is_ok() && job.outcome().verdict == verdict)
            .count()
    };
    let kernels = match jobs.iter().filter(|job| !job.is_unread()).count() {
        1 => "1 kernel".to_owned(),
        count => format!("{count} kernels"),
    };
    format!(
        "{package}: {kernels}; without a configuration {} clean, {} with a defect, {} open",
        count(Verdict::Clean),
        count(Verdict::Defect),
        count(Verdict::Open)
    )
}

/// Returns the files that the checks in `cargo test` need, as far as they change.
fn harness(package: &BuiltPackage) -> Result<Vec<NewFile>, InitError> {
    let path = package.manifest.clone();
    let old = fs::read_to_string(&path).map_err(|error| InitError::Read(path.clone(), error))?;
    let extended = manifest::extended(&old, &path.display().to_string())?;
    let test = NewFile {
        path: package.dir.join("tests/weft.rs"),
        name: "tests/weft.rs",
        text: TEST.to_owned(),
        old: None,
    };
    let manifest = extended.map(|text| NewFile { path, name: "Cargo.toml", text, old: Some(old) });
    Ok([test].into_iter().chain(manifest).collect())
}

/// Writes a file and returns what was done. A file that is there is left as it is. `is_taken`: another file has the same
/// purpose.
fn written(file: &NewFile, is_taken: bool, is_dry: bool) -> Result<String, InitError> {
    let (name, path) = (openable(&file.path), &file.path);
    let name = escape(&name);
    let is_new = file.old.is_none();
    let is_there = is_taken || (is_new && path.exists());
    if is_dry {
        let change = match &file.old {
            Some(old) => similar::TextDiff::from_lines(old, &file.text)
                .unified_diff()
                .header(&name, &name)
                .to_string(),
            None => file.text.clone(),
        };
        let what = if is_there {
            "is there and would be left as it is; a new one would be"
        } else {
            "would be"
        };
        return Ok(format!("\n---- {name} {what} ----\n{}", change.trim_end()));
    }
    if is_there {
        let other = if path.exists() { &*name } else { "[package.metadata.weft] in Cargo.toml" };
        return Ok(format!(
            "  kept   {other}, which is there already; `cargo weft init --dry-run` prints what would be written"
        ));
    }
    let failed = |error| InitError::Write(path.clone(), error);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    if is_new {
        let mut new = OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
        new.write_all(file.text.as_bytes()).map_err(failed)?;
        return Ok(format!("  wrote  {name}"));
    }
    fs::write(path, &file.text).map_err(failed)?;
    Ok(format!(
        "  added  to {name} what `cargo test` needs: weft-harness, which cargo fetches with git, and a [[test]]"
    ))
}
