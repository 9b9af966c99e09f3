//! Tests of `check`: verdicts, settings and output formats.

use std::io::Read as _;
use std::process::Stdio;

use crate::support::{CLEAN, Folder, RACE};

#[test]
fn verdicts_are_told_apart() {
    let folder = Folder::new("verdicts").with("clean.ptx", CLEAN).with("race.ptx", RACE);
    let run = folder.weft("check clean.ptx --block 64").exits(0);
    run.says("clean   clean.ptx::own_slot  (grid 1, block 64, 1 cta, 1/1 sites)")
        .says("weft: 1 clean, 0 defect, 0 open");
    let run = folder.weft("check race.ptx clean.ptx --block 64").exits(100);
    run.says("DEFECT  race.ptx::race_of_neighbours")
        .says("shared-race")
        .says("weft: 1 clean, 1 defect, 0 open");
    // The block size is not stated.
    folder
        .weft("check clean.ptx")
        .exits(0)
        .says("(every block of one dimension up to 128, grid 1, every argument)");
    let run = folder.weft("check race.ptx").exits(102);
    assert!(!run.out.contains("no-launch"), "{}", run.out);
    run.says("open    race.ptx::race_of_neighbours  (a defect for an input: race-for-input)")
        .says("open[race-for-input]")
        .says("if block = 64");
    let run = folder.weft("check race.ptx --witness off").exits(102);
    run.says("open    race.ptx::race_of_neighbours  (no launch is stated)")
        .says("open[no-launch]")
        .says("two threads might access the same bytes");
    folder
        .weft("check clean.ptx race.ptx --kernel own --block 64")
        .exits(0)
        .says("weft: 1 clean, 0 defect, 0 open");
}

#[test]
fn blocks_of_whole_warps_are_named() {
    let rows =
        include_str!("../../../fixtures/ptx/every-launch/barriers/rows-of-whole-warps-clean.ptx");
    let folder = Folder::new("whole-warps").with("rows.ptx", rows);
    folder
        .weft("check rows.ptx")
        .exits(0)
        .says("(every block of one dimension of whole warps in x, grid 1, every argument)")
        .says("blocks have a multiple of 32 threads in x");
    folder.weft("check rows.ptx --block 40").exits(102).says("race-for-input");
}

#[test]
fn kernels_without_a_launch_are_told_of_together() {
    let second = RACE.replace("race_of_neighbours", "second");
    let folder = Folder::new("unlaunched").with("race.ptx", RACE).with("second.ptx", &second);
    let run = folder.weft("check race.ptx second.ptx --witness off").exits(102);
    assert_eq!(run.out.matches("open[no-launch]").count(), 1, "{run:#?}");
    let run = run
        .says("open[no-launch]: 2 kernels are not proved for every launch")
        .says("  race.ptx::race_of_neighbours: two threads might access the same bytes in line")
        .says("  second.ptx::second: two threads might access")
        .says("name = '^(race_of_neighbours|second)$'\n    block = 256\n    grid = 4");
    assert!(!run.out.contains("----"), "{run:#?}");
    folder.weft("check race.ptx --witness off --verbose").exits(102).says("which block size?");
    // What the help says works.
    let toml =
        "[[kernel]]\n    name = '^(race_of_neighbours|second)$'\n    block = 256\n    grid = 4\n";
    let folder = folder.with("weft.toml", toml);
    folder
        .weft("check race.ptx second.ptx --config weft.toml")
        .exits(100)
        .says("0 clean, 2 defect");
}

#[test]
fn the_command_line_goes_before_the_configuration() {
    let folder = Folder::new("precedence-of-files")
        .with("clean.ptx", CLEAN)
        .with("weft.toml", "[default]\nblock = 128\n");
    folder.weft("check clean.ptx --config weft.toml").exits(0).says("block 128");
    folder
        .weft("check clean.ptx --config weft.toml --block 64,1,1 --grid 2,2")
        .exits(0)
        .says("grid 2x2, block 64");
}

