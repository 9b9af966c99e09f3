//! The PTX files that a build script makes in `OUT_DIR`: no two sources make the same one, and those that an earlier run
//! made go before the first is made anew, so that none stays of a source that the script does not compile any more.
//!
//! `OUT_DIR/weft-build.txt` lists what the last run made: a hash of the text and a name on each line. A file with another
//! text is not removed, since something else has written it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::{fs, io};

use crate::{hash, marker};

/// The name of the list.
const LIST: &str = "weft-build.txt";

/// Those of this process, since each source is compiled by a call of its own.
static OF_PROCESS: LazyLock<OutputFiles> = LazyLock::new(OutputFiles::default);

/// The PTX files of a run of a build script.
#[derive(Clone, Debug, Default)]
pub(crate) struct OutputFiles {
    shared: Arc<Mutex<RunOutputs>>,
}

#[derive(Debug, Default)]
struct RunOutputs {
    /// The folders from which what the last run made is removed.
    begun: Vec<PathBuf>,
    /// The source of each file.
    sources: BTreeMap<PathBuf, String>,
    /// The hash of each file that is made.
    made: BTreeMap<PathBuf, u64>,
}

impl OutputFiles {
    /// Returns those of this process.
    pub(crate) fn of_process() -> Self {
        OF_PROCESS.clone()
    }

    /// Has `source` make the file `ptx` in the folder `out`. Returns the source that makes it already, if there is one.
    pub(crate) fn claim(&self, out: &Path, ptx: &Path, source: &str) -> Option<String> {
        let mut claims = self.claims();
        if !claims.begun.iter().any(|own| own == out) {
            remove_made(out);
            claims.begun.push(out.to_owned());
        }
        if let Some(other) = claims.sources.get(ptx) {
            return Some(other.clone());
        }
        claims.sources.insert(ptx.to_owned(), source.to_owned());
        None
    }

    /// Takes back a claim: the source has not been compiled.
    pub(crate) fn release(&self, ptx: &Path) {
        self.claims().sources.remove(ptx);
    }

    /// Adds the file to the list in the folder `out`.
    pub(crate) fn made(&self, out: &Path, ptx: &Path) -> io::Result<()> {
        let mut claims = self.claims();
        claims.made.insert(ptx.to_owned(), hash::of_text(&fs::read(ptx)?));
        let line = |(ptx, hash): (&PathBuf, &u64)| {
            let name = ptx.strip_prefix(out).ok()?.to_str()?;
            Some(format!("{hash:016x} {name}\n"))
        };
        let list: Vec<String> = claims.made.iter().filter_map(line).collect();
        fs::write(out.join(LIST), list.concat())
    }

    fn claims(&self) -> MutexGuard<'_, RunOutputs> {
        // Every change of the claims is complete at once: a thread that panicked leaves nothing half done.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes what the last run made in a folder. What cannot be removed stays: it is a leftover, and no reason to fail.
fn remove_made(out: &Path) {
    let list = fs::read_to_string(out.join(LIST)).unwrap_or_default();
    for (hash, name) in list.lines().filter_map(|line| line.split_once(' ')) {
        let ptx = out.join(name);
        let is_own =
            fs::read(&ptx).is_ok_and(|own| format!("{:016x}", hash::of_text(&own)) == hash);
        if is_own {
            let _ = fs::remove_file(&ptx);
            let _ = fs::remove_file(ptx.with_extension("d"));
            let _ = marker::remove(&ptx);
        }
    }
}
