//! Test cases: kernels and launches of a package, checked once each and judged in three cases.

mod guard;
mod job;
mod outcome;
mod package;
mod plan;
mod trial;

pub use guard::hook_panics;
pub use job::{Checker, Job, JobError};
pub use outcome::{Outcome, dead_allows};
pub use package::Package;
pub use plan::{PlanError, plan, plan_with};
pub use trial::{failure, trials, trials_with};
