//! A `weft.toml` that no package has: at the root of a workspace without a package there.

use std::path::{Path, PathBuf};

use crate::select::Group;

/// A configuration that nothing reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} is ignored: it is in the folder of a workspace, where there is no package; put it beside the Cargo.toml of the \
     package whose kernels it is about",
    .0.display()
)]
pub(crate) struct IgnoredConfig(PathBuf);

impl IgnoredConfig {
    /// Returns those of the workspaces of some groups.
    pub(crate) fn of(groups: &[Group]) -> Vec<Self> {
        let of_group = |group: &Group| {
            let file = group.manifest.parent().unwrap_or(Path::new("")).join("weft.toml");
            let is_ignored = group.is_virtual && file.symlink_metadata().is_ok();
            is_ignored.then_some(Self(file))
        };
        groups.iter().filter_map(of_group).collect()
    }
}
