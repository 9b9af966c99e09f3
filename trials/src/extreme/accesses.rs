//! Texts with many barriers and accesses, also at addresses that depend on open values.

use super::{kernel, rows};

pub(super) fn barriers(n: usize) -> String {
    kernel(&rows(n, |at| format!("bar.sync {};", at % 16)))
}

pub(super) fn barrier_numbers(_: usize) -> String {
    kernel(
        "bar.sync 4294967295, 4294967295;\nbar.sync 99999999999999, 18446744073709551615;\nbarrier.sync 15, 4294967264;\n",
    )
}

pub(super) fn stores(n: usize) -> String {
    kernel(&rows(n, |at| format!("st.global.u32 [%rd4+{}], %r1;", at * 256)))
}

/// All threads write to the same `n` words.
pub(super) fn races(n: usize) -> String {
    kernel(&rows(n, |at| format!("st.global.u32 [%rd2+{}], %r1;", at * 4)))
}

pub(super) fn faults(n: usize) -> String {
    kernel(&rows(n, |at| format!("st.shared.u32 [own+{}], %r1;", 8193 + 2 * at)))
}

pub(super) fn reads(n: usize) -> String {
    kernel(&rows(n, |_| "ld.shared.u32 %r5, [own];\nadd.s32 %r3, %r3, 0;".into()))
}

pub(super) fn local_stores(n: usize) -> String {
    let stores = rows(n, |at| format!("st.local.u32 [stack+{}], %r1;", at * 4));
    kernel(&format!(
        ".local .align 4 .b8 stack[{}];\n{stores}ld.local.u32 %r5, [stack];\nshl.b32 %r5, %r5, 2;\nst.shared.u32 [%r5], %r1;\n",
        n * 4
    ))
}

/// A store at an address that is a sum of `n` open values.
pub(super) fn open_sum(n: usize) -> String {
    let adds =
        rows(n, |at| format!("ld.global.u64 %rd6, [%rd2+{}];\nadd.s64 %rd7, %rd7, %rd6;", at * 8));
    kernel(&format!("mov.u64 %rd7, %rd4;\n{adds}st.global.u32 [%rd7], %r1;\n"))
}

pub(super) fn open_operations(n: usize) -> String {
    let all = rows(n, |at| format!("xor.b64 %rd7, %rd7, {at};\nmul.lo.s64 %rd7, %rd7, %rd7;"));
    kernel(&format!("ld.global.u64 %rd7, [%rd4];\n{all}st.global.u32 [%rd7], %r1;\n"))
}

pub(super) fn open_stores(n: usize) -> String {
    let each = |at| {
        format!(
            "ld.global.u32 %r5, [%rd2+{}];\nmul.wide.u32 %rd6, %r5, 4;\nadd.s64 %rd6, %rd2, %rd6;\nst.global.u32 [%rd6], %r1;",
            at * 4
        )
    };
    kernel(&rows(n, each))
}

pub(super) fn atomics(n: usize) -> String {
    let each = |_| {
        "atom.global.add.u32 %r5, [%rd2], 1;\nmul.wide.u32 %rd6, %r5, 4;\nadd.s64 %rd6, %rd2, %rd6;\nst.global.u32 [%rd6+8], %r1;".into()
    };
    kernel(&rows(n, each))
}
