//! Tests of PTX that a build script took from where it is saved.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use weft_core::finding::Check;
use weft_harness::case::{Job, JobError, Package, failure, plan, trials};
use weft_harness::saved::SourceState;

const KERNEL: &str =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry plain() { ret; }\n";
const HEAD: &str = "saved kernels/k.ptx\nsource kernels/k.cu\nremedy install nvcc\n";

/// Makes a package with an `OUT_DIR` that has `k.ptx` with this marker, and returns its folder and `OUT_DIR`.
fn fresh(name: &str, marker: Option<&str>) -> (PathBuf, PathBuf) {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("saved").join(name);
    let _ = fs::remove_dir_all(&dir);
    let (own, out) = (dir.join("package"), dir.join("out"));
    fs::create_dir_all(own.join("kernels")).unwrap();
    fs::create_dir_all(&out).unwrap();
    fs::write(own.join("kernels/k.ptx"), KERNEL).unwrap();
    fs::write(out.join("k.ptx"), KERNEL).unwrap();
    if let Some(text) = marker {
        fs::write(out.join("k.ptx.saved"), format!("{HEAD}{text}")).unwrap();
    }
    (own, out)
}

fn opened((dir, out): &(PathBuf, PathBuf)) -> Package {
    Package::open("demo", dir, [out.as_path()]).unwrap()
}

#[test]
fn a_marker_is_read_and_is_no_ptx() {
    let package = opened(&fresh("unknown", Some("unknown it says nothing\n")));
    assert_eq!(package.files.len(), 1);
    let saved = package.files[0].saved.as_ref().unwrap();
    assert_eq!(saved.state, SourceState::Unknown("it says nothing".to_owned()));
    let notes = package.notes();
    assert_eq!(notes.len(), 1);
    assert_eq!(notes[0].0, "demo::k.ptx");
    let start =
        "demo::k.ptx is saved PTX (kernels/k.ptx), not compiled from kernels/k.cu in this build: ";
    assert!(notes[0].1.starts_with(start), "{notes:?}");
    // It is checked.
    let jobs = plan(&package).unwrap();
    assert_eq!(failure(&jobs[0], Check::Barriers, false), None);
}

#[test]
fn of_compiled_or_current_ptx_nothing_is_said() {
    for (name, marker) in [("compiled", None), ("current", Some("current\n"))] {
        let package = opened(&fresh(name, marker));
        assert_eq!(package.notes(), []);
        assert!(!plan(&package).unwrap()[0].is_unread());
    }
}

#[test]
fn ptx_that_is_older_than_its_source_is_not_checked() {
    let package = opened(&fresh("changed", Some("changed kernels/k.cu\n")));
    assert_eq!(package.notes(), []);
    let jobs = plan(&package).unwrap();
    let [job] = &jobs[..] else { panic!("{} jobs", jobs.len()) };
    assert!(matches!(&job.outcome().report, Err(JobError::Outdated(_))));
    let message = failure(job, Check::Barriers, false).unwrap();
    let start = "k.ptx: could not be checked: saved PTX (kernels/k.ptx) is older than its source: kernels/k.cu changed";
    assert!(message.starts_with(start), "{message}");
    assert_eq!(job.name(), "demo::k.ptx::read");
    assert_eq!(trials(jobs).len(), 1);
}

#[test]
fn a_file_that_weft_toml_names_too_keeps_its_marker() {
    let place = fresh("named", Some("changed kernels/k.cu\n"));
    fs::write(place.0.join("weft.toml"), "ptx = ['kernels/*.ptx']\n").unwrap();
    let package = opened(&place);
    assert_eq!(package.files.len(), 1, "the text is the same");
    assert_eq!(package.files[0].display, "kernels/k.ptx");
    assert!(plan(&package).unwrap().iter().all(Job::is_unread));
}
