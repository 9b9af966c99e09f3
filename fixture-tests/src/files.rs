//! What lies in `fixtures/`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// `fixtures/` of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

/// Every fixture, in the order of the paths.
pub fn fixtures() -> io::Result<Vec<PathBuf>> {
    below(&root().join("ptx"), "ptx")
}

/// The files with an extension in a folder and the folders in it, in the order of the paths.
pub fn below(folder: &Path, extension: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(below(&path, extension)?);
        } else if path.extension().is_some_and(|own| own == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// A file's path from a folder above it, with `/` on every system.
pub fn relative(path: &Path, folder: &Path) -> String {
    let parts = path.strip_prefix(folder).unwrap_or(path).iter();
    parts.map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}
