//! Proofs for every input of kernels whose addresses wrap around, are masked and swizzled: what is proved has no race in
//! any run, whichever numbers are passed.

use std::collections::BTreeMap;
use std::fmt::Write;

use weft_core::finding::{Assumption, Code, Verdict};
use weft_core::launch::{Arg, Dim3, Launch, Limit, requires};
use weft_core::{check, prove_every_input, ptx};

/// Pseudo-random numbers (splitmix64).
struct Choices(u64);

impl Choices {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.next() % all.len() as u64).expect("it is an index")]
    }
}

/// Numbers at which 32-bit arithmetic goes another way.
const NUMBERS: [u32; 14] =
    [0, 1, 2, 3, 4, 5, 7, 8, 255, 0x2000_0000, 0x4000_0000, 0x7fff_fffe, 0x8000_0000, 0xffff_fffc];

/// Appends instructions that change register `at`.
fn mix(text: &mut String, choices: &mut Choices, at: &str) {
    for _ in 0..choices.next() % 4 {
        let number = choices.one_of(&NUMBERS);
        let small = 1 + choices.next() % 31;
        let _ = match choices.next() % 9 {
            0 => writeln!(text, "add.u32 {at}, {at}, {number};"),
            1 => writeln!(text, "mul.lo.u32 {at}, {at}, {number};"),
            2 => writeln!(text, "xor.b32 {at}, {at}, {number};"),
            3 => writeln!(text, "shl.b32 {at}, {at}, {small};"),
            4 => writeln!(text, "shr.b32 %r8, {at}, {small};\nxor.b32 {at}, {at}, %r8;"),
            5 => writeln!(text, "shr.s32 {at}, {at}, {small};"),
            6 => writeln!(text, "rem.u32 {at}, {at}, {small};"),
            7 => writeln!(text, "mad.lo.u32 {at}, {at}, {}, %r1;", 2 * small + 1),
            _ => writeln!(text, "or.b32 {at}, {at}, {};", number & 0xc),
        };
    }
}

/// Appends a store at an element that register `from` decides.
fn store(text: &mut String, choices: &mut Choices, from: &str) {
    let _ = writeln!(text, "mov.u32 %r3, {from};");
    mix(text, choices, "%r3");
    let mask = choices.one_of(&[3, 7, 15, 255]);
    let bytes = choices.one_of(&[1, 2, 4, 8]);
    let offset = choices.next() % (8 / bytes) * bytes;
    let _ = writeln!(
        text,
        "and.b32 %r3, %r3, {mask};\nmul.wide.u32 %rd2, %r3, 8;\nadd.u64 %rd2, %rd1, %rd2;\n\
         st.global.u{} [%rd2+{offset}], {};",
        bytes * 8,
        if bytes == 8 { "%rd1" } else { "%r2" }
    );
}

/// Appends a loop that stores in each iteration, with a barrier in some of those that all threads go round together.
fn repeat(text: &mut String, choices: &mut Choices) {
    let start = choices.one_of(&["%r2", "0", "%r1", "2147483640", "4294967290"]);
    let _ = writeln!(text, "mov.u32 %r4, {start};");
    if start == "%r2" {
        mix(text, choices, "%r4");
    }
    let is_uniform = start != "%r2";
    let limit = choices.one_of(&["%r1", "3", "16", "2147483646", "4294967294"]);
    let step = choices.one_of(&["1", "2", "4", "8", "-1", "-4", "1073741824", "%r1"]);
    let compare = choices.one_of(&["lt.u32", "lt.s32", "le.s32", "gt.u32", "ge.s32", "ne.s32"]);
    text.push_str("LOOP:\n");
    store(text, choices, "%r4");
    if choices.next().is_multiple_of(2) {
        text.push_str("add.u32 %r5, %r4, %r2;\n");
        store(text, choices, "%r5");
    }
    if is_uniform && choices.next().is_multiple_of(2) {
        text.push_str("bar.sync 0;\n");
    }
    let _ = writeln!(
        text,
        "add.u32 %r4, %r4, {step};\nsetp.{compare} %p2, %r4, {limit};\n@%p2 bra LOOP;"
    );
}

