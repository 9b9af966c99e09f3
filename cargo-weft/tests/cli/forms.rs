//! Tests of the two forms of the command line, by cargo and directly, and of the commands that check nothing.

use crate::support::{CLEAN, Folder};

#[test]
fn with_and_without_the_word_that_cargo_adds() {
    let folder = Folder::new("forms").with("clean.ptx", CLEAN);
    let plain = folder.weft("check clean.ptx --block 64").exits(0);
    let cargo = folder.weft("weft check clean.ptx --block 64").exits(0);
    assert_eq!(plain.out, cargo.out);
    folder.weft("--version").exits(0).says("cargo-weft ");
    folder.weft("weft --help").exits(0).says("cargo weft").says("explain").says("102");
}

#[test]
fn every_code_is_explained() {
    let folder = Folder::new("explain");
    folder
        .weft("explain deadlock")
        .exits(0)
        .says("deadlock (a defect): ")
        .says("\nBroken\n\n    __global__ void ");
    folder.weft("weft explain no-launch").exits(0).says("no-launch (an open question): ");
    folder.weft("explain shared-rice").exits(2).complains("shared-race");
    for code in weft_core::finding::Code::ALL {
        let run = folder.weft(&format!("explain {code}")).exits(0).says(code.summary());
        let is_narrow = |line: &str| line.starts_with("    ") || line.chars().count() <= 80;
        assert!(run.out.lines().skip(2).all(is_narrow), "{run:#?}");
    }
}

#[test]
fn options_of_the_default_command_are_not_lost_before_another() {
    let folder = Folder::new("misplaced");
    folder.weft("-p name list").exits(2).complains("after the subcommand");
    folder.weft("--color never explain deadlock").exits(0);
    folder.weft("-q -v explain deadlock").exits(2);
    folder.weft("frobnicate").exits(2);
}
