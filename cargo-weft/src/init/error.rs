//! Why `cargo weft init` writes nothing.

use std::path::PathBuf;

use weft_harness::record::Record;

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
    #[error(
        "no launches are recorded, neither in {} nor in the `{}` of a package: run `cargo weft record -- COMMAND`, such as \
         `cargo weft record -- cargo test --no-fail-fast`, or leave out --from-record",
        .0.display(), Record::SAVED
    )]
    NoRecord(PathBuf),
}
