//! Tests of the assumptions that a clean verdict lists.

use weft_core::finding::{Assumption, Class, Report};
use weft_core::launch::{Arg, Atomics, Buffer, Dim3, Launch, Options};
use weft_core::{check, ptx};

/// Returns the assumptions about a kernel of two pointers whose body ends with these instructions.
fn assumed(body: &str) -> Vec<Assumption> {
    checked(body, Atomics::default()).assumptions
}

fn checked(body: &str, atomics: Atomics) -> Report {
    with_options(body, Options { atomics, ..Options::default() }, None)
}

fn with_options(body: &str, options: Options, grid: Option<Dim3>) -> Report {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .entry k(.param .u64 p, .param .u64 q)\n{{\n\
         .reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n\
         ld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [q];\nmov.u32 %r1, %tid.x;\n\
         mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\n{body}\n\
         st.global.u32 [%rd4], %r1;\nst.global.u32 [%rd5], %r1;\nEND: ret;\n}}\n"
    );
    let module = ptx::parse(&text);
    assert!(module.errors.is_empty(), "{:?}", module.errors);
    let kernel = module.kernel("k").expect("the text declares it");
    let launch = Launch {
        block: Some(Dim3::line(32).into()),
        grid: grid.map(Into::into),
        options,
        ..Launch::default()
    };
    check(&module, kernel, &launch).expect("the launch fits")
}

/// Whether anything is assumed about the addresses of buffers beyond the alignment to accessed words.
fn assumes_places(body: &str) -> bool {
    assumed(body).iter().any(|own| match own {
        Assumption::Places(_) => true,
        Assumption::Aligned(all) => all.iter().any(|(_, to, ..)| *to > 4),
        _ => false,
    })
}

#[test]
fn a_test_of_a_pointer_itself_is_told() {
    let tested = [
        "and.b64 %rd6, %rd1, 15;\nsetp.ne.s64 %p1, %rd6, 0;\n@%p1 bra END;",
        "setp.eq.s64 %p1, %rd2, 0;\n@%p1 bra END;",
        "setp.gt.u64 %p1, %rd1, %rd2;\n@%p1 bra END;",
        "and.b64 %rd6, %rd1, 15;\nsetp.ne.s64 %p1, %rd6, 0;\n@%p1 st.global.u32 [%rd4+512], %r1;",
        // The lowest bit of the result depends on the highest bits of the pointer.
        "mul.hi.u64 %rd6, %rd1, %rd3;\nand.b64 %rd6, %rd6, 1;\nsetp.ne.s64 %p1, %rd6, 0;\n@%p1 bra END;",
        "mad.hi.u64 %rd6, %rd1, %rd3, 0;\nand.b64 %rd6, %rd6, 1;\nsetp.ne.s64 %p1, %rd6, 0;\n@%p1 bra END;",
        "mov.u64 %rd6, p;\nadd.u64 %rd6, %rd6, 8;\nld.param.u64 %rd7, [%rd6+-8];\nsetp.eq.s64 %p1, %rd7, 0;\n@%p1 bra END;",
        "cvt.u32.u64 %r2, %rd1;\nand.b32 %r3, %r2, 12;\ncvt.u64.u32 %rd6, %r3;\nadd.s64 %rd4, %rd4, %rd6;",
    ];
    for body in tested {
        assert!(assumes_places(body), "{body}");
    }
}

#[test]
fn what_holds_for_every_pointer_needs_no_assumption() {
    let untested = [
        "",
        // A loop to the end of one buffer.
        "add.s64 %rd6, %rd1, 64;\nsetp.lt.u64 %p1, %rd4, %rd6;\n@%p1 bra END;",
        "mad.wide.u32 %rd4, %r1, 8, %rd1;",
        // The difference of two addresses in one buffer.
        "sub.s64 %rd6, %rd4, %rd1;\nsetp.gt.s64 %p1, %rd6, 64;\n@%p1 bra END;",
        // Bits of a pointer that decide nothing.
        "and.b64 %rd6, %rd1, 15;\ncvt.u32.u64 %r2, %rd6;\nst.global.u32 [%rd4+128], %r2;",
    ];
    for body in untested {
        assert!(!assumes_places(body), "{body}");
    }
}

/// Loads an open value into `%r2`, the same for all threads.
const NUMBER: &str = "ld.global.u32 %r2, [%rd2+4096];\n";

