//! The saved inputs: the PTX of the fixtures, the configurations in the documentation, and inputs on which the checker once
//! failed (`fuzz/corpus/TARGET/`).

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the root of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the saved inputs of a target, sorted by file name.
pub fn of(target: &str) -> Vec<Vec<u8>> {
    let mut inputs = texts(files(&root().join("fuzz/corpus").join(target)));
    match target {
        "reader" => inputs.extend(fixtures()),
        "config" => inputs.extend(documentation()),
        _ => {}
    }
    inputs
}

/// Returns the PTX of the fixtures.
fn fixtures() -> Vec<Vec<u8>> {
    let mut paths = files(&root().join("fixtures/ptx"));
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ptx"));
    texts(paths)
}

/// Returns the files in a folder and its subfolders.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Returns the contents of the files, sorted by file name, so that the folders of fixtures do not affect the trials.
fn texts(mut paths: Vec<PathBuf>) -> Vec<Vec<u8>> {
    paths.sort_by_cached_key(|path| path.file_name().map(ToOwned::to_owned));
    paths.iter().filter_map(|path| fs::read(path).ok()).collect()
}

/// Returns the TOML examples of the documentation.
fn documentation() -> Vec<Vec<u8>> {
    let mut pages = files(&root().join("docs"));
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.push(root().join("README.md"));
    let examples = |page: Vec<u8>| {
        let text = String::from_utf8_lossy(&page).into_owned();
        let blocks = text.split("```toml\n").skip(1);
        let blocks =
            blocks.filter_map(|block| Some(block.split("```").next()?.as_bytes().to_vec()));
        blocks.collect::<Vec<_>>()
    };
    texts(pages).into_iter().flat_map(examples).collect()
}
