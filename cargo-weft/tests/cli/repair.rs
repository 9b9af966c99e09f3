//! Tests of `repair`: what is inserted and where, what is refused, and what is written.

use std::fs::File;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::support::{CLEAN, Folder, RACE, Run};

/// A kernel that reads what its neighbour wrote, with its source.
const SHIFT: &str = "\
.version 8.0
.target sm_80
.address_size 64

.visible .entry shift()
{
    .reg .b32 %r<5>;
    .shared .align 4 .b8 slots[512];

    .loc 1 3 5
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, slots;
    mad.lo.u32 %r3, %r1, 4, %r2;
    .loc 1 4 5
    st.shared.u32 [%r3], %r1;
    .loc 1 5 5
    ld.shared.u32 %r4, [%r3+4];
    ret;
}
.file 1 \"shift.cu\"
";
const SOURCE: &str = "\
__global__ void shift() {
    __shared__ int slots[128];
    int t = threadIdx.x;
    slots[t] = t;
    int other = slots[t + 1];
}
";

fn read(folder: &Folder) -> String {
    std::fs::read_to_string(folder.path().join("shift.cu")).expect("the source is there")
}

/// Its lines might have moved since the PTX was made, and the barrier would be put elsewhere.
#[test]
fn a_source_that_is_newer_than_the_ptx_is_not_changed() {
    let folder = Folder::new("repair-newer").with("shift.ptx", SHIFT).with("shift.cu", SOURCE);
    let later = SystemTime::now() + Duration::from_secs(60);
    let file = File::options().append(true).open(folder.path().join("shift.cu"));
    file.and_then(|file| file.set_modified(later)).expect("the source is there");
    let run = folder.weft("repair shift.ptx --block 64 --write --allow-dirty").exits(100);
    run.says("no change of the source is shown: shift.cu is newer than shift.ptx")
        .says("compile it first");
    assert_eq!(read(&folder), SOURCE);
}

#[test]
fn ptx_without_lines_changes_no_source_and_says_so() {
    let without_lines: String = SHIFT
        .lines()
        .filter(|line| !line.contains(".loc") && !line.contains(".file"))
        .fold(String::new(), |text, line| text + line + "\n");
    let folder = Folder::new("repair-no-lines").with("shift.ptx", &without_lines);
    folder
        .weft("repair shift.ptx --block 64 --write")
        .exits(100)
        .says("no change of the source is shown: the PTX does not say which lines it comes from");
    folder.weft("repair shift.ptx --block 64").exits(0);
}

#[test]
fn a_barrier_is_inserted_between_the_accesses_of_a_race() {
    let folder = Folder::new("repair").with("shift.ptx", SHIFT).with("shift.cu", SOURCE);
    let run = folder.weft("repair shift.ptx --block 64 -o fixed.ptx").exits(0);
    run.says("mended  shift.ptx::shift  (1 barrier inserted; cost 1, the least; 2 checks)")
        .says("help[insert]: insert `__syncthreads()` after this line")
        .says("shift.cu:4:5")
        .says("     slots[t] = t;\n+    __syncthreads();\n     int other")
        .says("weft: 1 kernel: 0 clean, 1 mended, 0 refused");
    folder.weft("check shift.ptx --block 64").exits(100);
    folder.weft("check fixed.ptx --block 64").exits(0);
    assert_eq!(read(&folder), SOURCE, "nothing is written without --write");
    let run = folder.weft("repair shift.ptx --block 64 --message-format json").exits(0);
    let lines: Vec<Value> =
        run.out.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
    assert_eq!(lines[0]["reason"], json!("weft-repair"));
    assert_eq!(lines[0]["outcome"], json!("mended"));
    assert_eq!((&lines[0]["cost"], &lines[0]["is_least"]), (&json!(1.0), &json!(true)));
    assert_eq!(lines[0]["changes"][0]["replacement"], json!("bar.sync 0;"));
    assert_eq!(lines[1]["repairs"]["mended"], json!(1));
}