#[test]
fn a_narrow_counter_whose_steps_are_no_power_of_two_is_taken_not_to_wrap() {
    // Each thread starts at its own index and adds `step` in 32 bits: after a wrap-around it can reach the words of
    // other threads.
    let strided = |step: u32| {
        format!(
            "{NUMBER}mov.u32 %r3, %r1;\n\
             NEXT: setp.ge.u32 %p1, %r3, %r2;\n@%p1 bra END;\nmul.wide.u32 %rd6, %r3, 4;\n\
             add.s64 %rd6, %rd1, %rd6;\nst.global.u32 [%rd6+8192], %r1;\nadd.s32 %r3, %r3, {step};\n\
             bra NEXT;"
        )
    };
    assert!(assumed(&strided(96)).contains(&Assumption::UnwrappedIndices));
    assert!(!assumed(&strided(64)).contains(&Assumption::UnwrappedIndices));
    let exact = [
        "",
        "add.s32 %r3, %r2, 1;\ncvt.s64.s32 %rd6, %r3;\nsetp.lt.s64 %p1, %rd6, 64;\n@%p1 bra END;",
        "add.s32 %r3, %r2, %r1;\nmad.wide.s32 %rd4, %r3, 4, %rd1;",
    ];
    for body in exact {
        assert!(
            !assumed(&format!("{NUMBER}{body}")).contains(&Assumption::UnwrappedIndices),
            "{body}"
        );
    }
}

#[test]
fn a_loop_that_waits_is_taken_to_end() {
    let waiting = [
        // A loop that waits for memory that another thread might write, and one that waits for memory that no thread
        // writes.
        "L: ld.volatile.global.u32 %r2, [%rd2+4096];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;",
        "L: ld.global.u32 %r2, [%rd2+4096];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;",
        "L: atom.global.cas.b32 %r2, [%rd2+4096], 0, 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra L;",
        // The counter can step over the bound.
        "mov.u32 %r3, 0;\nL: ld.global.u32 %r4, [%rd2];\nadd.u32 %r3, %r3, 4;\nsetp.ne.u32 %p1, %r3, %r2;\n@%p1 bra L;",
        // The step can be zero.
        "mov.u32 %r3, 0;\nL: ld.global.u32 %r4, [%rd2];\nadd.u32 %r3, %r3, %r2;\nsetp.lt.u32 %p1, %r3, 64;\n@%p1 bra L;",
        // The bound grows with the counter.
        "mov.u32 %r3, 0;\nL: ld.global.u32 %r4, [%rd2];\nadd.u32 %r3, %r3, 1;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r3, %r2;\n@%p1 bra L;",
        // Some iterations do not count.
        "mov.u32 %r3, 0;\nL: ld.global.u32 %r4, [%rd2];\nsetp.eq.u32 %p2, %r4, 0;\n@%p2 add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r2;\n@%p1 bra L;",
        "mov.u32 %r3, 0;\nL: ld.volatile.global.u32 %r4, [%rd2];\nsetp.eq.u32 %p2, %r4, 0;\n@%p2 bra S;\nadd.u32 %r3, %r3, 1;\nsetp.ge.u32 %p1, %r3, %r2;\n@%p1 bra D;\nS: setp.eq.u32 %p3, %r4, 7;\n@!%p3 bra L;\nD:",
        // Some iterations do not test the counter, and the branch on it does not leave the loop by itself.
        "mov.u32 %r3, 0;\nL: ld.global.u32 %r4, [%rd2];\nadd.u32 %r3, %r3, 1;\nsetp.eq.u32 %p2, %r4, 0;\n@%p2 setp.lt.u32 %p1, %r3, %r2;\n@%p1 bra L;",
        "mov.u32 %r3, 0;\nL: ld.global.u32 %r4, [%rd2];\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r2;\n@%p1 bra S;\nst.global.u32 [%rd4+512], %r1;\nS: setp.eq.u32 %p2, %r4, 0;\n@%p2 bra L;",
        // The loop can continue beyond the bound.
        "mov.u32 %r3, 0;\nL: ld.global.u32 %r4, [%rd2];\nadd.u32 %r3, %r3, 1;\nsetp.eq.u32 %p2, %r4, 0;\nsetp.lt.or.u32 %p1, %r3, %r2, %p2;\n@%p1 bra L;",
        // The bound differs in each iteration.
        "mov.u32 %r3, 0;\nL: mov.u32 %r5, %clock;\nld.global.u32 %r4, [%rd2];\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r5;\n@%p1 bra L;",
    ];
    for body in waiting {
        let body = format!("{NUMBER}{body}");
        assert!(assumed(&body).contains(&Assumption::WaitsEnd), "{body}");
    }
    // The loop contains a barrier. Its kernel is proved for every input, which takes all loops to end.
    let body = "L: bar.sync 0;\nld.volatile.global.u32 %r2, [%rd2+4096];\nbar.red.or.pred %p1, 0, %p1;\n@%p1 bra L;";
    let body = format!("{NUMBER}{body}");
    assert!(assumed(&body).contains(&Assumption::AllLoopsEnd), "{:?}", assumed(&body));
}

