//! Derives kernels from kernels, for the laws.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::code::Op;
use crate::dice::Dice;
use crate::independent::are_independent;
use crate::kernel::{ALL_PREDS, ALL_REGS, Instr, Operand, Place, Use, What};
use crate::print::Printed;
use crate::rewrite::{NOWHERE, Rewritten, is_common, loops, peeled, replaced, targets};

/// Renames registers and predicates.
pub(crate) fn renamed(mut printed: Printed, dice: &mut Dice) -> Printed {
    let (registers, preds) = (shuffled(ALL_REGS, dice), shuffled(ALL_PREDS, dice));
    let name = |text: &str, prefix: &str, names: &[usize]| {
        let mut parts = text.split(prefix);
        let mut renamed = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            let (digits, rest) = part.split_at(end);
            let new = digits.parse().ok().and_then(|old: usize| names.get(old));
            let new = new.map_or_else(|| digits.to_owned(), usize::to_string);
            renamed.extend([prefix, &new, rest]);
        }
        renamed
    };
    printed.text = name(&name(&printed.text, "%r", &registers), "%p", &preds);
    printed
}

fn shuffled(count: usize, dice: &mut Dice) -> Vec<usize> {
    let mut names: Vec<usize> = (0..count).collect();
    for at in (1..count).rev() {
        names.swap(at, dice.roll(u32::try_from(at + 1).expect("few")) as usize);
    }
    names
}

/// Lets each thread do what the thread did whose index differs in these bits.
pub(crate) fn relabelled(mut printed: Printed, bits: u32) -> Printed {
    const INDEX: &str = "mov.u32 %r0, %tid.x;";
    printed.text = printed.text.replace(INDEX, &format!("{INDEX} xor.b32 %r0, %r0, {bits};"));
    printed
}

/// Moves the computations of registers into functions. Before each call, another function is called with the same
/// arguments and overwrites its own copies of them.
pub(crate) fn outlined(mut printed: Printed) -> Option<Printed> {
    const HEAD: &str = ".address_size 64\n";
    const COMPUTES: [&str; 7] =
        ["add.u32", "sub.u32", "and.b32", "xor.b32", "mul.lo.u32", "min.u32", "shl.b32"];
    let mut functions = String::from(
        ".func (.param .b32 out) use_up(.param .align 4 .b8 in[8]) { .reg .b32 %x<2>; .reg .b64 %at; \
         mov.b64 %at, in; ld.param.b32 %x0, [in+4]; add.u32 %x1, %x0, 1; st.local.b32 [%at], %x1; \
         st.local.b32 [%at+4], 0; st.param.b32 [out], %x0; ret; }",
    );
    for (at, name) in COMPUTES.iter().enumerate() {
        write!(
            functions,
            " .func (.param .b32 out) compute{at}(.param .align 4 .b8 in[8]) {{ .reg .b32 %x<2>; \
             ld.param.b32 %x0, [in]; ld.param.b32 %x1, [in+4]; {name} %x0, %x0, %x1; \
             st.param.b32 [out], %x0; ret; }}"
        )
        .expect("strings take all");
    }
    let outline = |line: &str| {
        let (name, operands) = line.trim().strip_suffix(';')?.split_once(' ')?;
        let function = COMPUTES.iter().position(|own| *own == name)?;
        let [dest, a, b] = operands.split(", ").collect::<Vec<_>>()[..] else { return None };
        dest.starts_with("%r").then(|| {
            format!(
                "{{ .param .align 4 .b8 given[8]; .param .b32 back; st.param.b32 [given], {a}; \
                 st.param.b32 [given+4], {b}; call (back), use_up, (given); \
                 call (back), compute{function}, (given); ld.param.b32 {dest}, [back]; }}"
            )
        })
    };
    let lines: Vec<_> =
        printed.text.lines().map(|line| outline(line).unwrap_or_else(|| line.to_owned())).collect();
    let text = lines.join("\n") + "\n";
    if text == printed.text {
        return None;
    }
    printed.text = text.replacen(HEAD, &format!(".address_size 64 {functions}\n"), 1);
    Some(printed)
}

/// Keeps registers in local memory, as unoptimised code does: each instruction loads those that it names, and stores them
/// afterwards. Every other one is accessed through a register that holds the address of that memory.
pub(crate) fn kept_in_memory(mut printed: Printed) -> Printed {
    const POINTERS: &str = ".reg .u64 %data,";
    let declared =
        format!(".local .align 8 .b8 kept[{}]; .reg .u64 %kept; {POINTERS}", 4 * ALL_REGS);
    let place = |register: usize| match register % 2 {
        0 => format!("local.b32 [kept+{}]", 4 * register),
        _ => format!("b32 [%kept+{}]", 4 * register),
    };
    let with_memory = |line: &str| {
        let is_instruction = line.ends_with(';') && !line.contains(".reg");
        let named: BTreeSet<usize> = line.split("%r").skip(1).filter_map(number).collect();
        if !is_instruction || named.is_empty() {
            return line.to_owned();
        }
        let mut text = String::new();
        for register in &named {
            write!(text, "ld.{}", place(*register).replace('[', &format!("%r{register}, [")))
                .expect("strings take all");
            text.push_str("; ");
        }
        text.push_str(line);
        for register in &named {
            write!(text, " st.{}, %r{register};", place(*register)).expect("strings take all");
        }
        text
    };
    let lines: Vec<_> = printed.text.lines().map(with_memory).collect();
    let text = lines.join("\n") + "\n";
    let first = "ld.param.u64 %data, [data];";
    let address = format!("cvta.local.u64 %kept, kept; {first}");
    printed.text = text.replacen(POINTERS, &declared, 1).replacen(first, &address, 1);
    printed
}

