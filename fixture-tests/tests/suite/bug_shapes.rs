//! Tests that bugs of shapes which real kernels had are found, and that their repaired twins are clean: the table
//! `fixtures/bug-shapes.tsv` names a fixture for each.

use std::fs;
use std::path::Path;

use weft_core::finding::Verdict;
use weft_core::ptx;
use weft_fixture_tests::files;
use weft_fixture_tests::language::Fixture;

/// The shapes of the table.
const SHAPES: usize = 26;
/// The kernels of the table that are open: locks are not followed.
const OPEN: [&str; 1] = ["possible-race/spin-lock"];

/// Returns the verdict about the kernel of a fixture.
fn verdict(root: &Path, name: &str) -> Verdict {
    let path = root.join(format!("ptx/{name}.ptx"));
    let text = fs::read_to_string(&path);
    assert!(text.is_ok(), "{}: {text:?}", path.display());
    let text = text.unwrap_or_default();
    let fixture = Fixture::parse(&text, &path).expect("the header is right");
    let module = ptx::parse(&text);
    let mut kernels = module.kernels();
    let kernel = kernels.next().expect("a fixture has a kernel");
    assert!(kernels.next().is_none(), "{name} has one kernel");
    weft_core::check(&module, kernel, &fixture.launch()).expect("the launch fits").verdict()
}

#[test]
fn bugs_of_real_shapes_are_found_and_their_repaired_twins_are_clean() {
    let root = files::root();
    let table = fs::read_to_string(root.join("bug-shapes.tsv")).expect("it is there");
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|row| row.split('\t').collect()).collect();
    assert_eq!(rows.len(), SHAPES);
    for (number, row) in (1..).zip(&rows) {
        let &[stated, _, broken, of_broken, repaired, of_repaired] = row.as_slice() else {
            panic!("row {number} has six columns: {row:?}");
        };
        assert_eq!(stated, number.to_string());
        for (name, word, wanted) in
            [(broken, of_broken, Verdict::Defect), (repaired, of_repaired, Verdict::Clean)]
        {
            let wanted = if OPEN.contains(&name) { Verdict::Open } else { wanted };
            assert_eq!(verdict(&root, name), wanted, "{number}: {name}");
            let told = match wanted {
                Verdict::Defect => "defect",
                Verdict::Clean => "clean",
                Verdict::Open => "open",
            };
            assert_eq!(word, told, "{number}: {name}");
        }
    }
}