#[test]
fn what_later_ctas_take_for_granted_is_told() {
    let told = |body: &str, assumption: &Assumption| {
        let body =
            format!("mov.u32 %r3, %ctaid.x;\nsetp.lt.u32 %p1, %r3, 2;\n@%p1 bra END;\n{body}");
        [2, 3, 8].map(|ctas| {
            let report = with_options(&body, Options::default(), Some(Dim3::line(ctas)));
            report.assumptions.contains(assumption)
        })
    };
    let waits = "L: ld.global.u32 %r2, [%rd2+4096];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;";
    let leads = format!(
        "{NUMBER}T: .branchtargets A, B;\nbrx.idx %r2, T;\nA: st.global.u32 [%rd4+1024], %r1;\n\
         B: st.global.u32 [%rd4+512], %r1;"
    );
    assert_eq!(told(waits, &Assumption::WaitsEnd), [false, true, true]);
    assert_eq!(told(&leads, &Assumption::Targets), [false, true, true]);
}

#[test]
fn a_loop_that_counts_to_a_bound_ends() {
    let counting = [
        "mov.u32 %r3, 0;\nL: ld.global.u32 %r4, [%rd2];\nadd.u32 %r3, %r3, 4;\nsetp.lt.u32 %p1, %r3, %r2;\n@%p1 bra L;",
        "mov.u32 %r3, 0;\nL: ld.global.u32 %r4, [%rd2];\nadd.u32 %r3, %r3, 1;\nsetp.ne.u32 %p1, %r3, %r2;\n@%p1 bra L;",
        "L: ld.global.u32 %r4, [%rd2];\nsub.u32 %r2, %r2, 1;\nsetp.gt.s32 %p1, %r2, 0;\n@%p1 bra L;",
        "mov.u32 %r5, %ntid.x;\nmov.u32 %r3, %r1;\nL: setp.ge.u32 %p1, %r3, %r2;\n@%p1 bra D;\nld.global.u32 %r4, [%rd2];\nadd.u32 %r3, %r3, %r5;\nbra L;\nD:",
        // The loop can end early.
        "mov.u32 %r3, 0;\nL: ld.volatile.global.u32 %r4, [%rd2];\nsetp.eq.u32 %p2, %r4, 0;\n@%p2 bra D;\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r2;\n@%p1 bra L;\nD:",
        // The loop contains a barrier.
        "mov.u32 %r3, 0;\nL: bar.sync 0;\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r2;\n@%p1 bra L;",
    ];
    for body in counting {
        let body = format!("{NUMBER}{body}");
        assert!(!assumed(&body).contains(&Assumption::WaitsEnd), "{body}");
    }
}

#[test]
fn registers_that_a_warp_waits_for_are_told() {
    let inc = "setmaxnreg.inc.sync.aligned.u32 120;";
    assert!(assumed(inc).contains(&Assumption::RegistersFree));
    let dec = "setmaxnreg.dec.sync.aligned.u32 40;";
    assert!(!assumed(dec).contains(&Assumption::RegistersFree));
}

#[test]
fn textures_that_a_kernel_might_write_are_told() {
    let read = "tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%rd2, {%r2}];";
    let told = |body: &str| assumed(body).contains(&Assumption::TexturesUnwritten);
    assert!(told(read) && !told(""));
}