fn kernel(choices: &mut Choices, threads: u32) -> String {
    let mut text = String::from(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .visible .entry k(.param .u64 out, .param .u32 n)\n{\n\
         .reg .u32 %r<10>;\n.reg .u64 %rd<4>;\n.reg .pred %p<4>;\n\
         ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\n",
    );
    if choices.next().is_multiple_of(2) {
        let _ = writeln!(text, "mov.u32 %r6, %ctaid.x;\nmad.lo.u32 %r2, %r6, {threads}, %r2;");
    }
    if choices.next().is_multiple_of(2) {
        let compare = choices.one_of(&["lt.u32", "ge.u32", "lt.s32", "ge.s32", "eq.s32", "ne.s32"]);
        let _ = writeln!(text, "setp.{compare} %p1, %r2, %r1;\n@%p1 bra DONE;");
    }
    if choices.next().is_multiple_of(2) {
        repeat(&mut text, choices);
    } else {
        store(&mut text, choices, "%r2");
        if choices.next().is_multiple_of(2) {
            store(&mut text, choices, "%r2");
        }
    }
    text.push_str("DONE:\nret;\n}\n");
    text
}

/// Returns a kernel with these instructions, after which `%r2` is the thread, `%rd1` the buffer and `%r1` the number.
fn with_body(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .visible .entry k(.param .u64 out, .param .u32 n, .param .u64 index)\n{{\n\
         .reg .u32 %r<10>;\n.reg .u64 %rd<4>;\n.reg .pred %p<4>;\n\
         .shared .align 8 .b8 tile[1024];\n\
         ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [n];\nld.param.u64 %rd3, [index];\nmov.u32 %r2, %tid.x;\n{body}\nret;\n}}\n"
    )
}

/// Stores at an element of the buffer.
const STORE: &str = "xor.b32 %r3, %r4, 1;\nmul.wide.u32 %rd2, %r3, 8;\nadd.u64 %rd2, %rd1, %rd2;\n\
    st.global.u32 [%rd2], %r2;\n";

/// The same with even and odd bits in each other's places, which only the bits of the index decide.
const STORE_SWAPPED: &str = "and.b32 %r3, %r4, 0x55555555;\nshl.b32 %r3, %r3, 1;\nshr.u32 %r9, %r4, 1;\n\
    and.b32 %r9, %r9, 0x55555555;\nor.b32 %r3, %r3, %r9;\nmul.wide.u32 %rd2, %r3, 8;\n\
    add.u64 %rd2, %rd1, %rd2;\nst.global.u32 [%rd2], %r2;\n";

/// Whether a kernel with blocks of `threads` in a grid of `ctas` is proved for all numbers that fulfil a requirement.
fn is_proved_with(body: &str, threads: u32, ctas: u32, required: &str) -> bool {
    let module = ptx::parse(&with_body(body));
    assert!(module.errors.is_empty(), "{:?} in {body}", module.errors);
    let requires = [required].into_iter().filter(|text| !text.is_empty());
    let launch = Launch {
        block: Some(Dim3::line(threads).into()),
        grid: Some(Dim3::line(ctas).into()),
        requires: requires.map(|text| requires::parse(text).expect("it is one")).collect(),
        ..Launch::default()
    };
    let kernel = module.kernel("k").expect("the text declares it");
    prove_every_input(&module, kernel, &launch).expect("it links").is_some()
}

#[test]
fn indices_are_below_their_extents() {
    let swizzled =
        |scale: u32| format!("mov.u32 %r5, %ctaid.x;\nmad.lo.u32 %r4, %r5, {scale}, %r2;\n{STORE}");
    assert!(is_proved_with(&swizzled(48), 48, 7, ""));
    assert!(!is_proved_with(&swizzled(47), 48, 7, ""));
    // The product wraps around in the last cta.
    assert!(is_proved_with(&swizzled(1 << 30), 48, 4, ""));
    assert!(!is_proved_with(&swizzled(1 << 30), 48, 5, ""));
}

