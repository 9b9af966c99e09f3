//! The PTX of `fixtures/`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// `fixtures/` of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

/// Every fixture, in the order of the paths.
pub fn fixtures() -> io::Result<Vec<PathBuf>> {
    ptx(&root().join("ptx"))
}

/// The PTX files in a folder, in the order of the paths.
pub fn ptx(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "ptx") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}
