//! The source files of a record's modules: their hashes when launches were recorded, and whether they are still the same.

use std::fs;
use std::io;
use std::path::Path;

use weft_core::ptx;

use super::folder::{Record, is_name};
use super::hash::hash_name;
use crate::bounded;
use crate::render::{Sources, workspace_of};
use crate::saved::{SavedPtx, SourceState};

/// The most bytes of a module, and of a source file.
const MOST: u64 = 128 << 20;
/// The folder of the files with hashes, and their ending.
const FOLDER: (&str, &str) = ("sources", "txt");

/// Writes down which source files below `root` the modules of the record in `folder` name, and their hashes.
///
/// # Errors
/// A file that cannot be written. A module or source that cannot be read is left out: nothing is known of it then.
pub fn keep_sources(folder: &Path, root: &Path) -> io::Result<()> {
    let Ok(modules) = fs::read_dir(folder.join("modules")) else { return Ok(()) };
    let sources = Sources::within([root]);
    for entry in modules {
        let path = entry?.path();
        let name = path.file_stem().and_then(|stem| stem.to_str()).filter(|stem| is_name(stem));
        let (Some(name), Ok(bytes)) = (name, bounded::read_regular(&path, MOST)) else { continue };
        let mut lines = named(&String::from_utf8_lossy(&bytes), &sources, root);
        lines.sort();
        lines.dedup();
        let to = folder.join(FOLDER.0);
        fs::create_dir_all(&to)?;
        fs::write(to.join(name).with_extension(FOLDER.1), lines.concat())?;
    }
    Ok(())
}

/// Returns a line for each file that a module names and that can be read.
fn named(text: &str, sources: &Sources, root: &Path) -> Vec<String> {
    let Ok(root) = fs::canonicalize(root) else { return Vec::new() };
    let module = ptx::parse(text);
    let line = |(_, name): &(u32, String)| {
        let path = sources.path(name)?;
        let own = path.strip_prefix(&root).ok()?.to_str().filter(|own| !own.contains('\n'))?;
        Some(format!("{} {own}\n", hash_name(&bounded::read(&path, MOST).ok()?)))
    };
    module.files.iter().filter_map(line).collect()
}

impl Record {
    /// Returns the source files of a module, their names and their hashes when it was recorded; `None` if none is known.
    pub(super) fn sources_of(&self, name: &str) -> Option<(Vec<String>, Vec<String>)> {
        let path = self.folder.join(FOLDER.0).join(name).with_extension(FOLDER.1);
        let bytes = bounded::read_regular(&path, MOST).ok()?;
        let lines = String::from_utf8_lossy(&bytes);
        let parts = lines.lines().filter_map(|line| line.split_once(' '));
        let (hashes, names): (Vec<_>, Vec<_>) =
            parts.map(|(hash, name)| (hash.to_owned(), name.to_owned())).unzip();
        (!names.is_empty()).then_some((names, hashes))
    }

    /// Whether two texts are compiled from the same source files, which have changed in between: one is the other one, built anew. Texts of
    /// unchanged files are variants.
    pub(super) fn are_versions(&self, one: &str, other: &str) -> bool {
        let both = self.sources_of(one).zip(self.sources_of(other));
        both.is_some_and(|(one, other)| one.0 == other.0 && one.1 != other.1)
    }

    /// Returns what is known of the PTX of a module that is taken from the record. `dir`: the folder of the package or workspace.
    pub fn provenance(&self, name: &str, dir: &Path) -> SavedPtx {
        let path = self.folder.join(FOLDER.0).join(name).with_extension(FOLDER.1);
        let state = match bounded::read_regular(&path, MOST) {
            Ok(bytes) => state(&String::from_utf8_lossy(&bytes), dir),
            Err(_) => SourceState::Unknown("the record does not say what they were".to_owned()),
        };
        SavedPtx { state, is_recorded: true, ..SavedPtx::default() }
    }
}

/// Compares the files that lines name with what they were.
fn state(lines: &str, dir: &Path) -> SourceState {
    // A package in a workspace whose lock file is not there yet is taken for one in another workspace around it: the path might be
    // meant from any folder between the two. The record is not trusted: nothing outside of them is read.
    let workspace = workspace_of(dir);
    let folders = dir.ancestors().take_while(|own| own.starts_with(workspace));
    let places: Vec<Sources> = folders.map(|own| Sources::within([own])).collect();
    let (mut changed, mut absent) = (Vec::new(), Vec::new());
    let files: Vec<_> = lines.lines().filter_map(|line| line.split_once(' ')).collect();
    for (hash, name) in &files {
        let told = weft_core::report::escape(name).into_owned();
        let paths = places.iter().filter_map(|sources| sources.path(name));
        let bytes: Vec<_> = paths.filter_map(|path| bounded::read(&path, MOST).ok()).collect();
        if bytes.is_empty() {
            absent.push(told);
        } else if !bytes.iter().any(|own| hash_name(own) == *hash) {
            changed.push(told);
        }
    }
    if !changed.is_empty() {
        return SourceState::Changed(changed);
    }
    if !absent.is_empty() {
        return SourceState::Unknown(format!("there is no {} any more", absent.join(", ")));
    }
    if files.is_empty() {
        let why =
            "it names none in this workspace, as what NVRTC compiles, or nvcc without -lineinfo";
        return SourceState::Unknown(why.to_owned());
    }
    SourceState::Current
}
