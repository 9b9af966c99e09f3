//! The arguments of the commands that change synchronization: `mutate` and `repair`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::kernels::KernelArgs;
use crate::options::Format;

/// Arguments of `cargo weft mutate`. The kernels are those of `test`, or those of `check` if files are named.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Deletes each barrier, warp barrier and arrival of a clean kernel, weakens it, makes each atomic a load \
                  and a store, and checks again. What is clean even so is advice: the kernel does not need it for this \
                  launch.\n\nExit codes: those of `test` for the kernels as they stand; advice changes none. 101 also if \
                  a mutant could not be checked."
)]
pub(crate) struct Mutate {
    #[command(flatten)]
    pub(crate) targets: KernelArgs,
    /// How to print the advice
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) message_format: Format,
}

/// Arguments of `cargo weft repair`. The kernels are those of `test`, or those of `check` if files are named.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Inserts the cheapest barriers that make a racing kernel clean for all its launches, each placement checked. \
                  Nothing is changed without --write or -o.\n\nExit codes: 0 if every kernel is clean or mended, 100 if barriers \
                  do not mend a kernel with a defect, 102 if they do not mend one with open questions, 101 if something could \
                  not be checked. With --write, a kernel whose source is left as it is counts as not mended."
)]
pub(crate) struct Repair {
    #[command(flatten)]
    pub(crate) targets: KernelArgs,
    /// Find the cheapest barriers of clean kernels instead, those that they have included
    #[arg(long, conflicts_with_all = ["write", "output"])]
    pub(crate) minimize: bool,
    /// Change the source files
    #[arg(long)]
    pub(crate) write: bool,
    /// Change them even if git has uncommitted changes, or if there is no git
    #[arg(long, requires = "write")]
    pub(crate) allow_dirty: bool,
    /// Write the changed PTX to this file, if the kernels are of one file
    #[arg(short, long, value_name = "FILE.ptx")]
    pub(crate) output: Option<PathBuf>,
    /// The factor of a barrier's cost for each loop around it
    #[arg(long, value_name = "FACTOR", default_value = "100", value_parser = factor, allow_hyphen_values = true)]
    pub(crate) loop_cost: f64,
    /// The factor of a barrier's cost for each condition around it
    #[arg(long, value_name = "FACTOR", default_value = "0.5", value_parser = factor, allow_hyphen_values = true)]
    pub(crate) if_cost: f64,
    /// The most placements to check for a kernel
    #[arg(long, value_name = "NUMBER", default_value = "200")]
    pub(crate) checks: NonZeroUsize,
    /// How to print the changes
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) message_format: Format,
}

/// Returns a factor of a cost.
fn factor(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if (1e-3..=1e6).contains(&factor) => Ok(factor),
        _ => Err("a factor is a number from 0.001 to 1000000".to_owned()),
    }
}
