//! The library in a folder.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::fs;
use std::path::Path;

use weft_driver::{BESIDE, LIBRARY, NAMES, install};

#[test]
fn all_names_are_one_library() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let folder = root.path().join("deep/lib");
    let library = LIBRARY.expect("this platform has a stand-in");
    assert!(library.starts_with(b"\x7fELF"));
    install(&folder).expect("the folder can be written");
    // What is there already is replaced, a link too; nothing else is left.
    fs::write(folder.join(NAMES[0]), "old").expect("the folder can be written");
    fs::remove_file(folder.join(NAMES[1])).expect("the link is there");
    fs::write(folder.join(NAMES[1]), "no link").expect("the folder can be written");
    install(&folder).expect("the folder can be written");
    install(&folder).expect("the folder can be written");
    for name in NAMES {
        assert!(fs::read(folder.join(name)).expect("the library is there") == library, "{name}");
    }
    for name in [NAMES[1]].into_iter().chain(BESIDE) {
        assert_eq!(fs::read_link(folder.join(name)).expect("a link"), Path::new(NAMES[0]));
    }
    assert_eq!(fs::read_dir(&folder).expect("the folder is there").count(), 2 + BESIDE.len());
}
