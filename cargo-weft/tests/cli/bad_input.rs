//! Tests with bad input of every kind: the binary exits with an exit code and a message that says what to do, and never
//! panics.

use crate::support::{CLEAN, Folder, RACE};

#[test]
fn a_truncated_file() {
    let folder = Folder::new("truncated").with("cut.ptx", &CLEAN[..CLEAN.len() / 2]);
    folder.weft("check cut.ptx --block 64").exits(101).complains("error:").complains("cut.ptx:");
    // Cuts the file at many places.
    for end in (0..CLEAN.len() - 2).step_by(37) {
        let folder = Folder::new("truncated-anywhere").with("cut.ptx", &CLEAN[..end]);
        let run = folder.weft("check cut.ptx --block 64");
        let code = run.code;
        run.exits(if code == Some(4) { 4 } else { 101 });
    }
}

#[test]
fn a_binary_file() {
    let folder =
        Folder::new("binary").with("kernel.ptx", b"\x7fELF\x02\x01\x01\x00\xff\xfe\x00\x80{}");
    folder.weft("check kernel.ptx").exits(101).complains("kernel.ptx:1:");
}

#[test]
fn an_empty_file() {
    let folder = Folder::new("empty").with("kernel.ptx", "");
    folder.weft("check kernel.ptx").exits(101).complains("the file is empty");
    folder.weft("check kernel.ptx --kernel x").exits(101).complains("the file is empty");
}

#[test]
fn another_kind_of_text() {
    let folder = Folder::new("prose").with("kernel.ptx", "__global__ void kernel() {}\n");
    folder.weft("check kernel.ptx").exits(101).complains("kernel.ptx:1:1: this is not PTX");
}

#[test]
fn a_file_without_kernels() {
    let folder = Folder::new("no-kernels")
        .with("none.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n");
    folder.weft("check none.ptx").exits(4).complains("there is no kernel (`.entry`) in none.ptx");
}

#[test]
fn a_file_that_is_not_there() {
    let folder = Folder::new("absent").with("clean.ptx", CLEAN);
    folder.weft("check absent.ptx").exits(101).complains("error: absent.ptx: cannot be read");
    // The missing file does not keep the other one from being checked, and the exit code reports it.
    let run = folder.weft("check absent.ptx clean.ptx --block 64").exits(101);
    run.complains("absent.ptx").says("clean   clean.ptx::own_slot").says("1 could not be checked");
}

#[test]
fn a_bad_file_beside_a_good_one() {
    let folder = Folder::new("beside").with("bad.ptx", "").with("clean.ptx", CLEAN);
    let run = folder.weft("check bad.ptx clean.ptx --block 64").exits(101);
    run.says("ERROR   bad.ptx")
        .says("clean   clean.ptx::own_slot")
        .complains("bad.ptx:1:1: the file is empty");
}

#[test]
fn a_kernel_that_is_not_there() {
    let folder = Folder::new("no-such-kernel").with("clean.ptx", CLEAN);
    folder
        .weft("check clean.ptx --kernel reduce")
        .exits(4)
        .complains("no kernel matches `reduce`; there is `own_slot`");
    folder.weft("check clean.ptx --kernel (").exits(2).complains("--kernel");
}

#[test]
fn a_block_that_no_device_takes() {
    let folder = Folder::new("block")
        .with("clean.ptx", CLEAN)
        .with("weft.toml", "[default]\nblock = 2000\n");
    for block in ["0", "2000", "64,64", "a", "1,1,1,1"] {
        folder.weft(&format!("check clean.ptx --block {block}")).exits(2).complains("--block");
    }
    folder
        .weft("check clean.ptx --block 1,1,128")
        .exits(2)
        .complains("a block of 128 in z, where a device takes 1 to 64");
    folder
        .weft("check clean.ptx --block 64 --grid 1,70000")
        .exits(2)
        .complains("a grid of 70000 in y, where a device takes 1 to 65535");
    let run = folder.weft("check clean.ptx --config weft.toml").exits(101);
    run.complains("weft.toml:2:9").complains("a block of 2000 threads");
}

#[test]
fn a_misspelt_configuration() {
    let folder = Folder::new("typo")
        .with("clean.ptx", CLEAN)
        .with("weft.toml", "[default]\nblock = 64\ngird = 4\n");
    let run = folder.weft("check clean.ptx --config weft.toml").exits(101);
    run.complains("weft.toml:3:1").complains("unknown key `gird`");
    folder
        .weft("check clean.ptx --config wft.toml")
        .exits(101)
        .complains("wft.toml: cannot be read");
}

