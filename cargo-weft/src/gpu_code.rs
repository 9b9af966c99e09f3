//! Files with GPU code that is no PTX: sources in CUDA C++, and compiled code in `OUT_DIR`.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Endings of files that hold compiled code, which is not checked.
const COMPILED: [&str; 5] = ["a", "o", "lib", "cubin", "fatbin"];
/// Folders nested deeper than this are not searched for compiled code.
const DEPTH: usize = 8;
/// What the files of a library or object with GPU code contain: the name of their section.
const SECTION: &[u8] = b"nv_fatbin";
/// At most this much of a file is searched, in bytes.
const SEARCHED: u64 = 256 * 1024 * 1024;

/// Returns a source in CUDA C++ of a package, by its path in the package: the first one in the order of paths. Packages
/// within the package, target folders and hidden folders are left out.
pub(crate) fn cuda_source(dir: &Path) -> Option<PathBuf> {
    first_source(dir, DEPTH)?.strip_prefix(dir).ok().map(Path::to_owned)
}

fn first_source(dir: &Path, depth: usize) -> Option<PathBuf> {
    let mut entries: Vec<_> = std::fs::read_dir(dir).ok()?.filter_map(Result::ok).collect();
    entries.sort_by_key(std::fs::DirEntry::path);
    entries.into_iter().find_map(|entry| {
        let (path, kind) = (entry.path(), entry.file_type().ok()?);
        let is_other = || {
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            is_hidden || ["Cargo.toml", "CACHEDIR.TAG"].iter().any(|own| path.join(own).is_file())
        };
        if kind.is_dir() && depth > 0 && !is_other() {
            return first_source(&path, depth - 1);
        }
        (kind.is_file() && path.extension() == Some(OsStr::new("cu"))).then_some(path)
    })
}

/// Returns the files with compiled GPU code, by their paths in `OUT_DIR`.
pub(crate) fn compiled(out_dirs: &[PathBuf]) -> Vec<String> {
    let mut found = Vec::new();
    for dir in out_dirs {
        search(dir, dir, DEPTH, &mut found);
    }
    found.sort();
    found
}

fn search(dir: &Path, root: &Path, depth: usize, found: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.filter_map(Result::ok) {
        let (path, kind) = (entry.path(), entry.file_type());
        if kind.as_ref().is_ok_and(std::fs::FileType::is_dir) && depth > 0 {
            search(&path, root, depth - 1, found);
        }
        if kind.is_ok_and(|kind| kind.is_file()) && is_compiled(&path) {
            found.push(path.strip_prefix(root).unwrap_or(&path).display().to_string());
        }
    }
}

/// Whether a file has compiled GPU code. Libraries and objects mostly have none.
fn is_compiled(path: &Path) -> bool {
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or("");
    if !COMPILED.contains(&ending) {
        return false;
    }
    matches!(ending, "cubin" | "fatbin") || contains(path, SECTION).unwrap_or(false)
}

/// Whether a file contains these bytes.
fn contains(path: &Path, wanted: &[u8]) -> std::io::Result<bool> {
    let mut file = File::open(path)?.take(SEARCHED);
    let mut bytes = vec![0; 1 << 16];
    let mut kept = 0;
    loop {
        let count = file.read(&mut bytes[kept..])?;
        if count == 0 {
            return Ok(false);
        }
        let end = kept + count;
        if bytes[..end].windows(wanted.len()).any(|window| window == wanted) {
            return Ok(true);
        }
        // What is wanted can go on in the next part.
        kept = end.min(wanted.len() - 1);
        bytes.copy_within(end - kept..end, 0);
    }
}
