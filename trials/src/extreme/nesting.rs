//! Texts with deep nesting, and texts that do not parse.

use super::{HEAD, kernel, rows};

pub(super) fn scopes(n: usize) -> String {
    kernel(&format!("{}bar.sync 0;\n{}\n", "{".repeat(n), "}".repeat(n)))
}

/// Uses of names in the innermost scope, at the maximum depth of scopes.
pub(super) fn names_in_scopes(n: usize) -> String {
    let used = rows(n, |_| "add.s32 %r5, %r12, %r13;".into());
    kernel(&format!("{}{used}{}\n", "{".repeat(64), "}".repeat(64)))
}

pub(super) fn parentheses(n: usize) -> String {
    kernel(&format!("call {}%r1{};\n", "(".repeat(n), ")".repeat(n)))
}

pub(super) fn vectors_in_vectors(n: usize) -> String {
    kernel(&format!("mov.b64 %rd5, {}%r1{};\n", "{".repeat(n), "}".repeat(n)))
}

pub(super) fn brackets(n: usize) -> String {
    kernel(&format!("ld.shared.u32 %r5, {}%r3{};\n", "[".repeat(n), "]".repeat(n)))
}

pub(super) fn vector_elements(n: usize) -> String {
    kernel(&format!("ld.shared.v4.u32 {{{}%r5}}, [%r3];\n", "%r5, ".repeat(n)))
}

/// Statements that do not parse, next to statements with addresses that do.
pub(super) fn errors(n: usize) -> String {
    kernel(&rows(n, |_| {
        "mov.u32 %r1, ?;\nst.shared.u32 [%r3], %r1;\nld.global.nc.u32 %r1, [%rd1, %rd2];".into()
    }))
}

/// Brackets, strings and comments that are opened and never closed.
pub(super) fn unclosed(n: usize) -> String {
    format!("{HEAD}.visible .entry kernel(\n{}\n/*{}", "{([\"".repeat(n), "*".repeat(n))
}

pub(super) fn comments(n: usize) -> String {
    kernel(&"/**/ // \n\t  \n".repeat(n))
}
