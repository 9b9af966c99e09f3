//! Saved inputs: the fixtures' PTX, configurations as the README shows them, and what once made the checker fail
//! (`fuzz/corpus/TARGET/`).

use std::fs;
use std::path::{Path, PathBuf};

/// The workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The inputs of a target, in the order of their names.
pub fn of(target: &str) -> Vec<Vec<u8>> {
    let mut inputs = texts(files(&root().join("fuzz/corpus").join(target)));
    match target {
        "reader" => inputs.extend(fixtures()),
        "config" => inputs.extend(readme()),
        _ => {}
    }
    inputs
}

/// The PTX of the fixtures.
fn fixtures() -> Vec<Vec<u8>> {
    let mut paths = files(&root().join("fixtures/ptx"));
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ptx"));
    texts(paths)
}

/// The files in a folder and in the folders in it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// What files hold, by their names: which folders they lie in changes no trial.
fn texts(mut paths: Vec<PathBuf>) -> Vec<Vec<u8>> {
    paths.sort_by_cached_key(|path| path.file_name().map(ToOwned::to_owned));
    paths.iter().filter_map(|path| fs::read(path).ok()).collect()
}

/// The TOML of the README.
fn readme() -> Vec<Vec<u8>> {
    let text = fs::read_to_string(root().join("README.md")).unwrap_or_default();
    let blocks = text.split("```toml\n").skip(1);
    blocks.filter_map(|block| Some(block.split("```").next()?.as_bytes().to_vec())).collect()
}
