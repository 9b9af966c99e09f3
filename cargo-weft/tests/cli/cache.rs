//! Tests of the verdicts that are kept between runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::SystemTime;

use crate::support::{CLEAN, Folder, RACE, Run};

/// Creates a package without a build script, so that cargo creates no target directory.
fn package(name: &str) -> Folder {
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n"
    );
    Folder::new(name)
        .with("Cargo.toml", manifest)
        .with("src/lib.rs", "")
        .with("weft.toml", "ptx = [\"*.ptx\"]\n[default]\nblock = 64\n")
        .with("own.ptx", CLEAN)
        .with("race.ptx", RACE)
}

/// Returns the entries of the cache with their contents and modification times.
fn entries(folder: &Folder) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let Ok(entries) = fs::read_dir(folder.path().join("target/weft/verdicts")) else {
        return BTreeMap::new();
    };
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    let with_contents = |path: PathBuf| {
        let time = fs::metadata(&path).and_then(|meta| meta.modified()).expect("files have times");
        let bytes = fs::read(&path).expect("entries can be read");
        (path, (bytes, time))
    };
    paths.map(with_contents).collect()
}

fn assert_same(one: &Run, other: &Run) {
    assert_eq!((&one.out, &one.err, one.code), (&other.out, &other.err, other.code));
}

#[test]
fn a_second_run_says_the_same_and_checks_nothing() {
    let folder = package("kept");
    let formats = ["json", "short", "sarif", "junit", "github", "rustc"];
    let formats = formats.map(|format| format!("--message-format {format}"));
    let forms = ["", "--verbose", "--color always"].into_iter();
    for form in forms.chain(formats.iter().map(String::as_str)) {
        let anew = folder.weft(&format!("test --no-cache {form}")).exits(100);
        let before = entries(&folder);
        let first = folder.weft(&format!("test {form}")).exits(100);
        let kept = entries(&folder);
        // Existing entries are not written again, and the run with the first format leaves all that the other formats
        // need.
        assert!(kept.len() == 2 && (before.is_empty() || before == kept), "{form}");
        assert_same(&anew, &first);
        assert_same(&anew, &folder.weft(&format!("test {form}")).exits(100));
        assert_eq!(entries(&folder), kept, "{form}");
    }
}

#[test]
fn a_damaged_or_changed_kernel_is_checked_again() {
    let folder = package("damaged");
    let first = folder.weft("").exits(100);
    let good = entries(&folder);
    for (path, (bytes, _)) in &good {
        fs::write(path, &bytes[..bytes.len() - 1]).expect("entries can be written");
    }
    assert_same(&first, &folder.weft("").exits(100));
    let contents = |entries: BTreeMap<PathBuf, (Vec<u8>, SystemTime)>| {
        entries.into_iter().map(|(path, (bytes, _))| (path, bytes)).collect::<Vec<_>>()
    };
    assert_eq!(contents(entries(&folder)), contents(good));
    let mended = RACE.replace("ld.shared.u32 %r4, [%r3+4]", "ld.shared.u32 %r4, [%r3+0]");
    folder.with("race.ptx", mended).weft("").exits(0).says("weft: 2 clean, 0 defect, 0 open");
}

#[test]
fn two_runs_at_once_say_the_same() {
    let folder = package("at-once");
    let start = || {
        let mut command = folder.command(&[]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts")
    };
    let children: Vec<_> = (0..4).map(|_| start()).collect();
    let anew = folder.weft("test --no-cache").exits(100);
    for child in children {
        assert_same(&anew, &Run::of(child.wait_with_output().expect("it ends")));
    }
    assert_eq!(entries(&folder).len(), 2);
}

#[test]
fn a_folder_that_cannot_be_written_is_one_warning() {
    let folder = package("unkept").with("file", "");
    let target = folder.path().join("file/target");
    let run = |words: &[&str]| {
        let mut command = folder.command(words);
        Run::of(command.env("CARGO_TARGET_DIR", &target).output().expect("the binary starts"))
    };
    let told = run(&[]).exits(100).says("weft: 1 clean, 1 defect, 0 open");
    assert_eq!(told.err.matches("warning: verdicts cannot be kept in ").count(), 1, "{told:#?}");
    assert_eq!(run(&["-q"]).exits(100).err, "");
}
