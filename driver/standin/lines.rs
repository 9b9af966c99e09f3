//! The file with the lines of a process.
//!
//! It stays open while the program runs, and the program might close descriptors that are not its own, as daemons do. Their numbers are then
//! those of files that the program opens: it is looked before each line whether the file is still the same.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// An open file of lines.
#[derive(Debug)]
pub(crate) struct LineFile {
    /// `None`: its descriptor is another file's.
    file: Option<File>,
    path: PathBuf,
    /// Device and number of the file.
    identity: (u64, u64),
}

fn identity(file: &File) -> io::Result<(u64, u64)> {
    let data = file.metadata()?;
    Ok((data.dev(), data.ino()))
}

/// Returns the file under a number behind those of the standard streams: in a program that has closed these, what it prints would be recorded.
fn behind_streams(file: &File) -> io::Result<File> {
    file.try_clone()
}

impl LineFile {
    /// Makes a file, which must not be there.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create_new(true).open(path)?;
        let identity = identity(&file)?;
        Ok(LineFile { file: Some(behind_streams(&file)?), path: path.to_owned(), identity })
    }

    /// Appends a line at once.
    pub(crate) fn append(&mut self, line: &str) -> io::Result<()> {
        self.release();
        if self.file.is_none() {
            let file = OpenOptions::new().append(true).open(&self.path)?;
            self.file = Some(behind_streams(&file)?);
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        file.write_all(format!("{line}\n").as_bytes())
    }

    /// Gives up a descriptor that is another file's, without closing it.
    fn release(&mut self) {
        let is_own = self
            .file
            .as_ref()
            .is_some_and(|file| identity(file).is_ok_and(|own| own == self.identity));
        if !is_own && let Some(file) = self.file.take() {
            std::mem::forget(file);
        }
    }
}

impl Drop for LineFile {
    fn drop(&mut self) {
        self.release();
    }
}
