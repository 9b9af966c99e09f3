//! PTX files that are saved in a package.

use std::collections::BTreeSet;
use std::path::{Component, Path};

use weft_harness::discover;

/// Returns patterns for the files that end in `.ptx` in a package, one for each folder with such files. The target folder,
/// hidden folders and packages within the package are left out.
pub(super) fn patterns(dir: &Path, target: &Path) -> Vec<String> {
    let all = discover::globs(dir, &["**/*.ptx".to_owned()]).unwrap_or_default();
    let folders: BTreeSet<String> = all
        .iter()
        .filter(|file| !file.path.starts_with(target) && is_own(&file.path, dir))
        .filter_map(|file| {
            let folder = file.path.parent()?.strip_prefix(dir).ok()?.to_str()?;
            Some(folder.replace('\\', "/"))
        })
        .collect();
    folders
        .into_iter()
        .map(|folder| {
            if folder.is_empty() {
                "*.ptx".to_owned()
            } else {
                format!("{}/*.ptx", glob::Pattern::escape(&folder))
            }
        })
        .collect()
}

/// Whether a file lies in the package itself: in no hidden folder, and in no other package.
fn is_own(file: &Path, dir: &Path) -> bool {
    let inner = file.strip_prefix(dir).unwrap_or(file);
    let is_hidden = |part: Component<'_>| part.as_os_str().to_string_lossy().starts_with('.');
    let folders = file.ancestors().skip(1).take_while(|folder| *folder != dir);
    let is_cargos = |folder: &Path| {
        folder.join("Cargo.toml").is_file() || folder.join("CACHEDIR.TAG").is_file()
    };
    !inner.components().any(is_hidden) && !folders.into_iter().any(is_cargos)
}
