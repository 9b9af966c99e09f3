//! The arguments of the commands that check kernels and say what they found: `test`, `check`, `report` and `list`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::FalseyValueParser;
use regex::Regex;

use super::kernels::KernelArgs;
use super::partition::Partition;
use super::selection::{MostArgs, Selection};
use crate::options::{ListFormat, MessageFormat};
use crate::settings::CommandSettings;
use crate::solver::{Solver, SolverError};

/// Which kernels of packages, and under which launches.
#[derive(Clone, Debug, Args)]
pub(crate) struct PackageKernels {
    /// Only kernels whose mangled or demangled name matches
    #[arg(long, value_name = "REGEX")]
    pub(crate) kernel: Option<Regex>,
    /// Only this part of the kernels and launches: `hash:M/N`, shard M of N, or `count:M/N`
    #[arg(long, value_name = "PARTITION", env = "WEFT_PARTITION")]
    pub(crate) partition: Option<Partition>,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Launches and settings, instead of the package's own `weft.toml` or `[package.metadata.weft]`; for one selected package
    #[arg(long, value_name = "weft.toml")]
    pub(crate) config: Option<PathBuf>,
}

/// Arguments of `cargo weft test`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Test {
    /// Only kernels and launches whose name contains one of these texts: the name that `list` prints, or the mangled or
    /// demangled name of the kernel
    #[arg(value_name = "KERNEL")]
    pub(crate) filters: Vec<String>,
    #[command(flatten)]
    pub(crate) options: TestOptions,
}

/// The flags of `cargo weft test`, which are also those of `cargo weft` without a subcommand.
#[derive(Clone, Debug, Args)]
pub(crate) struct TestOptions {
    #[command(flatten)]
    pub(crate) kernels: PackageKernels,
    /// Check every kernel anew, and neither read nor write kept verdicts
    #[arg(long, env = "WEFT_NO_CACHE", value_parser = FalseyValueParser::new())]
    pub(crate) no_cache: bool,
    #[command(flatten)]
    pub(crate) solver: SolverArgs,
    /// How to print what was found
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t, env = "WEFT_MESSAGE_FORMAT")]
    pub(crate) message_format: MessageFormat,
}

/// Arguments of `cargo weft list`.
#[derive(Clone, Debug, Args)]
pub(crate) struct List {
    /// Only kernels and launches whose name contains one of these texts: the name that is printed, or the mangled or
    /// demangled name of the kernel
    #[arg(value_name = "KERNEL")]
    pub(crate) filters: Vec<String>,
    #[command(flatten)]
    pub(crate) kernels: PackageKernels,
    /// How to print the kernels
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) message_format: ListFormat,
}

/// Arguments of `cargo weft check`.
#[derive(Clone, Debug, Args)]
pub(crate) struct CheckArgs {
    /// PTX files
    #[arg(required_unless_present = "record", value_name = "FILE.ptx")]
    pub(crate) files: Vec<PathBuf>,
    /// Check the kernels of the record of launches in this folder, and those of the files under its launches
    #[arg(long, value_name = "DIR")]
    pub(crate) record: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) most: MostArgs,
    /// Only kernels whose mangled or demangled name matches
    #[arg(long, value_name = "REGEX")]
    pub(crate) kernel: Option<Regex>,
    #[command(flatten)]
    pub(crate) settings: CommandSettings,
    /// Launches and settings; flags on the command line override them
    #[arg(long, value_name = "weft.toml")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) solver: SolverArgs,
    /// How to print what was found
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t, env = "WEFT_MESSAGE_FORMAT")]
    pub(crate) message_format: MessageFormat,
}

/// Which other program is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct SolverArgs {
    /// An SMT solver, asked about races that are neither proved nor refuted: `z3`, `cvc5` or another program,
    /// with its options; it is given the path of an SMT-LIB script
    #[arg(long, value_name = "COMMAND", env = "WEFT_SOLVER")]
    solver: Option<String>,
}

impl SolverArgs {
    /// Returns the solver that is named, if there is one and it answers.
    pub(crate) fn solver(&self) -> Result<Option<Solver>, SolverError> {
        self.solver.as_deref().map(Solver::of_command).transpose()
    }
}

/// Arguments of `cargo weft report`. The kernels are those of `test`, or those of `check` if files are named.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Writes one page that needs no other file and no network: the verdicts, the findings with their source lines \
                  and pictures of races, the assumptions, and what the codes mean. Prints the path of the page.\n\n\
                  Exit codes: those of `test`."
)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) targets: KernelArgs,
    /// Check every kernel anew, and neither read nor write kept verdicts
    #[arg(long, env = "WEFT_NO_CACHE", value_parser = FalseyValueParser::new())]
    pub(crate) no_cache: bool,
    #[command(flatten)]
    pub(crate) solver: SolverArgs,
    /// Write the page to this file instead of `weft/report.html` below the target directory
    #[arg(short, long, value_name = "FILE.html")]
    pub(crate) output: Option<PathBuf>,
}
