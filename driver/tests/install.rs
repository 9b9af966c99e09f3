//! The library in a folder.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::fs;
use std::path::Path;

use weft_driver::{BESIDE, LIBRARY, LINKS, NAME, RUNTIMES, install};

#[test]
fn all_names_lead_to_one_library() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let folder = root.path().join("deep/lib");
    let library = LIBRARY.expect("this platform has a stand-in");
    assert!(library.starts_with(b"\x7fELF"));
    install(&folder).expect("the folder can be written");
    // What is there already is replaced, a link too; nothing else is left.
    for name in [NAME, LINKS[0], RUNTIMES[0]] {
        fs::remove_file(folder.join(name)).expect("it was written");
        fs::write(folder.join(name), "old").expect("the folder can be written");
    }
    install(&folder).expect("the folder can be written");
    install(&folder).expect("the folder can be written");
    assert!(fs::read(folder.join(NAME)).expect("the library is there") == library);
    for link in LINKS {
        assert_eq!(fs::read_link(folder.join(link)).expect("a link"), Path::new(NAME), "{link}");
    }
    for name in RUNTIMES.into_iter().chain(BESIDE) {
        let bytes = fs::read(folder.join(name)).expect("the file is there");
        assert!(bytes.starts_with(b"\x7fELF") && bytes.len() < 1000, "{name}");
    }
    let count = 1 + LINKS.len() + RUNTIMES.len() + BESIDE.len();
    assert_eq!(fs::read_dir(&folder).expect("the folder is there").count(), count);
}

#[test]
fn devices_are_targets_with_a_number_of_multiprocessors() {
    for right in ["sm_90", "sm_90a,132", "sm_120, 170", "sm_10,4096"] {
        assert!(weft_driver::is_device(right), "{right}");
    }
    for wrong in ["", "sm_", "90", "sm_9", "h100", "sm_90,", "sm_90,0", "sm_90,4097", "sm_90 132"] {
        assert!(!weft_driver::is_device(wrong), "{wrong}");
    }
}
