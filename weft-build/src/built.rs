//! The PTX of a kernel source: what the compiler made of it, or what is saved beside it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use crate::attempt::Attempt;
use crate::depfile;
use crate::marker::{self, SavedMarker};
use crate::script::BuildScript;
use crate::stamp::{self, Freshness};

/// Number of lines of a compiler's messages that are passed on as warnings.
const LINES: usize = 20;

/// PTX in `OUT_DIR`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltPtx {
    /// The file in `OUT_DIR`.
    pub path: PathBuf,
    /// The file that it was made of, relative to the package: the source, or the saved PTX if the source was not compiled.
    pub from: String,
    /// Whether the source was compiled.
    pub is_compiled: bool,
}

/// Why there is no PTX. `Debug` is the same text as `Display`, since that is what cargo shows of the `main` function of a
/// build script.
#[derive(thiserror::Error)]
pub enum BuildError {
    /// A variable that cargo sets for build scripts is missing.
    #[error("{variable} is not set: this is for build scripts, which cargo runs")]
    NoScript {
        /// The variable.
        variable: &'static str,
    },
    /// The source is not there.
    #[error("there is no file {}", path.display())]
    NoSource {
        /// The path that was looked up.
        path: PathBuf,
    },
    /// There is neither a compiler nor saved PTX.
    #[error(
        "no compiler for {source_file}, and {lack}: {remedy}; or name PTX that another machine compiled as `saved`"
    )]
    NoCompiler {
        /// The source.
        source_file: String,
        /// Why there is no saved PTX.
        lack: String,
        /// How to get a compiler.
        remedy: &'static str,
    },
    /// The compiler cannot compile the source, and there is no saved PTX.
    #[error("{source_file} cannot be compiled, and {lack}:\n{said}")]
    Refused {
        /// The source.
        source_file: String,
        /// Why there is no saved PTX.
        lack: String,
        /// What the compiler said.
        said: String,
    },
    /// The saved PTX cannot be copied to `OUT_DIR`.
    #[error("cannot copy {} to {}: {error}", saved.display(), ptx.display())]
    Saved {
        /// The saved PTX.
        saved: PathBuf,
        /// The file in `OUT_DIR`.
        ptx: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// Two sources make the same file.
    #[error(
        "{source_file} and {other} both make {file} in OUT_DIR, and one would be lost: give one of them another `name`, \
         without `.ptx`"
    )]
    SameName {
        /// The source.
        source_file: String,
        /// The source that has made the file already; the same one if it is compiled twice.
        other: String,
        /// The name of the file.
        file: String,
    },
    /// A file in `OUT_DIR` cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// Cargo's end of standard output is closed.
    #[error("cannot tell cargo when to run the build script again: {0}")]
    Cargo(io::Error),
}

impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The files of a compilation.
pub(crate) struct Compilation<'a> {
    /// The source, relative to the package.
    pub(crate) source: &'a str,
    /// The saved PTX, relative to the package, or why there is none.
    pub(crate) saved: Result<&'a str, String>,
    /// The PTX in `OUT_DIR`.
    pub(crate) ptx: PathBuf,
    /// The file in which the compiler lists what it read.
    pub(crate) depfile: PathBuf,
    /// Folders in which the source might include files.
    pub(crate) include: &'a [&'a str],
    /// The options of the compiler that are the same on other machines.
    pub(crate) options: String,
}

impl<'a> Compilation<'a> {
    /// Returns the files of a compilation of `source` to `name.ptx`, and has cargo watch those that are known.
    pub(crate) fn new(
        script: &mut BuildScript<'_>,
        source: &'a str,
        name: &str,
        saved: Option<&'a str>,
    ) -> Result<Self, BuildError> {
        let path = script.package()?.join(source);
        if !path.is_file() {
            return Err(BuildError::NoSource { path });
        }
        script.watch(source)?;
        let saved = match saved {
            None => Err("no saved PTX is named".to_owned()),
            // Cargo takes a watched file that is missing for one that has changed, at every build.
            Some(saved) if script.package()?.join(saved).is_file() => {
                script.watch(saved)?;
                Ok(saved)
            }
            Some(saved) => Err(format!("there is no saved PTX {saved}")),
        };
        let file = format!("{name}.ptx");
        let ptx = script.output(&file)?;
        let depfile = script.output(&format!("{name}.d"))?;
        if let Some(other) = script.outputs.claim(script.out()?, &ptx, source) {
            return Err(BuildError::SameName { source_file: source.to_owned(), other, file });
        }
        Ok(Self { source, saved, ptx, depfile, include: &[], options: String::new() })
    }

    /// Returns the PTX that came of an attempt, or else the saved one.
    pub(crate) fn settle(
        &self,
        script: &mut BuildScript<'_>,
        attempt: Attempt,
    ) -> Result<BuiltPtx, BuildError> {
        let built = self.chosen(script, attempt);
        match &built {
            Err(_) => script.outputs.release(&self.ptx),
            Ok(_) => {
                script
                    .outputs
                    .made(script.out()?, &self.ptx)
                    .map_err(|error| self.unwritten(error))?;
            }
        }
        built
    }

