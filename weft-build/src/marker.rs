//! The marker beside PTX in `OUT_DIR` that is a copy of saved PTX. cargo-weft and weft-harness read it, and say that the
//! source was not compiled in this build, or refuse to check PTX that is older than its source.
//!
//! `NAME.ptx.saved` has a key and a value on each line; readers skip keys that they do not know:
//!
//! | key | value |
//! |---|---|
//! | `saved` | the saved PTX, relative to the package |
//! | `source` | the source, relative to the package |
//! | `remedy` | how to have the source compiled |
//! | `current` | nothing: the stamp of the PTX fits the sources as they are now |
//! | `changed` | a source that has changed since the PTX was compiled; one line for each |
//! | `unknown` | why it is not known whether the sources have changed |

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::stamp::Freshness;

/// What the marker says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SavedMarker<'a> {
    /// The saved PTX, relative to the package.
    pub(crate) saved: &'a str,
    /// The source, relative to the package.
    pub(crate) source: &'a str,
    /// How to have the source compiled.
    pub(crate) remedy: &'a str,
    /// Whether the saved PTX is that of the source.
    pub(crate) freshness: &'a Freshness,
}

impl SavedMarker<'_> {
    /// Writes the marker of the PTX file `ptx`.
    pub(crate) fn write(self, ptx: &Path) -> io::Result<()> {
        fs::write(beside(ptx), self.text())
    }

    fn text(self) -> String {
        let Self { saved, source, remedy, freshness } = self;
        let state = match freshness {
            Freshness::Current => "current\n".to_owned(),
            Freshness::Changed(files) => {
                let line = |file: &String| format!("changed {file}\n");
                files.iter().map(line).collect::<Vec<_>>().concat()
            }
            Freshness::Unknown(why) => format!("unknown {why}\n"),
        };
        format!("saved {saved}\nsource {source}\nremedy {remedy}\n{state}")
    }
}

/// Removes the marker of a PTX file, if there is one.
pub(crate) fn remove(ptx: &Path) -> io::Result<()> {
    match fs::remove_file(beside(ptx)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Returns the path of the marker of a PTX file.
fn beside(ptx: &Path) -> PathBuf {
    let mut path = ptx.as_os_str().to_owned();
    path.push(".saved");
    path.into()
}
