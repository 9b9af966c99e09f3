//! Tests of `report`: what the page tells, that it is well-formed and needs no other file, and where it is written.

use std::collections::BTreeSet;
use std::fs;

use roxmltree::{Document, Node, ParsingOptions};

use crate::packages::package;
use crate::support::{CLEAN, Folder, RACE};

/// Settings under which the kernels of [`kernels`] have all verdicts but `unchecked`.
const CONFIG: &str = "\
[default]
block = 64
grid = 2
[[kernel]]
name = '^allowed'
allow = [{ code = \"shared-race\", reason = \"the neighbour's slot is a <b>hint</b> & no more\" }]
[[kernel]]
name = '^skipped'
skip = \"takes <i>long</i>\"
";

/// The head of a module.
fn head() -> &'static str {
    &CLEAN[..CLEAN.find(".visible").expect("it has a kernel")]
}

/// Returns the text of the racing kernel under another name.
fn race(name: &str) -> String {
    let at = RACE.find(".visible").expect("it has a kernel");
    RACE[at..].replace("race_of_neighbours", name)
}

/// Returns a module with a kernel for each verdict.
fn kernels() -> String {
    let open = "
.visible .entry open_index(.param .u64 p)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    .reg .pred %p;
    ld.param.u64 %rd1, [p];
    ld.global.u32 %r1, [%rd1];
    setp.eq.u32 %p, %r1, 7;
    @%p bar.sync 1, %r1;
    ret;
}
";
    format!("{CLEAN}{}{}{}{open}", race("racing"), race("allowed_race"), race("skipped_race"))
}

/// Returns the page in a folder.
fn page(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).expect("the page was written")
}

/// Parses a page, and asserts that it needs nothing from outside and that its links lead somewhere.
#[track_caller]
fn parsed(page: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document = Document::parse_with_options(page, options).expect("the page is well-formed");
    let nodes = || document.descendants().filter(Node::is_element);
    let ids: Vec<&str> = nodes().filter_map(|node| node.attribute("id")).collect();
    let known: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), known.len(), "identifiers are unique: {ids:?}");
    for node in nodes() {
        let tag = node.tag_name().name();
        assert!(!["img", "link", "iframe", "object", "base"].contains(&tag), "{tag} in the page");
        for name in ["src", "srcset", "action", "data", "poster", "background"] {
            assert_eq!(node.attribute(name), None, "{tag} has `{name}`");
        }
        assert!(node.attributes().all(|own| !own.name().starts_with("on")), "{tag}");
        if let Some(target) = node.attribute("href") {
            let target = target.strip_prefix('#').expect("links stay within the page");
            assert!(known.contains(target), "nothing is at #{target}");
        }
        for id in node.attribute("aria-labelledby").unwrap_or_default().split_whitespace() {
            assert!(known.contains(id), "nothing is at #{id}");
        }
        if tag == "style" || node.has_attribute("style") {
            let style = node.text().unwrap_or_default();
            assert!(!style.contains("url(") && !style.contains("@import"), "{style}");
        }
    }
    assert_eq!(nodes().filter(|node| node.has_tag_name("script")).count(), 1);
    document
}

/// Returns all text below a node.
fn text(node: Node<'_, '_>) -> String {
    node.descendants().filter(Node::is_text).filter_map(|own| own.text()).collect()
}

/// Returns the text of the element with this identifier.
#[track_caller]
fn section(document: &Document<'_>, id: &str) -> String {
    let is_it = |node: &Node<'_, '_>| node.attribute("id") == Some(id);
    text(document.descendants().find(is_it).expect("the page has this part"))
}

/// Returns the verdict of each row of the table of kernels, with the row's text.
fn rows(document: &Document<'_>) -> Vec<(String, String)> {
    let rows = document.descendants().filter(|node| node.has_tag_name("tr"));
    rows.filter_map(|row| Some((row.attribute("data-verdict")?.to_owned(), text(row)))).collect()
}

