//! What a report can say about a kernel: codes, sites, assumptions and verdicts.

mod advice;
mod assumption;
mod cause;
mod chart;
mod code;
pub mod name;
mod report;
mod site;

pub use advice::Advice;
pub use assumption::{Alignment, Assumption};
pub use cause::Cause;
pub use chart::{
    Chart, ChartFold, ChartGeneration, ChartLane, ChartMark, ChartRow, ChartStop, Disorder,
    GenerationFate, Participant,
};
pub use code::{Check, Class, Code};
pub use report::{Coverage, Finding, ProvedFor, Report, Stats, ThreadPairs, Verdict};
pub(crate) use site::point;
pub use site::{Role, Site, SourceLine, Thread};