#[test]
fn sources_are_written_when_that_can_be_undone() {
    let folder = Folder::new("repair-write").with("shift.ptx", SHIFT).with("shift.cu", SOURCE);
    let run = folder.weft("repair shift.ptx --block 64 --write").exits(101);
    assert!(run.err.contains("not kept by git"), "{run:#?}");
    assert_eq!(read(&folder), SOURCE);
    folder.weft("repair shift.ptx --block 64 --write --allow-dirty").exits(0);
    let written = SOURCE.replace("= t;\n", "= t;\n    __syncthreads();\n");
    assert_eq!(read(&folder), written);
}

#[test]
fn what_barriers_do_not_mend_is_refused() {
    // All threads store to one word.
    let race = RACE.replace("st.shared.u32 [%r3]", "st.shared.u32 [slots]");
    let folder = Folder::new("repair-refused").with("race.ptx", race).with("clean.ptx", CLEAN);
    folder
        .weft("repair race.ptx clean.ptx --block 64 --grid 2")
        .exits(100)
        .says("refused  race.ptx::race_of_neighbours")
        .says("clean   clean.ptx::own_slot")
        .says("these findings remain")
        .says("weft: 2 kernels: 1 clean, 0 mended, 1 refused");
}

#[test]
fn barriers_that_are_not_needed_are_told() {
    let text = SHIFT.replace(
        "ld.shared.u32 %r4, [%r3+4];",
        "bar.sync 0;\nld.shared.u32 %r4, [%r3];\nbar.arrive 1, 64;\n",
    );
    let folder = Folder::new("repair-minimize").with("own.ptx", &text);
    folder
        .weft("repair own.ptx --block 64 --minimize")
        .exits(0)
        .says(
            "mended  own.ptx::shift  (1 barrier removed; cost 0 instead of 1, the least; 1 check)",
        )
        .says("help[remove]: remove this barrier");
    folder.weft("repair own.ptx --minimize --write").exits(2);
}

#[test]
fn what_cannot_be_written_is_not_looked_for_or_counted_as_mended() {
    let folder =
        Folder::new("repair-without-git").with("shift.ptx", SHIFT).with("shift.cu", SOURCE);
    let run = folder.weft("repair shift.ptx --block 64 --write").exits(101);
    let run = run.complains("error: nothing is written: shift.cu is not kept by git");
    assert_eq!(run.out, "");
    folder.weft("repair shift.ptx --block 64 --write --allow-dirty").exits(0).says("1 mended");
}

#[test]
fn paths_in_diffs_are_those_of_a_reader_in_the_current_folder() {
    let folder = Folder::new("repair-paths").with("k/shift.cu", SOURCE);
    let source = folder.path().join("k/shift.cu");
    let absolute = SHIFT.replace("\"shift.cu\"", &format!("\"{}\"", source.display()));
    assert_ne!(absolute, SHIFT);
    let folder = folder.with("k/shift.ptx", absolute);
    folder.weft("repair k/shift.ptx --block 64").exits(0).says("--- k/shift.cu\n+++ k/shift.cu\n");
}

