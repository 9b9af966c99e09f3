//! Tests the layout of the folder `fixtures/ptx`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use weft_fixture_tests::files;

/// Maximum number of kernels in one folder, so that a person can look through it.
const MOST: usize = 60;

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Names are unique, because comments and commits refer to a fixture by its name without the folder.
#[test]
fn names_are_unique_over_all_folders() {
    let mut seen: BTreeMap<String, PathBuf> = BTreeMap::new();
    for path in files::fixtures().unwrap() {
        if let Some(other) = seen.insert(stem(&path), path.clone()) {
            panic!("{} and {} have one name", other.display(), path.display());
        }
    }
}

#[test]
fn a_clean_neighbour_stands_beside_its_defect() {
    let paths = files::fixtures().unwrap();
    let folders: BTreeMap<String, &Path> =
        paths.iter().map(|path| (stem(path), path.parent().unwrap())).collect();
    for (name, folder) in &folders {
        let defect = name.strip_suffix("-clean").and_then(|defect| folders.get(defect));
        assert!(
            defect.is_none_or(|other| other == folder),
            "{name} stands in {}",
            folder.display()
        );
    }
}

#[test]
fn folders_can_be_looked_through() {
    let mut counts: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for path in files::fixtures().unwrap() {
        *counts.entry(path.parent().unwrap().to_path_buf()).or_default() += 1;
    }
    for (folder, count) in counts {
        assert!(count <= MOST, "{} has {count} kernels", folder.display());
    }
}
