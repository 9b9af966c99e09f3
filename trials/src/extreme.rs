//! PTX that is extreme in one respect: huge, deep, absurd or without end. Each is a function of a size.
//!
//! The suite checks all of them at their small size; `cargo run --release -p weft-trials --bin extreme` prints them at
//! any.

use std::fmt::Write as _;

/// A family of texts.
#[derive(Clone, Copy, Debug)]
pub struct Extreme {
    /// What it is called.
    pub name: &'static str,
    /// What its size counts, and its text.
    pub text: fn(usize) -> String,
    /// Size in the suite.
    pub small: usize,
    /// Size of the runs in `docs/robustness.md`.
    pub large: usize,
}

/// All families.
pub const ALL: &[Extreme] = &[
    of("labels", labels, 20_000, 950_000),
    of("registers", registers, 20_000, 950_000),
    of("registers-backwards", registers_backwards, 20_000, 950_000),
    of("wide-registers", wide_registers, 2_000, 300_000),
    of("register-range", register_range, 1, 1),
    of("instructions", instructions, 20_000, 950_000),
    of("branches", branches, 20_000, 450_000),
    of("open-branches", open_branches, 2_000, 300_000),
    of("open-branches-over-stores", open_branches_over_stores, 500, 200_000),
    of("nested-open-branches", nested_open_branches, 1_000, 100_000),
    of("open-branches-over-barriers", open_branches_over_barriers, 100, 100_000),
    of("far-branches", far_branches, 2_000, 200_000),
    of("parameters", parameters, 3_000, 100_000),
    of("kernels", kernels, 3_000, 100_000),
    of("functions", functions, 3_000, 100_000),
    of("switch", switch, 5_000, 300_000),
    of("switches", switches, 300, 10_000),
    of("call-chain", call_chain, 2_000, 100_000),
    of("call-tree", call_tree, 30, 10_000),
    of("recursion", recursion, 1, 1),
    of("mutual-recursion", mutual_recursion, 100, 100_000),
    of("indirect-calls", indirect_calls, 100, 10_000),
    of("inlined-sources", inlined_sources, 300, 15_000),
    of("loops", loops, 2_000, 100_000),
    of("nested-loops", nested_loops, 60, 100_000),
    of("counted-nested-loops", counted_nested_loops, 10, 10_000),
    of("endless-loop", endless_loop, 1, 1),
    of("endless-store", endless_store, 1, 1),
    of("endless-barrier", endless_barrier, 1, 1),
    of("endless-kept-store", endless_kept_store, 1, 1),
    of("endless-local-store", endless_local_store, 1, 1),
    of("endless-atomic", endless_atomic, 1, 1),
    of("endless-open-loop", endless_open_loop, 1, 1),
    of("label-cycle", label_cycle, 100, 100_000),
    of("scopes", scopes, 100_000, 100_000),
    of("names-in-scopes", names_in_scopes, 2_000, 950_000),
    of("parentheses", parentheses, 100_000, 100_000),
    of("vectors-in-vectors", vectors_in_vectors, 100_000, 100_000),
    of("brackets", brackets, 100_000, 100_000),
    of("vector-elements", vector_elements, 20_000, 1_000_000),
    of("initialiser", initialiser, 50_000, 10_000_000),
    of("nested-initialiser", nested_initialiser, 100_000, 1_000_000),
    of("shared-memory", shared_memory, 1, 1),
    of("local-memory", local_memory, 1, 1),
    of("global-memory", global_memory, 1, 1),
    of("dimensions", dimensions, 20_000, 1_000_000),
    of("digits", digits, 50_000, 1_000_000),
    of("register-digits", register_digits, 50_000, 1_000_000),
    of("long-name", long_name, 100_000, 10_000_000),
    of("mangled-name", mangled_name, 20_000, 1_000_000),
    of("locations", locations, 5_000, 950_000),
    of("files", files, 5_000, 950_000),
    of("barriers", barriers, 2_000, 300_000),
    of("barrier-numbers", barrier_numbers, 1, 1),
    of("stores", stores, 1_000, 100_000),
    of("races", races, 100, 20_000),
    of("faults", faults, 500, 100_000),
    of("reads", reads, 500, 100_000),
    of("local-stores", local_stores, 1_000, 100_000),
    of("open-sum", open_sum, 500, 100_000),
    of("open-operations", open_operations, 1_000, 300_000),
    of("open-stores", open_stores, 200, 20_000),
    of("atomics", atomics, 500, 100_000),
    of("errors", errors, 5_000, 300_000),
    of("unclosed", unclosed, 100_000, 10_000_000),
    of("comments", comments, 50_000, 3_000_000),
];

