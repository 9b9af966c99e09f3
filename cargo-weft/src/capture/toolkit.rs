//! A copy of the CUDA toolkit made of links, with this program in place of nvcc.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::{env, process};

/// The file beside the wrapper that holds the path of nvcc.
pub(super) const PATH_FILE: &str = "nvcc.path";

/// Makes the copy in `folder`, or brings it up to date, and returns the path of the wrapper in it. On systems where links
/// need privileges the copy holds the wrapper alone.
pub(super) fn mirror(nvcc: &Path, folder: &Path) -> io::Result<PathBuf> {
    let nvcc = nvcc.canonicalize()?;
    let bin = folder.join("bin");
    fs::create_dir_all(&bin)?;
    if let Some(own) = nvcc.parent() {
        link_all(own, &bin, "nvcc")?;
        if let Some(toolkit) = own.parent() {
            link_all(toolkit, folder, "bin")?;
        }
    }
    whole(&bin.join(PATH_FILE), |path| fs::write(path, nvcc.as_os_str().as_encoded_bytes()))?;
    let wrapper = bin.join("nvcc").with_extension(env::consts::EXE_EXTENSION);
    let program = env::current_exe()?;
    // Not a symbolic link: the program knows by its own path what it is.
    whole(&wrapper, |path| {
        fs::hard_link(&program, path).or_else(|_| fs::copy(&program, path).map(drop))
    })?;
    Ok(wrapper)
}

/// Writes a file so that other processes see it whole.
fn whole(path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let temporary = path.with_extension(format!("{}.tmp", process::id()));
    write(&temporary)?;
    fs::rename(&temporary, path)
}

/// Links the entries of a folder into another one, all but one.
#[cfg(unix)]
fn link_all(from: &Path, to: &Path, without: &str) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let link = to.join(entry.file_name());
        if entry.file_name() != without && fs::read_link(&link).ok() != Some(entry.path()) {
            let _ = fs::remove_file(&link);
            match std::os::unix::fs::symlink(entry.path(), &link) {
                // Another `cargo weft` was faster.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                result => result?,
            }
        }
    }
    Ok(())
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "it has an error where links are made")]
fn link_all(_from: &Path, _to: &Path, _without: &str) -> io::Result<()> {
    Ok(())
}
