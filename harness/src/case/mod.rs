//! Test cases. A package becomes jobs, one for each kernel and launch; a job is checked once and gives three test
//! cases: barriers, races on shared memory, races on global memory.

mod alike;
mod checker;
mod guard;
mod job;
mod notes;
mod outcome;
mod outside;
mod package;
mod plan;
mod recorded;
mod remedy;
mod repair;
mod standing;
mod surroundings;
mod trial;

pub use alike::{Causes, FirstFindings, alike};
pub use checker::Checker;
pub use guard::hook_panics;
pub use job::{Job, JobError};
pub use notes::{LaunchNote, launch_notes, listed};
pub use outcome::{Outcome, dead_allows};
pub use package::Package;
pub use plan::{PlanError, plan, plan_with};
pub use recorded::{LaunchSource, PackageRecords, RecordNote, names as module_names};
pub use repair::repaired;
pub use standing::Standing;
pub use surroundings::Surroundings;
pub use trial::{
    Settle, UNCHECKED_LAUNCH, failure, lost_launches, refused_calls, trials, trials_with,
};