#[test]
fn a_configuration_of_other_kernels() {
    let reduce = "[[kernel]]\nname = \"^reduce$\"\nblock = 64\n";
    let manifest =
        "[package]\nname = \"dead-entry\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
    let folder = Folder::new("dead-entry")
        .with("clean.ptx", CLEAN)
        .with("race.ptx", RACE)
        .with("weft.toml", format!("ptx = [\"clean.ptx\"]\n{reduce}"))
        .with("Cargo.toml", manifest)
        .with("src/lib.rs", "");
    // Of a package all kernels are known.
    folder
        .weft("")
        .exits(101)
        .complains("weft.toml:3:1: no kernel of the package is called `^reduce$`");
    let note =
        "note: no `[[kernel]]` table of the configuration matches a kernel of these files; there";
    folder
        .weft("check clean.ptx --config weft.toml")
        .exits(0)
        .complains(&format!("{note} is `own_slot`\n  weft.toml:3:1: `^reduce$`\n"));
    let quiet = folder.weft("check clean.ptx --config weft.toml --quiet").exits(0);
    assert_eq!(quiet.err, "");
    // One table that matches a kernel of the files is enough, whether or not `--kernel` selects it.
    let races = format!("{reduce}[[kernel]]\nname = \"neighbours\"\nblock = 64\n");
    let folder = folder.with("weft.toml", races);
    folder.weft("check clean.ptx --config weft.toml").exits(0).complains("`neighbours`");
    for rest in ["", " --kernel own_slot"] {
        let run = folder.weft(&format!("check clean.ptx race.ptx --config weft.toml{rest}"));
        assert_eq!(run.exits(if rest.is_empty() { 100 } else { 0 }).err, "");
    }
}

#[test]
fn an_allow_that_allows_nothing() {
    let toml = "[[kernel]]\nname = \".\"\nblock = 64\nallow = [{ code = \"benign-race\", reason = \"none\" }]\n";
    let folder = Folder::new("dead-allow").with("clean.ptx", CLEAN).with("weft.toml", toml);
    let run = folder.weft("check clean.ptx --config weft.toml").exits(101);
    run.complains("weft.toml:4:").complains("so that this `allow` accepts nothing");
}

/// A kernel whose threads store to their own words behind the pointer at byte 8 of a structure.
const STRUCTURE: &str = "\
.version 8.0
.target sm_80
.address_size 64
.visible .entry scatter(.param .align 8 .b8 table[16])
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [table+8];
    ld.param.u32 %r2, [table];
    mov.u32 %r1, %tid.x;
    mul.lo.u32 %r1, %r1, %r2;
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    st.global.u32 [%rd2], %r1;
    ret;
}
";

#[test]
fn fields_of_a_structure() {
    let folder = Folder::new("fields").with("s.ptx", STRUCTURE);
    let check = |args: &str| folder.weft(&format!("check s.ptx --block 64 {args}"));
    check("").exits(102).says("`args = { table = { 0 = 1000 } }`");
    check("--arg 0.0=1").exits(0).says("clean");
    check("--arg 0.0=1 --arg 0.8=buffer").exits(0).says("clean");
    check("--arg 0.0=1 --arg 0.8=u32:0,0").exits(100).says("out-of-bounds");
    check("--arg 0=u64:1,4096")
        .exits(101)
        .complains("the pointer at byte 8 of argument 0 (`table`)");
    check("--arg 0=u64:1,4096 --arg 0.8=buffer").exits(0).says("clean");
    check("--arg 0.4=1").exits(101).complains("the kernel loads nothing at byte 4");
    check("--arg 0.x=1").exits(2).complains("4.16 is the field at byte 16 of a structure");
}

#[test]
fn arguments_that_do_not_fit() {
    let folder = Folder::new("arguments").with("clean.ptx", CLEAN);
    for argument in ["2", "x=1", "2=many", "2=u65:1", "2=u8:300"] {
        folder.weft(&format!("check clean.ptx --arg {argument}")).exits(2).complains("--arg");
    }
    // The kernel has no parameters.
    folder.weft("check clean.ptx --block 64 --arg 2=1").exits(101).complains("argument 2 is given");
    folder.weft("check clean.ptx --atomics never").exits(2).complains("--atomics");
    folder.weft("check").exits(2).complains("FILE.ptx");
}
