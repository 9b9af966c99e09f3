//! Test cases: kernels and launches of a package, checked once each and judged in three cases.

mod job;
mod outcome;
mod package;
mod plan;
mod trial;

pub use job::{Job, JobError};
pub use outcome::{Outcome, dead_allows};
pub use package::Package;
pub use plan::{PlanError, plan};
pub use trial::{failure, trials, trials_with};
