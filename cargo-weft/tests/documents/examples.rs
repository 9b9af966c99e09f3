//! What pages show of files: configurations parse, and files that exist elsewhere have the same text there.

use std::fs;
use std::path::Path;
use std::process::Command;

use weft_harness::config::Config;

use crate::page::{self, Fenced, pages, root};

/// Keys of a Cargo.toml at its top level.
const MANIFEST: [&str; 8] = [
    "package",
    "workspace",
    "dependencies",
    "dev-dependencies",
    "build-dependencies",
    "test",
    "profile",
    "features",
];

/// Returns what is wrong with a configuration.
fn mistake(block: &Fenced) -> Option<String> {
    let document = match block.text.parse::<toml_edit::DocumentMut>() {
        Ok(document) => document,
        Err(error) => return Some(error.to_string()),
    };
    if document.iter().any(|(key, _)| MANIFEST.contains(&key)) {
        return None;
    }
    Config::parse(&block.text, Path::new("weft.toml")).err().map(|error| error.to_string())
}

#[test]
fn configurations_parse() {
    let mut wrong = Vec::new();
    for page in pages() {
        let blocks = page.blocks.iter().filter(|block| block.language == "toml");
        let blocks = blocks.filter(|block| block.directive("not parsed: ").is_none());
        wrong.extend(blocks.filter_map(|block| {
            Some(format!("{}:{}: {}", page.path, block.line, mistake(block)?))
        }));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn files_have_the_text_that_pages_show() {
    for page in pages() {
        for block in &page.blocks {
            let Some((_, Some(same))) = block.file() else { continue };
            let text = fs::read_to_string(root().join(same)).unwrap_or_default();
            assert_eq!(text, block.text, "{}:{} and {same}", page.path, block.line);
        }
    }
}

#[test]
fn rust_is_compiled() {
    let documented =
        fs::read_to_string(root().join("fixture-tests/src/lib.rs")).unwrap_or_default();
    for page in pages() {
        let is_documented = documented.contains(&format!("include_str!(\"../../{}\")", page.path));
        for block in page.blocks.iter().filter(|block| block.language.starts_with("rust")) {
            let is_doc_test = is_documented && !block.language.contains("ignore");
            assert!(
                is_doc_test
                    || block.file().is_some()
                    || block.directive("not compiled: ").is_some(),
                "{}:{}: nothing compiles this: a `file:` comment has the consoles of the page compile it, an \
                 `include_str!` in fixture-tests/src/lib.rs the doc tests, or `not compiled:` says why not",
                page.path,
                block.line
            );
        }
    }
}

#[test]
fn workflows_are_the_one_that_init_prints() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("documents-init");
    let package = folder.join("src");
    fs::create_dir_all(&package).expect("folders can be made");
    let write = |name: &str, text: &str| {
        fs::write(folder.join(name), text).expect("the file can be written");
    };
    write("src/lib.rs", "");
    write("Cargo.toml", "[package]\nname = \"printed\"\nedition = \"2024\"\n[workspace]\n");
    write(
        "build.rs",
        "fn main() { std::fs::copy(\"k.ptx\", std::env::var(\"OUT_DIR\").unwrap() + \"/k.ptx\").unwrap(); }\n",
    );
    write(
        "k.ptx",
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n    ret;\n}\n",
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-weft"));
    command.args(["weft", "init", "--dry-run"]).current_dir(&folder);
    command.env("CARGO_TARGET_DIR", folder.join("target")).env("CARGO_NET_OFFLINE", "true");
    let output = command.output().expect("the binary starts");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut count = 0;
    for page in pages() {
        let blocks = page.blocks.iter();
        for block in blocks.filter(|own| own.directive("printed by cargo weft init").is_some()) {
            assert!(
                printed.contains(&block.text),
                "{}:{}: not in\n{printed}",
                page.path,
                block.line
            );
            count += 1;
        }
    }
    assert!(count > 0 && page::read("README.md").blocks.iter().any(|own| own.language == "yaml"));
}
