//! Renders reports as text, and reads the source files that they quote.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::bounded;

pub use weft_core::report::{ReportContext, SourceFiles, SourceText, escape, human, short};

/// Maximum size in bytes of a source file that is quoted.
const SIZE: u64 = 4 * 1024 * 1024;

/// Reads the source files that PTX names, each once. The PTX is not trusted: only regular files inside the package or
/// its workspace are opened, after all links are resolved, and nothing below a hidden folder or with a hidden name,
/// since such files (`.env`, `.git`) can hold secrets.
#[derive(Debug)]
pub struct Sources {
    roots: Vec<PathBuf>,
    texts: RefCell<BTreeMap<String, Option<Rc<SourceText>>>>,
}

impl Sources {
    /// Allows files under `dir` and under its parent folders up to the workspace, the nearest folder with a
    /// `Cargo.lock`.
    pub fn of_package(dir: &Path) -> Self {
        let workspace = workspace_of(dir);
        Self::within(dir.ancestors().take_while(|own| own.starts_with(workspace)))
    }

    /// Allows files beside a PTX file, in its parent folders as far as they are below `dir`, and in `dir` itself: the
    /// compiler can have run in any of them.
    pub fn around(file: &Path, dir: &Path) -> Self {
        let outwards = file.ancestors().skip(1).take_while(|own| own.starts_with(dir));
        Self::within(file.parent().into_iter().chain(outwards).chain([dir]))
    }

    /// Allows files under any of `roots`; a relative name is looked up in each of them, in order.
    pub fn within<'r>(roots: impl IntoIterator<Item = &'r Path>) -> Self {
        let roots = roots.into_iter().filter_map(|root| fs::canonicalize(root).ok()).collect();
        Self { roots, texts: RefCell::default() }
    }

    /// Returns the path of the file that the PTX calls `name`; `None` if there is none that is allowed to be read.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        let permitted = |path: PathBuf| {
            let path = fs::canonicalize(path).ok()?;
            let is_inside =
                self.roots.iter().any(|root| path.strip_prefix(root).is_ok_and(is_plain));
            (is_inside && fs::metadata(&path).ok()?.is_file()).then_some(path)
        };
        self.roots.iter().find_map(|root| permitted(root.join(name)))
    }
}

impl SourceFiles for Sources {
    /// Returns the text of the file that the PTX calls `name`, with its path for a reader in the current folder; `None`
    /// if there is none that is allowed to be read.
    fn text(&self, name: &str) -> Option<Rc<SourceText>> {
        if let Some(known) = self.texts.borrow().get(name) {
            return known.clone();
        }
        let text = self.path(name).and_then(|path| {
            let text = String::from_utf8_lossy(&bounded::read(&path, SIZE).ok()?).into_owned();
            Some(Rc::new(SourceText::from(text).at(openable(&path))))
        });
        self.texts.borrow_mut().insert(name.to_owned(), text.clone());
        text
    }
}

/// Returns the folder of the workspace of a package: the nearest one with a `Cargo.lock`, or else its own.
pub fn workspace_of(dir: &Path) -> &Path {
    dir.ancestors().find(|own| own.join("Cargo.lock").is_file()).unwrap_or(dir)
}

/// Returns a path under which a reader in the current folder can open a file: relative to it, if the file is below it. The
/// file need not be there yet.
pub fn openable(path: &Path) -> String {
    let here = std::env::current_dir().and_then(fs::canonicalize).unwrap_or_default();
    let with_rest =
        |own: &Path| Some(fs::canonicalize(own).ok()?.join(path.strip_prefix(own).ok()?));
    let whole =
        fs::canonicalize(path).ok().or_else(|| path.ancestors().skip(1).find_map(with_rest));
    let whole = whole.unwrap_or_else(|| path.to_path_buf());
    let own = whole.strip_prefix(&here).ok().filter(|own| own.components().next().is_some());
    own.unwrap_or(path).display().to_string()
}

/// Whether no component of the path starts with a dot.
fn is_plain(path: &Path) -> bool {
    path.components().all(|part| !part.as_os_str().to_string_lossy().starts_with('.'))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{SourceFiles as _, Sources};

    #[test]
    fn nothing_outside_the_roots_is_opened() {
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let sources = Sources::within([own.as_path()]);
        assert!(
            sources.text("render.rs").is_some_and(|text| text.as_str().contains("nothing_outside"))
        );
        assert!(sources.text("config/../render.rs").is_some());
        assert!(sources.text("../Cargo.toml").is_none());
        assert!(sources.text("/etc/hostname").is_none());
        assert!(sources.text("").is_none());
    }
}
