//! What cargo tells a build script by variables, and what the script tells cargo by lines on standard output.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::BuildError;
use crate::outputs::OutputFiles;

/// Where the CUDA toolkit is installed on Linux.
const TOOLKIT: &str = "/usr/local/cuda";

/// A running build script.
pub(crate) struct BuildScript<'a> {
    variables: BTreeMap<OsString, OsString>,
    /// Where the CUDA toolkit is if no variable says it.
    pub(crate) toolkit: PathBuf,
    /// The PTX files that this run of the script makes.
    pub(crate) outputs: OutputFiles,
    cargo: Box<dyn Write + 'a>,
}

impl<'a> BuildScript<'a> {
    /// Returns this process as a build script.
    pub(crate) fn of_process() -> Self {
        let own = Self::new(env::vars_os().collect(), TOOLKIT.into(), Box::new(std::io::stdout()));
        Self { outputs: OutputFiles::of_process(), ..own }
    }

    /// Returns a script with these variables on a machine with this folder of the CUDA toolkit, if it is there. The script
    /// writes its lines for cargo to `cargo`.
    pub(crate) fn new(
        variables: BTreeMap<OsString, OsString>,
        toolkit: PathBuf,
        cargo: Box<dyn Write + 'a>,
    ) -> Self {
        Self { variables, toolkit, outputs: OutputFiles::default(), cargo }
    }

    /// Returns a variable; `None` if it is not set or empty.
    pub(crate) fn variable(&self, name: &str) -> Option<&OsStr> {
        let value = self.variables.get(OsStr::new(name))?.as_os_str();
        (!value.is_empty()).then_some(value)
    }

    /// Returns a variable, and has cargo run the script again if it changes.
    pub(crate) fn watched(&mut self, name: &str) -> Result<Option<&OsStr>, BuildError> {
        self.tell("rerun-if-env-changed", name)?;
        Ok(self.variable(name))
    }

    /// Has cargo run the script again if a file changes, or any file in a folder.
    pub(crate) fn watch(&mut self, path: &str) -> Result<(), BuildError> {
        self.tell("rerun-if-changed", path)
    }

    /// Has cargo print a warning; each line becomes one.
    pub(crate) fn warn(&mut self, text: &str) -> Result<(), BuildError> {
        text.lines().try_for_each(|line| self.tell("warning", line))
    }

    fn tell(&mut self, key: &str, value: &str) -> Result<(), BuildError> {
        writeln!(self.cargo, "cargo::{key}={value}").map_err(BuildError::Cargo)
    }

    /// Returns the folder of `Cargo.toml`.
    pub(crate) fn package(&self) -> Result<&Path, BuildError> {
        self.folder("CARGO_MANIFEST_DIR")
    }

    /// Returns the folder `OUT_DIR`.
    pub(crate) fn out(&self) -> Result<&Path, BuildError> {
        self.folder("OUT_DIR")
    }

    /// Returns the path of a file in `OUT_DIR`.
    pub(crate) fn output(&self, file: &str) -> Result<PathBuf, BuildError> {
        Ok(self.out()?.join(file))
    }

    fn folder(&self, name: &'static str) -> Result<&Path, BuildError> {
        self.variable(name).map(Path::new).ok_or(BuildError::NoScript { variable: name })
    }
}
