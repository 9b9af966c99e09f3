//! What the reports of a job name and quote: its kernel, its PTX and the sources that can be read.

use std::sync::Arc;

use weft_core::ptx::Module;

use super::Job;
use crate::render::{ReportContext, Sources, openable};

/// The names and sources of a job's reports.
#[derive(Debug)]
pub struct Surroundings {
    name: String,
    kernel: String,
    ptx: String,
    module: Arc<Module>,
    /// The source files that a report can quote.
    pub sources: Sources,
}

impl Surroundings {
    /// Returns the surroundings of a job. The sources are those of its package, or those around a file that was named on
    /// the command line.
    pub fn of(job: &Job) -> Self {
        let is_named = job.package.is_empty();
        let sources = if is_named {
            // The compiler can have run in any folder between the current one and the file's, so relative names are
            // tried in each.
            let outwards = job.file.path.ancestors().skip(1);
            let (own, beside) = (job.dir.as_path(), job.file.path.parent());
            let between = outwards.take_while(|dir| dir.starts_with(own));
            Sources::within(beside.into_iter().chain(between).chain([own]))
        } else {
            Sources::of_package(&job.dir)
        };
        let ptx = if is_named { job.file.display.clone() } else { openable(&job.file.path) };
        let (name, kernel, module) = (job.short_name(), job.title.clone(), Arc::clone(&job.module));
        Self { name, kernel, ptx, module, sources }
    }

    /// Returns them for the renderers. With `color`, texts contain ANSI codes.
    pub fn context(&self, color: bool) -> ReportContext<'_> {
        let Self { name, kernel, ptx, module, sources } = self;
        ReportContext { module, ptx, kernel, name, sources, color }
    }
}