#[test]
fn one_placement_is_for_all_launches() {
    // With one warp a warp barrier would do.
    let folder = Folder::new("repair-launches").with("shift.ptx", SHIFT).with("shift.cu", SOURCE).with(
        "weft.toml",
        "[[kernel]]\nname = 'shift'\nlaunch = [{ block = 32, label = 'one' }, { block = 64, label = 'two' }]\n",
    );
    folder
        .weft("repair shift.ptx --config weft.toml --message-format json")
        .exits(0)
        .says(r#""launches":["one","two"]"#)
        .says(r#""replacement":"bar.sync 0;""#);
    folder.weft("repair shift.ptx --block 32").exits(0).says("__syncwarp()");
}

/// The source and the PTX of a kernel whose unrolled loop lacks its barrier.
const UNROLLED: [&str; 2] = [
    include_str!("../../../fixtures/repair/unrolled.cu"),
    include_str!("../../../fixtures/repair/unrolled.ptx"),
];

#[test]
fn an_unrolled_loop_gets_one_barrier() {
    let [source, ptx] = UNROLLED;
    let folder =
        Folder::new("repair-unrolled").with("unrolled.ptx", ptx).with("unrolled.cu", source);
    let read = || std::fs::read_to_string(folder.path().join("unrolled.cu")).expect("it is there");
    let help = "help: in the PTX, `__syncthreads()` between unrolled.cu:18 and the same line of the next iteration makes";
    folder.weft("check unrolled.ptx --block 256").exits(100).says(help);
    let run = folder.weft("repair unrolled.ptx --block 256").exits(0);
    run.says("/= 2) {\n+        __syncthreads();\n         if (t < half)")
        .says("this is done at 7 places of the PTX")
        .says("the change of the source is the one above");
    // The change of the line would change the other instance too.
    folder
        .weft_with(&[
            "repair",
            "unrolled.ptx",
            "--block=256",
            "--kernel=sum<float>",
            "--write",
            "--allow-dirty",
        ])
        .exits(100)
        .says("no change of the source is shown");
    assert_eq!(read(), source);
    folder.weft("repair unrolled.ptx --block 256 --write --allow-dirty").exits(0);
    assert_eq!(read(), source.replace("        if", "        __syncthreads();\n        if"));
}

#[test]
fn a_copy_behind_a_barrier_needs_none() {
    // What stands between the barrier and the first copy does not race.
    let [source, ptx] = UNROLLED;
    let apart = "bar.sync \t0;\n\tld.shared.u8 \t%rd2, [%r3];";
    assert!(ptx.contains("bar.sync \t0;"));
    let ptx = ptx.replace("bar.sync \t0;", apart);
    let folder = Folder::new("repair-apart").with("unrolled.ptx", ptx).with("unrolled.cu", source);
    folder
        .weft("repair unrolled.ptx --block 256")
        .exits(0)
        .says("2 mended")
        .says("/= 2) {\n+        __syncthreads();\n         if (t < half)");
}

#[test]
fn a_barrier_that_needs_more_than_an_insertion_is_no_help() {
    // The read and the write are in one line: the statement has to be split.
    let one_line = SHIFT
        .replace(
            "ld.shared.u32 %r4, [%r3+4];",
            "ld.shared.u32 %r4, [%r3+4];\nst.shared.u32 [%r3], %r4;",
        )
        .replace("    .loc 1 5 5\n", "bar.sync 0;\n    .loc 1 5 5\n");
    // Half of the threads have ended.
    let ended = SHIFT.replace(
        "    .loc 1 4 5\n",
        "    .reg .pred %p1;\nsetp.ge.u32 %p1, %r1, 40;\n@%p1 exit;\n    .loc 1 4 5\n",
    );
    let folder = Folder::new("repair-more").with("shift.cu", SOURCE).with("plain.ptx", SHIFT);
    folder
        .weft("check plain.ptx --block 64")
        .exits(100)
        .says("in the PTX, `__syncthreads()` after");
    for text in [one_line, ended] {
        assert_ne!(text, SHIFT);
        let path = folder.path().join("more.ptx");
        std::fs::write(path, text).expect("the file can be written");
        folder
            .weft("check more.ptx --block 64")
            .exits(100)
            .says("put a barrier between the two")
            .says("help: `cargo weft repair more.ptx` finds the barriers");
        folder.weft("repair more.ptx --block 64").exits(0).says("1 mended");
    }
}

#[test]
fn a_copy_behind_a_barrier_of_some_threads_needs_one() {
    // Half of the threads pass barrier 1 beside a further copy of line 17, the others elsewhere.
    let [source, ptx] = UNROLLED;
    let some = "bar.sync 0;\n\t.reg .pred %q;\n\tsetp.ge.u32 %q, %r2, 128;\n\t@%q bra other;\n\tbar.sync 1;\n\t\
                .loc 1 17 9\n\tsetp.gt.u32 %p1, %r2, 127;\n\tbra done;\nother:\n\tbar.sync 1;\ndone:\n";
    let ptx = ptx.replacen("bar.sync \t0;\n", some, 1);
    let folder = Folder::new("repair-some").with("unrolled.ptx", ptx).with("unrolled.cu", source);
    folder
        .weft("repair unrolled.ptx --block 256")
        .exits(0)
        .says("8 places")
        .says("/= 2) {\n+        __syncthreads();\n         if (t < half)");
}

#[test]
fn a_barrier_that_goes_leaves_the_source() {
    let source = SOURCE.replace("= t;\n", "= t;\n    __syncthreads();\n").replace("t + 1", "t");
    let text = SHIFT
        .replace("    .loc 1 5 5\n", "    .loc 1 5 5\n    bar.sync 0;\n    .loc 1 6 5\n")
        .replace("[%r3+4]", "[%r3]");
    let folder = Folder::new("repair-goes").with("shift.ptx", text).with("shift.cu", source);
    folder
        .weft("repair shift.ptx --block 64 --minimize")
        .exits(0)
        .says("1 barrier removed")
        .says("-    __syncthreads();\n");
}

/// Kernels whose place in the source the lines of the PTX do not tell, with their PTX; the source with the barriers that the
/// repair inserts, and what nvcc makes of it.
const PLACES: [&str; 2] = [
    include_str!("../../../fixtures/repair/places.cu"),
    include_str!("../../../fixtures/repair/places.ptx"),
];
const PLACED: [&str; 2] = [
    include_str!("../../../fixtures/repair/placed.cu"),
    include_str!("../../../fixtures/repair/placed.ptx"),
];
const BLOCKS: &str = "\
[default]
block = 128
[[kernel]]
name = 'nested'
block = [32, 4]
[[kernel]]
name = 'halved'
block = 256
";

fn places(folder: &str) -> Folder {
    let [source, ptx] = PLACES;
    let all = Folder::new(folder).with("places.ptx", ptx).with("places.cu", source);
    all.with("weft.toml", BLOCKS)
}

/// The number of the only line of a kernel in `places.cu` that contains a text.
fn line_of(kernel: &str, text: &str) -> usize {
    let lines = || PLACES[0].lines().enumerate();
    let is_head = |own: &&(usize, &str)| own.1.contains(&format!("void {kernel}("));
    let (head, _) = lines().find(|own| is_head(&own)).expect("the kernel is there");
    let (first, _) =
        lines().skip(head).find(|own| own.1.contains(text)).expect("the line is there");
    first + 1
}

#[test]
fn a_barrier_is_between_the_lines_of_the_accesses() {
    let folder = places("repair-places");
    let run = folder
        .weft("repair places.ptx --config weft.toml --write --allow-dirty --message-format short")
        .exits(102);
    let between = |run: Run, (kernel, from, to): (&str, &str, &str)| {
        let [from, to] = [from, to].map(|text| line_of(kernel, text));
        run.says(&format!(
            "places.cu:{from}:9: insert: insert `__syncthreads()` between line {from} and line {to} [places.ptx::{kernel}]"
        ))
    };
    let run = [
        ("histogram", "atomicAdd(&local", "atomicAdd(&out"),
        ("filled", "slots[i] =", "out[i] ="),
        ("nested", "slots[y][x] =", "sum +="),
        ("unrolled", "slots[t + k", "sum +="),
        ("predicated", "slots[t] =", "out[t] ="),
    ]
    .into_iter()
    .fold(run, between);
    let count = line_of("rounds", "atomicAdd(&local");
    let (read, clear) = (count + 2, count + 3);
    let sum = line_of("halved", "sums[t] +=");
    run.says(&format!("between line {sum} and the same line of the next iteration"))
        .says(&format!("between line {count} and line {read} [places.ptx::rounds]"))
        .says(&format!("between line {clear} and line {count} of the next iteration"))
        // The word that the compiler reads in front of a condition has no line.
        .says("insert `bar.sync 0` before this instruction [places.ptx::hoisted_behind]");
    let written = std::fs::read_to_string(folder.path().join("places.cu")).expect("it is there");
    assert_eq!(written, PLACED[0]);
}

#[test]
fn the_source_with_its_barriers_is_clean() {
    let [source, ptx] = PLACED;
    let folder = Folder::new("repair-placed").with("placed.ptx", ptx).with("placed.cu", source);
    let folder = folder.with("weft.toml", BLOCKS);
    let run = folder.weft("check placed.ptx --config weft.toml").exits(102);
    run.says("weft: 14 clean, 0 defect, 1 open").says("open    placed.ptx::hoisted_behind");
}

/// Kernels without the barriers of their unrolled loops, with their PTX; and as in [`PLACED`].
const LOOPS: [&str; 2] = [
    include_str!("../../../fixtures/repair/loops.cu"),
    include_str!("../../../fixtures/repair/loops.ptx"),
];
const LOOPS_PLACED: [&str; 2] = [
    include_str!("../../../fixtures/repair/loops_placed.cu"),
    include_str!("../../../fixtures/repair/loops_placed.ptx"),
];

#[test]
fn a_barrier_in_a_loop_is_for_all_copies_of_it() {
    let [source, ptx] = LOOPS;
    let folder = Folder::new("repair-loops").with("loops.ptx", ptx).with("loops.cu", source);
    let run = folder.weft("repair loops.ptx --block 256 --write --allow-dirty").exits(0);
    let sum =
        1 + source.lines().position(|line| line.contains("s[t] += s[t + d]")).expect("it is there");
    run.says(&format!("between line {sum} and the same line of the next iteration"))
        .says("this is done at 8 places of the PTX: a loop is unrolled")
        .says("weft: 7 kernels: 0 clean, 7 mended, 0 refused");
    let written = std::fs::read_to_string(folder.path().join("loops.cu")).expect("it is there");
    let [source, ptx] = LOOPS_PLACED;
    assert_eq!(written, source);
    let folder = Folder::new("repair-loops-placed").with("loops.ptx", ptx);
    folder.weft("check loops.ptx --block 256").exits(0).says("weft: 7 clean, 0 defect, 0 open");
}

#[test]
fn a_line_that_is_elsewhere_is_not_told() {
    let folder = places("repair-places-elsewhere");
    let [from, to] = ["atomicAdd(&local", "atomicAdd(&out"].map(|text| line_of("histogram", text));
    let run = folder.weft("repair places.ptx --block 128 --kernel histogram").exits(0);
    run.says(&format!("insert `__syncthreads()` between line {from} and line {to}"))
        .says("in the PTX it is checked in front of this")
        .says("outside of loops and conditions that contain only one of the two lines")
        .says("+    __syncthreads();\n     for (int b = threadIdx.x; b < BINS; b += blockDim.x)\n         atomicAdd");
    let run = folder.weft("repair places.ptx --block 128 --kernel histogram --message-format json");
    let json: Value = serde_json::from_str(run.out.lines().next().expect("a line")).expect("JSON");
    let sites = json["changes"][0]["sites"].as_array().expect("there are sites");
    let lines: Vec<&Value> = sites.iter().map(|site| &site["line"]).collect();
    assert_eq!(lines, [&Value::Null, &json!(from), &json!(to)], "{json}");
    let help = |kernel: &str, text: &str| {
        let run = folder.weft_with(&["check", "places.ptx", "--block=128", "--kernel", kernel]);
        run.exits(100).says(&format!("help: in the PTX, `__syncthreads()` {text} makes"));
    };
    let [fill, read] = ["slots[i] =", "out[i] ="].map(|text| line_of("filled", text));
    help("filled", &format!("between places.cu:{fill} and places.cu:{read}"));
    help("expanded", &format!("after places.cu:{}:5", line_of("expanded", "slots[t] =")));
}

#[test]
fn a_function_with_further_copies_stays() {
    let folder = places("repair-places-copies");
    let help = line_of("inlined_twice", "in[t + 128]");
    folder
        .weft("repair places.ptx --block 128 --kernel inlined_twice")
        .exits(0)
        .says(&format!("between line {help} and line {}", help + 1))
        .says("+    __syncthreads();\n     out[t + 128] = opposite(slots, t);");
    // The one store is that of the function, which another kernel calls too.
    folder
        .weft("repair places.ptx --block 128 --kernel inlined$")
        .exits(0)
        .says("+    __syncthreads();\n     out[t] = opposite(slots, t);");
}
