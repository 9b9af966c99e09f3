//! Tests of snapshots: comparison, blessing and unused files.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use weft_fixture_tests::snapshot;

#[test]
fn snapshots_are_compared_written_and_not_left_over() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("weft-snapshots");
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    let (a, b, c) = (dir.join("a.txt"), dir.join("b.txt"), dir.join("c.txt"));
    fs::write(&a, "one\r\ntwo\r\n").unwrap();
    fs::write(&b, "").unwrap();
    assert!(snapshot::compare(&a, "one\ntwo\n", false).is_ok());
    assert!(snapshot::compare(&a, "one\n2\n", false).unwrap_err().to_string().contains("a.txt:2:"));
    assert!(snapshot::compare(&c, "x\n", false).is_err());
    assert!(
        snapshot::compare(&c, "x\n", true).is_ok() && snapshot::compare(&c, "x\n", false).is_ok()
    );
    let left = snapshot::leftovers(&dir, "txt", &[a, c].into()).unwrap();
    assert_eq!(left.len(), 1);
    assert!(left[0].to_string().contains("b.txt"));
}
