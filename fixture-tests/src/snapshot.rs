//! Snapshots: a text must equal the saved file. With `BLESS=1`, the test writes the file instead.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::files;

/// Why a text differs from its snapshot.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The snapshot does not exist.
    #[error("{}: there is no such snapshot; BLESS=1 writes it:\n{actual}", path.display())]
    Absent {
        /// The snapshot.
        path: PathBuf,
        /// The text that the snapshot would contain.
        actual: String,
    },
    /// The snapshot has another text.
    #[error("{}:{line}: the snapshot differs from this line on; BLESS=1 rewrites it\n-{expected}\n+{found}\nthe whole text is now:\n{actual}", path.display())]
    Differs {
        /// The snapshot.
        path: PathBuf,
        /// First line that differs, from 1.
        line: usize,
        /// That line in the snapshot.
        expected: String,
        /// That line now.
        found: String,
        /// The whole text now.
        actual: String,
    },
    /// A snapshot that no test compares.
    #[error("{}: nothing is compared with this snapshot; remove it", path.display())]
    Leftover {
        /// The snapshot.
        path: PathBuf,
    },
    /// The snapshot cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The snapshot.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// Whether `BLESS=1` is set.
pub fn is_blessing() -> bool {
    std::env::var_os("BLESS").is_some_and(|value| value == "1")
}

/// Compares `actual` with the snapshot at `path`, or writes the snapshot if `bless` is set. Differences in line endings
/// are ignored.
pub fn compare(path: &Path, actual: &str, bless: bool) -> Result<(), SnapshotError> {
    let io = |source| SnapshotError::Io { path: path.to_path_buf(), source };
    let saved = match fs::read_to_string(path) {
        Ok(text) => Some(text.replace("\r\n", "\n")),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(io(error)),
    };
    if saved.as_deref() == Some(actual) {
        return Ok(());
    }
    if bless {
        return fs::write(path, actual).map_err(io);
    }
    let Some(saved) = saved else {
        return Err(SnapshotError::Absent { path: path.to_path_buf(), actual: actual.to_owned() });
    };
    let common = saved.lines().zip(actual.lines()).take_while(|(a, b)| a == b).count();
    let line_of = |text: &str| text.lines().nth(common).unwrap_or_default().to_owned();
    Err(SnapshotError::Differs {
        path: path.to_path_buf(),
        line: common + 1,
        expected: line_of(&saved),
        found: line_of(actual),
        actual: actual.to_owned(),
    })
}

/// Returns an error for each file below `dir` with this extension that is not among `compared`, sorted by path.
pub fn leftovers(
    dir: &Path,
    extension: &str,
    compared: &BTreeSet<PathBuf>,
) -> Result<Vec<SnapshotError>, SnapshotError> {
    let io = |source| SnapshotError::Io { path: dir.to_path_buf(), source };
    let saved = files::below(dir, extension).map_err(io)?.into_iter();
    let left = saved.filter(|path| !compared.contains(path));
    Ok(left.map(|path| SnapshotError::Leftover { path }).collect())
}
