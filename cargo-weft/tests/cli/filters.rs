//! Tests of the filters by which `test` and `list` select kernels and launches.

use crate::packages::package;
use crate::support::{CLEAN, Folder, RACE, Run};

/// A package with two kernels, one of which has two launches.
pub(crate) fn pair(name: &str) -> Folder {
    let race = RACE.split_once(".visible").map(|(_, kernel)| kernel).expect("there is a kernel");
    package(name, &format!("{CLEAN}\n.visible{race}")).with(
        "weft.toml",
        "[default]\nblock = 64\n[[kernel]]\nname = 'own'\n[[kernel.launch]]\nlabel = 'small'\nblock = 32\n\
         [[kernel.launch]]\nlabel = 'large'\n",
    )
}

/// Returns the names that `list` prints.
#[track_caller]
fn listed(run: Run) -> Vec<String> {
    let run = run.exits(0);
    run.out.lines().map(|line| line.split("  (").next().unwrap_or(line).to_owned()).collect()
}

#[test]
fn a_filter_is_part_of_a_name() {
    let folder = pair("filtered");
    let [small, large, race] = [
        "filtered::kernel.ptx::own_slot@small",
        "filtered::kernel.ptx::own_slot@large",
        "filtered::kernel.ptx::race_of_neighbours",
    ];
    let list = |arguments: &str| listed(folder.weft(&format!("list {arguments}")));
    assert_eq!(list(""), [small, large, race]);
    assert_eq!(list("own"), [small, large]);
    assert_eq!(list("slot@la"), [large]);
    assert_eq!(list("kernel.ptx::race @small"), [small, race]);
    assert_eq!(list("filtered"), [small, large, race]);
    assert_eq!(list("--kernel ^own"), [small, large]);
    // Both conditions hold together.
    assert_eq!(list("--kernel ^own large"), [large]);
    folder.weft("test own_slot").exits(0).says("weft: 2 clean, 0 defect, 0 open");
    folder.weft("test --kernel race").exits(100).says("weft: 0 clean, 1 defect, 0 open");
    folder.weft("-- large").exits(0).says("weft: 1 clean, 0 defect, 0 open");
}

#[test]
fn mangled_and_demangled_names_are_matched() {
    let folder = package("mangled", &CLEAN.replace("own_slot", "_Z5scalePfi"))
        .with("weft.toml", "[default]\nblock = 64\n");
    for filter in ["_Z5scale", "scale(float*, int)", "::scale"] {
        let run = folder.weft_with(&["list", filter]);
        assert_eq!(listed(run), ["mangled::kernel.ptx::scale"], "{filter}");
    }
}

#[test]
fn a_filter_that_matches_nothing_is_no_success() {
    let folder = pair("nearest");
    for command in ["list slott", "test slott", "-- slott", "test own slott"] {
        let run = folder.weft(command).exits(4).complains("no kernel's name contains `slott`");
        assert!(run.err.contains("the nearest names are `nearest::"), "{run:#?}");
    }
    let run = folder.weft("test race_of_neighbors").exits(4);
    run.complains("are `nearest::kernel.ptx::race_of_neighbours`, ");
    // A file that cannot be read might have the kernel.
    let folder = folder.with("weft.toml", "ptx = ['other.ptx']\n").with("other.ptx", ".entry (");
    let told = "of the kernels that could be read, no name contains `slott`; the nearest names are";
    folder.weft("test slott").exits(101).complains(told);
    folder.weft("test own").exits(101).says("own_slot").complains("other.ptx:1:");
    // Of kernels that are not known, nothing is said.
    let folder = folder.with("weft.toml", "[default]\nblok = 64\n");
    for command in ["test own", "test own --message-format json", "list own", "test slott"] {
        let run = folder.weft(command).exits(101).complains("unknown key `blok`");
        assert!(!run.err.contains("contain"), "{run:#?}");
    }
}

#[test]
fn a_misspelt_command_is_no_filter() {
    let folder = pair("misspelt");
    let run = folder.weft("lst").exits(2).complains("there is no command `lst`");
    run.complains("did you mean `list`?").complains("write `cargo weft test lst`");
    // It would match.
    folder.weft("own_slot").exits(2).complains("write `cargo weft test own_slot`");
    folder.weft("doctor own_slot").exits(2).complains("unexpected argument 'own_slot'");
}

#[test]
fn what_is_not_selected_makes_no_allow_stale() {
    let allow = "[[kernel]]\nname = 'race'\nallow = [{ code = 'deadlock', reason = 'why' }]\n";
    let folder = pair("unselected").with("weft.toml", format!("[default]\nblock = 64\n{allow}"));
    folder.weft("").exits(101).complains("this `allow` accepts nothing");
    let run = folder.weft("test own").exits(0);
    assert!(!run.err.contains("allow"), "{run:#?}");
}
