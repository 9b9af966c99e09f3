//! Tests of the text that replaces an instruction in a mutant, and that a replaced atomic computes the same value.

use weft_core::check;
use weft_core::finding::{Report, Verdict};
use weft_core::launch::{Atomics, Dim3, Launch, Options};
use weft_core::mutate::{self, Mutant, Mutants};
use weft_core::ptx::{self, Module};

fn kernel(body: &str) -> Module {
    let module = ptx::parse(&format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.shared .align 8 .b8 words[1024];\n\
         .visible .entry k()\n{{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .pred %p<9>;\n{body}\nret;\n}}\n"
    ));
    assert!(module.errors.is_empty(), "{:?}", module.errors);
    module
}

fn launch(block: u32) -> Launch {
    Launch { block: Some(Dim3::line(block).into()), ..Launch::default() }
}

fn checked(module: &Module, launch: &Launch) -> Report {
    check(module, module.kernel("k").expect("the kernel is there"), launch)
        .expect("the launch fits")
}

fn mutants(module: &Module, launch: &Launch) -> Mutants {
    mutate::mutants(module, module.kernel("k").expect("it is there"), &checked(module, launch))
}

/// Returns the changes of a kernel of 64 threads, each with the text that replaces the instruction.
fn changes(body: &str) -> Vec<(&'static str, String)> {
    let mutants = mutants(&kernel(body), &launch(64));
    let told = |mutant: Mutant| (mutant.change.name(), mutant.replacement);
    mutants.list.into_iter().map(told).collect()
}

fn names(body: &str) -> Vec<&'static str> {
    changes(body).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn each_form_of_barrier_has_its_weaker_forms() {
    assert_eq!(changes("bar.sync 0;"), [("delete", String::new())]);
    assert_eq!(
        changes("mov.u32 %r1, 2; setp.eq.u32 %p1, %r1, 3; @!%p1 barrier.cta.sync.aligned %r1, 96;")
            [1..],
        [
            ("arrive", "@!%p1 barrier.cta.arrive.aligned %r1, 96;".to_owned()),
            ("fewer", "@!%p1 barrier.cta.sync.aligned %r1, 64;".to_owned()),
            ("no-count", "@!%p1 barrier.cta.sync.aligned %r1;".to_owned()),
        ]
    );
    // Dropping the count of the whole cta changes nothing, and a count without any warp is invalid.
    assert_eq!(names("bar.sync 1, 64;"), ["delete", "arrive", "fewer"]);
    assert_eq!(names("bar.arrive 1, 64;"), ["delete", "fewer"]);
    assert_eq!(names("bar.arrive 1, 32;"), ["delete"]);
    assert_eq!(names("bar.red.popc.u32 %r1, 1, 96, %p1;"), ["delete", "fewer", "no-count"]);
    assert_eq!(names("bar.red.or.pred %p2, 1, %p1;"), ["delete"]);
    assert_eq!(names("bar.warp.sync 3;"), ["delete", "halves"]);
    assert_eq!(names("bar.warp.sync 1;"), ["delete"]);
    assert_eq!(names("mov.u32 %r1, -1; bar.warp.sync %r1;"), ["delete", "halves"]);
    // These instructions order nothing.
    assert_eq!(names("vote.sync.ballot.b32 %r1, %p1, -1; membar.gl;"), [] as [&str; 0]);
}

#[test]
fn atomics_of_vectors_and_of_16_bytes_stay() {
    let global = "ld.param.u64 %rd1, [0];";
    assert_eq!(names("red.shared.add.u32 [words], 1;"), ["plain"]);
    for own in
        ["red.global.v2.f32.add [%rd1], {%r1, %r1};", "atom.global.exch.b128 %rd2, [%rd1], %rd3;"]
    {
        assert_eq!(names(&format!("{global} {own}")), [] as [&str; 0], "{own}");
    }
    let options = Options { atomics: Atomics::Off, ..Options::default() };
    let module = kernel("red.shared.add.u32 [words], 1;");
    assert_eq!(mutants(&module, &Launch { options, ..launch(1) }), Mutants::default());
}