/// Each thread draws a number from a counter and stores to the word of that number.
const DRAW: &str = "atom.global.add.u32 %r2, [%rd2+4096], 1;\nmul.wide.u32 %rd6, %r2, 4;\n\
                    add.u64 %rd7, %rd1, %rd6;\n";

/// Returns the classes of the findings with their lines, and whether counters are assumed not to wrap around.
fn said(body: &str, atomics: Atomics) -> (Vec<(Class, u32)>, bool) {
    let report = checked(body, atomics);
    let findings = report.findings.iter();
    let codes = findings.map(|own| (own.code.class(), own.sites[0].span.start)).collect();
    (codes, report.assumptions.contains(&Assumption::UniqueCounters))
}

#[test]
fn counters_are_told_apart_only_if_that_settles_what_is_open() {
    let first = format!("{DRAW}st.global.u32 [%rd7+8192], %r1;\n");
    // The verdict does not depend on the counter: clean, since the result decides nothing, and a defect.
    let atomic = "atom.global.add.u32 %r2, [%rd2+4096], 1;\n";
    let race = format!("{first}st.global.u32 [%rd2+8192], %r1;\n");
    for body in [atomic, &race] {
        let own = said(body, Atomics::Auto);
        assert_eq!(own, said(body, Atomics::Abstract), "{body}");
        assert!(!own.1);
    }
    // `unique` settles the verdict: the stores go to different words, in a buffer that has no other stores.
    let settled = format!("{DRAW}add.u64 %rd4, %rd7, 8192;\n");
    assert_eq!(said(&settled, Atomics::Abstract).0[0].0, Class::Open);
    assert_eq!(said(&settled, Atomics::Auto), (Vec::new(), true));
    // `unique` settles one of two questions: two words of shared memory are accessed at a number drawn from a counter.
    let part = ".shared .align 4 .b8 s[256];\natom.global.add.u32 %r3, [%rd2+4100], 1;\nshl.b32 %r3, %r3, 2;\n\
                mov.u32 %r4, s;\nadd.u32 %r4, %r4, %r3;\nst.shared.u32 [%r4], %r1;\nst.shared.u32 [%r4+4], %r1;\n";
    let part = format!("{settled}{part}");
    let [open, less] = [Atomics::Abstract, Atomics::Auto].map(|atomics| said(&part, atomics));
    assert!(less.0.len() < open.0.len() && less.1 && !open.1, "{open:?} {less:?}");
    // `unique` refutes: a store at one number overlaps the store at the next number.
    let wide = format!("{settled}st.global.u32 [%rd4+4], %r1;\n");
    let (findings, tells_counters) = said(&wide, Atomics::Auto);
    assert!(matches!(findings[..], [(Class::Defect, _)]) && tells_counters, "{findings:?}");
    // `unique` does not settle the verdict: only some bits of the number are used, which need not be unique.
    let part = "and.b32 %r2, %r2, 4080;\ncvt.u64.u32 %rd7, %r2;\nadd.u64 %rd7, %rd1, %rd7;\n\
                st.global.u32 [%rd7], %r1;\n";
    let part = format!("{DRAW}{part}");
    assert_eq!(said(&part, Atomics::Auto), said(&part, Atomics::Abstract));
    assert_eq!(said(&part, Atomics::Auto).0[0].0, Class::Open);
}

/// Asserts that each body in `needing` lists the assumption, and that none of `others` does.
fn assert_told(assumption: &Assumption, needing: &[&str], others: &[&str]) {
    for body in needing {
        assert!(assumed(body).contains(assumption), "{body}");
    }
    for body in others {
        assert!(!assumed(body).contains(assumption), "{body}");
    }
}

#[test]
fn indices_of_branches_through_tables_are_taken_to_be_in_them() {
    let through = |index: &str| {
        format!(
            "{NUMBER}{index}\nT: .branchtargets A, B;\nbrx.idx %r3, T;\nA: bra B;\nB: st.global.u32 [%rd4+512], %r1;"
        )
    };
    // With a barrier beside it, the branch decides something.
    let decides =
        |index: &str| through(index).replace("A: bra B;", "A: st.global.u32 [%rd4+1024], %r1;");
    assert_told(
        &Assumption::Targets,
        &[&decides("mov.u32 %r3, %r2;")],
        &[&decides("and.b32 %r3, %r1, 1;"), &through("mov.u32 %r3, %r2;")],
    );
}

