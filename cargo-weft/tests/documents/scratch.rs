//! Folders in which the commands of a page run.
//!
//! The crates in them depend on the crates of this repository, not on those of the network, and share the target directory
//! of this test, so that what they depend on is compiled once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::page::{self, Fenced};

/// Where the crates are that pages depend on.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");
/// What the crates are compiled with: what `fixtures/early-handover` has, so that its dependencies serve them too.
const PROFILE: &str =
    "[profile.dev]\ndebug = \"line-tables-only\"\n\n[profile.dev.package.\"*\"]\ndebug = false\n";

/// A folder and, within it, the current one.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// Removed with this; `None` is the repository.
    own: Option<TempDir>,
    current: PathBuf,
}

impl Scratch {
    /// Returns the repository itself.
    pub(crate) fn repository() -> Self {
        Self { own: None, current: page::root() }
    }

    /// Returns an empty folder. It lies outside of the repository, because `cargo new` makes a crate a member of the workspace
    /// in which it lies.
    pub(crate) fn empty() -> Self {
        let own = tempfile::tempdir().expect("a temporary folder can be made");
        let current = own.path().to_owned();
        fs::create_dir(current.join(".cargo")).expect("a folder can be made");
        fs::write(current.join(".cargo/config.toml"), PROFILE).expect("the file can be written");
        Self { own: Some(own), current }
    }

    /// Returns a folder with a new crate, `signal`.
    pub(crate) fn new_crate() -> Self {
        let mut scratch = Self::empty();
        assert!(scratch.run("cargo new --lib signal").status.success());
        scratch.enter("signal");
        scratch
    }

    /// Returns a folder with a copy of the files of a folder of the repository.
    pub(crate) fn copy(folder: &str) -> Self {
        let scratch = Self::empty();
        let from = page::root().join(folder);
        for entry in fs::read_dir(&from).expect("the place is one that `enter` knows, or a folder")
        {
            let path = entry.expect("the folder can be read").path();
            let name = path.file_name().expect("a file has a name");
            fs::copy(&path, scratch.current.join(name)).expect("the file can be copied");
        }
        scratch
    }

    /// Makes a folder in the current one the current one.
    pub(crate) fn enter(&mut self, folder: &str) {
        self.current.push(folder);
        assert!(self.current.is_dir(), "no folder {}", self.current.display());
    }

    /// Writes the file that a block shows, or appends to it, if it shows one. PTX that is saved in the repository beside
    /// the file of the same text is copied too.
    pub(crate) fn write(&self, block: &Fenced) {
        if let Some(file) = block.directive("append: ") {
            let path = self.current.join(file);
            let old = fs::read_to_string(&path).expect("the file is there");
            fs::write(path, format!("{old}\n{}", block.text)).expect("the file can be written");
        }
        let Some((file, same)) = block.file() else { return };
        let path = self.current.join(file);
        fs::create_dir_all(path.parent().expect("a file lies in a folder"))
            .expect("folders can be made");
        fs::write(&path, &block.text).expect("the file can be written");
        let saved = same.map(|same| page::root().join(same).with_extension("ptx"));
        if let Some(saved) = saved.filter(|saved| saved.is_file()) {
            fs::copy(saved, path.with_extension("ptx")).expect("the PTX can be copied");
        }
    }

    /// Runs a command of a page in the current folder, by the shell.
    pub(crate) fn run(&self, command: &str) -> Output {
        self.replace_sources();
        let binary = env!("CARGO_BIN_EXE_cargo-weft");
        let weft = command.strip_prefix("cargo weft");
        let command = weft.map_or(command.to_owned(), |rest| format!("'{binary}' weft{rest}"));
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).current_dir(&self.current).stdin(Stdio::null());
        shell.env("CARGO_TARGET_DIR", target()).env("CARGO_NET_OFFLINE", "true");
        // The summary of a job that runs these tests is not theirs.
        shell.env_remove("GITHUB_STEP_SUMMARY").env_remove("WEFT_NO_CACHE");
        shell.output().expect("the shell starts")
    }

    /// Has a crate depend on the crates of this checkout, in the versions of its Cargo.lock.
    fn replace_sources(&self) {
        let manifest = self.current.join("Cargo.toml");
        if self.own.is_none() || !manifest.exists() {
            return;
        }
        let text = fs::read_to_string(&manifest).expect("the manifest can be read");
        let folders = [("weft-build", "weft-build"), ("weft-harness", "harness")];
        let replaced = folders.into_iter().fold(text.clone(), |text, (name, folder)| {
            let path = page::root().join(folder);
            let here = format!("{name} = {{ path = '{}' }}", path.display());
            text.replace(&format!("{name} = {{ git = \"{REPOSITORY}\" }}"), &here)
        });
        if replaced != text {
            fs::write(&manifest, replaced).expect("the manifest can be written");
        }
        let lock = self.current.join("Cargo.lock");
        if !lock.exists() {
            fs::copy(page::root().join("Cargo.lock"), lock).expect("the file can be copied");
        }
    }

    /// Returns a command's output with the paths that a reader has.
    pub(crate) fn as_read(output: &[u8]) -> String {
        let text = String::from_utf8_lossy(output).into_owned();
        let target = target();
        text.replace(&*target.to_string_lossy(), "target")
    }
}

/// Returns the target directory in which this test was built, so that dependencies need not be built again.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("the folder lies in the target folder")
        .to_owned()
}