#[test]
fn what_no_thread_reaches_is_counted_and_stays() {
    let mutants = mutants(
        &kernel(
            "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 64; @%p1 bra DONE; bar.sync 0;\nDONE: bar.sync 1;",
        ),
        &launch(64),
    );
    assert_eq!((mutants.list.len(), mutants.unreached), (1, 1));
}

/// Checks a kernel in which one thread changes a word of `bits` bits from `first` to `last` by the plain replacement of
/// an atomic. If the word or the returned value is wrong, the thread deadlocks at a barrier.
fn computes(bits: u32, operation: &str, operands: &str, first: u64, last: u64) -> Verdict {
    let pre = if bits == 64 { "%rd" } else { "%r" };
    let module = kernel(&format!(
        "mov.b{bits} {pre}1, {first}; st.shared.b{bits} [words], {pre}1;\n\
         atom.shared.{operation} {pre}2, [words], {operands};\n\
         ld.shared.b{bits} {pre}3, [words];\n\
         setp.ne.b{bits} %p1, {pre}2, {first}; setp.ne.b{bits} %p2, {pre}3, {last}; or.pred %p1, %p1, %p2;\n\
         @%p1 bar.sync 1, 64;"
    ));
    let report = Report { unreached: Vec::new(), ..checked(&module, &launch(1)) };
    let mutants = mutate::mutants(&module, module.kernel("k").expect("it is there"), &report);
    let plain = mutants.list.iter().find(|mutant| mutant.change == mutate::Weakening::Plain);
    let mutated = plain.expect("the atomic can be plain").apply(&module);
    assert!(mutated.errors.is_empty(), "{:?} in {}", mutated.errors, mutated.text());
    checked(&mutated, &launch(1)).verdict()
}

#[test]
fn a_plain_atomic_computes_the_same() {
    for (bits, operation, operands, first, last) in [
        (32, "add.u32", "7", 5, 12),
        (64, "add.u64", "7", 5, 12),
        (32, "add.f32", "0f3F800000", 0x4000_0000, 0x4040_0000),
        (32, "exch.b32", "7", 5, 7),
        (32, "min.s32", "-1", 5, 0xffff_ffff),
        (32, "min.u32", "-1", 5, 5),
        (32, "max.u32", "7", 5, 7),
        (32, "and.b32", "6", 5, 4),
        (32, "or.b32", "6", 5, 7),
        (64, "xor.b64", "6", 5, 3),
        (32, "cas.b32", "5, 9", 5, 9),
        (32, "cas.b32", "4, 9", 5, 5),
        (32, "inc.u32", "6", 5, 6),
        (32, "inc.u32", "5", 5, 0),
        (32, "dec.u32", "6", 5, 4),
        (32, "dec.u32", "6", 0, 6),
        (32, "dec.u32", "6", 9, 6),
    ] {
        let what = format!("{operation} {operands} of {first}");
        assert_eq!(computes(bits, operation, operands, first, last), Verdict::Clean, "{what}");
        let wrong = computes(bits, operation, operands, first, last + 1);
        assert_eq!(wrong, Verdict::Defect, "{what} is anything");
    }
}

#[test]
fn the_result_of_a_deleted_reduction_is_open() {
    for (reduction, branch) in [
        ("bar.red.or.pred %p2, 1, %p1;", ""),
        ("bar.red.popc.u32 %r2, 1, %p1;", "setp.ne.u32 %p2, %r2, 0;"),
    ] {
        let module = kernel(&format!(
            "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;\n{reduction}\n{branch}\n@%p2 bar.sync 0;"
        ));
        assert_eq!(checked(&module, &launch(64)).verdict(), Verdict::Clean);
        let mutants = mutants(&module, &launch(64));
        let mutated = mutants.list[0].apply(&module);
        assert_eq!(checked(&mutated, &launch(64)).verdict(), Verdict::Open, "{}", mutated.text());
    }
}

#[test]
fn other_instructions_keep_their_lines() {
    let module = kernel("bar.sync\n0\n;\nbar.sync 1;");
    let mutants = mutants(&module, &launch(64));
    let last = mutants.list[1].site.ptx.line;
    let mutated = mutants.list[0].apply(&module);
    assert_eq!(
        mutated.text().lines().position(|line| line == "bar.sync 1;"),
        Some(last as usize - 1)
    );
}