#[test]
fn accesses_overlap_up_to_their_last_bytes() {
    let both = |offset: u32, bits: u32| {
        format!("xor.b32 %r4, %r2, 2;\n{STORE}\nst.global.u{bits} [%rd2+{offset}], %r2;")
    };
    let neighbour = |offset: i32, bits: u32| {
        format!(
            "xor.b32 %r4, %r2, 2;\n{STORE}\nxor.b32 %r4, %r2, 1;\nxor.b32 %r4, %r4, %r1;\n\
             mul.wide.u32 %rd2, %r4, 8;\nadd.u64 %rd2, %rd1, %rd2;\nst.global.u{bits} [%rd2+{offset}], %r2;"
        )
    };
    assert!(is_proved_with(&both(3, 8), 64, 1, ""));
    assert!(is_proved_with(&both(4, 32), 64, 1, ""));
    for (offset, bits, is_disjoint) in
        [(3, 8, false), (4, 8, true), (-1, 8, true), (0, 8, false), (-4, 32, true)]
    {
        assert_eq!(
            is_proved_with(&neighbour(offset, bits), 64, 1, ""),
            is_disjoint,
            "{offset}, {bits}"
        );
    }
}

/// A loop that steps `%r4` and stores in each iteration.
fn stepping(start: &str, step: &str, compare: &str) -> String {
    format!("{start}\nLOOP:\n{STORE}add.u32 %r4, %r4, {step};\n{compare}\n@%p1 bra LOOP;")
}

#[test]
fn steps_of_loops_end_at_their_limits() {
    let up = |compare: &str, limit: &str| {
        stepping("mov.u32 %r4, %r2;", "48", &format!("setp.{compare} %p1, %r4, {limit};"))
    };
    for compare in ["lt.u32", "lt.s32", "le.u32", "le.s32"] {
        assert!(is_proved_with(&up(compare, "960"), 48, 1, ""), "{compare}");
    }
    assert!(is_proved_with(&up("lt.s32", "%r1"), 48, 1, "#1 <= 960"));
    // From just below the limit, a step wraps around, and the loop goes on.
    assert!(!is_proved_with(&up("lt.u32", "4294967290"), 48, 1, ""));
    let down = stepping("add.u32 %r4, %r2, 960;", "-48", "setp.ge.s32 %p1, %r4, 0;");
    assert!(is_proved_with(&down, 48, 1, ""));
    let exact = |far: u32| {
        let start = format!("add.u32 %r6, %r2, {far};\nmov.u32 %r4, %r2;");
        let loops = stepping(&start, "48", "setp.ne.u32 %p1, %r4, %r6;");
        // Integers alone might assume that the loop ends before its index wraps around.
        loops.replace(STORE, STORE_SWAPPED)
    };
    assert!(is_proved_with(&exact(480), 48, 1, ""));
    assert!(!is_proved_with(&exact(481), 48, 1, ""));
}

#[test]
fn steps_of_loops_come_to_their_limits() {
    // Thread 0 comes to the element that thread 5 stores to behind the loop, if the loop goes on at the limit.
    let behind = |looped: &str, element: u32| {
        format!(
            "{looped}\nsetp.ne.u32 %p1, %r2, 5;\n@%p1 bra DONE;\nmov.u32 %r4, {element};\n{STORE}DONE:"
        )
    };
    for (compare, is_disjoint) in
        [("lt.u32", true), ("lt.s32", true), ("le.u32", false), ("le.s32", false)]
    {
        let compare = format!("setp.{compare} %p1, %r4, 96;");
        let body = behind(&stepping("mov.u32 %r4, %r2;", "48", &compare), 96);
        assert_eq!(is_proved_with(&body, 48, 1, ""), is_disjoint, "{compare}");
    }
    for (compare, is_disjoint) in
        [("gt.u32", true), ("gt.s32", true), ("ge.u32", false), ("ge.s32", false)]
    {
        let compare = format!("setp.{compare} %p1, %r4, 96;");
        let body = behind(&stepping("add.u32 %r4, %r2, 192;", "-48", &compare), 96);
        assert_eq!(is_proved_with(&body, 48, 1, ""), is_disjoint, "{compare}");
    }
}