const fn of(name: &'static str, text: fn(usize) -> String, small: usize, large: usize) -> Extreme {
    Extreme { name, text, small, large }
}

const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// What the bodies below take for granted.
const DECLARED: &str = "
    .reg .pred %p<8>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<16>;
    .shared .align 8 .b8 own[4096];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, own;
    add.s32 %r3, %r3, %r2;
    ld.param.u64 %rd1, [kernel_param_0];
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.param.u32 %r4, [kernel_param_1];
    setp.ne.s32 %p1, %r4, 0;
";

/// A module of one kernel, with a pointer `%rd2`, an open number `%r4` and its predicate `%p1`, a slot of shared memory
/// `%r3` and of global memory `%rd4` for each thread.
fn kernel(body: &str) -> String {
    with_functions("", body)
}

fn with_functions(functions: &str, body: &str) -> String {
    format!(
        "{HEAD}{functions}.visible .entry kernel(.param .u64 kernel_param_0, .param .u32 kernel_param_1)\n\
         .maxntid 64\n{{{DECLARED}{body}    st.shared.u32 [%r3], %r1;\n    ret;\n}}\n"
    )
}

/// `each(0)` to `each(n - 1)` in a row.
fn rows(n: usize, each: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for at in 0..n {
        text.push_str(&each(at));
        text.push('\n');
    }
    text
}

fn labels(n: usize) -> String {
    kernel(&rows(n, |at| format!("L{at}:")))
}

fn registers(n: usize) -> String {
    let declared = rows(n, |at| format!(".reg .b32 %own{at};"));
    let last = n - 1;
    let used = rows(n, |at| format!("add.s32 %own{at}, %own{}, %r1;", at.saturating_sub(1)));
    kernel(&format!("{declared}mov.b32 %own0, %r3;\n{used}st.shared.u32 [%own{last}], %r1;\n"))
}

/// Each takes its value from the next.
fn registers_backwards(n: usize) -> String {
    let moves = rows(n, |at| format!("mov.u32 %own{at}, %own{};", at + 1));
    kernel(&format!(
        ".reg .b32 %own<{}>;\nmov.u32 %own{n}, %r3;\n{moves}st.shared.u32 [%own0], %r1;\n",
        n + 1
    ))
}

/// Registers that differ from lane to lane, for as many warps as there can be.
fn wide_registers(n: usize) -> String {
    let last = n - 1;
    let used = rows(n - 1, |at| format!("xor.b32 %own{}, %own{at}, %tid.x;", at + 1));
    let text = kernel(&format!(
        ".reg .b32 %own<{n}>;\nmul.lo.u32 %own0, %r1, %r1;\n{used}and.b32 %own{last}, %own{last}, 4092;\n\
         st.shared.u32 [%own{last}], %r1;\n"
    ));
    text.replace(".maxntid 64", ".maxntid 1024")
}

fn register_range(_: usize) -> String {
    kernel(
        ".reg .b32 %wide<4294967295>;\nmov.u32 %wide4294967294, %r3;\nst.shared.u32 [%wide4294967294], %r1;\n",
    )
}

fn instructions(n: usize) -> String {
    kernel(&format!("{}st.shared.u32 [%r3], %r5;\n", rows(n, |_| "add.s32 %r3, %r3, 0;".into())))
}

fn branches(n: usize) -> String {
    kernel(&rows(n, |at| format!("bra L{at};\nL{at}:")))
}

fn open_branches(n: usize) -> String {
    kernel(&rows(n, |at| format!("@%p1 bra L{at};\nadd.s32 %r5, %r5, 1;\nL{at}:")))
}

fn open_branches_over_stores(n: usize) -> String {
    let each = |at| {
        format!("setp.eq.s32 %p2, %r4, {at};\n@%p2 bra L{at};\nst.global.u32 [%rd4], %r1;\nL{at}:")
    };
    kernel(&rows(n, each))
}

