//! Texts with large numbers of names, registers and declarations, and with long numbers.

use std::fmt::Write as _;

use super::{HEAD, kernel, rows, with_functions};

pub(super) fn labels(n: usize) -> String {
    kernel(&rows(n, |at| format!("L{at}:")))
}

pub(super) fn registers(n: usize) -> String {
    let declared = rows(n, |at| format!(".reg .b32 %own{at};"));
    let last = n - 1;
    let used = rows(n, |at| format!("add.s32 %own{at}, %own{}, %r1;", at.saturating_sub(1)));
    kernel(&format!("{declared}mov.b32 %own0, %r3;\n{used}st.shared.u32 [%own{last}], %r1;\n"))
}

/// Each register takes its value from the next one.
pub(super) fn registers_backwards(n: usize) -> String {
    let moves = rows(n, |at| format!("mov.u32 %own{at}, %own{};", at + 1));
    kernel(&format!(
        ".reg .b32 %own<{}>;\nmov.u32 %own{n}, %r3;\n{moves}st.shared.u32 [%own0], %r1;\n",
        n + 1
    ))
}

/// Registers whose values differ from lane to lane, in the maximum number of warps.
pub(super) fn wide_registers(n: usize) -> String {
    let last = n - 1;
    let used = rows(n - 1, |at| format!("xor.b32 %own{}, %own{at}, %tid.x;", at + 1));
    let text = kernel(&format!(
        ".reg .b32 %own<{n}>;\nmul.lo.u32 %own0, %r1, %r1;\n{used}and.b32 %own{last}, %own{last}, 4092;\n\
         st.shared.u32 [%own{last}], %r1;\n"
    ));
    text.replace(".reqntid 64", ".reqntid 1024")
}

pub(super) fn register_range(_: usize) -> String {
    kernel(
        ".reg .b32 %wide<4294967295>;\nmov.u32 %wide4294967294, %r3;\nst.shared.u32 [%wide4294967294], %r1;\n",
    )
}

pub(super) fn instructions(n: usize) -> String {
    kernel(&format!("{}st.shared.u32 [%r3], %r5;\n", rows(n, |_| "add.s32 %r3, %r3, 0;".into())))
}

pub(super) fn parameters(n: usize) -> String {
    let names = rows(n, |at| format!(".param .u64 own_{at},"));
    let loads = rows(n, |at| format!("ld.param.u64 %rd1, [own_{at}];\nst.global.u32 [%rd1], %r1;"));
    format!(
        "{HEAD}.visible .entry wide({names}.param .u32 last)\n.reqntid 64\n\
         {{\n.reg .b64 %rd<2>;\n.reg .b32 %r<2>;\n{loads}ret;\n}}\n"
    )
}

pub(super) fn kernels(n: usize) -> String {
    let each = |at| {
        format!(
            ".visible .entry k{at}()\n.reqntid 32\n{{\n.reg .b32 %r<2>;\n.shared .b32 own{at};\n\
             st.shared.u32 [own{at}], %r1;\nret;\n}}"
        )
    };
    HEAD.to_owned() + &rows(n, each)
}

pub(super) fn initialiser(n: usize) -> String {
    let table = format!(".const .b32 table[{n}] = {{{}0}};\n", "7, ".repeat(n.saturating_sub(1)));
    with_functions(&table, "ld.const.u32 %r5, [table+4];\nst.shared.u32 [%r3], %r5;\n")
}

pub(super) fn nested_initialiser(n: usize) -> String {
    let table = format!(".global .b32 table[4] = {}0{};\n", "{".repeat(n), "}".repeat(n));
    with_functions(&table, "ld.global.u32 %r5, [table];\nst.shared.u32 [%r3], %r5;\n")
}

pub(super) fn shared_memory(_: usize) -> String {
    kernel(&format!(".shared .b8 huge[{}];\nst.shared.u8 [huge], %r1;\n", 1_u64 << 60))
}

pub(super) fn local_memory(_: usize) -> String {
    kernel(&format!(".local .b8 huge[{}];\nst.local.u8 [huge], %r1;\n", 1_u64 << 60))
}

pub(super) fn global_memory(_: usize) -> String {
    with_functions(
        &format!(".global .b8 huge[{}];\n", 1_u64 << 60),
        "st.global.u8 [huge+1152921504606846975], %r1;\n",
    )
}

pub(super) fn dimensions(n: usize) -> String {
    kernel(&format!(".local .b8 huge{};\nst.local.u8 [huge], %r1;\n", "[1099511627776]".repeat(n)))
}

pub(super) fn digits(n: usize) -> String {
    let number = "9".repeat(n);
    kernel(&format!(
        "add.s32 %r5, %r1, {number};\nadd.s32 %r5, %r1, 0x{number};\nadd.f32 %r5, %r1, 1.{number}e{number};\n\
         ld.shared.u32 %r5, [%r3+{number}];\n"
    ))
}

pub(super) fn register_digits(n: usize) -> String {
    kernel(&format!("mov.u32 %r5, %r{};\n", "1".repeat(n)))
}

pub(super) fn long_name(n: usize) -> String {
    let name = "x".repeat(n);
    kernel(&format!(".reg .b32 {name};\nmov.u32 {name}, %r3;\nst.shared.u32 [{name}], %r1;\n"))
        .replace("kernel", &name[..n.min(100_000)])
}

/// A mangled name that makes demanglers recurse.
pub(super) fn mangled_name(n: usize) -> String {
    let mut name = String::from("_Z1f");
    let _ = write!(name, "{}i", "P".repeat(n));
    kernel("").replace("kernel", &name)
}

pub(super) fn locations(n: usize) -> String {
    let each = |at| {
        format!(
            ".loc 4294967295 4294967295 4294967295, function_name $L, inlined_at 1 {at} 1\nst.shared.u32 [%r3], %r1;"
        )
    };
    format!("{}{}", kernel(&rows(n, each)), ".file 4294967295 \"a.cu\"\n")
}

pub(super) fn files(n: usize) -> String {
    let body = kernel(&rows(n, |at| format!(".loc {at} 1 1\nst.shared.u32 [%r3], %r1;")));
    body + &rows(n, |at| format!(".file {at} \"dir/{at}.cu\", 1, 2"))
}
