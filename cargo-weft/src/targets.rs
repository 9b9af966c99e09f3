//! The kernels that a command is about: those of packages, or those of files.

use weft_harness::case::{Checker, Job};

use crate::arguments::KernelArgs;
use crate::collect::{self, Plan};
use crate::exit::Failure;
use crate::files::{self, FileJobs, Files};
use crate::print::Printer;

/// Returns the selected kernels with the launches that are not skipped, and the number of packages or files that could not be read.
pub(crate) fn jobs(
    targets: &KernelArgs,
    printer: &mut Printer,
) -> Result<(Vec<Job>, usize), Failure> {
    let (mut jobs, failed) = if targets.files.is_empty() {
        of_packages(targets, printer)?
    } else {
        of_files(targets, printer)?
    };
    jobs.retain(|job| job.skip.is_none());
    Ok((jobs, failed))
}

/// Returns the kernels of the selected packages, and the number of packages that could not be planned.
fn of_packages(targets: &KernelArgs, printer: &mut Printer) -> Result<(Vec<Job>, usize), Failure> {
    let Plan { packages, failures, .. } =
        collect::plan(&targets.selection, targets.config.as_deref(), &Checker::default(), printer)?;
    for failure in &failures {
        printer.failure(failure);
    }
    let jobs = packages.into_iter().flatten().collect();
    let jobs = files::matching(jobs, targets.kernel.as_ref(), !failures.is_empty())?;
    Ok((jobs, failures.len()))
}

/// Returns the kernels of the files, and the number of files that could not be read.
fn of_files(targets: &KernelArgs, printer: &mut Printer) -> Result<(Vec<Job>, usize), Failure> {
    let FileJobs { jobs, failures, .. } =
        files::jobs(Files::of(targets, &Checker::default()), printer)?;
    Ok((jobs, failures.len()))
}
