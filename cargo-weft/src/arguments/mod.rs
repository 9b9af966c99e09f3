//! The command line: subcommands, flags and what they mean together.

mod check;
mod command;
mod environment;
mod kernels;
mod manual;
mod partition;
mod repair;
mod selection;
mod tools;

pub(crate) use check::{
    CheckArgs, List, PackageKernels, ReportArgs, SolverArgs, Test, TestOptions,
};
pub(crate) use command::{Command, OutputArgs, parse};
pub(crate) use kernels::KernelArgs;
pub(crate) use manual::{completions, pages};
pub(crate) use partition::Partition;
pub(crate) use repair::{Mutate, Repair};
pub(crate) use selection::{BuildFlags, Resolution, Selection};
pub(crate) use tools::{Completions, Dump, DumpIsa, GraphArgs, Init, Man, RecordArgs};
