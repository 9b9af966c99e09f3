//! The kernels of packages or of files that a command is about.

use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command};
use regex::Regex;

use super::selection::Selection;
use crate::settings::CommandSettings;

/// Kernels of packages, or of files.
#[derive(Clone, Debug, Args)]
pub(crate) struct KernelArgs {
    /// PTX files, instead of packages
    #[arg(value_name = "FILE.ptx")]
    pub(crate) files: Vec<PathBuf>,
    /// Only kernels whose mangled or demangled name matches
    #[arg(long, value_name = "REGEX")]
    pub(crate) kernel: Option<Regex>,
    #[command(flatten)]
    pub(crate) settings: CommandSettings,
    /// Launches and settings: for files, which flags on the command line override; for one selected package, instead of
    /// its own `weft.toml` or `[package.metadata.weft]`
    #[arg(long, value_name = "weft.toml")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) selection: Selection,
}

impl KernelArgs {
    /// Returns why arguments cannot be combined; `None` if they can. `matches`: those of the command.
    pub(super) fn conflict(&self, matches: &ArgMatches) -> Option<&'static str> {
        let settings = CommandSettings::augment_args(Command::default());
        let selection = Selection::augment_args(Command::default());
        if self.files.is_empty() && given(&settings, matches) {
            Some(
                "launch flags can be given only for files, such as `FILE.ptx --block 64`; packages state their launches in weft.toml",
            )
        } else if !self.files.is_empty() && given(&selection, matches) {
            Some("name packages or PTX files, not both")
        } else {
            None
        }
    }
}

/// Whether one of the arguments of `command` is on the command line. What all commands take does not count.
pub(super) fn given(command: &Command, matches: &ArgMatches) -> bool {
    let is_given =
        |arg: &Arg| matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
    command.get_arguments().any(|arg| !arg.is_global_set() && is_given(arg))
}
