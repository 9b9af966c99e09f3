//! Repairs a kernel under all its launches together.

use rayon::prelude::*;
use weft_core::finding::Report;
use weft_core::launch::{BarrierDivergence, Launch, Options};
use weft_core::ptx::Module;
use weft_core::repair::{
    self, Aim, Costs, Counterexamples, KernelRepair, RepairRequest, Uniformity,
};

use super::guard::guarded;
use super::{Job, JobError};

/// Finds the cheapest barriers with which a kernel is clean under every launch. `jobs`: the launches of one kernel;
/// `is_source`: whether the author can change the file that the compiler calls by this name.
///
/// # Errors
/// A launch that does not fit the kernel, or a failure of the checker. No jobs: the kernel is clean.
pub fn repaired(
    jobs: &[&Job],
    aim: (Aim, Costs),
    most_checks: usize,
    is_source: &dyn Fn(&str) -> bool,
) -> Result<KernelRepair, JobError> {
    repaired_with(jobs, aim, most_checks, is_source, &|_, launch| launch)
}

/// Like [`repaired`], under launches that `launch` makes of those of the jobs.
pub(super) fn repaired_with(
    jobs: &[&Job],
    (aim, costs): (Aim, Costs),
    most_checks: usize,
    is_source: &dyn Fn(&str) -> bool,
    launch: &(dyn Fn(&Job, Launch) -> Launch + Sync),
) -> Result<KernelRepair, JobError> {
    let Some(first) = jobs.first() else {
        let outcome = repair::RepairOutcome::Unchanged { is_least: true };
        return Ok(KernelRepair { outcome, superfluous: Vec::new(), checks: 0 });
    };
    for job in jobs {
        job.outcome().report.as_ref().map_err(JobError::clone)?;
    }
    let (module, kernel) = (&*first.module, first.kernel.mangled.as_str());
    let request = RepairRequest { module, kernel, aim, costs, most_checks, is_source };
    let mut failed = vec![Counterexamples::default(); jobs.len()];
    let mut check = |changed: &Module, uniformity, depth| -> Result<Vec<Report>, JobError> {
        let check = |(job, failed): (&&Job, &mut Counterexamples)| {
            let own = Launch { options: options(job, uniformity), ..job.launch.clone() };
            failed.check(&own, depth, |own| job.changed(changed, &launch(job, own.clone())))
        };
        jobs.par_iter().zip(&mut failed).map(check).collect()
    };
    guarded(&format!("the repair of {}", first.short_name()), || {
        repair::repair(&request, &mut check)
    })?
}

/// The options of a job, with the rule about barriers that is asked for. Where nobody states the launch, only a concrete
/// input shows a race; otherwise none is tried.
fn options(job: &Job, uniformity: Uniformity) -> Options {
    let options = job.launch.options;
    let witness = if job.launch.block.is_some() { 0 } else { options.witness };
    let barrier_divergence = match uniformity {
        Uniformity::Cta => BarrierDivergence::Cta,
        Uniformity::Launch => options.barrier_divergence,
    };
    Options { witness, barrier_divergence, ..options }
}
