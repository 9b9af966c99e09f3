//! Finds PTX files: those that build scripts leave in `OUT_DIR`, and those that `weft.toml` names.
//!
//! In a folder, a file counts as PTX if its name ends in `.ptx`, or if its text starts with `.version` after white
//! space and `//` comments. A file that cannot be read is returned too, so that it fails as a case of its own instead
//! of going unnoticed.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use weft_core::report::escape;

use crate::bounded;
use crate::saved::SavedPtx;

/// Folders nested deeper than this are not searched.
const DEPTH: usize = 32;
/// Maximum size of a PTX file in bytes; reading it takes about 10 times as much memory.
const MAX_PTX: u64 = 128 * 1024 * 1024;
/// Number of bytes that are read to decide whether a file is PTX.
const HEAD: u64 = 64 * 1024;

/// A PTX file with its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PtxFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The path relative to the package or to `OUT_DIR`, with `/` as separator, safe to print.
    pub display: String,
    /// The text; empty if the file cannot be read. Bytes that are not UTF-8 are replaced by U+FFFD.
    pub text: Arc<str>,
    /// Why the file cannot be read, if it cannot.
    pub unread: Option<String>,
    /// What its build script says of it, if it did not compile it but took it from where it is saved.
    pub saved: Option<SavedPtx>,
}

impl PtxFile {
    /// Reads the file at `path`; messages name it `display`.
    pub fn read(path: &Path, display: &str) -> Result<Self, DiscoverError> {
        match Self::of(path, display, contents(path)) {
            Self { unread: Some(reason), .. } => {
                Err(DiscoverError::Read { path: path.to_path_buf(), reason })
            }
            file => Ok(file),
        }
    }

    /// Reads a file that a search found. Only regular files are read: reading a pipe might block for ever.
    fn found(path: &Path, display: &str) -> Self {
        let contents = match fs::metadata(path) {
            Ok(meta) if !meta.is_file() => Err(io::Error::other("it is not a regular file")),
            _ => contents(path),
        };
        Self::of(path, display, contents)
    }

    fn of(path: &Path, display: &str, contents: io::Result<String>) -> Self {
        let (text, unread) = match contents {
            Ok(text) => (text.into(), None),
            Err(error) => (Arc::default(), Some(error.to_string())),
        };
        let (path, display) = (path.to_path_buf(), escape(display).into_owned());
        Self { path, display, text, unread, saved: None }
    }
}

/// Why files could not be gathered.
#[derive(Debug, thiserror::Error)]
pub enum DiscoverError {
    /// A pattern that matches no file.
    #[error("`{pattern}` matches no file under {}; correct or remove it", dir.display())]
    NoMatch {
        /// The pattern.
        pattern: String,
        /// The package's directory.
        dir: PathBuf,
    },
    /// An invalid pattern.
    #[error("`{pattern}` is not a file pattern: {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// A file that cannot be read.
    #[error("{}: cannot be read: {reason}", escape(&path.display().to_string()))]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        reason: String,
    },
}

/// Returns the text of a file or of a pipe (which can be the output of a compiler). Devices are refused, since they can
/// be endless.
fn contents(path: &Path) -> io::Result<String> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        let kind = fs::metadata(path)?.file_type();
        if kind.is_char_device() || kind.is_block_device() {
            return Err(io::Error::other("it is a device, not a file"));
        }
    }
    let bytes = bounded::read(path, MAX_PTX)?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Returns the PTX files under `dir`, in the order of the paths, each content once. Links to folders are not followed.
pub fn in_dir(dir: &Path) -> Vec<PtxFile> {
    let mut found = Vec::new();
    walk(dir, DEPTH, &is_ptx, &mut found);
    found.sort();
    let read = |path: &PathBuf| PtxFile {
        saved: SavedPtx::of(path),
        ..PtxFile::found(path, &relative(path, dir))
    };
    unique(found.iter().map(read).collect())
}

