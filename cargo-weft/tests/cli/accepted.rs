//! Tests of what a configuration accepts or leaves out: `allow` with an end, `skip`, and baselines.

use serde_json::Value;

use crate::packages::package;
use crate::support::{CLEAN, Folder, RACE};

const ALLOWED: &str = "[[kernel]]\nname = '.'\nblock = 64\nallow = [{ code = 'shared-race', reason = 'it is meant' }]\n";

fn verdicts(folder: &Folder) -> Vec<String> {
    let run = folder.weft("--message-format json");
    let line = |text: &str| serde_json::from_str::<Value>(text).expect("every line is an object");
    let of = |line: Value| line["verdict"].as_str().map(str::to_owned);
    run.out.lines().filter_map(|text| of(line(text))).collect()
}

#[test]
fn an_allowed_finding_is_no_clean_verdict() {
    let folder = package("allowed-is-told", RACE).with("weft.toml", ALLOWED);
    folder
        .weft("")
        .exits(0)
        .says("allowed allowed-is-told::kernel.ptx::race_of_neighbours")
        .says("weft: 0 clean, 0 defect, 0 open, 1 allowed; 1 finding allowed");
    assert_eq!(verdicts(&folder), ["allowed"]);
    let verbose =
        folder.weft("-v").exits(0).says("allowed: kernel `race_of_neighbours` with block 64");
    assert!(!verbose.out.contains("proved for every"), "{verbose:#?}");
    let never_run = "[[kernel]]\nname = '.'\nallow = [{ code = 'no-launch', reason = 'later' }, \
                     { code = 'race-for-input', reason = 'later' }]\n";
    let folder = folder.with("weft.toml", never_run);
    folder.weft("").exits(0).says("(no launch is stated; ").says("no-launch allowed: later");
    assert_eq!(verdicts(&folder), ["allowed"]);
}

#[test]
fn an_allow_ends() {
    let until = |day: &str| ALLOWED.replace("code", &format!("until = {day}, code"));
    let folder = package("allow-ends", RACE).with("weft.toml", until("2999-12-31"));
    folder.weft("").exits(0).says("allowed allow-ends::");
    let folder = folder.with("weft.toml", until("'2020-02-29'"));
    folder
        .weft("")
        .exits(100)
        .says("DEFECT  allow-ends::")
        .says("it was allowed until 2020-02-29, at ")
        .says("weft.toml:4:10");
    for wrong in ["'2020-02-30'", "2020", "'tomorrow'", "2020-02-03T10:00:00"] {
        let folder = Folder::new("allow-until").with("weft.toml", until(wrong)).with("k.ptx", RACE);
        let run = folder.weft("check k.ptx --config weft.toml").exits(101);
        run.complains("`until` takes a date, such as `\"2027-01-31\"`");
    }
    // Past its end, an `allow` of nothing is still to be removed.
    let folder = folder.with("kernel.ptx", CLEAN);
    folder.weft("").exits(101).complains("so that this `allow` accepts nothing");
}

#[test]
fn what_is_skipped_is_told_with_its_reason() {
    let skipped = "[[kernel]]\nname = 'race'\nskip = 'needs textures'\n";
    let folder = package("skips", RACE).with("weft.toml", skipped);
    folder
        .weft("")
        .exits(0)
        .says("skipped skips::kernel.ptx::race_of_neighbours  (needs textures)")
        .says("weft: 0 clean, 0 defect, 0 open, 1 skipped");
    assert_eq!(verdicts(&folder), ["skipped"]);
    let quiet = folder.weft("--quiet").exits(0);
    assert!(!quiet.out.contains("textures"), "{quiet:#?}");
    let one = "[[kernel]]\nname = 'race'\nblock = 64\n[[kernel.launch]]\nlabel = 'a'\nskip = 'why'\n\
               [[kernel.launch]]\nlabel = 'b'\n";
    let folder = folder.with("weft.toml", one);
    assert_eq!(verdicts(&folder), ["skipped", "defect"]);
    folder
        .with("weft.toml", "[[kernel]]\nname = 'race'\nskip = true\n")
        .weft("")
        .exits(101)
        .complains("`skip` takes the reason for which the kernel is not checked");
}

