//! Pages in Markdown: their text and their fenced blocks, with the comments that say what a test does with a block.

use std::fs;
use std::path::{Path, PathBuf};

/// A page of the documentation.
#[derive(Debug)]
pub(crate) struct Page {
    /// The path in the repository, with `/`.
    pub(crate) path: String,
    /// The lines outside of fenced blocks, with their numbers.
    pub(crate) prose: Vec<(usize, String)>,
    /// The fenced blocks in their order.
    pub(crate) blocks: Vec<Fenced>,
}

/// A fenced block.
#[derive(Debug)]
pub(crate) struct Fenced {
    /// The line of the page in which it begins.
    pub(crate) line: usize,
    /// The word behind the opening fence.
    pub(crate) language: String,
    /// The lines between the fences.
    pub(crate) text: String,
    /// The parts of the comments in front of it: `<!-- a; b -->` has two.
    pub(crate) directives: Vec<String>,
}

impl Fenced {
    /// Returns what follows `name` in the directives, if one begins with it.
    pub(crate) fn directive(&self, name: &str) -> Option<&str> {
        self.directives.iter().find_map(|own| own.strip_prefix(name)).map(str::trim)
    }

    /// Returns the file of a crate that the block shows, and the file of the repository that has the same text.
    pub(crate) fn file(&self) -> Option<(&str, Option<&str>)> {
        let stated = self.directive("file: ")?;
        let (file, same) = stated.split_once(" = ").map_or((stated, None), |(a, b)| (a, Some(b)));
        Some((file, same))
    }
}

/// Returns the root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the package lies in the workspace")
        .to_owned()
}

/// Returns the README and all pages of the book, sorted.
pub(crate) fn pages() -> Vec<Page> {
    let mut paths = vec!["README.md".to_owned()];
    markdown(&root(), "docs", &mut paths);
    paths.sort();
    assert!(paths.len() > 15, "the pages were not found: {paths:?}");
    paths.iter().map(|path| read(path)).collect()
}

fn markdown(root: &Path, folder: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(root.join(folder)).expect("the folder is part of the checkout") {
        let entry = entry.expect("the folder can be read");
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            markdown(root, &path, found);
        } else if Path::new(&path).extension().is_some_and(|own| own == "md") {
            found.push(path);
        }
    }
}

/// Reads a page of the repository.
pub(crate) fn read(path: &str) -> Page {
    let text = fs::read_to_string(root().join(path)).expect("the page can be read");
    parse(path, &text)
}

fn parse(path: &str, text: &str) -> Page {
    let mut page = Page { path: path.to_owned(), prose: Vec::new(), blocks: Vec::new() };
    let (mut open, mut indent): (Option<Fenced>, usize) = (None, 0);
    let mut directives: Vec<String> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        // Blocks in a list are indented.
        let bare = line.trim_start();
        match (&mut open, bare.strip_prefix("```")) {
            (Some(_), Some("")) => page.blocks.extend(open.take()),
            (Some(block), _) => {
                block.text.push_str(line.get(indent..).unwrap_or_default());
                block.text.push('\n');
            }
            (None, Some(language)) => {
                indent = line.len() - bare.len();
                let (language, directives) = (language.to_owned(), std::mem::take(&mut directives));
                open = Some(Fenced { line: number, language, text: String::new(), directives });
            }
            (None, None) => {
                let comment = bare.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"));
                if let Some(comment) = comment {
                    directives.extend(comment.split("; ").map(str::to_owned));
                } else if !line.is_empty() {
                    assert!(
                        directives.is_empty(),
                        "{path}:{number}: no block follows {directives:?}"
                    );
                }
                page.prose.push((number, line.to_owned()));
            }
        }
    }
    assert!(open.is_none(), "{path}: a fence is not closed");
    page
}

#[test]
fn blocks_have_the_comments_in_front_of_them() {
    let page = parse(
        "x.md",
        "# x\n\n<!-- file: a = b/a; exit status 2 -->\n```toml\nk = 1\n```\nend\n```\n```\n",
    );
    assert_eq!(page.prose.len(), 4);
    let [first, second] = &page.blocks[..] else { panic!("{page:?}") };
    assert_eq!((first.line, first.language.as_str(), first.text.as_str()), (4, "toml", "k = 1\n"));
    assert_eq!(first.file(), Some(("a", Some("b/a"))));
    assert_eq!(first.directive("exit status "), Some("2"));
    assert!(second.directives.is_empty() && second.text.is_empty());
}
