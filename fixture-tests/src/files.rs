//! Finds the files in `fixtures/`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Returns the folder `fixtures/` of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

/// Returns the paths of all fixtures, sorted.
pub fn fixtures() -> io::Result<Vec<PathBuf>> {
    below(&root().join("ptx"), "ptx")
}

/// Returns the files with this extension in a folder and its subfolders, sorted by path.
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

/// Returns a file's path relative to a folder above it, with `/` on every system.
pub fn relative(path: &Path, folder: &Path) -> String {
    let parts = path.strip_prefix(folder).unwrap_or(path).iter();
    parts.map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}
