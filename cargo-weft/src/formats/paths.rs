//! Passes kernels on to the formats whose paths are relative to a folder.

use std::fs;
use std::path::{self, Path, PathBuf};

use weft_core::report::checked::{CheckResult, Checked, SourceFile};
use weft_harness::case::{Job, JobError, Surroundings};
use weft_harness::render::SourceFiles as _;

use super::json;

/// A folder that paths are shown relative to.
#[derive(Debug)]
pub(super) struct Root(PathBuf);

impl Root {
    pub(super) fn new(folder: &Path) -> Self {
        Self(fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf()))
    }

    /// Passes what is to be told of a job to `take`. Runs the job if it has not run yet.
    pub(super) fn checked<T>(&self, job: &Job, take: impl FnOnce(&Checked<'_>) -> T) -> T {
        let sources = Surroundings::of(job).sources;
        let source = |name: &str| {
            let path = self.shown(&sources.path(name)?);
            Some(SourceFile { path, text: sources.text(name)? })
        };
        let outcome = job.outcome();
        let text;
        let result = match (&outcome.report, outcome.remaining()) {
            (Err(JobError::Skipped { reason }), _) => CheckResult::Skipped(reason),
            (Err(error), _) => {
                text = error.to_string();
                CheckResult::Unchecked(&text)
            }
            (Ok(report), remaining) => CheckResult::Report {
                remaining: remaining.unwrap_or(report),
                accepted: outcome
                    .accepted()
                    .map(|(finding, allow)| (finding, allow.reason.as_str()))
                    .collect(),
            },
        };
        let (name, file) = (job.short_name(), self.shown(&job.file.path));
        take(&Checked {
            name: &name,
            suite: &super::suite(job),
            subject: json::subject(job, &file),
            kernel: &job.kernel.mangled,
            title: &job.title,
            module: &job.module,
            result,
            source: &source,
        })
    }

    /// Returns a path in the form in which it is shown: relative to the folder if it is below it, absolute otherwise.
    fn shown(&self, path: &Path) -> String {
        let absolute = path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let real = fs::canonicalize(&absolute).ok().filter(|path| path.is_file());
        let both = [real.as_deref(), Some(absolute.as_path())];
        match both.into_iter().flatten().find_map(|path| path.strip_prefix(&self.0).ok()) {
            Some(below) => {
                let parts: Vec<_> =
                    below.components().map(|part| part.as_os_str().to_string_lossy()).collect();
                parts.join("/")
            }
            None => absolute.to_string_lossy().replace(path::MAIN_SEPARATOR, "/"),
        }
    }
}
