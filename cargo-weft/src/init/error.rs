//! Why `cargo weft init` writes nothing.

use std::path::PathBuf;

use super::manifest::ManifestError;

/// Why a file is not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InitError {
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    #[error("cannot read {}", .0.display())]
    Read(PathBuf, #[source] std::io::Error),
    #[error("cannot write {}", .0.display())]
    Write(PathBuf, #[source] std::io::Error),
}
