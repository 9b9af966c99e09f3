//! Where a run takes place: what paths are relative to, and the packages of the kernels.

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;

use cargo_metadata::Package;

/// The folder and the packages of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunContext {
    /// The folder of the workspace; `None` for files that are checked without cargo.
    pub(crate) workspace: Option<PathBuf>,
    /// The packages by their folders.
    pub(crate) crates: BTreeMap<PathBuf, Package>,
}

impl RunContext {
    /// Returns the folder of the workspace, or else the current one.
    pub(super) fn folder(&self) -> PathBuf {
        self.workspace.clone().or_else(|| env::current_dir().ok()).unwrap_or_default()
    }

    /// Returns the root of the repository that the folder is in; the folder itself if it is in none.
    pub(super) fn repository(&self) -> PathBuf {
        let folder = self.folder();
        let root = folder.ancestors().find(|folder| folder.join(".git").exists());
        root.unwrap_or(&folder).to_path_buf()
    }
}
