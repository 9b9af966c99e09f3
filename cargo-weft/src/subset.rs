//! The part of the planned kernels and launches that a command is about, as its filters select it.

use regex::Regex;
use weft_core::report::escape;
use weft_harness::case::Job;
use weft_harness::similar;

use crate::arguments::{PackageKernels, Partition};
use crate::collect::Plan;
use crate::exit::Failure;
use crate::files;
use crate::print::Printer;

/// Which kernels and launches are selected. The conditions hold together; without any, all are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Subset<'a> {
    /// Texts of which a name contains at least one; each must be contained in some name.
    pub(crate) filters: &'a [String],
    /// The pattern that the kernel's name matches.
    pub(crate) kernel: Option<&'a Regex>,
    /// The part of these.
    pub(crate) partition: Option<Partition>,
}

/// A filter that selects nothing.
#[derive(Debug, thiserror::Error)]
#[error(
    "{} `{}`; the nearest {}",
    if *.is_partial { "of the kernels that could be read, no name contains" } else { "no kernel's name contains" },
    escape(.filter),
    named(.nearest)
)]
pub(crate) struct NoKernelNamed {
    filter: String,
    nearest: Vec<String>,
    /// Whether a package or file could not be read, so that its kernels are not known.
    pub(crate) is_partial: bool,
}

impl<'a> Subset<'a> {
    /// Returns the subset that the arguments of a command select.
    pub(crate) fn new(filters: &'a [String], kernels: &'a PackageKernels) -> Self {
        Self { filters, kernel: kernels.kernel.as_ref(), partition: kernels.partition }
    }

    /// Whether everything is selected.
    pub(crate) fn is_whole(&self) -> bool {
        self.filters.is_empty() && self.kernel.is_none() && self.partition.is_none()
    }

    /// Returns the selected jobs of a plan, in its order. No filter leaves out a file that cannot be read, since its
    /// kernels are not known; of a partition it is in one shard.
    pub(crate) fn of(&self, plan: &mut Plan, printer: &mut Printer) -> Result<Vec<Job>, Failure> {
        let is_partial = !plan.failures.is_empty();
        let jobs = std::mem::take(&mut plan.packages).into_iter().flatten().collect();
        let jobs =
            filtered(files::matching(jobs, self.kernel, is_partial)?, self.filters, is_partial)?;
        let Some(partition) = self.partition else { return Ok(jobs) };
        let all = jobs.len();
        let indexed = jobs.into_iter().enumerate();
        let has = |(index, job): &(usize, Job)| partition.has(&job.name(), *index);
        let own: Vec<Job> = indexed.filter(has).map(|(_, job)| job).collect();
        let Partition { shard, of, .. } = partition;
        printer.note(&format!(
            "shard {shard} of {of} has {} of {all} kernels and launches",
            own.len()
        ));
        Ok(own)
    }
}

/// Returns the jobs whose name contains one of the filters; all if there are no filters.
fn filtered(
    jobs: Vec<Job>,
    filters: &[String],
    is_partial: bool,
) -> Result<Vec<Job>, NoKernelNamed> {
    // If no kernels are known, no filter can be wrong.
    if filters.is_empty() || jobs.iter().all(Job::is_unread) {
        return Ok(jobs);
    }
    let is_meant = |job: &Job, filter: &String| {
        let contains = |name: &str| name.contains(filter.as_str());
        !job.is_unread() && (contains(&job.short_name()) || job.kernel.is_meant(contains))
    };
    if let Some(filter) = filters.iter().find(|own| !jobs.iter().any(|job| is_meant(job, own))) {
        return Err(NoKernelNamed {
            filter: filter.clone(),
            nearest: nearest(filter, &jobs),
            is_partial: is_partial || jobs.iter().any(Job::is_unread),
        });
    }
    let is_selected =
        |job: &Job| job.is_unread() || filters.iter().any(|filter| is_meant(job, filter));
    Ok(jobs.into_iter().filter(is_selected).collect())
}

/// Returns the names of the kernels and launches that are most similar to a filter.
fn nearest(filter: &str, jobs: &[Job]) -> Vec<String> {
    /// The most names that are proposed.
    const MOST: usize = 4;
    let titles = jobs.iter().filter(|job| !job.is_unread()).map(|job| job.title.as_str());
    let mut names: Vec<String> = Vec::new();
    for (_, title) in similar::ranked(filter, titles) {
        let named = jobs.iter().filter(|job| job.title == title).map(Job::short_name);
        for name in named {
            if !names.contains(&name) && names.len() < MOST {
                names.push(name);
            }
        }
    }
    names
}

/// Lists names after "the nearest".
fn named(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [] => "name is not known".to_owned(),
        [only] => format!("name is {only}"),
        all => format!("names are {}", all.join(", ")),
    }
}
