//! `--capture-nvcc`: PTX of crates whose build scripts leave only machine code.
//!
//! A copy of this program stands in front of nvcc while build scripts run. It repeats each compilation to PTX. The scripts
//! find it as nvcc on the search path, in `NVCC` and `CUDACXX`, and in `CUDA_HOME` and `CUDA_PATH`, which name a copy of the
//! toolkit made of links. Packages are built in a target directory of their own, so that all of their compilations are seen.

mod invocation;
mod toolkit;
mod wrapper;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use crate::nvcc::{self, FoundNvcc};

/// The folder in `OUT_DIR` with the captured PTX.
pub(crate) const FOLDER: &str = "weft-nvcc";
/// The ending of files that hold what nvcc said when it could not compile to PTX.
const FAILED: &str = "failed";
/// The target directory of the build, in that of the user.
const TARGET: &str = "weft/capture";

/// Why nvcc's compilations cannot be captured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CaptureError {
    #[error("--capture-nvcc: there is no nvcc in NVCC, PATH, CUDA_HOME or CUDA_PATH")]
    NoNvcc,
    #[error("--capture-nvcc: cannot prepare {}", .folder.display())]
    Prepare { folder: PathBuf, source: io::Error },
    #[error("package `{package}`: nvcc cannot compile {} to PTX: {said}", .source_file)]
    Compile { package: String, source_file: String, said: String },
}

/// What a build needs so that nvcc's compilations are captured.
#[derive(Clone, Debug)]
pub(crate) struct Capture {
    /// The target directory.
    pub(crate) target: PathBuf,
    /// Environment variables for cargo.
    pub(crate) variables: Vec<(&'static str, OsString)>,
}

impl Capture {
    /// Puts the wrapper into a folder of the user's target directory.
    pub(crate) fn prepare(target: &Path) -> Result<Self, CaptureError> {
        let nvcc = match nvcc::find() {
            Some(FoundNvcc::Named(text)) => nvcc::located(&text).ok_or(CaptureError::NoNvcc)?,
            Some(FoundNvcc::At(path)) => path,
            None => return Err(CaptureError::NoNvcc),
        };
        let target = target.join(TARGET);
        let folder = target.join("cuda");
        let failed = |source| CaptureError::Prepare { folder: folder.clone(), source };
        let wrapper = toolkit::mirror(&nvcc, &folder).map_err(failed)?;
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = [folder.join("bin")].into_iter().chain(env::split_paths(&path));
        let path = env::join_paths(folders).map_err(io::Error::other).map_err(failed)?;
        let variables = vec![
            ("PATH", path),
            ("NVCC", wrapper.clone().into()),
            ("CUDACXX", wrapper.into()),
            ("CUDA_HOME", folder.clone().into()),
            ("CUDA_PATH", folder.into()),
        ];
        Ok(Self { target, variables })
    }
}

/// The files of this program where it stands in front of nvcc.
#[derive(Debug)]
struct Wrapper {
    /// Beside the program: a file with the path of nvcc.
    path_file: PathBuf,
}

/// Runs as nvcc if this program has been started as that; returns nvcc's exit code.
pub(crate) fn as_nvcc() -> Option<ExitCode> {
    let program = env::current_exe().ok()?;
    let path_file = program.with_file_name(toolkit::PATH_FILE);
    let is_nvcc = program.file_stem().is_some_and(|stem| stem == "nvcc") && path_file.is_file();
    is_nvcc.then(|| wrapper::run(&Wrapper { path_file }))
}

/// Removes from an `OUT_DIR` what was captured before its build script ran last, and returns the compilations that failed.
pub(crate) fn settle(package: &str, out_dir: &Path) -> Vec<CaptureError> {
    // Cargo writes this file before it runs a build script.
    let stamp = out_dir.with_file_name("invoked.timestamp");
    let last = fs::metadata(stamp).and_then(|stamp| stamp.modified()).ok();
    let mut failures = Vec::new();
    settle_folder(package, &out_dir.join(FOLDER), last, &mut failures);
    failures
}

fn settle_folder(
    package: &str,
    folder: &Path,
    last: Option<SystemTime>,
    failures: &mut Vec<CaptureError>,
) {
    let mut paths: Vec<_> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            settle_folder(package, &path, last, failures);
            continue;
        }
        let made = fs::metadata(&path).and_then(|file| file.modified()).ok();
        if made < last {
            let _ = fs::remove_file(&path);
        } else if path.extension().is_some_and(|ending| ending == FAILED) {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let (source, said) = text.split_once('\n').unwrap_or((&text, ""));
            let (package, source_file) = (package.to_owned(), source.to_owned());
            failures.push(CaptureError::Compile {
                package,
                source_file,
                said: said.trim().to_owned(),
            });
        }
    }
}
