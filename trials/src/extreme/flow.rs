//! Texts with many branches, switches and loops.

use super::{kernel, rows};

pub(super) fn branches(n: usize) -> String {
    kernel(&rows(n, |at| format!("bra L{at};\nL{at}:")))
}

pub(super) fn open_branches(n: usize) -> String {
    kernel(&rows(n, |at| format!("@%p1 bra L{at};\nadd.s32 %r5, %r5, 1;\nL{at}:")))
}

pub(super) fn open_branches_over_stores(n: usize) -> String {
    let each = |at| {
        format!("setp.eq.s32 %p2, %r4, {at};\n@%p2 bra L{at};\nst.global.u32 [%rd4], %r1;\nL{at}:")
    };
    kernel(&rows(n, each))
}

pub(super) fn nested_open_branches(n: usize) -> String {
    let opens = rows(n, |at| {
        format!("setp.eq.s32 %p2, %r4, {at};\n@%p2 bra L{at};\nst.global.u32 [%rd4], %r1;")
    });
    let ends = rows(n, |at| format!("L{}:\nadd.s64 %rd4, %rd4, 0;", n - 1 - at));
    kernel(&(opens + &ends))
}

pub(super) fn open_branches_over_barriers(n: usize) -> String {
    let each = |at| format!("setp.eq.s32 %p2, %r4, {at};\n@%p2 bra L{at};\nbar.sync 0;\nL{at}:");
    kernel(&rows(n, each))
}

/// `n` branches to the first of `n` blocks, and one branch that skips all of these blocks.
pub(super) fn far_branches(n: usize) -> String {
    let branches = rows(n, |_| "setp.eq.s32 %p2, %r4, %r5;\n@%p2 bra L0;".into());
    let blocks = rows(n, |at| format!("L{at}:\nadd.s32 %r5, %r5, 1;"));
    kernel(&format!("{branches}bra END;\n{blocks}bar.sync 0;\nEND:\n"))
}

pub(super) fn switch(n: usize) -> String {
    let list = (0..n).map(|at| format!("L{at}")).collect::<Vec<_>>().join(", ");
    let labels = rows(n, |at| format!("L{at}:\nadd.s32 %r5, %r5, 1;"));
    kernel(&format!("targets: .branchtargets {list};\nbrx.idx %r1, targets;\n{labels}"))
}

/// `n` switches with `n` targets each.
pub(super) fn switches(n: usize) -> String {
    let list = (0..n).map(|at| format!("L{at}")).collect::<Vec<_>>().join(", ");
    let all = rows(n, |at| format!("L{at}:\nadd.s32 %r5, %r1, {at};\nbrx.idx %r5, targets;"));
    kernel(&format!("targets: .branchtargets {list};\n{all}"))
}

pub(super) fn loops(n: usize) -> String {
    let each = |at| {
        format!(
            "mov.u32 %r6, 0;\nL{at}:\nst.shared.u32 [%r3], %r1;\nadd.s32 %r6, %r6, 1;\n\
             setp.lt.u32 %p3, %r6, 2;\n@%p3 bra L{at};"
        )
    };
    kernel(&rows(n, each))
}

/// The same without a stated block: the kernel is first tried for every launch.
pub(super) fn loops_of_every_block(n: usize) -> String {
    loops(n).replace(".reqntid 64", ".maxntid 1024")
}

/// `n` nested loops with an open trip count.
pub(super) fn nested_loops(n: usize) -> String {
    let heads = rows(n, |at| format!("L{at}:\nadd.s32 %r5, %r5, 1;"));
    let latches = rows(n, |at| format!("setp.lt.s32 %p2, %r5, %r4;\n@%p2 bra L{};", n - 1 - at));
    kernel(&(heads + "st.global.u32 [%rd4], %r1;\n" + &latches))
}

/// `n` nested loops of two iterations each.
pub(super) fn counted_nested_loops(n: usize) -> String {
    let heads = rows(n, |at| format!(".reg .b32 %c{at};\nmov.u32 %c{at}, 0;\nL{at}:"));
    let latches = rows(n, |at| {
        let own = n - 1 - at;
        format!("add.s32 %c{own}, %c{own}, 1;\nsetp.lt.s32 %p2, %c{own}, 2;\n@%p2 bra L{own};")
    });
    kernel(&(heads + "st.shared.u32 [%r3], %r1;\n" + &latches))
}

pub(super) fn endless_loop(_: usize) -> String {
    kernel("L:\nadd.s32 %r5, %r5, 1;\nbra L;\n")
}

pub(super) fn endless_store(_: usize) -> String {
    kernel(
        "L:\nst.shared.u32 [%r3], %r5;\nst.global.u32 [%rd4], %r5;\nadd.s64 %rd4, %rd4, 256;\nbra L;\n",
    )
}

pub(super) fn endless_barrier(_: usize) -> String {
    kernel("L:\nbar.sync 0;\nbra L;\n")
}

/// The stored values are loaded again and decide the branch, so that all contents have to be kept.
pub(super) fn endless_kept_store(_: usize) -> String {
    kernel(
        "mul.wide.u32 %rd5, %r1, 4096;\nadd.s64 %rd4, %rd2, %rd5;\nL:\nst.global.u32 [%rd4], %r1;\n\
         ld.global.u32 %r5, [%rd4];\nadd.s64 %rd4, %rd4, 1048576;\nsetp.eq.s32 %p2, %r5, %r1;\n@%p2 bra L;\n",
    )
}

pub(super) fn endless_local_store(_: usize) -> String {
    kernel(
        ".local .b8 stack[1073741824];\nmov.u32 %r6, stack;\nL:\nst.local.u32 [%r6], %r1;\n\
         ld.local.u32 %r5, [%r6];\nadd.s32 %r6, %r6, 256;\nsetp.eq.s32 %p2, %r5, %r1;\n@%p2 bra L;\n",
    )
}

pub(super) fn endless_atomic(_: usize) -> String {
    kernel("L:\natom.global.add.u32 %r5, [%rd2], 1;\nst.global.u32 [%rd2+4], %r5;\nbra L;\n")
}

pub(super) fn endless_open_loop(_: usize) -> String {
    kernel(
        "L:\nld.global.u32 %r5, [%rd4];\nst.global.u32 [%rd4], %r5;\nsetp.ne.s32 %p2, %r5, 0;\n@%p2 bra L;\nbra L;\n",
    )
}

pub(super) fn label_cycle(n: usize) -> String {
    kernel(&format!("bra L0;\n{}", rows(n, |at| format!("L{at}:\nbra L{};", (at + 1) % n))))
}
