//! What records say of a run beside its launches: which kernels were never launched, and which calls CUDA refuses.

use std::collections::BTreeSet;
use std::path::PathBuf;

use weft_core::report::checked::{INVALID_LAUNCH, RunProblem};
use weft_harness::case::{Job, LaunchSource, Package, RecordNote, UNCHECKED_LAUNCH};
use weft_harness::record::{LostLaunch, RefusedCall};

/// The records that kernels of a run are checked with.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunRecords {
    /// The names and folders of the packages that have one with a launch.
    packages: BTreeSet<(String, PathBuf)>,
    calls: BTreeSet<RefusedCall>,
    /// The launches that no kernel is checked under.
    pub(crate) lost: BTreeSet<LostLaunch>,
}

impl RunRecords {
    /// Adds the records of a package.
    pub(crate) fn add(&mut self, package: &Package) {
        let records = &package.records;
        if records.source == LaunchSource::Configured {
            return;
        }
        if records.records.iter().any(|record| !record.is_empty()) {
            self.packages.insert((package.name.clone(), package.dir.clone()));
        }
        let calls = records.records.iter().flat_map(|record| &record.refused);
        self.calls.extend(calls.cloned());
    }

    /// Adds the launches that none of all the packages has the kernel of.
    pub(crate) fn add_lost(&mut self, packages: &[&Package]) {
        let files: Vec<_> = packages.iter().flat_map(|own| own.files.iter().cloned()).collect();
        let lost = packages.iter().flat_map(|own| own.records.lost(&files));
        self.lost.extend(lost);
    }

    /// Returns the launches that could not be checked. `is_whole`: all of them, and not only those of the kernels of these jobs.
    pub(crate) fn lost(&self, jobs: &[&Job], is_whole: bool) -> Vec<LostLaunch> {
        let is_selected = |own: &&LostLaunch| is_whole || is_of(own.kernel.as_ref(), jobs);
        self.lost.iter().filter(is_selected).cloned().collect()
    }

    /// Returns a job of each kernel that was never launched.
    pub(crate) fn unlaunched<'j>(&self, jobs: &[&'j Job]) -> Vec<&'j Job> {
        let key = |job: &Job| {
            (
                job.package.clone(),
                job.dir.clone(),
                job.file.display.clone(),
                job.kernel.mangled.clone(),
            )
        };
        let recorded = jobs.iter().filter(|job| job.recorded.is_some());
        let mut seen: BTreeSet<_> = recorded.map(|job| key(job)).collect();
        let is_meant = |job: &&&Job| {
            let skip = job.skip.as_deref();
            !job.is_unread()
                && skip.is_none_or(|reason| reason == RecordNote::NEVER)
                && self.packages.contains(&(job.package.clone(), job.dir.clone()))
        };
        jobs.iter().filter(is_meant).filter(|job| seen.insert(key(job))).copied().collect()
    }

    /// Returns the calls that CUDA refuses. `is_whole`: all of them, and not only those about the kernels of these jobs.
    pub(crate) fn invalid(&self, jobs: &[&Job], is_whole: bool) -> Vec<RefusedCall> {
        let is_selected = |call: &&RefusedCall| is_whole || is_of(call.kernel.as_ref(), jobs);
        self.calls.iter().filter(is_selected).cloned().collect()
    }
}

/// Whether a kernel is one of some jobs.
fn is_of(kernel: Option<&String>, jobs: &[&Job]) -> bool {
    kernel.is_some_and(|name| jobs.iter().any(|job| job.kernel.mangled == *name))
}

/// Returns launches that could not be checked as a problem of the run.
pub(crate) fn lost_problem(lost: &LostLaunch) -> RunProblem {
    let name = format!("cargo-weft::{UNCHECKED_LAUNCH}");
    RunProblem { is_defect: false, name, message: lost.to_string() }
}

/// Returns a call as a problem of the run.
pub(crate) fn problem(call: &RefusedCall) -> RunProblem {
    let name = format!("cargo-weft::{INVALID_LAUNCH}");
    RunProblem { is_defect: true, name, message: call.to_string() }
}