#[test]
fn unknowns_of_two_threads_are_two_unknowns() {
    let moved = |computed: &str| format!("{computed}\nadd.u32 %r4, %r2, %r5;\n{STORE}");
    let counted = "popc.b32 %r5, %r2;";
    let loaded =
        "mul.wide.u32 %rd2, %r2, 4;\nadd.u64 %rd2, %rd3, %rd2;\nld.global.nc.u32 %r5, [%rd2];";
    let carried = "mov.u32 %r5, 0;\nmov.u32 %r6, 0;\nLOOP:\nxor.b32 %r5, %r5, %r2;\n\
        mul.lo.u32 %r5, %r5, 3;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, 3;\n@%p1 bra LOOP;";
    for computed in [counted, loaded, carried] {
        assert!(!is_proved_with(&moved(computed), 64, 1, ""), "{computed}");
    }
    // Of the same for all threads, there is one.
    let common = "popc.b32 %r5, %r1;";
    assert!(is_proved_with(&moved(common), 64, 1, ""));
    assert!(is_proved_with(&moved(&loaded.replace("%r2, 4", "%r1, 4")), 64, 1, ""));
}

#[test]
fn what_an_iteration_loads_says_nothing_of_the_one_before() {
    let body = |stored: &str| {
        format!(
            "mov.u32 %r4, 0;\nLOOP:\nmul.wide.u32 %rd2, %r4, 4;\nadd.u64 %rd2, %rd3, %rd2;\n\
             ld.global.nc.u32 %r5, [%rd2];\nxor.b32 %r6, %r5, 1;\nsetp.lt.u32 %p1, %r6, {stored};\n\
             @%p1 st.global.u32 [%rd1], %r2;\nsetp.lt.u32 %p2, %r4, %r6;\nadd.u32 %r4, %r4, 1;\n\
             @%p2 bra LOOP;"
        )
    };
    // The first iteration goes on if 0 is less than what it loads; the second one can load 0.
    assert!(!is_proved_with(&body("%r4"), 64, 1, ""));
    assert!(is_proved_with(&body("0"), 64, 1, ""));
}

#[test]
fn iterations_between_two_barriers_are_one_apart() {
    let halves = |mask: u32| {
        format!(
            "mov.u32 %r4, 0;\nLOOP:\nand.b32 %r5, %r4, {mask};\nshl.b32 %r5, %r5, 6;\n\
             xor.b32 %r3, %r2, 1;\nadd.u32 %r6, %r5, %r3;\nshl.b32 %r6, %r6, 2;\n\
             mov.u32 %r7, tile;\nadd.u32 %r6, %r6, %r7;\nst.shared.u32 [%r6], %r2;\nbar.sync 0;\n\
             xor.b32 %r3, %r2, 3;\nadd.u32 %r6, %r5, %r3;\nshl.b32 %r6, %r6, 2;\n\
             add.u32 %r6, %r6, %r7;\nld.shared.u32 %r8, [%r6];\nst.global.u32 [%rd1], %r8;\n\
             add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, %r1;\n@%p1 bra LOOP;"
        )
    };
    let without_race = |body: String| body.replace("st.global.u32 [%rd1], %r8;", "");
    assert!(is_proved_with(&without_race(halves(1)), 64, 1, ""));
    assert!(!is_proved_with(&without_race(halves(0)), 64, 1, ""));
    assert!(!is_proved_with(&halves(1), 64, 1, ""));
}

#[test]
fn requirements_bound_numbers() {
    let body =
        format!("mad.lo.u32 %r4, %r2, 32, %r1;\n{STORE}\nmad.lo.u32 %r4, %r2, 32, 31;\n{STORE}");
    // The elements of two threads meet if the number is 31 more than a multiple of 32, but for 31 itself.
    for (required, is_enough) in [
        ("#1 < 63", true),
        ("#1 <= 63", false),
        ("2 * #1 + 4 < 130", true),
        ("2 * #1 + 4 <= 130", false),
        ("#1 % 2 == 0", true),
        ("#1 % 2 == 1 && #1 <= 64", false),
        ("#1 / 4 < 15", true),
        ("#1 / 4 < 16", false),
        ("pow2(#1)", true),
        ("pow2(#1 + 1)", false),
        ("0 - #1 > 0 - 63", true),
        ("#1 != 12", false),
    ] {
        assert_eq!(is_proved_with(&body, 64, 1, required), is_enough, "{required}");
    }
}

