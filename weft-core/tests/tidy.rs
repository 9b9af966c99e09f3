//! Rules that the compiler does not enforce: a stage imports only earlier stages, and files and functions of the whole
//! workspace stay small.

#![allow(clippy::disallowed_methods, reason = "this test reads the sources; the library does not")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The stages in the order of the pipeline. `launch` is data that all stages but `ptx` can use.
const STAGES: [&str; 14] = [
    "ptx", "launch", "flow", "slice", "emulate", "order", "race", "symbolic", "finding", "explain",
    "check", "mutate", "repair", "chart",
];
/// The rooms of `emulate`, in the order in which they may import each other.
const ROOMS: [&str; 6] = ["value", "ops", "memory", "sync", "facts", "machine"];
/// `report` is not a stage of the pipeline: it renders findings, and can import only these modules.
const REPORT: [&str; 4] = ["report", "ptx", "launch", "finding"];
/// Maximum number of lines of a file.
const MOST_LINES: usize = 500;
/// Maximum number of lines of a function, from its signature to its last brace.
const MOST_LINES_OF_FUNCTION: usize = 59;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("the folder is part of the checkout");
    for entry in entries {
        let path = entry.expect("the folder can be read").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Returns the modules that a file names directly behind this path.
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
    }
}

/// Returns all Rust files of the workspace (libraries, programs, tests, samples) with their texts.
fn everything() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let text = |file: &PathBuf| fs::read_to_string(file).expect("sources are text");
    let name = |file: &PathBuf| file.strip_prefix(&root).expect("found below it").to_owned();
    let all: Vec<_> = files.iter().map(|file| (name(file), text(file))).collect();
    assert!(all.len() > 300, "the sources were not found: {}", all.len());
    all
}

#[test]
fn files_stay_small() {
    let lines = |(file, text): (PathBuf, String)| (file, text.lines().count());
    let long: Vec<_> =
        everything().into_iter().map(lines).filter(|(_, lines)| *lines > MOST_LINES).collect();
    assert!(long.is_empty(), "is each of these one idea? {long:#?}");
}

/// Returns the functions of a text as the number of the first line and the number of lines. rustfmt puts the last brace
/// of a function below its first letter.
fn functions(text: &str) -> Vec<(usize, usize)> {
    const BEFORE: [&str; 6] = ["pub", "const", "async", "unsafe", "extern", "default"];
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let mut words = code.split_whitespace().skip_while(|word| {
            let word = word.split('(').next().unwrap_or(word);
            BEFORE.contains(&word) || word.starts_with('"')
        });
        let rest = &lines[at..];
        let is_end = |line: &&str| line.ends_with(['{', '}', ';']);
        let has_body = || rest.iter().find(|line| is_end(line)).is_some_and(|l| l.ends_with('{'));
        if words.next() == Some("fn") && has_body() {
            let last = format!("{}}}", &line[..line.len() - code.len()]);
            let below = rest.iter().position(|line| *line == last);
            found.push((at + 1, below.expect("a function ends") + 1));
        }
    }
    found
}

#[test]
fn functions_stay_small() {
    let (mut count, mut long) = (0, Vec::new());
    for (file, text) in everything() {
        for (line, lines) in functions(&text) {
            count += 1;
            if lines > MOST_LINES_OF_FUNCTION {
                long.push(format!("{}:{line} has {lines} lines", file.display()));
            }
        }
    }
    assert!(count > 3000, "the functions were not found: {count}");
    assert!(long.is_empty(), "is each of these one idea? {long:#?}");
}

/// Returns the name of the type that a line declares at the top level of its file.
fn declared(line: &str) -> Option<&str> {
    let visible = line.strip_prefix("pub(").and_then(|rest| rest.split_once(") "));
    let rest = visible.map_or(line, |(_, rest)| rest);
    let rest = rest.strip_prefix("pub ").unwrap_or(rest);
    let kinds = ["struct ", "enum ", "trait ", "type "];
    let name = kinds.into_iter().find_map(|kind| rest.strip_prefix(kind))?;
    name.split(|c: char| !c.is_ascii_alphanumeric()).next()
}

