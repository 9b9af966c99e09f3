//! Reports as text, and the source files that they may quote.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

pub use weft_core::report::human::{finding, report, summary};
pub use weft_core::report::{escape, short};

/// Source files larger than this are not quoted.
const SIZE: u64 = 16 * 1024 * 1024;

/// Reads the source files that PTX names, once each. The names come from whoever wrote the PTX, so only regular files
/// inside the package or its workspace are ever opened, after all links are resolved.
#[derive(Debug)]
pub struct Sources {
    roots: Vec<PathBuf>,
    texts: RefCell<BTreeMap<String, Option<String>>>,
}

impl Sources {
    /// Files under `dir` and under the folders around it, up to the workspace: the nearest one with a `Cargo.lock`.
    pub fn of_package(dir: &Path) -> Self {
        let outwards: Vec<_> = dir.ancestors().collect();
        let workspace =
            outwards.iter().position(|dir| dir.join("Cargo.lock").is_file()).unwrap_or(0);
        Self::within(outwards.into_iter().take(workspace + 1))
    }

    /// Files under any of `roots`; relative names are looked up in each, in order.
    pub fn within<'r>(roots: impl IntoIterator<Item = &'r Path>) -> Self {
        let roots = roots.into_iter().filter_map(|root| fs::canonicalize(root).ok()).collect();
        Self { roots, texts: RefCell::default() }
    }

    /// The text of the file that the compiler called `name`; `None` if there is none that may be read.
    pub fn text(&self, name: &str) -> Option<String> {
        if let Some(known) = self.texts.borrow().get(name) {
            return known.clone();
        }
        let text = self.roots.iter().find_map(|root| self.read(&root.join(name)));
        self.texts.borrow_mut().insert(name.to_owned(), text.clone());
        text
    }

    fn read(&self, path: &Path) -> Option<String> {
        let path = fs::canonicalize(path).ok()?;
        let is_inside = self.roots.iter().any(|root| path.starts_with(root));
        let meta = fs::metadata(&path).ok()?;
        if !is_inside || !meta.is_file() || meta.len() > SIZE {
            return None;
        }
        Some(String::from_utf8_lossy(&fs::read(&path).ok()?).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Sources;

    #[test]
    fn nothing_outside_the_roots_is_opened() {
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let sources = Sources::within([own.as_path()]);
        assert!(sources.text("render.rs").is_some_and(|text| text.contains("nothing_outside")));
        assert!(sources.text("config/../render.rs").is_some());
        assert!(sources.text("../Cargo.toml").is_none());
        assert!(sources.text("/etc/hostname").is_none());
        assert!(sources.text("").is_none());
    }
}
