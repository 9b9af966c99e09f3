//! The command line: subcommands, flags and what they mean together.

mod check;
mod command;
mod kernels;
mod repair;
mod selection;
mod tools;

pub(crate) use check::{CheckArgs, List, ReportArgs, SolverArgs, Test, TestOptions};
pub(crate) use command::{Command, OutputArgs, parse};
pub(crate) use kernels::KernelArgs;
pub(crate) use repair::{Mutate, Repair};
pub(crate) use selection::{Resolution, Selection};
pub(crate) use tools::{Dump, DumpIsa, GraphArgs, Init};
