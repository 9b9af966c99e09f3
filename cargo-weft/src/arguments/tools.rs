//! The arguments of the commands around the checks: `init`, `graph`, `explain` and `dump`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use clap_complete::Shell;
use weft_core::finding::Code;

use super::kernels::KernelArgs;
use super::selection::Selection;

/// Arguments of `cargo weft init`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Builds the selected packages, checks their kernels without a configuration, and writes weft.toml, tests/weft.rs \
                  and the entries of Cargo.toml that the test needs. A file that is there already is left as it is."
)]
pub(crate) struct Init {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Write weft.toml only, nothing for `cargo test`
    #[arg(long)]
    pub(crate) config_only: bool,
    /// Write the launches that `cargo weft record` has kept
    #[arg(long)]
    pub(crate) from_record: bool,
    /// Print what would be written, and write nothing
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
}

/// Arguments of `cargo weft graph`. The kernels are those of `test`, or those of `check` if files are named.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Draws the warps of a cta as lanes, time downwards: generations of barriers as bars, arrivals that do not \
                  wait as arrows, and of a race the two accesses that no barrier orders. Name one kernel with --kernel.\n\n\
                  Exit codes: 0 if the picture was drawn, whatever the verdict, 101 if the kernel could not be checked, 2 if \
                  several kernels or launches match, 4 if there is none, or no such finding."
)]
pub(crate) struct GraphArgs {
    #[command(flatten)]
    pub(crate) targets: KernelArgs,
    /// The launch with this label in weft.toml, if the kernel has several
    #[arg(long, value_name = "LABEL")]
    pub(crate) launch: Option<String>,
    /// Which finding to show, by its place in the report, from 1; the first defect if it is left out
    #[arg(long, value_name = "NUMBER")]
    pub(crate) finding: Option<usize>,
    /// Write the picture to this file instead of standard output
    #[arg(short, long, value_name = "FILE.svg")]
    pub(crate) output: Option<PathBuf>,
}

/// Arguments of `cargo weft record`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Runs the command with a stand-in for the CUDA driver and runtime (libcuda.so, libcudart.so), which runs no kernel, \
                  and keeps every launch with its arguments below the target directory. `cargo weft` then checks the kernels under \
                  these launches. The program reads memory as it was copied in or set: its own assertions on results fail. \
                  Programs that nvcc links have to be linked with `-cudart shared`.\n\n\
                  Exit codes: 0 if launches were recorded, 101 if the command failed or none were seen."
)]
pub(crate) struct RecordArgs {
    /// The command and its arguments, such as `cargo test --no-fail-fast`
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
    /// Keep the record in this folder, such as `tests/launches`, where `cargo weft` and `cargo test` find it in the folder of a package
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,
    /// Add to the record that is there, instead of replacing it
    #[arg(long)]
    pub(crate) keep: bool,
    /// The device that the program sees: its target and its number of multiprocessors, such as `sm_90,132`
    #[arg(long, value_name = "TARGET[,NUMBER]", value_parser = device)]
    pub(crate) device: Option<String>,
    /// Bytes of the largest allocation whose contents are kept (65536): what kernels read from larger ones, such as indices, is open
    #[arg(long, value_name = "BYTES")]
    pub(crate) contents: Option<u64>,
    #[command(flatten)]
    manifest: clap_cargo::Manifest,
    /// The target directory, below which the record is kept
    #[arg(long, value_name = "DIR")]
    target_dir: Option<PathBuf>,
}

impl RecordArgs {
    /// Returns the workspace that the record is of.
    pub(crate) fn selection(&self) -> Selection {
        Selection::of_workspace(self.manifest.clone(), self.target_dir.clone())
    }
}

/// Arguments of `cargo weft explain`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Explain {
    /// A code, such as `shared-race`; all codes are listed if it is left out
    #[arg(value_parser = code())]
    pub(crate) code: Option<Code>,
}

/// Arguments of `cargo weft completions`.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: Shell,
}

/// Arguments of `cargo weft man`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Man {
    /// Write a page for each command to this folder, instead of the first page to standard output
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

/// Arguments of `cargo weft dump`.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Dump {
    /// The instructions of PTX, and what the checker does with each
    Isa(DumpIsa),
    /// The keys of weft.toml, as a JSON Schema for editors
    Schema,
}

/// Arguments of `cargo weft dump isa`.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DumpIsa {
    /// As a page of Markdown
    #[arg(long)]
    pub(crate) markdown: bool,
}

fn device(text: &str) -> Result<String, &'static str> {
    let wrong = "it is no target with a number of multiprocessors, such as `sm_90,132`";
    if weft_driver::is_device(text) { Ok(text.to_owned()) } else { Err(wrong) }
}

fn code() -> impl TypedValueParser<Value = Code> {
    PossibleValuesParser::new(Code::ALL.iter().map(|code| code.name()))
        .try_map(|name| Code::from_name(&name).ok_or("no such code"))
}