/// Whether a run under the launch finds a race.
fn races(module: &ptx::Module, launch: &Launch) -> bool {
    let kernel = module.kernel("k").expect("the text declares it");
    let report = check(module, kernel, launch).expect("it fits");
    let is_race = |code: Code| matches!(code, Code::GlobalRace | Code::SharedRace);
    report.findings.iter().any(|finding| is_race(finding.code))
}

/// Whether a kernel is clean, and nothing about the size of its numbers is assumed.
fn is_clean(module: &ptx::Module, launch: &Launch) -> bool {
    let kernel = module.kernel("k").expect("the text declares it");
    let report = check(module, kernel, launch).expect("it fits");
    report.verdict() == Verdict::Clean
        && !report.assumptions.contains(&Assumption::UnwrappedIndices)
}

/// Compares proofs with runs, and returns how many kernels are clean, and how many have a race.
fn compare(seeds: std::ops::Range<u64>) -> (usize, usize) {
    let (mut clean, mut raced) = (0, 0);
    for seed in seeds {
        let choices = &mut Choices(seed << 32);
        let threads = choices.one_of(&[2, 4, 8]);
        let text = kernel(choices, threads);
        let module = ptx::parse(&text);
        assert!(module.errors.is_empty(), "{:?} in\n{text}", module.errors);
        let open = Launch {
            block: Some(Dim3::line(threads).into()),
            grid: Some(Dim3::line(choices.one_of(&[1, 2])).into()),
            limit: Limit { instructions: 20_000, ..Limit::default() },
            ..Launch::default()
        };
        let with = |number: u32| Launch {
            args: BTreeMap::from([(1, Arg::Integer(number.into()))]),
            ..open.clone()
        };
        let is_clean = is_clean(&module, &open);
        clean += usize::from(is_clean);
        let mut is_raced = false;
        for number in [0, 1, 2, 3, 4, 6, 9, 17, 0x4000_0000, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
            let launch = with(number);
            if races(&module, &launch) {
                is_raced = true;
                let case = format!("seed {seed}: with {threads} threads and n = {number}\n{text}");
                assert!(!is_clean, "{case}");
            }
        }
        raced += usize::from(is_raced);
    }
    (clean, raced)
}

#[test]
fn what_is_clean_has_no_race_in_a_run() {
    let (clean, raced) = compare(0..300);
    assert!(clean > 40 && raced > 100, "{clean} clean, {raced} with a race");
}

#[test]
#[ignore = "minutes long, to be run by name after a change to the symbolic stage"]
fn many_clean_kernels_have_no_race_in_a_run() {
    let (clean, raced) = compare(1000..6000);
    assert!(clean > 600 && raced > 1500, "{clean} clean, {raced} with a race");
}

/// The way to an early exit has more paths than could be followed one after the other.
#[test]
fn ways_to_an_early_exit_join() {
    let branches: Vec<String> = (0..60)
        .map(|at| {
            format!(
                "setp.eq.u32 %p2, %r1, {at};\n@%p2 bra SKIP{at};\nadd.u32 %r4, %r4, {at};\nSKIP{at}:\n"
            )
        })
        .collect();
    let branches = branches.concat();
    let body = |guard: &str| {
        format!(
            "mov.u32 %r4, %r2;\nsetp.lt.u32 %p1, %r2, %r1;\n@%p1 bra GO;\n{branches}ret;\nGO:\n{STORE}{guard}bar.sync 0;"
        )
    };
    assert!(is_proved_with(&body(""), 48, 1, ""));
    // Here some threads end between a store and the barrier.
    let leaves = "setp.eq.u32 %p3, %r2, 5;\n@%p3 bra END;\n";
    assert!(!is_proved_with(&format!("{}\nEND:", body(leaves)), 48, 1, ""));
}
