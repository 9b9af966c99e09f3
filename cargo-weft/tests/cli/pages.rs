//! Tests of the pages about finding codes: the kernels on a page are those that are saved with their PTX, the broken one has that
//! finding and no other under the launch that the page states, and the repaired one is clean.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use weft_core::finding::{Class, Code};

use crate::support::Folder;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the text of the first block of this language in a section of a page.
fn block<'p>(page: &'p str, section: &str, language: &str) -> Option<&'p str> {
    let (_, section) = page.split_once(&format!("\n## {section}\n"))?;
    let section = section.split("\n## ").next()?;
    let (_, block) = section.split_once(&format!("\n```{language}\n"))?;
    block.split_once("```\n").map(|(block, _)| block)
}

/// Checks one of the two kernels of a page, and returns the exit code and the codes of its findings.
fn findings(code: Code, section: &str, ptx: &str) -> (Option<i32>, Vec<String>) {
    let page = code.page();
    let config = block(page, section, "toml").or_else(|| block(page, "Broken", "toml"));
    let folder = Folder::new(&format!("pages-{code}-{section}"))
        .with("kernel.ptx", ptx)
        .with("weft.toml", config.expect("a page states the launch"));
    let run = folder.weft("check kernel.ptx --config weft.toml --message-format json");
    let lines = run.out.lines().map(|line| serde_json::from_str(line).expect("it is JSON"));
    let lines: Vec<Value> = lines.collect();
    let all = lines.iter().filter_map(|line| line["findings"].as_array()).flatten();
    let codes = all.filter_map(|finding| finding["code"].as_str());
    (run.code, codes.map(str::to_owned).collect())
}

/// Returns a saved kernel as source and PTX.
fn saved(code: Code, name: &str) -> [String; 2] {
    ["cu", "ptx"].map(|ending| {
        let path = root().join(format!("fixtures/codes/{code}/{name}.{ending}"));
        let text = fs::read_to_string(&path);
        assert!(text.is_ok(), "{}: {text:?}", path.display());
        text.unwrap_or_default()
    })
}

#[test]
fn each_page_has_its_title_and_sections() {
    for code in Code::ALL {
        let page = code.page();
        let title = format!("# {code} ({}): {}\n\n", code.class().in_words(), code.summary());
        assert!(page.starts_with(&title), "{code}: {}", page.lines().next().unwrap_or_default());
        let last = if code.class() == Class::Open { "If it is open" } else { "If it is meant" };
        let sections: Vec<&str> =
            page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(sections, ["Broken", "Repaired", last], "{code}");
        assert!(code.explanation().len() > 60, "{code}");
    }
}

#[test]
fn the_kernels_of_the_pages_are_as_the_pages_say() {
    let mut wrong = Vec::new();
    for code in Code::ALL.iter().copied() {
        let page = code.page();
        let [source, ptx] = saved(code, "broken");
        assert_eq!(block(page, "Broken", "cuda"), Some(&*source), "{code}");
        let (exit, found) = findings(code, "Broken", &ptx);
        let expected = match code.class() {
            Class::Defect => 100,
            Class::Open => 102,
            Class::Warning => 0,
        };
        let is_only = !found.is_empty() && found.iter().all(|own| own == code.name());
        if exit != Some(expected) || !is_only {
            wrong.push(format!("{code}, broken: exit {exit:?}, {found:?}"));
        }
        let repaired = match block(page, "Repaired", "cuda") {
            Some(kernel) => {
                let [source, ptx] = saved(code, "repaired");
                assert_eq!(kernel, source, "{code}");
                ptx
            }
            None => ptx,
        };
        let (exit, found) = findings(code, "Repaired", &repaired);
        if exit != Some(0) || !found.is_empty() {
            wrong.push(format!("{code}, repaired: exit {exit:?}, {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_book_has_a_page_for_each_code() {
    let folder = root().join("docs/codes");
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("the page is there");
    let table = read("README.md");
    for code in Code::ALL {
        let row = format!("| [`{code}`]({code}.md) | {} | {} |", class(*code), code.summary());
        assert!(table.contains(&row), "docs/codes/README.md lacks\n{row}");
        let include = format!("{{{{#include ../../weft-core/src/finding/pages/{code}.md}}}}\n");
        assert_eq!(read(&format!("{code}.md")), include);
    }
    let pages = fs::read_dir(&folder).expect("the folder is there").count();
    assert_eq!(pages, Code::ALL.len() + 1, "a page without a code");
    let rows = table.lines().filter(|line| line.starts_with("| [")).count();
    assert_eq!(rows, Code::ALL.len());
}

fn class(code: Code) -> &'static str {
    match code.class() {
        Class::Defect => "defect",
        Class::Open => "open",
        Class::Warning => "warning",
    }
}