#[test]
fn each_type_name_stands_for_one_type() {
    let published = ["weft-core/src", "harness/src", "weft-build/src", "cargo-weft/src"];
    let is_source = |file: &Path| published.iter().any(|folder| file.starts_with(folder));
    let mut holders: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, text) in everything().into_iter().filter(|(file, _)| is_source(file)) {
        for name in text.lines().filter_map(declared) {
            holders.entry(name.to_owned()).or_default().push(file.display().to_string());
        }
    }
    assert!(holders.len() > 300, "the types were not found: {}", holders.len());
    holders.retain(|_, files| files.len() > 1);
    assert!(holders.is_empty(), "these names stand for several types: {holders:#?}");
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

/// Returns the file of a module, if there is one.
fn file_of(root: &Path, module: &[&str]) -> Option<PathBuf> {
    let base = module.iter().fold(root.to_owned(), |path, name| path.join(name));
    let own = base.with_extension("rs");
    [own, base.join("mod.rs")].into_iter().find(|path| path.is_file())
}

#[test]
fn types_stand_where_the_glossary_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let page = fs::read_to_string(root.join("../../docs/glossary.md")).expect("it is there");
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let types: Vec<&str> = rows
        .filter_map(|row| row.split('|').nth(3)?.trim().strip_prefix('`')?.strip_suffix('`'))
        .collect();
    assert!(types.len() > 30, "{types:?}");
    for path in types {
        let mut module: Vec<&str> = path.split("::").collect();
        let name = module.pop().expect("a path has a last part");
        let file = file_of(&root, &module).unwrap_or_else(|| panic!("no file holds `{path}`"));
        let text = fs::read_to_string(&file).expect("sources are text");
        let holds = |kind: &str| {
            text.contains(&format!("{kind} {name} "))
                || text.contains(&format!("{kind} {name}<"))
                || text.contains(&format!("{kind} {name}("))
        };
        let is_there = ["struct", "enum", "trait"].into_iter().any(holds);
        assert!(is_there, "{} holds no `{name}`", file.display());
    }
}

/// Returns the files that a file imports from. Modules below a file count as part of it, as its `mod` lines say.
fn imported(root: &Path, file: &Path, text: &str) -> Vec<PathBuf> {
    let relative = file.strip_prefix(root).expect("found below the root").with_extension("");
    let mut own: Vec<String> =
        relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if own.last().is_some_and(|name| name == "mod") {
        own.pop();
    }
    let tests = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let uses = text[..tests].split("\nuse ").skip(1);
    let paths = uses.filter_map(|rest| rest.split([';', '{']).next());
    let mut found = Vec::new();
    for path in paths {
        let mut parts: Vec<&str> = path.trim_end_matches("::").split("::").collect();
        let mut module: Vec<&str> = Vec::new();
        if parts[0] == "crate" {
            parts.remove(0);
        } else if parts[0] == "super" {
            let above = parts.iter().take_while(|part| **part == "super").count();
            module.extend(own[..own.len().saturating_sub(above)].iter().map(String::as_str));
            parts.drain(..above);
        } else {
            module.extend(own.iter().map(String::as_str));
        }
        module.extend(parts);
        while !module.is_empty() {
            if let Some(other) = file_of(root, &module) {
                found.push(other);
                break;
            }
            module.pop();
        }
    }
    let below = |other: &Path| {
        let (own, other) = (file.with_extension(""), other.with_extension(""));
        let (own, other) = (own.to_string_lossy(), other.to_string_lossy());
        let is_part = |a: &str, b: &str| b.starts_with(&format!("{a}/"));
        own == other || is_part(&own, &other) || is_part(&other, &own)
    };
    found.retain(|other| !below(other) && !other.ends_with("mod.rs"));
    found
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut rest: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("sources are text");
        let others = imported(&root, &file, &text);
        rest.insert(file, others);
    }
    let count: usize = rest.values().map(Vec::len).sum();
    assert!(count > 200, "the imports were not found: {count}");
    loop {
        let is_last = |file: &PathBuf| rest[file].iter().all(|other| !rest.contains_key(other));
        let last: Vec<PathBuf> = rest.keys().filter(|file| is_last(file)).cloned().collect();
        if last.is_empty() {
            break;
        }
        rest.retain(|file, _| !last.contains(file));
    }
    assert!(rest.is_empty(), "files in circles, or that import from one: {:#?}", rest.keys());
}
