//! Parses every fourth prefix of every fixture: the parser never panics, and reports an error if the text ends inside a
//! kernel.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

use weft_core::ptx;
use weft_fixture_tests::files;

/// How much longer a prefix is than the one before it. The first prefixes of two fixtures have different lengths.
const STEP: usize = 4;

#[test]
fn truncated_texts_are_errors() {
    let mut prefixes = 0;
    for (number, path) in files::fixtures().unwrap().into_iter().enumerate() {
        let text = fs::read_to_string(&path).unwrap();
        let inside = text.rfind("\n{").unwrap()..text.rfind('}').unwrap();
        for end in
            (number % STEP..text.len()).step_by(STEP).filter(|end| text.is_char_boundary(*end))
        {
            let module = ptx::parse(&text[..end]);
            prefixes += 1;
            let is_cut = inside.contains(&end) && end > inside.start + 1;
            assert!(!is_cut || !module.errors.is_empty(), "{} cut at {end}", path.display());
        }
    }
    assert!(prefixes > 50_000, "{prefixes}");
}
