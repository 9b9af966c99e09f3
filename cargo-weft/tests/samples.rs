//! Tests of the sample crates of this repository, through the binary and through their own `cargo test`.
//!
//! Each sample builds its kernels with nvcc, or uses the saved PTX if there is no nvcc; the findings are the same.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// The source file of the kernel that races, and the text of the two racing lines.
const SOURCE: &str = "fixtures/early-handover/kernels/early_handover.cu";
const WRITE: &str = "ys[b][pair] = pair_y;";
const READ: &str = "reinterpret_cast<const float *>(ys[b])[i];";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the package lies in the workspace")
        .to_owned()
}

/// Returns the target directory in which this test was built, so that dependencies need not be built again.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("the folder lies in the target folder")
        .to_owned()
}

/// Runs a program in a folder of the workspace, without network: building this test has already fetched all
/// dependencies.
fn run(program: &str, arguments: &[&str], folder: &Path) -> (Option<i32>, String, String) {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    command.env("CARGO_TARGET_DIR", target()).env("CARGO_NET_OFFLINE", "true");
    let Output { status, stdout, stderr } = command.output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (status.code(), text(stdout), text(stderr))
}

fn weft(arguments: &[&str]) -> (Option<i32>, String, String) {
    run(env!("CARGO_BIN_EXE_cargo-weft"), arguments, &root())
}

/// Returns the number of the only line of the source that contains `text`.
fn line(text: &str) -> u64 {
    let source = fs::read_to_string(root().join(SOURCE)).expect("the sample's source is there");
    let lines: Vec<_> = (1..).zip(source.lines()).filter(|(_, line)| line.contains(text)).collect();
    assert_eq!(lines.len(), 1, "`{text}` stands once in the source");
    lines[0].0
}

#[test]
fn the_whole_workspace() {
    let (code, out, err) = weft(&["weft"]);
    assert_eq!(code, Some(100), "{out}\n{err}");
    for clean in [
        "clean   saxpy-pipeline::saxpy_pipeline.ptx::saxpy_pipeline  (",
        "clean   saxpy-pipeline::saxpy_pipeline.ptx::saxpy  (",
        "clean   rust-reduce::block_sum.ptx::block_sum  (",
        "clean   early-handover::early_handover.ptx::saxpy  (",
        "DEFECT  early-handover::early_handover.ptx::saxpy_pipeline  (",
        "weft: 4 clean, 1 defect, 0 open",
    ] {
        assert!(out.contains(clean), "no `{clean}` in\n{out}\n{err}");
    }
    // The report quotes both lines.
    assert!(out.contains("shared-race") && out.contains(WRITE) && out.contains(READ), "{out}");
}

#[test]
fn the_race_has_both_its_source_lines() {
    let (code, out, err) = weft(&["test", "--workspace", "--message-format", "json"]);
    assert_eq!(code, Some(100), "{out}\n{err}");
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let defects: Vec<_> = lines.iter().filter(|line| line["verdict"] == "defect").collect();
    assert_eq!(defects.len(), 1);
    assert_eq!(
        (&defects[0]["package"], &defects[0]["kernel"]),
        (&"early-handover".into(), &"saxpy_pipeline".into())
    );
    let mut places = BTreeSet::new();
    for finding in defects[0]["findings"].as_array().unwrap() {
        assert_eq!(finding["code"], "shared-race");
        for site in finding["sites"].as_array().unwrap() {
            assert!(site["file"].as_str().unwrap().ends_with("early_handover.cu"), "{site:#}");
            places.insert((
                site["role"].as_str().unwrap().to_owned(),
                site["line"].as_u64().unwrap(),
            ));
        }
    }
    assert_eq!(
        places,
        BTreeSet::from([("write".to_owned(), line(WRITE)), ("read".to_owned(), line(READ))])
    );
    assert_eq!(lines.last().unwrap()["clean"], 4);
}

#[test]
fn the_clean_samples_by_themselves() {
    let (code, out, err) = weft(&["-p", "saxpy-pipeline", "-p", "rust-reduce"]);
    assert_eq!(code, Some(0), "{out}\n{err}");
    assert!(out.contains("weft: 3 clean, 0 defect, 0 open"), "{out}");
    let (code, out, err) = weft(&["list"]);
    assert_eq!(code, Some(0), "{out}\n{err}");
    assert_eq!(out.lines().count(), 5, "{out}");
}

#[test]
fn no_mutant_of_the_clean_samples_survives() {
    let (code, out, err) = weft(&["mutate", "-p", "saxpy-pipeline", "-p", "rust-reduce"]);
    assert_eq!(code, Some(0), "{out}\n{err}");
    assert!(out.contains("saxpy_pipeline  (10 mutants: 10 defect, 0 open, 0 survive)"), "{out}");
    assert!(out.contains("block_sum  (1 mutant: 1 defect, 0 open, 0 survive)"), "{out}");
}

