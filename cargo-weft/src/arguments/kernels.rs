//! The kernels of packages or of files that a command is about.

use std::path::PathBuf;

use clap::Args;
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
    /// Launches and settings for the files; flags on the command line override them
    #[arg(long, value_name = "weft.toml", requires = "files")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) selection: Selection,
}

impl KernelArgs {
    /// Returns why arguments cannot be combined; `None` if they can.
    pub(super) fn conflict(&self) -> Option<&'static str> {
        if self.files.is_empty() && self.settings != CommandSettings::default() {
            Some(
                "launch flags can be given only for files, such as `FILE.ptx --block 64`; packages state their launches in weft.toml",
            )
        } else if !self.files.is_empty() && self.selection != Selection::default() {
            Some("name packages or PTX files, not both")
        } else {
            None
        }
    }
}