/// Returns the files that `patterns` name relative to `package_dir`, in the order of the paths, each content once.
pub fn globs(package_dir: &Path, patterns: &[String]) -> Result<Vec<PtxFile>, DiscoverError> {
    let mut found = BTreeSet::new();
    let base = glob::Pattern::escape(&package_dir.to_string_lossy());
    for pattern in patterns {
        let reason = |error: glob::PatternError| DiscoverError::Pattern {
            pattern: pattern.clone(),
            reason: error.msg,
        };
        let files = matching(&base, pattern).map_err(reason)?;
        if files.is_empty() {
            return Err(DiscoverError::NoMatch {
                pattern: pattern.clone(),
                dir: package_dir.to_path_buf(),
            });
        }
        found.extend(files);
    }
    Ok(unique(
        found.iter().map(|path| PtxFile::found(path, &relative(path, package_dir))).collect(),
    ))
}

/// Removes the files whose content equals that of an earlier file. What is known of a removed file as saved PTX holds for the
/// earlier one too.
#[must_use]
pub fn unique(files: Vec<PtxFile>) -> Vec<PtxFile> {
    // Empty and unreadable files have the same text: they are distinguished by their paths.
    let key =
        |file: &PtxFile| (Arc::clone(&file.text), file.text.is_empty().then(|| file.path.clone()));
    let mut places: HashMap<(Arc<str>, Option<PathBuf>), usize> = HashMap::new();
    let mut kept: Vec<PtxFile> = Vec::with_capacity(files.len());
    for file in files {
        match places.entry(key(&file)) {
            Entry::Occupied(place) => {
                let first = &mut kept[*place.get()];
                first.saved = first.saved.take().or(file.saved);
            }
            Entry::Vacant(place) => {
                place.insert(kept.len());
                kept.push(file);
            }
        }
    }
    kept
}

/// Returns the paths that match a pattern. Behind `**`, links to folders are not followed, because they can form
/// cycles.
fn matching(base: &str, pattern: &str) -> Result<Vec<PathBuf>, glob::PatternError> {
    let parts: Vec<&str> = pattern.split('/').collect();
    let deep = parts.iter().position(|part| *part == "**").unwrap_or(parts.len());
    let front = [&[base], &parts[..deep]].concat().join("/");
    let front = glob::glob(&front)?.filter_map(Result::ok);
    if deep == parts.len() {
        return Ok(front.filter(|path| !path.is_dir()).collect());
    }
    let rest = glob::Pattern::new(&parts[deep..].join("/"))?;
    let options =
        glob::MatchOptions { require_literal_separator: true, ..glob::MatchOptions::new() };
    let mut found = Vec::new();
    for dir in front {
        let fits = |path: &Path| rest.matches_with(&relative(path, &dir), options);
        walk(&dir, DEPTH, &fits, &mut found);
    }
    Ok(found)
}

/// Appends to `found` all paths under `dir` that `accepts` accepts, except folders and links to folders. `depth` limits
/// the nesting.
fn walk(dir: &Path, depth: usize, accepts: &dyn Fn(&Path) -> bool, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.filter_map(Result::ok) {
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        if kind.is_dir() {
            if depth > 0 {
                walk(&path, depth - 1, accepts, found);
            }
        } else if !path.is_dir() && accepts(&path) {
            found.push(path);
        }
    }
}

fn is_ptx(path: &Path) -> bool {
    is_named_ptx(path) || (path.is_file() && starts_as_ptx(path))
}

fn is_named_ptx(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ptx"))
}

fn starts_as_ptx(path: &Path) -> bool {
    // The first bytes decide for most files; more are needed only if the file starts with a long comment.
    [512, HEAD].into_iter().find_map(|limit| judge(&head(path, limit)?)).unwrap_or(false)
}

fn head(path: &Path, limit: u64) -> Option<Vec<u8>> {
    bounded::head(path, limit).ok()
}

/// Whether a text that starts with `head` is PTX; `None` if `head` has only comments and white space.
fn judge(head: &[u8]) -> Option<bool> {
    const FIRST: &[u8] = b".version";
    let mut rest = head.trim_ascii_start();
    while let Some(comment) = rest.strip_prefix(b"//") {
        let end = comment.iter().position(|byte| *byte == b'\n')?;
        rest = comment.get(end..)?.trim_ascii_start();
    }
    let is_cut = rest.len() < FIRST.len() && (FIRST.starts_with(rest) || rest == b"/");
    if is_cut { None } else { Some(rest.starts_with(FIRST)) }
}

fn relative(path: &Path, dir: &Path) -> String {
    let own = path.strip_prefix(dir).unwrap_or(path);
    own.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}