    fn chosen(
        &self,
        script: &mut BuildScript<'_>,
        attempt: Attempt,
    ) -> Result<BuiltPtx, BuildError> {
        let source_file = || self.source.to_owned();
        match (attempt, self.saved.clone()) {
            (Attempt::Compiled(warnings), _) => {
                let read = self.watch_read(script)?;
                self.stamp(script.package()?, &read).map_err(|error| self.unwritten(error))?;
                marker::remove(&self.ptx).map_err(|error| self.unwritten(error))?;
                script.warn(&first_lines(&warnings))?;
                self.warn_of_debug(script)?;
                let (path, from) = (self.ptx.clone(), source_file());
                Ok(BuiltPtx { path, from, is_compiled: true })
            }
            (Attempt::NoCompiler(remedy), Ok(saved)) => self.copy(script, saved, remedy),
            (Attempt::NoCompiler(remedy), Err(lack)) => {
                Err(BuildError::NoCompiler { source_file: source_file(), lack, remedy })
            }
            (Attempt::Refused(said), Ok(saved)) => {
                self.watch_read(script)?;
                self.watch_folders(script)?;
                let source = self.source;
                script.warn(&format!(
                    "{source} cannot be compiled; {saved} is used, which might be older:\n{}",
                    first_lines(&said)
                ))?;
                self.copy(
                    script,
                    saved,
                    "correct what the compiler says of it, which cargo shows as warnings",
                )
            }
            (Attempt::Refused(said), Err(lack)) => {
                Err(BuildError::Refused { source_file: source_file(), lack, said })
            }
        }
    }

    /// Puts the saved PTX into `OUT_DIR`, with a marker that says so, and warns if it is older than its source.
    fn copy(
        &self,
        script: &mut BuildScript<'_>,
        saved: &str,
        remedy: &str,
    ) -> Result<BuiltPtx, BuildError> {
        let path = script.package()?.join(saved);
        let ptx = self.ptx.clone();
        // Not `fs::copy`, which copies permissions too: a saved file that is read-only could not be replaced later.
        let bytes = match fs::read(&path).and_then(|bytes| fs::write(&ptx, &bytes).map(|()| bytes))
        {
            Ok(bytes) => bytes,
            Err(error) => return Err(BuildError::Saved { saved: path, ptx, error }),
        };
        let text = String::from_utf8_lossy(&bytes);
        let freshness = stamp::freshness(&text, script.package()?, self.source, &self.options);
        let own = SavedMarker { saved, source: self.source, remedy, freshness: &freshness };
        own.write(&ptx).map_err(|error| self.unwritten(error))?;
        if let Freshness::Changed(files) = &freshness {
            let files = files.join(", ");
            script.warn(&format!("{saved} is older than its source: {files} changed since"))?;
        }
        Ok(BuiltPtx { path: ptx, from: saved.to_owned(), is_compiled: false })
    }

    /// Writes into the PTX which files it was compiled from.
    fn stamp(&self, package: &Path, read: &[String]) -> io::Result<()> {
        let stamp = stamp::of(package, self.source, read, &self.options);
        fs::OpenOptions::new().append(true).open(&self.ptx)?.write_all(stamp.as_bytes())
    }

    fn unwritten(&self, error: io::Error) -> BuildError {
        BuildError::Output { path: self.ptx.clone(), error }
    }

    /// Has cargo watch the files that the compiler read, and returns them.
    fn watch_read(&self, script: &mut BuildScript<'_>) -> Result<Vec<String>, BuildError> {
        let list = fs::read_to_string(&self.depfile).unwrap_or_default();
        let files = depfile::prerequisites(&list);
        files.iter().filter(|file| *file != self.source).try_for_each(|file| script.watch(file))?;
        Ok(files)
    }

    /// Has cargo watch all files that the source might include, since a compiler that fails does not list them all. Not
    /// the folder of the package, where the target directory changes with every build.
    fn watch_folders(&self, script: &mut BuildScript<'_>) -> Result<(), BuildError> {
        let own = Path::new(self.source).parent().and_then(Path::to_str);
        let own = own.filter(|folder| !folder.is_empty());
        own.iter().chain(self.include).try_for_each(|folder| script.watch(folder))
    }

    /// Warns of PTX for a debugger, which flags or variables of the user can ask for.
    fn warn_of_debug(&self, script: &mut BuildScript<'_>) -> Result<(), BuildError> {
        let text = fs::read_to_string(&self.ptx).unwrap_or_default();
        let target = text.lines().find(|line| line.starts_with(".target"));
        if !target.is_some_and(|line| line.contains("debug")) {
            return Ok(());
        }
        script.warn(&format!(
            "{} is compiled for a debugger, which `cargo weft` can prove less of: remove `-G` from the flags, \
             NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS",
            self.source
        ))
    }
}

/// Returns as much of a compiler's messages as warnings show.
fn first_lines(said: &str) -> String {
    said.lines().filter(|line| !line.trim().is_empty()).take(LINES).collect::<Vec<_>>().join("\n")
}