fn nested_open_branches(n: usize) -> String {
    let opens = rows(n, |at| {
        format!("setp.eq.s32 %p2, %r4, {at};\n@%p2 bra L{at};\nst.global.u32 [%rd4], %r1;")
    });
    let ends = rows(n, |at| format!("L{}:\nadd.s64 %rd4, %rd4, 0;", n - 1 - at));
    kernel(&(opens + &ends))
}

fn open_branches_over_barriers(n: usize) -> String {
    let each = |at| format!("setp.eq.s32 %p2, %r4, {at};\n@%p2 bra L{at};\nbar.sync 0;\nL{at}:");
    kernel(&rows(n, each))
}

/// Branches that all lead to the start of as many blocks, which the ways around them pass by.
fn far_branches(n: usize) -> String {
    let branches = rows(n, |_| "setp.eq.s32 %p2, %r4, %r5;\n@%p2 bra L0;".into());
    let blocks = rows(n, |at| format!("L{at}:\nadd.s32 %r5, %r5, 1;"));
    kernel(&format!("{branches}bra END;\n{blocks}bar.sync 0;\nEND:\n"))
}

fn parameters(n: usize) -> String {
    let names = rows(n, |at| format!(".param .u64 own_{at},"));
    let loads = rows(n, |at| format!("ld.param.u64 %rd1, [own_{at}];\nst.global.u32 [%rd1], %r1;"));
    format!(
        "{HEAD}.visible .entry wide({names}.param .u32 last)\n.maxntid 64\n\
         {{\n.reg .b64 %rd<2>;\n.reg .b32 %r<2>;\n{loads}ret;\n}}\n"
    )
}

fn kernels(n: usize) -> String {
    let each = |at| {
        format!(
            ".visible .entry k{at}()\n.maxntid 32\n{{\n.reg .b32 %r<2>;\n.shared .b32 own{at};\n\
             st.shared.u32 [own{at}], %r1;\nret;\n}}"
        )
    };
    HEAD.to_owned() + &rows(n, each)
}

fn functions(n: usize) -> String {
    let all = rows(n, |at| format!(".func f{at}()\n{{\nbar.sync 0;\nret;\n}}"));
    with_functions(&all, &rows(n, |at| format!("call f{at};")))
}

fn switch(n: usize) -> String {
    let list = (0..n).map(|at| format!("L{at}")).collect::<Vec<_>>().join(", ");
    let labels = rows(n, |at| format!("L{at}:\nadd.s32 %r5, %r5, 1;"));
    kernel(&format!("targets: .branchtargets {list};\nbrx.idx %r1, targets;\n{labels}"))
}

/// As many switches as each has targets.
fn switches(n: usize) -> String {
    let list = (0..n).map(|at| format!("L{at}")).collect::<Vec<_>>().join(", ");
    let all = rows(n, |at| format!("L{at}:\nadd.s32 %r5, %r1, {at};\nbrx.idx %r5, targets;"));
    kernel(&format!("targets: .branchtargets {list};\n{all}"))
}

fn call_chain(n: usize) -> String {
    let all = rows(n, |at| format!(".func f{at}()\n{{\ncall f{};\nret;\n}}", at + 1));
    let last = format!(".func f{n}()\n{{\nbar.sync 0;\nret;\n}}\n");
    with_functions(&(all + &last), "call f0;\n")
}

/// Each function calls the next one twice.
fn call_tree(n: usize) -> String {
    let each = |at| format!(".func f{at}()\n{{\ncall f{0};\ncall f{0};\nret;\n}}", at + 1);
    let last = format!(".func f{n}()\n{{\nbar.sync 0;\nret;\n}}\n");
    with_functions(&(rows(n, each) + &last), "call f0;\n")
}

fn recursion(_: usize) -> String {
    with_functions(".func f()\n{\nbar.sync 0;\ncall f;\nret;\n}\n", "call f;\n")
}

fn mutual_recursion(n: usize) -> String {
    let each = |at| format!(".func f{at}()\n{{\nbar.sync 0;\ncall f{};\nret;\n}}", (at + 1) % n);
    with_functions(&rows(n, each), "call f0;\n")
}