#[test]
fn assumptions_stand_once_at_the_end() {
    let folder = Folder::new("assumptions").with("clean.ptx", CLEAN);
    let run = folder.weft("check clean.ptx --block 64 --warp-synchronous").exits(0);
    assert_eq!(run.out.matches("lock step").count(), 1, "{run:#?}");
    let quiet = folder.weft("check clean.ptx --block 64 --quiet").exits(0);
    assert_eq!(quiet.out.trim(), "weft: 1 clean, 0 defect, 0 open");
    folder
        .weft("check clean.ptx --block 64 --verbose")
        .exits(0)
        .says("---- clean.ptx::own_slot ----");
}

#[test]
fn allowed_findings_are_counted_and_told_with_their_reason() {
    let toml = "[[kernel]]\nname = \".\"\nblock = 64\nallow = [{ code = \"shared-race\", reason = \"it is meant\" }]\n";
    let folder = Folder::new("allowed").with("race.ptx", RACE).with("weft.toml", toml);
    let run = folder.weft("check race.ptx --config weft.toml").exits(0);
    run.says("allowed race.ptx::race_of_neighbours")
        .says("; shared-race allowed: it is meant)")
        .says("weft: 0 clean, 0 defect, 0 open, 1 allowed; 1 finding allowed");
    folder.weft("check race.ptx --config weft.toml -v").exits(0).says("it is meant");
}

#[test]
fn an_allowed_input_of_a_race_proves_nothing() {
    let toml = "[[kernel]]\nname = \".\"\nallow = [{ code = \"race-for-input\", reason = \"the host passes others\" }]\n";
    let folder = Folder::new("allowed-input").with("race.ptx", RACE).with("weft.toml", toml);
    let run = folder.weft("check race.ptx --config weft.toml").exits(102);
    run.says("open    race.ptx::race_of_neighbours  (no launch is stated)").says("open[no-launch]");
}