#[test]
fn a_baseline_accepts_what_is_known() {
    let folder = package("old-code", RACE).with("weft.toml", "[default]\nblock = 64\n");
    folder.weft("").exits(100);
    folder.weft("baseline").exits(0).says("weft-baseline.toml: 1 finding of 1 kernel");
    folder.weft("").exits(0).says("shared-race allowed: in weft-baseline.toml");
    // The line of the finding might change, but not what it says.
    let moved = RACE.replace("    shl.b32", "    // a comment\n    shl.b32");
    let folder = folder.with("kernel.ptx", &moved);
    folder.weft("").exits(0);
    let folder =
        folder.with("kernel.ptx", moved.replace("ret;", "ld.shared.u32 %r4, [slots+600]; ret;"));
    folder.weft("").exits(100).says("out-of-bounds");
    let folder = folder.with("kernel.ptx", CLEAN.replace("own_slot", "race_of_neighbours"));
    folder
        .weft("")
        .exits(101)
        .complains("this `shared-race` of the baseline is not found any more");
    folder.weft("baseline").exits(0).says("removed ");
    folder.weft("").exits(0).says("weft: 1 clean, 0 defect, 0 open");
    folder.weft("baseline").exits(0).says("is not needed");
    let unstated = folder.with("weft.toml", "").with("kernel.ptx", RACE);
    unstated.weft("baseline").exits(0).says("1 kernel is accepted as a whole");
    let folder = unstated.with("weft.toml", "[default]\nblock = 64\n");
    let run =
        folder.weft("baseline").exits(0).says("  removed race-for-input of `race_of_neighbours`");
    run.says("  ADDED   shared-race of `race_of_neighbours`: read-write race");
    let folder = folder.with("weft-baseline.toml", "[[finding]]\nkernel = 3\n");
    folder.weft("").exits(101).complains("weft-baseline.toml:2:10: `kernel` takes a kernel's name");
}

#[test]
fn a_baseline_accepts_no_more_than_it_counts() {
    let twice = RACE
        .replace("ret;", "bar.sync 0; st.shared.u32 [%r3], %r1; ld.shared.u32 %r4, [%r3+4]; ret;");
    let folder = Folder::new("counted")
        .with(
            "Cargo.toml",
            "[package]\nname = \"counted\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n",
        )
        .with("src/lib.rs", "")
        .with("weft.toml", "ptx = ['*.ptx']\n[default]\nblock = 64\n")
        .with("one.ptx", RACE)
        .with("two.ptx", CLEAN.replace("own_slot", "race_of_neighbours"));
    folder.weft("baseline").exits(0).says(": 1 finding of 1 kernel");
    assert_eq!(verdicts(&folder), ["allowed", "clean"]);
    // The same kernel of another file, and the same finding once more.
    let folder = folder.with("two.ptx", RACE.to_owned() + "// another text\n");
    assert_eq!(verdicts(&folder), ["allowed", "defect"]);
    let folder = folder.with("one.ptx", &twice);
    assert_eq!(verdicts(&folder), ["defect", "defect"]);
    folder
        .weft("baseline")
        .exits(0)
        .says(": 3 findings of 2 kernels")
        .says("  ADDED   shared-race");
    assert_eq!(verdicts(&folder), ["allowed", "allowed"]);
}

#[test]
fn a_block_of_the_default_table_is_named_in_the_findings() {
    let folder = package("default-block", RACE).with("weft.toml", "[default]\nblock = 64\n");
    let note = "block 64 is that of `[default]`: no `[[kernel]]` states one for this kernel";
    folder.weft("").exits(100).says(note);
    let stated =
        folder.with("weft.toml", "[default]\nblock = 32\n[[kernel]]\nname = 'race'\nblock = 64\n");
    let run = stated.weft("").exits(100);
    assert!(!run.out.contains("[default]"), "{run:#?}");
}