#[test]
fn cargo_test_of_the_sample_that_races() {
    let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let (code, out, err) =
        run(&cargo, &["test", "--test", "weft"], &root().join("fixtures/early-handover"));
    assert_eq!(code, Some(101), "{out}\n{err}");
    let case = "early-handover::early_handover.ptx::saxpy_pipeline::shared";
    assert!(out.contains(case) && out.contains("shared-race"), "{out}\n{err}");
    assert!(out.contains(WRITE) && out.contains(READ), "{out}");
    assert!(out.contains("5 passed; 1 failed"), "{out}");
}

/// In a clone, `cargo weft` is an alias of cargo, which is looked for where the command is given.
#[test]
fn samples_outside_of_the_workspace_have_the_command() {
    let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    for sample in ["recorded", "early-handover"] {
        let folder = root().join("fixtures").join(sample);
        let (code, out, err) = run(&cargo, &["--list"], &folder);
        assert_eq!(code, Some(0), "{err}");
        let line = out.lines().find(|line| line.trim_start().starts_with("weft "));
        let words: Vec<_> = line.unwrap_or_default().split_whitespace().collect();
        let manifest =
            words.iter().position(|word| *word == "--manifest-path").map(|at| words[at + 1]);
        let manifest = manifest.unwrap_or_else(|| panic!("{sample}: {line:?}"));
        let text = fs::read_to_string(folder.join(manifest)).expect("the manifest is there");
        assert!(text.contains("\"cargo-weft\""), "{sample}: {manifest}");
    }
}

/// What the crate `recorded` needs of cargo, so that its record lies in no folder that another test checks.
#[cfg(target_os = "linux")]
fn in_recorded(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-weft"));
    command.args(arguments).current_dir(root().join("fixtures/recorded"));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recorded");
    command.env("CARGO_TARGET_DIR", target).env("CARGO_NET_OFFLINE", "true");
    let Output { status, stdout, stderr } = command.output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (status.code(), text(stdout), text(stderr))
}

#[cfg(target_os = "linux")]
#[test]
fn the_launches_of_a_crates_own_tests() {
    let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let (code, out, err) = in_recorded(&["record", "--", &cargo, "test", "--locked"]);
    let remedy =
        "`cargo fetch --manifest-path fixtures/recorded/Cargo.toml` gets what the crate needs";
    assert_eq!(code, Some(0), "{remedy}\n{out}\n{err}");
    assert!(out.contains("recorded 5 distinct launches of 3 kernels, by 1 process, in "), "{out}");
    let (code, out, err) = in_recorded(&["test", "--message-format", "json", "--no-cache"]);
    assert_eq!(code, Some(100), "{out}\n{err}");
    let notes: Vec<&str> = err.lines().collect();
    assert_eq!(notes.len(), 2, "every kernel is launched: {err}");
    assert!(notes[0].ends_with("its sources have not changed since"), "{err}");
    assert!(notes[1].starts_with("note: recorded launches are those in "), "{err}");
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (last, kernels) = lines.split_last().unwrap();
    assert_eq!((&last["clean"], &last["defect"], &last["open"]), (&3.into(), &2.into(), &0.into()));
    let mut verdicts: Vec<_> = kernels
        .iter()
        .map(|line| {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            (
                text(&line["kernel"]),
                line["launch"]["block"][0].as_u64().unwrap(),
                text(&line["verdict"]),
            )
        })
        .collect();
    verdicts.sort();
    let expected = [
        ("copy", 64, "clean"),
        ("copy", 64, "defect"),
        ("firsts", 200, "defect"),
        ("firsts", 256, "clean"),
        ("scale", 128, "clean"),
    ];
    assert_eq!(
        verdicts,
        expected.map(|(kernel, block, verdict)| (kernel.to_owned(), block, verdict.to_owned()))
    );
    // The racing lines of each.
    let source = fs::read_to_string(root().join("fixtures/recorded/kernels/arrays.cu")).unwrap();
    let place =
        |text: &str| (1..).zip(source.lines()).find(|(_, line)| line.contains(text)).unwrap().0;
    for (kernel, text) in [("firsts", "out[i / 256] = x[i];"), ("copy", "to[i] = from[i];")] {
        let is_it = |line: &&Value| line["kernel"] == kernel && line["verdict"] == "defect";
        let findings = kernels.iter().find(is_it).unwrap()["findings"].as_array().unwrap();
        assert_eq!(findings.len(), 1, "{findings:#?}");
        assert_eq!(findings[0]["code"], "global-race");
        let sites = findings[0]["sites"].as_array().unwrap();
        assert!(!sites.is_empty());
        for site in sites {
            assert_eq!(site["line"].as_u64(), Some(place(text)), "{site:#}");
        }
    }
}
