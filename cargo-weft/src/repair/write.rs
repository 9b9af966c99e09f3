//! Writes what a repair changes: sources, and PTX.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use weft_harness::render::openable;

/// Why nothing is written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    #[error(
        "nothing is written: {} has uncommitted changes; commit them first, so that the repair can be undone, or allow it by \
         --allow-dirty",
        openable(.0)
    )]
    Dirty(PathBuf),
    #[error(
        "nothing is written: {} is not kept by git, so that the repair could not be undone; allow it by --allow-dirty",
        openable(.0)
    )]
    NoGit(PathBuf),
    #[error("{} has changed since it was read", .0.display())]
    Changed(PathBuf),
    #[error("cannot write {}", .0.display())]
    Write(PathBuf, #[source] std::io::Error),
    #[error("-o takes the PTX of one file, and kernels of {0} files change")]
    SeveralFiles(usize),
}

/// Returns an error if a change of a file could not be undone by git.
///
/// # Errors
/// Git does not keep the file, or the file has uncommitted changes.
pub(crate) fn clean_tree(path: &Path) -> Result<(), WriteError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    // What git says, if it answers without an error.
    let git = |arguments: &[&OsStr]| {
        let output = Command::new("git").args(arguments).current_dir(folder).output();
        output.ok().filter(|output| output.status.success()).map(|output| output.stdout)
    };
    let [list, unmatched, end] = ["ls-files", "--error-unmatch", "--"].map(OsStr::new);
    let is_kept = git(&[list, unmatched, end, path.as_os_str()]).is_some();
    let [status, brief] = ["status", "--porcelain"].map(OsStr::new);
    match git(&[status, brief, end, path.as_os_str()]).filter(|_| is_kept) {
        Some(changed) if changed.is_empty() => Ok(()),
        Some(_) => Err(WriteError::Dirty(path.to_owned())),
        None => Err(WriteError::NoGit(path.to_owned())),
    }
}

/// Replaces the contents of a file. `old`: what it must contain, if it is there already.
///
/// # Errors
/// The file contains something else, or cannot be written.
pub(crate) fn write(path: &Path, old: Option<&str>, new: &str) -> Result<(), WriteError> {
    let failed = |error| WriteError::Write(path.to_owned(), error);
    if let Some(old) = old
        && fs::read(path).map_err(failed)? != old.as_bytes()
    {
        return Err(WriteError::Changed(path.to_owned()));
    }
    fs::write(path, new).map_err(failed)
}
