//! The modules of the stand-in import only modules before them, in the order of the table in its root.

#![allow(clippy::expect_used, reason = "a test reads the sources")]

use std::fs;
use std::path::Path;

/// The modules in the order of the table.
fn modules(root: &str) -> Vec<&str> {
    let rows = root.lines().filter_map(|line| line.strip_prefix("//! | "));
    let cells = rows.filter_map(|row| row.split_once(" | `").map(|(_, cells)| cells));
    cells
        .flat_map(|cells| cells.split(['`', ',', ' ', '|', '/']))
        .filter(|name| is_name(name))
        .collect()
}

fn is_name(name: &str) -> bool {
    name.len() > 2 && name.chars().all(is_letter)
}

fn is_letter(letter: char) -> bool {
    letter.is_ascii_lowercase() || letter.is_ascii_digit()
}

fn imports(text: &str) -> impl Iterator<Item = &str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| line.match_indices("crate::").map(|(at, path)| &line[at + path.len()..]))
        .map(|rest| rest.split(|letter| !is_letter(letter)).next().unwrap_or(""))
        .filter(|name| !name.is_empty())
}

#[test]
fn modules_import_only_earlier_ones() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../standin");
    let root = fs::read_to_string(folder.join("lib.rs")).expect("the root is there");
    let order = modules(&root);
    let declared = root.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
    for module in declared {
        let at =
            order.iter().position(|name| *name == module).expect("the table names every module");
        // Modules that are folders are not below their siblings; the interface is the last.
        let Ok(text) = fs::read_to_string(folder.join(format!("{module}.rs"))) else { continue };
        for import in imports(&text) {
            let known = order[..=at].contains(&import);
            assert!(
                known,
                "{module} imports {import}, which the table has behind it or not at all"
            );
        }
    }
}
