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
    let mut inputs = folder(&root().join("fuzz/corpus").join(target), "");
    match target {
        "reader" => inputs.extend(folder(&root().join("fixtures/ptx"), "ptx")),
        "config" => inputs.extend(readme()),
        _ => {}
    }
    inputs
}

fn folder(path: &Path, extension: &str) -> Vec<Vec<u8>> {
    let mut paths: Vec<_> = fs::read_dir(path)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.is_file()
                && (extension.is_empty() || path.extension().is_some_and(|own| own == extension))
        })
        .collect();
    paths.sort();
    paths.iter().filter_map(|path| fs::read(path).ok()).collect()
}

/// The TOML of the README.
fn readme() -> Vec<Vec<u8>> {
    let text = fs::read_to_string(root().join("README.md")).unwrap_or_default();
    let blocks = text.split("```toml\n").skip(1);
    blocks.filter_map(|block| Some(block.split("```").next()?.as_bytes().to_vec())).collect()
}
