//! Files read up to a limit: how large they are is up to whoever wrote them, and a device has no end.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _, Result};
use std::path::Path;

/// All of a file that has at most `most` bytes.
pub(crate) fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    let bytes = head(path, most.saturating_add(1))?;
    if bytes.len() as u64 > most {
        let message = format!("it has more than {most} bytes");
        return Err(Error::new(ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// Its first `most` bytes, or all.
pub(crate) fn head(path: &Path, most: u64) -> Result<Vec<u8>> {
    let file = File::open(path)?;
    let size = file.metadata()?.len().min(most);
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
