//! Where the CUDA compiler is, for build scripts that use `weft-build` or look it up in the same way.

use std::env;
use std::path::{Path, PathBuf};

/// The CUDA compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FoundNvcc {
    /// What the variable `NVCC` says: a program, or one with arguments.
    Named(String),
    /// A file on the search path or in the CUDA toolkit.
    At(PathBuf),
}

/// Returns the compiler that build scripts call; `None` if there is none.
pub(crate) fn find() -> Option<FoundNvcc> {
    match env::var_os("NVCC").filter(|named| !named.is_empty()) {
        Some(named) => Some(FoundNvcc::Named(named.to_string_lossy().into_owned())),
        None => on_path("nvcc").map(FoundNvcc::At),
    }
}

/// Returns the file of the compiler that `NVCC` names: its only or its last word, so that `ccache nvcc` is nvcc.
pub(crate) fn located(named: &str) -> Option<PathBuf> {
    if Path::new(named).is_file() {
        return Some(PathBuf::from(named));
    }
    let word = named.split_whitespace().last()?;
    if Path::new(word).is_file() { Some(PathBuf::from(word)) } else { on_path(word) }
}

/// Returns a program on the search path or in the toolkits that `CUDA_HOME` and `CUDA_PATH` name.
fn on_path(name: &str) -> Option<PathBuf> {
    let name = Path::new(name).with_extension(env::consts::EXE_EXTENSION);
    let home = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(env::var_os);
    let homes = home.map(|home| PathBuf::from(home).join("bin"));
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).chain(homes).map(|dir| dir.join(&name)).find(|file| file.is_file())
}
