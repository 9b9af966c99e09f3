//! Texts with device functions that call each other.

use super::{rows, with_functions};

pub(super) fn functions(n: usize) -> String {
    let all = rows(n, |at| format!(".func f{at}()\n{{\nbar.sync 0;\nret;\n}}"));
    with_functions(&all, &rows(n, |at| format!("call f{at};")))
}

pub(super) fn call_chain(n: usize) -> String {
    let all = rows(n, |at| format!(".func f{at}()\n{{\ncall f{};\nret;\n}}", at + 1));
    let last = format!(".func f{n}()\n{{\nbar.sync 0;\nret;\n}}\n");
    with_functions(&(all + &last), "call f0;\n")
}

/// A chain of functions, each of which calls the next one twice.
pub(super) fn call_tree(n: usize) -> String {
    let each = |at| format!(".func f{at}()\n{{\ncall f{0};\ncall f{0};\nret;\n}}", at + 1);
    let last = format!(".func f{n}()\n{{\nbar.sync 0;\nret;\n}}\n");
    with_functions(&(rows(n, each) + &last), "call f0;\n")
}

pub(super) fn recursion(_: usize) -> String {
    with_functions(".func f()\n{\nbar.sync 0;\ncall f;\nret;\n}\n", "call f;\n")
}

pub(super) fn mutual_recursion(n: usize) -> String {
    let each = |at| format!(".func f{at}()\n{{\nbar.sync 0;\ncall f{};\nret;\n}}", (at + 1) % n);
    with_functions(&rows(n, each), "call f0;\n")
}

/// `n` calls through a register that has `n` possible targets.
pub(super) fn indirect_calls(n: usize) -> String {
    let all = rows(n, |at| format!(".func f{at}()\n{{\nret;\n}}"));
    let list = (0..n).map(|at| format!("f{at}")).collect::<Vec<_>>().join(", ");
    let calls = rows(n, |_| "call %rd5, targets;".into());
    with_functions(&all, &format!("targets: .calltargets {list};\nmov.u64 %rd5, f0;\n{calls}"))
}

/// A chain of calls whose instructions carry `.loc` lines with nested `inlined_at` positions.
pub(super) fn inlined_sources(n: usize) -> String {
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
