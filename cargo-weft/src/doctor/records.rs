//! What `cargo weft doctor` says of records of launches.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use weft_core::report::escape;
use weft_harness::case::{self, Checker, Job, Package};
use weft_harness::record::Record;
use weft_harness::render::openable;

use super::observation::{Grade, Observation};
use crate::arguments::Selection;
use crate::collect::Built;
use crate::coverage::RunRecords;
use crate::record::counted;
use crate::recordings::{self, Recordings};

/// What is said where no launch is recorded.
const NONE: &str = "no launches are recorded: `cargo weft record -- COMMAND`, such as `cargo weft record -- cargo test --no-fail-fast`, runs a \
                    program without a GPU and keeps its launches, under which kernels are checked then";

/// What the records of some packages are worth.
#[derive(Debug, Default)]
pub(super) struct ExaminedRecords {
    /// The number of kernels that only records have.
    pub(super) kernels: usize,
    /// What there is to say.
    pub(super) lines: Vec<Observation>,
    /// The kernels with launches, by the names of their files and their own.
    pub(super) launched: BTreeSet<(PathBuf, String)>,
}

/// Examines the records of some packages.
pub(super) fn examined(built: &Built, selection: &Selection) -> ExaminedRecords {
    let only = |line| ExaminedRecords { lines: vec![line], ..ExaminedRecords::default() };
    let mut own = match Recordings::open(&built.target, selection) {
        Ok(own) => own,
        Err(error) => return only((Grade::Problem, error.to_string())),
    };
    // What is wrong with a package is said where it is examined itself.
    let opened = built.packages.iter().filter_map(|package| {
        let out_dirs = package.out_dirs.iter().map(PathBuf::as_path);
        Package::open(&package.name, &package.dir, out_dirs).ok()
    });
    let mut packages: Vec<Package> = opened.collect();
    let others = own.add_to(packages.iter_mut(), &built.root);
    packages.extend(others);
    let records = distinct(&packages);
    if records.is_empty() {
        return only((Grade::Note, NONE.to_owned()));
    }
    let mut run = RunRecords::default();
    for package in &packages {
        run.add(package);
    }
    run.add_lost(&packages.iter().collect::<Vec<_>>());
    let planned = packages.iter().filter(|package| !package.files.is_empty());
    let jobs: Vec<Vec<Job>> =
        planned.filter_map(|package| case::plan_with(package, &Checker::default()).ok()).collect();
    let mut lines: Vec<Observation> = records.iter().map(|record| summary(record)).collect();
    let alone: Vec<&Job> = jobs
        .iter()
        .flatten()
        .filter(|job| packages.iter().any(|package| package.records.has(&job.file)))
        .collect();
    lines.extend(of_ptx(&alone));
    lines.extend(run.lost.iter().map(|lost| (Grade::Problem, lost.to_string())));
    let calls = run.invalid(&[], true).len();
    if calls > 0 {
        let them = if calls == 1 { "it" } else { "them" };
        let calls = counted(calls, "call", "calls");
        lines.push((Grade::Note, format!("{calls} that CUDA refuses: `cargo weft` names {them}")));
    }
    let notes = own
        .notes(&jobs, &run)
        .into_iter()
        .skip_while(|note| note.text.starts_with(recordings::SOURCES));
    lines.extend(notes.map(|note| (Grade::Note, note.text)));
    let key = |job: &Job| (job.file.path.clone(), job.kernel.mangled.clone());
    let kernels: BTreeSet<_> = alone.iter().map(|job| key(job)).collect();
    let launched = jobs.iter().flatten().filter(|job| job.recorded.is_some()).map(key).collect();
    ExaminedRecords { kernels: kernels.len(), lines, launched }
}

/// Returns the records of some packages that have a launch.
fn distinct(packages: &[Package]) -> Vec<Arc<Record>> {
    let mut seen = BTreeSet::new();
    let all = packages.iter().flat_map(|package| &package.records.records);
    let all = all.filter(|record| !record.is_empty() && seen.insert(record.folder().to_owned()));
    all.cloned().collect()
}

fn summary(record: &Record) -> Observation {
    let kernels: BTreeSet<&str> = record.launches().iter().map(|own| own.kernel.as_str()).collect();
    let text = format!(
        "{} has {} of {}, by {}",
        escape(&openable(record.folder())),
        counted(record.launches().len(), "launch", "launches"),
        counted(kernels.len(), "kernel", "kernels"),
        counted(record.processes, "process", "processes"),
    );
    (Grade::Good, text)
}

/// Returns what is said of kernels that are in no file of a package, but in a record.
fn of_ptx(alone: &[&Job]) -> Vec<Observation> {
    let mut lines = Vec::new();
    let unread = alone.iter().filter(|job| job.is_unread());
    for error in unread.filter_map(|job| job.outcome().report.as_ref().err()) {
        lines.push((Grade::Problem, error.to_string()));
    }
    let launched = alone.iter().filter(|job| job.recorded.is_some());
    let titles: BTreeSet<String> = launched.map(|job| format!("`{}`", job.title)).collect();
    if !titles.is_empty() {
        let whose = case::listed(&titles);
        lines.push((
            Grade::Note,
            format!(
                "no file of a package has the PTX of {whose}: it is that of the record, as it was then; name its files in weft.toml, or \
                 record anew when their sources change"
            ),
        ));
    }
    lines
}
