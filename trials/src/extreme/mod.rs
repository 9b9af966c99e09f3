//! PTX texts that are extreme in one respect: huge, deeply nested, absurd or endless. Each family is a function from a
//! size to a text.
//!
//! The test suite checks every family at its small size; `cargo run --release -p weft-trials --bin extreme` prints it
//! at any size.

mod accesses;
mod calls;
mod flow;
mod nesting;
mod sizes;

use accesses::{
    atomics, barrier_numbers, barriers, faults, local_stores, open_operations, open_stores,
    open_sum, races, reads, stores,
};
use calls::{
    call_chain, call_tree, functions, indirect_calls, inlined_sources, mutual_recursion, recursion,
};
use flow::{
    branches, counted_nested_loops, endless_atomic, endless_barrier, endless_kept_store,
    endless_local_store, endless_loop, endless_open_loop, endless_store, far_branches, label_cycle,
    loops, loops_of_every_block, nested_loops, nested_open_branches, open_branches,
    open_branches_over_barriers, open_branches_over_stores, switch, switches,
};
use nesting::{
    brackets, comments, errors, names_in_scopes, parentheses, scopes, unclosed, vector_elements,
    vectors_in_vectors,
};
use sizes::{
    digits, dimensions, files, global_memory, initialiser, instructions, kernels, labels,
    local_memory, locations, long_name, mangled_name, nested_initialiser, parameters,
    register_digits, register_range, registers, registers_backwards, shared_memory, wide_registers,
};

/// A family of texts.
#[derive(Clone, Copy, Debug)]
pub struct Extreme {
    /// The name of the family.
    pub name: &'static str,
    /// Returns the text of a size; what the size counts depends on the family.
    pub text: fn(usize) -> String,
    /// The size in the test suite.
    pub small: usize,
    /// The size for the measurements in `docs/robustness.md`.
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
    of("loops-of-every-block", loops_of_every_block, 2_000, 20_000),
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

/// The declarations that the bodies below use.
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

/// Returns a module with one kernel. In its body, `%rd2` is a pointer, `%r4` an open number with the predicate `%p1`,
/// and `%r3` and `%rd4` are the addresses of a slot of shared and of global memory for each thread.
fn kernel(body: &str) -> String {
    with_functions("", body)
}

fn with_functions(functions: &str, body: &str) -> String {
    format!(
        "{HEAD}{functions}.visible .entry kernel(.param .u64 kernel_param_0, .param .u32 kernel_param_1)\n\
         .reqntid 64\n{{{DECLARED}{body}    st.shared.u32 [%r3], %r1;\n    ret;\n}}\n"
    )
}

/// Returns the lines `each(0)` to `each(n - 1)`.
fn rows(n: usize, each: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for at in 0..n {
        text.push_str(&each(at));
        text.push('\n');
    }
    text
}