#[test]
fn the_page_tells_every_verdict() {
    let folder = Folder::new("report")
        .with("all.ptx", kernels())
        .with("bad.ptx", format!("{}.entry k() {{ mov.u32 %r3, \"<u>\"; }}\n", head()))
        .with("w.toml", CONFIG);
    let run = folder.weft("report all.ptx bad.ptx --config w.toml -o page.html").exits(101);
    let counts = "weft: 1 clean, 1 defect, 1 open, 1 allowed, 1 skipped, 1 could not be checked";
    assert_eq!(run.out, format!("page.html\n{counts}; 1 finding allowed\n"));
    let page = page(&folder, "page.html");
    let document = parsed(&page);
    let rows = rows(&document);
    let is_row = |(verdict, name): (&str, &str)| {
        rows.iter().any(|(own, text)| own == verdict && text.contains(name))
    };
    let expected = [
        ("clean", "own_slot"),
        ("defect", "racing"),
        ("allowed", "allowed_race"),
        ("skipped", "skipped_race"),
        ("open", "open_index"),
        ("unchecked", "bad.ptx"),
    ];
    assert!(expected.into_iter().all(is_row), "{rows:#?}");
    assert_eq!(rows.len(), expected.len());
    let racing = &rows[1].1;
    assert!(racing.contains("grid 2, block 64, 2 ctas") && racing.contains("2 of 2"), "{racing}");
    let findings = section(&document, "findings");
    for told in [
        "read-write race between lanes of a warp on shared memory",
        "st.shared.u32 [%r3], %r1;",
        "4-byte write of `slots` + 4, thread 1 of cta 0",
        "racing pairs of threads: 124 within a warp, 2 between warps",
        "in the PTX, `bar.sync 0` after all.ptx:",
        "makes the kernel clean under this launch",
        "no order: a barrier is missing",
        "depends-on-input",
    ] {
        assert!(findings.contains(told), "no `{told}` in {findings}");
    }
    assert!(section(&document, "accepted").contains("a <b>hint</b> & no more"));
    assert!(section(&document, "skipped").contains("takes <i>long</i>"));
    assert!(section(&document, "unchecked").contains("bad.ptx:5:27: expected an operand"));
    assert!(section(&document, "codes").contains("no barrier orders the two."));
    let marks = document.descendants().filter(|node| node.has_tag_name("mark"));
    assert!(marks.map(text).any(|marked| marked == "ld.shared.u32 %r4, [%r3+4];"));
}

#[test]
fn a_clean_page_has_assumptions_and_no_findings() {
    let ptx = "
.visible .entry own_word(.param .u64 p)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
}
";
    let folder = Folder::new("report-clean").with("own.ptx", format!("{}{ptx}", head()));
    let run = folder.weft("report own.ptx --block 64 --grid 1").exits(0);
    assert_eq!(run.out, "target/weft/report.html\nweft: 1 clean, 0 defect, 0 open\n");
    let page = page(&folder, "target/weft/report.html");
    let document = parsed(&page);
    let assumed = section(&document, "assumptions");
    assert!(assumed.contains("stay within their buffers (1 of 1)"), "{assumed}");
    for absent in ["id=\"findings\"", "id=\"codes\"", "id=\"accepted\"", "<svg"] {
        assert!(!page.contains(absent), "{absent} in {page}");
    }
}