/// As many calls through a register as it has targets.
fn indirect_calls(n: usize) -> String {
    let all = rows(n, |at| format!(".func f{at}()\n{{\nret;\n}}"));
    let list = (0..n).map(|at| format!("f{at}")).collect::<Vec<_>>().join(", ");
    let calls = rows(n, |_| "call %rd5, targets;".into());
    with_functions(&all, &format!("targets: .calltargets {list};\nmov.u64 %rd5, f0;\n{calls}"))
}

/// Calls in calls, each inlined many times by the compiler already.
fn inlined_sources(n: usize) -> String {
    const DEPTH: usize = 60;
    let chain = |salt: usize| {
        rows(16, |at| {
            let line = salt * 100 + at + 1;
            format!(".loc 1 {line} 1, function_name f, inlined_at 1 {} 1", line + 1)
        })
    };
    let each = |at: usize| {
        format!(
            ".func f{at}()\n{{\n{}.loc 1 {} 1, function_name f, inlined_at 1 {} 1\ncall f{};\nret;\n}}",
            chain(at + 1),
            (at + 1) * 100,
            (at + 1) * 100 + 1,
            at + 1
        )
    };
    let leaf = format!(
        ".func f{DEPTH}()\n{{\n.reg .b32 %r<2>;\n{}{}ret;\n}}\n",
        chain(DEPTH + 1),
        rows(n, |_| "mov.u32 %r1, 1;".into())
    );
    with_functions(&(rows(DEPTH, each) + &leaf), "call f0;\n")
}

fn loops(n: usize) -> String {
    let each = |at| {
        format!(
            "mov.u32 %r6, 0;\nL{at}:\nst.shared.u32 [%r3], %r1;\nadd.s32 %r6, %r6, 1;\n\
             setp.lt.u32 %p3, %r6, 2;\n@%p3 bra L{at};"
        )
    };
    kernel(&rows(n, each))
}

/// Loops in loops that run an unknown number of times.
fn nested_loops(n: usize) -> String {
    let heads = rows(n, |at| format!("L{at}:\nadd.s32 %r5, %r5, 1;"));
    let latches = rows(n, |at| format!("setp.lt.s32 %p2, %r5, %r4;\n@%p2 bra L{};", n - 1 - at));
    kernel(&(heads + "st.global.u32 [%rd4], %r1;\n" + &latches))
}

/// Loops in loops, each with two rounds.
fn counted_nested_loops(n: usize) -> String {
    let heads = rows(n, |at| format!(".reg .b32 %c{at};\nmov.u32 %c{at}, 0;\nL{at}:"));
    let latches = rows(n, |at| {
        let own = n - 1 - at;
        format!("add.s32 %c{own}, %c{own}, 1;\nsetp.lt.s32 %p2, %c{own}, 2;\n@%p2 bra L{own};")
    });
    kernel(&(heads + "st.shared.u32 [%r3], %r1;\n" + &latches))
}

fn endless_loop(_: usize) -> String {
    kernel("L:\nadd.s32 %r5, %r5, 1;\nbra L;\n")
}

fn endless_store(_: usize) -> String {
    kernel(
        "L:\nst.shared.u32 [%r3], %r5;\nst.global.u32 [%rd4], %r5;\nadd.s64 %rd4, %rd4, 256;\nbra L;\n",
    )
}

fn endless_barrier(_: usize) -> String {
    kernel("L:\nbar.sync 0;\nbra L;\n")
}

/// What it stores decides where it goes on, so that all of it is kept.
fn endless_kept_store(_: usize) -> String {
    kernel(
        "mul.wide.u32 %rd5, %r1, 4096;\nadd.s64 %rd4, %rd2, %rd5;\nL:\nst.global.u32 [%rd4], %r1;\n\
         ld.global.u32 %r5, [%rd4];\nadd.s64 %rd4, %rd4, 1048576;\nsetp.eq.s32 %p2, %r5, %r1;\n@%p2 bra L;\n",
    )
}

fn endless_local_store(_: usize) -> String {
    kernel(
        ".local .b8 stack[1073741824];\nmov.u32 %r6, stack;\nL:\nst.local.u32 [%r6], %r1;\n\
         ld.local.u32 %r5, [%r6];\nadd.s32 %r6, %r6, 256;\nsetp.eq.s32 %p2, %r5, %r1;\n@%p2 bra L;\n",
    )
}

