//! Reads files up to a limit of bytes: a file can be arbitrarily large, and a device has no end.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _, Result};
use std::path::Path;

/// Returns the whole contents of the file at `path`, or an error if it has more than `most` bytes.
pub(crate) fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    let bytes = head(path, most.saturating_add(1))?;
    if bytes.len() as u64 > most {
        let message = format!("it has more than {most} bytes");
        return Err(Error::new(ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// As [`read`], for a regular file alone: reading another one, such as a pipe, might not end.
pub(crate) fn read_regular(path: &Path, most: u64) -> Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(Error::other("it is not a regular file"));
    }
    read(path, most)
}

/// Returns the first `most` bytes of the file at `path`, or all of them if it has fewer.
pub(crate) fn head(path: &Path, most: u64) -> Result<Vec<u8>> {
    let file = File::open(path)?;
    let size = file.metadata()?.len().min(most);
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
