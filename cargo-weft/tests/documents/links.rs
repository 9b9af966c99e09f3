//! Links between pages lead to files and headings that exist, and the book has all pages.

use std::collections::BTreeSet;
use std::path::Path;

use regex::Regex;

use crate::page::{self, Page, pages, root};

/// Where a page of the book has to link to files outside of the book: the book is published without them.
const OUTSIDE: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/");

/// Returns the lines and targets of the links of a page.
fn links(page: &Page) -> Vec<(usize, String)> {
    let link = Regex::new(r"\]\(([^)\s]+)\)").expect("the pattern is one");
    // A link can be broken across lines, its target cannot.
    let lines = page.prose.iter().flat_map(|(number, line)| {
        link.captures_iter(line).map(|found| (*number, found[1].to_owned())).collect::<Vec<_>>()
    });
    lines.collect()
}

/// Returns the anchor of a heading, as GitHub and mdBook make it.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Returns the anchors of a page.
fn anchors(page: &Page) -> BTreeSet<String> {
    let headings = page.prose.iter().filter(|(_, line)| line.starts_with('#'));
    headings.map(|(_, line)| anchor(line)).collect()
}

/// Resolves `.` and `..`.
fn resolved(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns what is wrong with a link from a page.
fn mistake(page: &Page, target: &str) -> Option<String> {
    let (is_outside, target) = match target.strip_prefix(OUTSIDE) {
        Some(rest) => (true, rest),
        None if target.contains("://") => return None,
        None => (false, target),
    };
    let (file, heading) = target.split_once('#').map_or((target, None), |(a, b)| (a, Some(b)));
    let folder = page.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let path = match (is_outside, file) {
        (true, file) => file.to_owned(),
        (false, "") => page.path.clone(),
        (false, file) => resolved(folder, file),
    };
    if !root().join(&path).exists() {
        return Some("no such file".to_owned());
    }
    let is_book = |path: &str| path.starts_with("docs/");
    if is_book(&page.path) && !is_outside && !is_book(&path) {
        return Some(format!("a page of the book links to files outside as {OUTSIDE}{path}"));
    }
    let is_page = Path::new(&path).extension().is_some_and(|own| own == "md");
    let heading = heading.filter(|_| is_page)?;
    (!anchors(&page::read(&path)).contains(heading)).then(|| format!("no heading {heading}"))
}

#[test]
fn links_lead_somewhere() {
    let mut all = pages();
    all.extend(["ARCHITECTURE.md", "CONTRIBUTING.md", "harness/README.md"].map(page::read));
    let mut wrong = Vec::new();
    for page in &all {
        wrong.extend(links(page).into_iter().filter_map(|(line, target)| {
            Some(format!("{}:{line}: {target}: {}", page.path, mistake(page, &target)?))
        }));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_book_has_every_page() {
    let summary = page::read("docs/SUMMARY.md");
    let listed: BTreeSet<String> =
        links(&summary).into_iter().map(|(_, target)| format!("docs/{target}")).collect();
    let there: BTreeSet<String> = pages().into_iter().map(|page| page.path).collect();
    let missing: Vec<_> = there.difference(&listed).collect();
    assert_eq!(missing, ["README.md", "docs/SUMMARY.md"], "pages that SUMMARY.md does not list");
}

#[test]
fn anchors_are_those_of_github() {
    assert_eq!(
        anchor("## What launches are meant: `requires`"),
        "what-launches-are-meant-requires"
    );
    assert_eq!(anchor("## 2. The first run"), "2-the-first-run");
}