fn endless_atomic(_: usize) -> String {
    kernel("L:\natom.global.add.u32 %r5, [%rd2], 1;\nst.global.u32 [%rd2+4], %r5;\nbra L;\n")
}

fn endless_open_loop(_: usize) -> String {
    kernel(
        "L:\nld.global.u32 %r5, [%rd4];\nst.global.u32 [%rd4], %r5;\nsetp.ne.s32 %p2, %r5, 0;\n@%p2 bra L;\nbra L;\n",
    )
}

fn label_cycle(n: usize) -> String {
    kernel(&format!("bra L0;\n{}", rows(n, |at| format!("L{at}:\nbra L{};", (at + 1) % n))))
}

fn scopes(n: usize) -> String {
    kernel(&format!("{}bar.sync 0;\n{}\n", "{".repeat(n), "}".repeat(n)))
}

/// Names looked up from the innermost scope allowed.
fn names_in_scopes(n: usize) -> String {
    let used = rows(n, |_| "add.s32 %r5, %r12, %r13;".into());
    kernel(&format!("{}{used}{}\n", "{".repeat(64), "}".repeat(64)))
}

fn parentheses(n: usize) -> String {
    kernel(&format!("call {}%r1{};\n", "(".repeat(n), ")".repeat(n)))
}

fn vectors_in_vectors(n: usize) -> String {
    kernel(&format!("mov.b64 %rd5, {}%r1{};\n", "{".repeat(n), "}".repeat(n)))
}

fn brackets(n: usize) -> String {
    kernel(&format!("ld.shared.u32 %r5, {}%r3{};\n", "[".repeat(n), "]".repeat(n)))
}

fn vector_elements(n: usize) -> String {
    kernel(&format!("ld.shared.v4.u32 {{{}%r5}}, [%r3];\n", "%r5, ".repeat(n)))
}

fn initialiser(n: usize) -> String {
    let table = format!(".const .b32 table[{n}] = {{{}0}};\n", "7, ".repeat(n.saturating_sub(1)));
    with_functions(&table, "ld.const.u32 %r5, [table+4];\nst.shared.u32 [%r3], %r5;\n")
}

fn nested_initialiser(n: usize) -> String {
    let table = format!(".global .b32 table[4] = {}0{};\n", "{".repeat(n), "}".repeat(n));
    with_functions(&table, "ld.global.u32 %r5, [table];\nst.shared.u32 [%r3], %r5;\n")
}

fn shared_memory(_: usize) -> String {
    kernel(&format!(".shared .b8 huge[{}];\nst.shared.u8 [huge], %r1;\n", 1_u64 << 60))
}

fn local_memory(_: usize) -> String {
    kernel(&format!(".local .b8 huge[{}];\nst.local.u8 [huge], %r1;\n", 1_u64 << 60))
}

fn global_memory(_: usize) -> String {
    with_functions(
        &format!(".global .b8 huge[{}];\n", 1_u64 << 60),
        "st.global.u8 [huge+1152921504606846975], %r1;\n",
    )
}

fn dimensions(n: usize) -> String {
    kernel(&format!(".local .b8 huge{};\nst.local.u8 [huge], %r1;\n", "[1099511627776]".repeat(n)))
}

fn digits(n: usize) -> String {
    let number = "9".repeat(n);
    kernel(&format!(
        "add.s32 %r5, %r1, {number};\nadd.s32 %r5, %r1, 0x{number};\nadd.f32 %r5, %r1, 1.{number}e{number};\n\
         ld.shared.u32 %r5, [%r3+{number}];\n"
    ))
}

fn register_digits(n: usize) -> String {
    kernel(&format!("mov.u32 %r5, %r{};\n", "1".repeat(n)))
}

fn long_name(n: usize) -> String {
    let name = "x".repeat(n);
    kernel(&format!(".reg .b32 {name};\nmov.u32 {name}, %r3;\nst.shared.u32 [{name}], %r1;\n"))
        .replace("kernel", &name[..n.min(100_000)])
}

/// A name that demanglers nest in.
fn mangled_name(n: usize) -> String {
    let mut name = String::from("_Z1f");
    let _ = write!(name, "{}i", "P".repeat(n));
    kernel("").replace("kernel", &name)
}

