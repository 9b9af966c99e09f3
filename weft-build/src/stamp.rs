//! The stamp of compiled PTX: comments that say which sources it was compiled from, so that a copy that is saved shows
//! whether they have changed since.
//!
//! ```text
//! // weft-build: options -arch=sm_80 -DTILE=64
//! // weft-build: source 85944171f73967e8 kernels/saxpy.cu
//! // weft-build: source af63dc4c8601ec8c kernels/tile.h
//! ```
//!
//! The stamp is at the end, where it changes no line number. It has the files that the compiler read, as far as their
//! paths are the same on other machines: those in the package, and those that the depfile names relative to it. Options
//! that contain a path are left out for the same reason.

use std::fs;
use std::path::{MAIN_SEPARATOR, Path};

use crate::hash;

/// What the lines of a stamp start with.
const START: &str = "// weft-build: ";

/// What the stamp of saved PTX says about its sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// They are as they were when the PTX was compiled.
    Current,
    /// These have changed since.
    Changed(Vec<String>),
    /// It is not known, for this reason.
    Unknown(String),
}

/// Returns the options of a stamp: those that are the same on other machines.
pub(crate) fn options<'a>(all: impl IntoIterator<Item = &'a str>) -> String {
    let is_portable = |option: &&str| !option.contains(['/', '\\', '\n', '\r']);
    all.into_iter().filter(is_portable).collect::<Vec<_>>().join(" ")
}

/// Returns the stamp for `source` and the files that the compiler read, whose paths are absolute or relative to
/// `package`.
pub(crate) fn of(package: &Path, source: &str, read: &[String], options: &str) -> String {
    let mut names: Vec<String> = Vec::new();
    for file in std::iter::once(source).chain(read.iter().map(String::as_str)) {
        let path = Path::new(file);
        let inner = path.strip_prefix(package).unwrap_or(path);
        let name = portable(&inner.to_string_lossy());
        if inner.is_relative() && !names.contains(&name) {
            names.push(name);
        }
    }
    let line = |name: &String| {
        let hash = hash_of(package, name)?;
        Some(format!("{START}source {hash:016x} {name}\n"))
    };
    let sources: Vec<String> = names.iter().filter_map(line).collect();
    format!("{START}options {options}\n{}", sources.concat())
}

/// Compares the stamp in saved PTX with the files as they are now.
pub(crate) fn freshness(ptx: &str, package: &Path, source: &str, options: &str) -> Freshness {
    let (mut stamped, mut changed, mut missing) = (None, Vec::new(), None);
    let source = portable(source);
    let mut has_source = false;
    for line in ptx.lines().filter_map(|line| line.strip_prefix(START)) {
        match line.split_once(' ') {
            Some(("options", text)) => stamped = Some(text),
            Some(("source", rest)) => {
                let Some((hash, name)) = rest.split_once(' ') else { continue };
                has_source |= name == source;
                match hash_of(package, name) {
                    None => missing = Some(name),
                    Some(own) if format!("{own:016x}") != hash => changed.push(name.to_owned()),
                    Some(_) => {}
                }
            }
            _ => {}
        }
    }
    if !has_source {
        return Freshness::Unknown(format!("it does not say that it was compiled from {source}"));
    }
    match (changed.is_empty(), missing, stamped) {
        (false, ..) => Freshness::Changed(changed),
        (true, Some(missing), _) => Freshness::Unknown(format!("{missing} is not there")),
        (true, None, Some(stamped)) if stamped.trim_end() != options => {
            Freshness::Unknown(format!(
                "it was compiled with `{}`, and the build script asks for `{options}`",
                stamped.trim_end()
            ))
        }
        (true, None, None) => Freshness::Unknown("it does not say its options".to_owned()),
        (true, None, Some(_)) => Freshness::Current,
    }
}

fn hash_of(package: &Path, name: &str) -> Option<u64> {
    fs::read(package.join(name)).ok().map(|bytes| hash::of_text(&bytes))
}

/// Returns a path as every system writes it.
fn portable(path: &str) -> String {
    let path = path.replace(MAIN_SEPARATOR, "/");
    path.strip_prefix("./").map_or(path.clone(), str::to_owned)
}