#[test]
fn loads_at_open_addresses_are_taken_to_read_what_was_written() {
    let read = |stored: &str, read: &str| {
        format!(
            "{NUMBER}.shared .align 4 .b8 s[128];\nmov.u32 %r3, s;\nmad.lo.u32 %r4, %r1, 4, %r3;\n{stored}\nbar.sync 0;\n\
             and.b32 %r2, %r2, 31;\nmad.lo.u32 %r7, %r2, 4, %r3;\n{read}\nsetp.eq.u32 %p1, %r5, 7;\n@%p1 bra END;"
        )
    };
    let (all, some) =
        ("st.shared.u32 [%r4], 1;", "setp.lt.u32 %p2, %r1, 31;\n@%p2 st.shared.u32 [%r4], 1;");
    let almost = "setp.lt.u32 %p2, %r1, 31;\n@%p2 st.shared.u32 [%r4], 1;\n@!%p2 st.shared.u16 [%r4], 1;\n\
                  @!%p2 st.shared.u8 [%r4+2], 0;";
    assert_told(
        &Assumption::Written,
        &[&read(some, "ld.shared.u32 %r5, [%r7];"), &read(almost, "ld.shared.u8 %r5, [%r7];")],
        &[
            &read(all, "ld.shared.u32 %r5, [%r7];"),
            &read(some, "ld.shared.u32 %r5, [s];"),
            &read(some, "ld.shared.u32 %r6, [%r7];\nmov.u32 %r5, 0;"),
        ],
    );
}

#[test]
fn open_addresses_are_taken_to_stay_in_what_they_start_from() {
    // Accesses in shared memory that start from one of two variables.
    let from = |base: &str| {
        format!(
            "{NUMBER}.shared .align 4 .b8 s[128];\n.shared .align 4 .b8 t[128];\nmov.u32 %r3, s;\nmov.u32 %r4, t;\n\
             setp.lt.u32 %p1, %r1, 16;\nselp.b32 %r5, %r3, %r4, %p1;\nmad.lo.u32 %r6, %r1, 4, {base};\n\
             st.shared.u32 [%r6], %r1;"
        )
    };
    let open = "%r5;\nmad.lo.u32 %r6, %r2, 4, %r6";
    assert_told(&Assumption::WithinVariables, &[&from(open)], &[&from("%r5")]);
}

#[test]
fn low_bits_of_a_pointer_that_decide_something_are_told() {
    let low = |body: &str| {
        assumed(body).iter().any(|own| own.sentence().contains("argument 0 (`p`) to 8 bytes"))
    };
    assert!(low("and.b64 %rd6, %rd1, 4;\nsetp.ne.s64 %p1, %rd6, 0;\n@%p1 bra END;"));
    assert!(!low("and.b64 %rd6, %rd1, 2;\nsetp.ne.s64 %p1, %rd6, 0;\n@%p1 bra END;"));
    assert!(!low(
        "and.b64 %rd6, %rd1, 4;\nsetp.ne.s64 %p1, %rd6, 0;\n@%p1 bra END;\nst.global.u64 [%rd1+4096], %rd1;"
    ));
}

#[test]
fn open_places_in_buffers_of_known_size_are_taken_to_stay_in_them() {
    let sized = |index: &str| {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 p, .param .u32 n)\n{{\n\
             .reg .b32 %r<8>;\n.reg .b64 %rd<8>;\nld.param.u64 %rd1, [p];\nld.param.u32 %r2, [n];\n\
             mov.u32 %r1, %tid.x;\n{index}\nmad.wide.u32 %rd4, %r1, 4, %rd1;\nst.global.u32 [%rd4], %r1;\nret;\n}}\n"
        );
        let module = ptx::parse(&text);
        assert!(module.errors.is_empty(), "{:?}", module.errors);
        let kernel = module.kernel("k").expect("the text declares it");
        let buffer = Arg::Buffer(Buffer { contents: Some(vec![0; 128]) });
        let launch = Launch {
            block: Some(Dim3::line(32).into()),
            args: [(0, buffer)].into(),
            ..Launch::default()
        };
        let report = check(&module, kernel, &launch).expect("the launch fits");
        report.assumptions.contains(&Assumption::WithinBuffers)
    };
    assert!(sized("add.u32 %r1, %r1, %r2;"));
    assert!(!sized(""));
}