fn locations(n: usize) -> String {
    let each = |at| {
        format!(
            ".loc 4294967295 4294967295 4294967295, function_name $L, inlined_at 1 {at} 1\nst.shared.u32 [%r3], %r1;"
        )
    };
    format!("{}{}", kernel(&rows(n, each)), ".file 4294967295 \"a.cu\"\n")
}

fn files(n: usize) -> String {
    let body = kernel(&rows(n, |at| format!(".loc {at} 1 1\nst.shared.u32 [%r3], %r1;")));
    body + &rows(n, |at| format!(".file {at} \"dir/{at}.cu\", 1, 2"))
}

fn barriers(n: usize) -> String {
    kernel(&rows(n, |at| format!("bar.sync {};", at % 16)))
}

fn barrier_numbers(_: usize) -> String {
    kernel(
        "bar.sync 4294967295, 4294967295;\nbar.sync 99999999999999, 18446744073709551615;\nbarrier.sync 15, 4294967264;\n",
    )
}

fn stores(n: usize) -> String {
    kernel(&rows(n, |at| format!("st.global.u32 [%rd4+{}], %r1;", at * 256)))
}

/// All threads write all of these places.
fn races(n: usize) -> String {
    kernel(&rows(n, |at| format!("st.global.u32 [%rd2+{}], %r1;", at * 4)))
}

fn faults(n: usize) -> String {
    kernel(&rows(n, |at| format!("st.shared.u32 [own+{}], %r1;", 8193 + 2 * at)))
}

fn reads(n: usize) -> String {
    kernel(&rows(n, |_| "ld.shared.u32 %r5, [own];\nadd.s32 %r3, %r3, 0;".into()))
}

fn local_stores(n: usize) -> String {
    let stores = rows(n, |at| format!("st.local.u32 [stack+{}], %r1;", at * 4));
    kernel(&format!(
        ".local .align 4 .b8 stack[{}];\n{stores}ld.local.u32 %r5, [stack];\nshl.b32 %r5, %r5, 2;\nst.shared.u32 [%r5], %r1;\n",
        n * 4
    ))
}

/// An address that is a sum of as many unknowns.
fn open_sum(n: usize) -> String {
    let adds =
        rows(n, |at| format!("ld.global.u64 %rd6, [%rd2+{}];\nadd.s64 %rd7, %rd7, %rd6;", at * 8));
    kernel(&format!("mov.u64 %rd7, %rd4;\n{adds}st.global.u32 [%rd7], %r1;\n"))
}

fn open_operations(n: usize) -> String {
    let all = rows(n, |at| format!("xor.b64 %rd7, %rd7, {at};\nmul.lo.s64 %rd7, %rd7, %rd7;"));
    kernel(&format!("ld.global.u64 %rd7, [%rd4];\n{all}st.global.u32 [%rd7], %r1;\n"))
}

fn open_stores(n: usize) -> String {
    let each = |at| {
        format!(
            "ld.global.u32 %r5, [%rd2+{}];\nmul.wide.u32 %rd6, %r5, 4;\nadd.s64 %rd6, %rd2, %rd6;\nst.global.u32 [%rd6], %r1;",
            at * 4
        )
    };
    kernel(&rows(n, each))
}

fn atomics(n: usize) -> String {
    let each = |_| {
        "atom.global.add.u32 %r5, [%rd2], 1;\nmul.wide.u32 %rd6, %r5, 4;\nadd.s64 %rd6, %rd2, %rd6;\nst.global.u32 [%rd6+8], %r1;".into()
    };
    kernel(&rows(n, each))
}

/// Statements that cannot be read beside addresses that can.
fn errors(n: usize) -> String {
    kernel(&rows(n, |_| {
        "mov.u32 %r1, ?;\nst.shared.u32 [%r3], %r1;\nld.global.nc.u32 %r1, [%rd1, %rd2];".into()
    }))
}

/// Openings of everything that is never closed.
fn unclosed(n: usize) -> String {
    format!("{HEAD}.visible .entry kernel(\n{}\n/*{}", "{([\"".repeat(n), "*".repeat(n))
}

fn comments(n: usize) -> String {
    kernel(&"/**/ // \n\t  \n".repeat(n))
}