/// The number that a text begins with.
fn number(text: &str) -> Option<usize> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// Replaces the argument by the result of a function without a body, which is returned where another function has just
/// returned zero.
pub(crate) fn returned(mut printed: Printed) -> Option<Printed> {
    const ARGUMENT: &str = "ld.param.u32 %r1, [number];";
    const RESULT: &str = "{ .param .b64 text; .param .b64 values; .param .b32 back; call (back), zero; \
         st.param.b64 [text], 0; st.param.b64 [values], 0; call (back), vprintf, (text, values); \
         ld.param.b32 %r1, [back]; }";
    const FUNCTIONS: &str = ".address_size 64 .extern .func (.param .b32 out) vprintf(.param .b64 a, .param .b64 b); \
         .func (.param .b32 out) zero() { .reg .b32 %x; mov.b32 %x, 0; st.param.b32 [out], %x; ret; }";
    if !printed.text.contains(ARGUMENT) {
        return None;
    }
    printed.text =
        printed.text.replace(ARGUMENT, RESULT).replacen(".address_size 64", FUNCTIONS, 1);
    Some(printed)
}

/// Exchanges independent neighbouring instructions, many times.
pub(crate) fn permuted(code: &[Op], dice: &mut Dice) -> Option<Rewritten> {
    let is_target = |at: usize| code.iter().any(|op| targets(op).contains(&at));
    let fixed: Vec<bool> = (0..=code.len()).map(is_target).collect();
    let mut made = Rewritten { code: code.to_vec(), origin: (0..code.len()).collect() };
    let mut swaps = 0;
    for _ in 0..8 * code.len() {
        let at = dice.roll(u32::try_from(code.len() - 1).expect("short")) as usize;
        if !fixed[at + 1] && are_independent(&made.code[at], &made.code[at + 1]) {
            made.code.swap(at, at + 1);
            made.origin.swap(at, at + 1);
            swaps += 1;
        }
    }
    (swaps > 0).then_some(made)
}

/// Splits each access of two words into two accesses.
pub(crate) fn split(code: &[Op]) -> Option<Rewritten> {
    let made = replaced(code, |at, op| {
        let both = |whats: [What; 2], guard| {
            whats.map(|what| (Op::Do(Instr { guard, what }), at)).to_vec()
        };
        let next = |place: Place| Place { offset: place.offset + 4, ..place };
        match *op {
            Op::Do(Instr { guard, what: What::StorePair { place, sources: [a, b] } }) => {
                let store = |place, source| What::Store { place, bytes: 4, source };
                both([store(place, a), store(next(place), b)], guard)
            }
            // The first load must not overwrite the index of the second.
            Op::Do(Instr { guard, what: What::LoadPair { dests: [a, b], place } })
                if place.index != Operand::Reg(a) =>
            {
                let load = |place, dest| What::Load { dest, place, bytes: 4 };
                both([load(place, a), load(next(place), b)], guard)
            }
            op => vec![(op, at)],
        }
    });
    (made.code.len() > code.len()).then_some(made)
}

/// Unrolls the first iteration of a loop in front of it. Loops with barriers or exchanges are excluded: lanes with
/// different numbers of iterations would then execute different ones.
pub(crate) fn unrolled(code: &[Op], dice: &mut Dice) -> Option<Rewritten> {
    let waits = |op: &Op| {
        matches!(
            op,
            Op::Do(Instr {
                what: What::Barrier { .. } | What::Vote { .. } | What::Shuffle { .. },
                ..
            })
        )
    };
    let plain: Vec<_> = loops(code)
        .into_iter()
        .filter(|(first, last)| !code[*first..=*last].iter().any(waits))
        .collect();
    (!plain.is_empty()).then(|| peeled(code, dice.pick(&plain)))
}

/// Adds a barrier for all threads at every place that all threads pass.
pub(crate) fn with_barriers(code: &[Op]) -> Rewritten {
    let (how, count, is_aligned) = (Use::Sync, None, true);
    let barrier = What::Barrier { how, name: 2, count, is_aligned, dest: 0, pred: 0 };
    replaced(code, |at, op| {
        let mut ops = vec![(*op, at)];
        if is_common(code, at) {
            ops.insert(0, (Op::Do(Instr { guard: None, what: barrier }), NOWHERE));
        }
        ops
    })
}

/// Removes one of the barriers.
pub(crate) fn without_a_barrier(code: &[Op], dice: &mut Dice) -> Option<Rewritten> {
    let is_barrier = |op: &Op| {
        matches!(
            op,
            Op::Do(Instr {
                what: What::Barrier { how: Use::Sync | Use::Arrive, .. } | What::WarpSync { .. },
                ..
            })
        )
    };
    let all: Vec<usize> = (0..code.len()).filter(|at| is_barrier(&code[*at])).collect();
    if all.is_empty() {
        return None;
    }
    let left_out = dice.pick(&all);
    Some(replaced(code, |at, op| if at == left_out { Vec::new() } else { vec![(*op, at)] }))
}
