//! Tests of `dump`.

use std::path::Path;

use weft_fixture_tests::snapshot;

use crate::support::Folder;

/// The page in `docs` is the output of the binary. `BLESS=1` writes it anew.
#[test]
fn the_support_table_is_the_documented_one() {
    let run = Folder::new("dump").weft("dump isa --markdown").exits(0);
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/instructions.md");
    if let Err(error) = snapshot::compare(&page, &run.out, snapshot::is_blessing()) {
        panic!("{error}");
    }
}

#[test]
fn the_support_table_reads_in_a_terminal() {
    let folder = Folder::new("dump-terminal");
    let run = folder.weft("weft dump isa").exits(0);
    let run = run.says("9.7.1 Integer arithmetic").says("exact        add(.u16|");
    assert!(run.out.lines().all(|line| line.chars().count() <= 160), "{run:#?}");
    folder.weft("dump").exits(2);
}
