//! The house rules that a compiler does not hold: a stage imports only earlier stages, and files stay small.

#![allow(clippy::disallowed_methods, reason = "this test reads the sources; the library does not")]

use std::fs;
use std::path::{Path, PathBuf};

/// The stages in pipeline order. `launch` is data that all but `ptx` may use.
const STAGES: [&str; 11] = [
    "ptx", "launch", "flow", "slice", "emulate", "order", "race", "finding", "explain", "check",
    "mutate",
];
/// The rooms of `emulate`, in the order in which they may import each other.
const ROOMS: [&str; 6] = ["value", "ops", "memory", "sync", "facts", "machine"];
/// Not a stage of the pipeline: rendering, which looks at findings only.
const REPORT: [&str; 4] = ["report", "ptx", "launch", "finding"];
/// Lines that a file may have; tables may have more.
const MOST_LINES: usize = 500;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("the folder is part of the checkout");
    for entry in entries {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The modules that a file names right behind this path.
fn imports<'t>(text: &'t str, path: &'static str) -> Vec<&'t str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let is_path = |line: &str, at: usize| {
        !line[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
    };
    let after = code.flat_map(|line| {
        let paths = line.match_indices(path).filter(move |(at, _)| is_path(line, *at));
        paths.map(move |(at, path)| &line[at + path.len()..])
    });
    after
        .map(|rest| {
            rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or("")
        })
        .collect()
}

#[test]
fn stages_import_only_earlier_stages() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 40, "the sources were not found: {files:?}");
    for file in files {
        let relative = file.strip_prefix(&root).expect("found below the root");
        let first =
            relative.components().next().expect("a file has a name").as_os_str().to_string_lossy();
        let stage = first.trim_end_matches(".rs");
        let text = fs::read_to_string(&file).expect("sources are text");
        if stage == "lib" {
            continue;
        }
        let allowed: &[&str] = match STAGES.iter().position(|own| *own == stage) {
            Some(at) => &STAGES[..=at],
            None => &REPORT,
        };
        for import in imports(&text, "crate::") {
            assert!(
                allowed.contains(&import),
                "{} imports `{import}`, a later stage",
                relative.display()
            );
        }
        let lines = text.lines().count();
        assert!(lines <= MOST_LINES, "{} has {lines} lines: is it one idea?", relative.display());
    }
}

#[test]
fn rooms_of_the_machine_import_only_earlier_rooms() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/emulate");
    let mut count = 0;
    for (at, room) in ROOMS.iter().enumerate() {
        let mut files = Vec::new();
        sources(&root.join(room), &mut files);
        count += files.len();
        for file in files {
            let text = fs::read_to_string(&file).expect("sources are text");
            for import in imports(&text, "crate::emulate::") {
                let is_earlier = ROOMS[..=at].contains(&import);
                assert!(is_earlier, "{} imports `{import}`, a later room or none", file.display());
            }
        }
    }
    assert!(count > 50, "the rooms were not found");
}
