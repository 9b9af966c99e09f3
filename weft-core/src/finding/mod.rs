//! What can be said about a kernel: codes, sites and explanations.

mod advice;
mod code;
pub mod name;
mod report;
mod site;

pub use advice::Advice;
pub use code::{Check, Class, Code};
pub use report::{Assumption, Coverage, Finding, Report, Stats, ThreadPairs, Verdict};
pub use site::{Role, Site, SourceLine, Thread};