#[test]
fn an_input_of_a_race_says_nothing_of_the_barriers() {
    let folder = Folder::new("input-barriers").with("race.ptx", RACE);
    let run = folder.weft("check race.ptx --message-format json").exits(102);
    run.says(r#""barriers":"open""#);
}

#[test]
fn the_short_form_has_a_line_for_each_finding() {
    let folder = Folder::new("short").with("race.ptx", RACE);
    let run = folder.weft("check race.ptx --block 64 --message-format short").exits(100);
    let first = run.out.lines().next().unwrap();
    assert!(first.starts_with("race.ptx:") && first.contains(": shared-race: "), "{run:#?}");
}

#[test]
fn colour_comes_when_asked_for() {
    let folder = Folder::new("colour").with("race.ptx", RACE);
    assert!(!folder.weft("check race.ptx --block 64").exits(100).out.contains('\u{1b}'));
    assert!(
        folder.weft("check race.ptx --block 64 --color always").exits(100).out.contains('\u{1b}')
    );
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let folder = Folder::new("pipe").with("race.ptx", RACE);
    let mut command = folder.command(&["check", "race.ptx", "--block", "64"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(100), "{err}");
    assert_eq!(err, "");
}

/// A kernel in which each thread below `n` writes a word of its own.
const BELOW: &str = "\
.version 8.0
.target sm_80
.address_size 64

.visible .entry below(.param .u64 out, .param .u32 n)
{
    .reg .pred %p1;
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;

    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra DONE;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd2, %rd1, %rd2;
    st.global.u32 [%rd2], %r2;
DONE:
    ret;
}
";

#[test]
fn what_is_required_is_told_with_the_verdict() {
    let toml = "[[kernel]]\nname = \".\"\nblock = 64\nrequires = [\"n <= 1024\"]\n";
    let folder = Folder::new("requires").with("below.ptx", BELOW).with("weft.toml", toml);
    let check = |rest: &[&str]| {
        folder.weft_with(&[&["check", "below.ptx", "--config", "weft.toml"], rest].concat())
    };
    let run = check(&["--require", "n % 0x10==0"]).exits(0);
    run.says("clean   below.ptx::below  (grid 1, block 64")
        .says("launches fulfil what `requires` states: n <= 1024, n % 16 == 0 (1 of 1)");
    check(&["-v"]).exits(0).says("= note: required: n <= 1024");
    let run = check(&["--message-format", "json"]).exits(0);
    run.says(r#""requires":["n <= 1024"]"#);
    let run = check(&["--require", "n > 4096"]).exits(101);
    run.complains("`n <= 1024` and `n > 4096` are required, but they exclude each other");
    check(&["--arg", "1=2048"]).exits(101).complains("it is false for n = 2048");
    check(&["--require", "m > 4"])
        .exits(101)
        .complains("no parameter `m`; the nearest name is `n`");
    check(&["--require", "n > 0", "--require", "n =< 4"])
        .exits(2)
        .complains("for `at most`, write `<=`");
    check(&["--require", "n < 4 || n > 8"])
        .exits(2)
        .complains("character 7: `||` has no meaning here");
}

#[test]
fn any_block_and_grid_are_proved_or_open() {
    let folder = Folder::new("any").with("clean.ptx", CLEAN).with("race.ptx", RACE);
    let run = folder.weft("check race.ptx --block any --grid any").exits(102);
    run.says("open[race-for-input]");
    let run = folder.weft("check race.ptx --block any --grid any --witness off").exits(102);
    run.says("open    race.ptx::race_of_neighbours  (grid any, block any)")
        .says("the block can have several sizes, and a run needs a known one");
    let run = folder.weft("check clean.ptx --block 64 --grid any").exits(0);
    run.says("(block 64, every grid of one dimension, every argument)");
    let run = folder.weft("check clean.ptx --block any --grid any").exits(0);
    run.says(
        "(every block of one dimension up to 128, every grid of one dimension, every argument)",
    );
    let run = folder.weft("check race.ptx --block any --grid any --message-format json");
    run.exits(102).says(r#""grid":"any","block":"any""#);
    let run = folder.weft("check clean.ptx --block some").exits(2);
    run.complains("expected one to three numbers, such as 256 or 16,16, or `any`");
}

/// A kernel of which the source has names, and its source. It reads the element `n` of each thread's row.
const NAMED: &str = "\
.version 8.0
.target sm_80
.address_size 64

.visible .entry put(.param .u64 put_param_0, .param .u32 put_param_1)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    .loc 1 1 0
    ld.param.u64 %rd1, [put_param_0];
    ld.param.u32 %r1, [put_param_1];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
}
.file 1 \"put.cu\"
";

#[test]
fn arguments_have_the_names_of_the_source() {
    let folder = Folder::new("argument-names").with("put.ptx", NAMED).with(
        "put.cu",
        "extern \"C\" __global__ void put(int *to, int n) { to[threadIdx.x] = n; }\n",
    );
    let check = "check put.ptx --block 32 --grid 1 -v";
    folder
        .weft(&format!("{check} --arg n=7 --arg 0=buffer"))
        .exits(0)
        .says("launched with to (argument 0) = a buffer, n (argument 1) = 7");
    folder
        .weft_with(&[
            "check",
            "put.ptx",
            "--block",
            "32",
            "--grid",
            "1",
            "-v",
            "--require",
            "n < 9",
        ])
        .exits(0)
        .says("required: n < 9");
    let run = folder.weft(&format!("{check} --arg 1=1.5")).exits(101);
    run.complains("argument 1 (`n`) does not fit the parameter");
    folder
        .weft(&format!("{check} --arg nn=7"))
        .exits(2)
        .complains("--arg nn: kernel `put` has no parameter `nn`; did you mean `n`? its parameters are `to` (0), `n` (1)");
    folder
        .weft_with(&["check", "put.ptx", "--block", "32", "--require", "to < 9"])
        .exits(101)
        .complains("`to < 9` is required, but `to` is a pointer");
    let other = "extern \"C\" __global__ void put(int *to, int n ANY) {}\n";
    folder
        .with("put.cu", other)
        .weft(&format!("{check} --arg n=7"))
        .exits(2)
        .complains("-lineinfo");
}
