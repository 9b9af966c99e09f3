//! What the reports of a job name and quote: its kernel, its PTX and the sources that can be read.

use std::sync::Arc;

use weft_core::ptx::Module;

use super::{Job, Standing};
use crate::render::{ReportContext, Sources, openable};

/// The names and sources of a job's reports.
#[derive(Debug)]
pub struct Surroundings {
    name: String,
    kernel: String,
    ptx: String,
    module: Arc<Module>,
    is_allowed: bool,
    /// The source files that a report can quote.
    pub sources: Sources,
}

impl Surroundings {
    /// Returns the surroundings of a job. The sources are those of its package, or those around a file that was named on
    /// the command line.
    pub fn of(job: &Job) -> Self {
        let is_named = job.package.is_empty();
        let sources = if is_named {
            Sources::around(&job.file.path, &job.dir)
        } else {
            Sources::of_package(&job.dir)
        };
        let ptx = if is_named { job.file.display.clone() } else { openable(&job.file.path) };
        let (name, kernel, module) = (job.short_name(), job.title.clone(), Arc::clone(&job.module));
        let is_allowed = job.is_settled() && job.outcome().standing == Standing::Allowed;
        Self { name, kernel, ptx, module, is_allowed, sources }
    }

    /// Returns them for the renderers. With `color`, texts contain ANSI codes.
    pub fn context(&self, color: bool) -> ReportContext<'_> {
        let Self { name, kernel, ptx, module, is_allowed, sources } = self;
        let is_allowed = *is_allowed;
        ReportContext { module, ptx, kernel, name, sources, is_allowed, color }
    }
}