#[test]
fn text_of_files_stays_text() {
    let at = "    st.shared.u32 [%r3], %r1;";
    let name = "a&\"<b>\u{202e}.ptx";
    let ptx = RACE.replace(at, &format!("    .loc 1 1 1\n{at}")) + ".file 1 \"k.cu\"\n";
    let line = "</code></pre><script>alert(1)</script> \u{1b}[31m&amp; ]]> \u{202e}\u{0}\n";
    let folder = Folder::new("report-hostile").with(name, ptx).with("k.cu", line);
    folder.weft_with(&["report", name, "--block", "64", "-o", "p.html"]).exits(100);
    let page = page(&folder, "p.html");
    let findings = section(&parsed(&page), "findings");
    assert!(findings.contains("</code></pre><script>alert(1)</script> \\u{1b}[31m&amp; ]]>"));
    assert!(findings.contains("a&\"<b>\\u{202e}.ptx"), "{findings}");
    let is_bad = |c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!page.contains(is_bad), "{page:?}");
}

#[test]
fn packages_have_the_page_in_their_target_directory() {
    let folder = package("reported", &format!("{CLEAN}{}", race("racing")))
        .with("weft.toml", "[default]\nblock = 64\n");
    let run = folder.weft("report").exits(100);
    let path = folder.path().join("target/weft/report.html");
    let path = path.to_str().expect("the path is text");
    assert_eq!(run.out, format!("{path}\nweft: 1 clean, 1 defect, 0 open\n"));
    let first = page(&folder, "target/weft/report.html");
    assert!(first.contains("reported::kernel.ptx"), "{first}");
    // The verdicts of the second run are those that the first one kept.
    folder.weft("weft report -p reported").exits(100);
    assert_eq!(page(&folder, "target/weft/report.html"), first);
    folder.weft("report --no-cache --kernel own -o own.html").exits(0);
    assert_eq!(rows(&parsed(&page(&folder, "own.html"))).len(), 1);
    folder.weft("report --kernel other").exits(4).complains("no kernel matches `other`");
    folder.weft("report --block 32").exits(2).complains("only for files");
    let run = folder.weft("report -o kernel.ptx/page.html").exits(101);
    run.complains("cannot write `kernel.ptx/page.html`");
}

#[test]
fn folders_are_made_in_the_target_directory_alone() {
    let folder = package("report-folders", CLEAN).with("weft.toml", "[default]\nblock = 64\n");
    let run = folder.weft("report -o pages/new/own.html").exits(101);
    run.complains("cannot write `pages/new/own.html`");
    assert!(!folder.path().join("pages").exists());
    folder.weft("report -o target/../pages/own.html").exits(101);
    assert!(!folder.path().join("pages").exists());
    folder.weft("report -o target/pages/own.html").exits(0);
    assert!(folder.path().join("target/pages/own.html").is_file());
    folder.weft("report kernel.ptx --block 64 -o pages/own.html").exits(101);
    folder.weft("report kernel.ptx --block 64 -o target/files/own.html").exits(0);
}

#[test]
fn a_run_without_kernels_leaves_the_page_as_it_is() {
    let folder = package("report-kept", CLEAN).with("weft.toml", "[default]\nblock = 64\n");
    folder.weft("report").exits(0);
    let before = page(&folder, "target/weft/report.html");
    let folder = folder.with("weft.toml", "[default]\nblok = 64\n");
    let run = folder.weft("report").exits(101).complains("unknown key `blok`");
    assert_eq!(run.out, "weft: 0 clean, 0 defect, 0 open, 1 could not be checked\n");
    let run = run.complains("there is no kernel to report on: ");
    assert!(run.err.contains("report.html is not written"), "{run:#?}");
    assert_eq!(page(&folder, "target/weft/report.html"), before);
}

#[test]
fn an_allow_that_accepts_nothing_is_on_the_page() {
    let config = "[[kernel]]\nname = 'own'\nblock = 64\n\
                  allow = [{ code = \"shared-race\", reason = \"once\" }]\n";
    let folder = Folder::new("report-dead").with("own.ptx", CLEAN).with("w.toml", config);
    folder.weft("report own.ptx --config w.toml -o p.html").exits(101).complains("shared-race");
    let page = page(&folder, "p.html");
    let told = section(&parsed(&page), "unchecked");
    assert!(told.contains("w.toml") && told.contains("shared-race"), "{told}");
}
