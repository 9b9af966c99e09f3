//! Tests of `graph`: the picture, where it is written, and which kernel it shows.

use std::fs;
use std::path::Path;

use weft_fixture_tests::{files, snapshot};

use crate::support::{CLEAN, Folder, RACE};

#[test]
fn the_picture_of_a_race_shows_both_accesses() {
    let folder = Folder::new("graph").with("race.ptx", RACE);
    let run = folder.weft("graph race.ptx --block 64").exits(0);
    assert!(run.out.starts_with("<svg ") && run.out.ends_with("</svg>\n"), "{run:#?}");
    let run = run.says(">race_of_neighbours<").says(">block 64, grid 1<").says("shared-race: ");
    run.says("-byte write of `slots`")
        .says("-byte read of `slots`")
        .says(">no order: a barrier is missing<");
    let written = folder.weft("graph race.ptx --block 64 -o race.svg").exits(0);
    assert_eq!(written.out, "");
    let picture = fs::read_to_string(folder.path().join("race.svg")).expect("it was written");
    assert!(picture.contains("no order"), "{picture}");
    folder.weft("graph race.ptx --block 64 -o no/folder/race.svg").exits(101).complains("race.svg");
    let run = folder.weft("graph race.ptx --block 64 --finding 7").exits(4);
    run.complains("there is no finding 7: the report has 1, numbered from 1");
}

#[test]
fn a_kernel_that_is_proved_for_every_launch_is_run_with_an_ordinary_one() {
    let folder = Folder::new("graph-proved").with("clean.ptx", CLEAN);
    let run = folder.weft("graph clean.ptx").exits(0).says(">clean<");
    run.says("proved for every block")
        .says("nobody states these, so that they were chosen: block = ");
}

#[test]
fn one_kernel_and_launch_is_shown() {
    let config = "[[kernel]]\nname = 'own_slot'\n[[kernel.launch]]\nlabel = \"small\"\nblock = 32\n\
                  [[kernel.launch]]\nlabel = \"large\"\nblock = 128\n";
    let both = format!("{CLEAN}{}", &RACE[RACE.find(".visible").expect("it has a kernel")..]);
    let folder = Folder::new("graph-several").with("both.ptx", both).with("w.toml", config);
    let run = folder.weft("graph both.ptx --block 64").exits(2);
    run.complains("`both.ptx::own_slot`, `both.ptx::race_of_neighbours`").complains("--kernel");
    folder.weft("graph both.ptx --block 64 --kernel race").exits(0).says("race_of_neighbours");
    let several = "graph both.ptx --kernel own --config w.toml";
    folder.weft(several).exits(2).complains("`both.ptx::own_slot@small`").complains("--launch");
    folder.weft(&format!("{several} --launch small")).exits(0).says(">block 32, grid 1<");
    let run = folder.weft(&format!("{several} --launch tiny")).exits(4);
    run.complains("labelled `tiny`").complains("own_slot@large");
    folder
        .weft("graph both.ptx --block 64 --kernel own --arg 9=1")
        .exits(101)
        .complains("argument 9");
    folder.weft("graph none.ptx").exits(101).complains("none.ptx");
}

/// The picture in `docs` is that of the binary. `BLESS=1` writes it anew.
#[test]
fn the_documented_picture_is_the_one_that_is_drawn() {
    let sample = files::root().join("early-handover");
    let (ptx, config) = (sample.join("kernels/early_handover.ptx"), sample.join("weft.toml"));
    let [ptx, config] = [&ptx, &config].map(|path| path.to_str().expect("the path is text"));
    let arguments = ["graph", ptx, "--config", config, "--kernel", "^saxpy_pipeline$"];
    let run = Folder::new("graph-docs").weft_with(&arguments).exits(0);
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/early-handover.svg");
    if let Err(error) = snapshot::compare(&page, &run.out, snapshot::is_blessing()) {
        panic!("{error}");
    }
}
