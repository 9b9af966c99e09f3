//! Tests of `mutate`: which mutants survive, which kernels are not mutated, and which arguments can be combined.

use serde_json::{Value, json};

use crate::support::{CLEAN, Folder, RACE};

/// Each thread passes a word to the thread at the opposite position; nothing follows the second barrier.
const LAST: &str = "\
.version 8.0
.target sm_80
.address_size 64

.visible .entry opposite()
{
    .reg .b32 %r<5>;
    .shared .align 4 .b8 slots[256];

    mov.u32 %r1, %tid.x;
    mov.u32 %r2, slots;
    mad.lo.u32 %r3, %r1, 4, %r2;
    st.shared.u32 [%r3], %r1;
    bar.sync 0;
    xor.b32 %r1, %r1, 63;
    mad.lo.u32 %r3, %r1, 4, %r2;
    ld.shared.u32 %r4, [%r3];
    bar.sync 1, 64;
    ret;
}
";

#[test]
fn survivors_are_told_as_advice() {
    let folder = Folder::new("mutate").with("last.ptx", LAST);
    let run = folder.weft("mutate last.ptx --block 64").exits(0);
    run.says("clean   last.ptx::opposite  (4 mutants: 2 defect, 0 open, 2 survive)")
        .says("advice[delete]: this barrier can go: the kernel is still clean for this launch")
        .says("last.ptx:18:5")
        .says("^^^^^^^^^^^^^^ can go")
        .says("kernel `opposite` with block 64, grid 1")
        .says("weft: 1 clean kernel, 4 mutants: 2 defect, 0 open, 2 survive");
    // An instruction that can be deleted gets no advice to weaken it.
    let run = folder.weft("mutate last.ptx --block 64 --message-format short").exits(0);
    let advice: Vec<&str> = run.out.lines().filter(|line| line.contains("last.ptx:")).collect();
    assert_eq!(
        advice,
        ["last.ptx:18:5: delete: this barrier can go: the kernel is still clean for this launch \
             [last.ptx::opposite]"]
    );
}

#[test]
fn kernels_that_are_not_clean_are_left_alone() {
    let folder = Folder::new("mutate-defect")
        .with("race.ptx", RACE)
        .with("clean.ptx", CLEAN)
        .with("last.ptx", LAST);
    let run = folder.weft("mutate race.ptx clean.ptx --block 64").exits(100);
    run.says("DEFECT  race.ptx::race_of_neighbours  (not mutated)")
        .says("clean   clean.ptx::own_slot  (no mutants)")
        .says("weft: 1 clean kernel, no mutants");
    // The block size is not stated.
    folder.weft("mutate last.ptx").exits(102).says("(not mutated)");
    folder.weft("mutate last.ptx race.ptx --kernel opposite --block 64").exits(0);
    folder.weft("mutate missing.ptx last.ptx --block 64").exits(101).says("2 survive");
    folder.weft("mutate missing.ptx").exits(101).complains("missing.ptx");
}

#[test]
fn an_object_for_each_kernel_and_a_summary() {
    let folder = Folder::new("mutate-json").with("race.ptx", RACE).with("last.ptx", LAST);
    let run = folder.weft("mutate last.ptx race.ptx --block 64 --message-format json").exits(100);
    let lines: Vec<Value> =
        run.out.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    let [last, race, summary] = &lines[..] else { panic!("three lines: {run:#?}") };
    assert_eq!((&last["reason"], &last["verdict"]), (&json!("weft-mutants"), &json!("clean")));
    assert_eq!(
        (&last["kernel"], &last["launch"]["block"]),
        (&json!("opposite"), &json!([64, 1, 1]))
    );
    let tally = json!(
        {"mutants": 4, "defect": 2, "open": 0, "survived": 2, "unchecked": 0, "unreached": 0}
    );
    assert_eq!((&last["mutants"], &summary["mutants"]), (&tally, &tally));
    let advice = last["advice"].as_array().expect("a list");
    assert_eq!(advice.len(), 1);
    assert_eq!(
        (&advice[0]["change"], &advice[0]["replacement"], &advice[0]["sites"][0]["ptx_line"]),
        (&json!("delete"), &json!(""), &json!(18))
    );
    assert_eq!((&race["verdict"], &race["mutants"]["mutants"]), (&json!("defect"), &json!(0)));
    assert_eq!((&summary["reason"], &summary["schema"]), (&json!("weft-summary"), &json!(1)));
    assert_eq!((&summary["clean"], &summary["defect"]), (&json!(1), &json!(1)));
}

#[test]
fn packages_and_files_do_not_mix() {
    let folder = Folder::new("mutate-usage").with("last.ptx", LAST);
    folder.weft("mutate --block 64").exits(2).complains("weft.toml");
    folder.weft("mutate last.ptx -p other").exits(2).complains("not both");
    folder.weft("mutate --config weft.toml").exits(2);
    folder.weft("mutate last.ptx --kernel nothing").exits(4).complains("opposite");
}
