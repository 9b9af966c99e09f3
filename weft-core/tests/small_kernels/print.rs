//! Prints small kernels as PTX.

use std::fmt::Write;

use crate::code::Op;
use crate::kernel::{
    ALL_PREDS, ALL_REGS, Array, Atomic, Binary, Compare, Instr, Operand, PREDS, Place, Pred, Use,
    What,
};

/// The text, and for each line (from 1) the index of the instruction that it prints.
#[derive(Clone, Debug)]
pub(crate) struct Printed {
    pub(crate) text: String,
    pub(crate) places: Vec<Option<usize>>,
}

const HEAD: &str = "\
.version 7.0
.target sm_80
.address_size 64

.visible .entry small(.param .u32 number, .param .u64 data, .param .u64 out)
{
    .reg .u64 %data, %out, %wide, %at, %in_out, %in_data, %in_chosen, %chosen, %SP, %SPL;
    .reg .u32 %to, %here, %base, %negated, %in_a, %in_b, %in_own, %base_a, %base_b, %base_own;
    .shared .align 16 .b8 a[640];
    .shared .align 16 .b8 b[640];
    .local .align 8 .b8 own[64];
    .local .align 8 .b8 depot[24];
";

const POINTERS: &[&str] = &[
    "ld.param.u64 %data, [data];",
    "ld.param.u64 %out, [out];",
    "cvta.to.global.u64 %data, %data;",
    "cvta.to.global.u64 %out, %out;",
];

/// Loads of the pointers through local memory, as in unoptimised code.
const SPILLED_POINTERS: &[&str] = &[
    "ld.param.u64 %data, [data];",
    "st.local.u64 [depot+8], %data;",
    "ld.param.u64 %data, [out];",
    "mov.u64 %SPL, depot;",
    "cvta.local.u64 %SP, %SPL;",
    "st.u64 [%SP+16], %data;",
    "ld.local.u64 %data, [depot+8];",
    "ld.u64 %out, [%SP+16];",
];

/// Prints the code of a kernel.
#[allow(dead_code, reason = "only the laws, which share this file, need it")]
pub(crate) fn print(code: &[Op]) -> Printed {
    print_with(code, POINTERS)
}

/// Prints the code of a kernel; for half of all kernels, the pointers are kept in local memory.
pub(crate) fn print_either(code: &[Op]) -> Printed {
    print_with(code, [POINTERS, SPILLED_POINTERS][code.len() % 2])
}

fn print_with(code: &[Op], pointers: &[&str]) -> Printed {
    let mut printer = Printer { printed: Printed { text: HEAD.to_owned(), places: Vec::new() } };
    printer.printed.places = vec![None; HEAD.lines().count() + 1];
    printer.line(None, &format!("    .reg .u32 %r<{ALL_REGS}>;"));
    printer.line(None, &format!("    .reg .pred %p<{ALL_PREDS}>;"));
    for line in pointers {
        printer.line(None, &format!("    {line}"));
    }
    for (at, op) in code.iter().enumerate() {
        let is_target = |op: &Op| match op {
            Op::Jump(_, target) => *target == at,
            Op::Switch(_, targets) => targets.contains(&at),
            _ => false,
        };
        if code.iter().any(is_target) {
            printer.line(None, &format!("L{at}:"));
        }
        printer.op(at, op);
    }
    printer.line(None, "}");
    printer.printed
}

struct Printer {
    printed: Printed,
}

fn guard(guard: Option<(Pred, bool)>) -> String {
    match guard {
        None => String::new(),
        Some((pred, negated)) => format!("@{}%p{pred} ", if negated { "!" } else { "" }),
    }
}

fn operand(operand: Operand) -> String {
    match operand {
        Operand::Reg(reg) => format!("%r{reg}"),
        Operand::Const(value) => value.to_string(),
    }
}

impl Printer {
    fn line(&mut self, place: Option<usize>, line: &str) {
        writeln!(self.printed.text, "{line}").expect("strings take all");
        self.printed.places.push(place);
    }

    fn op(&mut self, at: usize, op: &Op) {
        let line = match op {
            Op::Thread => "mov.u32 %r0, %tid.x;".to_owned(),
            Op::Number => "ld.param.u32 %r1, [number];".to_owned(),
            Op::Jump(condition, target) => format!("{}bra L{target};", guard(*condition)),
            Op::Exit(condition) => format!("{}ret;", guard(*condition)),
            Op::Switch(index, targets) => {
                let labels: Vec<_> = targets.iter().map(|target| format!("L{target}")).collect();
                self.line(None, &format!("T{at}: .branchtargets {};", labels.join(", ")));
                self.line(Some(at), &format!("    and.b32 %here, %r{index}, 3;"));
                format!("brx.idx %here, T{at};")
            }
            Op::Global => {
                self.line(Some(at), "    mov.u32 %here, %ctaid.x;");
                "mad.lo.u32 %r7, %here, 8, %r0;".to_owned()
            }
            Op::Do(instr) => return self.instr(at, instr),
        };
        self.line(Some(at), &format!("    {line}"));
    }

    fn instr(&mut self, at: usize, instr: &Instr) {
        let lines = lines(instr);
        for line in lines {
            self.line(Some(at), &format!("    {line}"));
        }
    }
}

/// Returns the lines of an instruction; the guard stands in front of the decisive line.
fn lines(instr: &Instr) -> Vec<String> {
    let guard = guard(instr.guard);
    match instr.what {
        What::Load { .. } | What::Store { .. } | What::LoadPair { .. } | What::StorePair { .. } => {
            access(&guard, &instr.what)
        }
        What::Atomic { dest, operation, place, source, compare } => {
            atomic(&guard, dest, operation, &place, source, compare)
        }
        What::Barrier { .. } | What::WarpSync { .. } | What::Shuffle { .. } | What::Vote { .. } => {
            vec![format!("{guard}{}", meeting(&instr.what))]
        }
        What::Copy { to, from, bytes, size } => copy(&guard, (&to, &from), bytes, size),
        What::Commit => vec![format!("{guard}cp.async.commit_group;")],
        What::Wait(None) => vec![format!("{guard}cp.async.wait_all;")],
        What::Wait(Some(keep)) => vec![format!("{guard}cp.async.wait_group {keep};")],
        What::Move(..) | What::Compute(..) | What::Test(..) | What::Select(..) => {
            vec![format!("{guard}{}", computation(&instr.what))]
        }
    }
}

/// Returns the PTX of an instruction that only accesses registers.
fn computation(what: &What) -> String {
    match *what {
        What::Move(dest, source) => format!("mov.u32 %r{dest}, {};", operand(source)),
        What::Compute(dest, operation, a, b) => {
            let name = match operation {
                Binary::Add => "add.u32",
                Binary::Sub => "sub.u32",
                Binary::And => "and.b32",
                Binary::Xor => "xor.b32",
                Binary::Mul => "mul.lo.u32",
                Binary::Min => "min.u32",
                Binary::Shl => "shl.b32",
            };
            format!("{name} %r{dest}, {}, {};", operand(a), operand(b))
        }
        What::Test(dest, compare, a, b) => {
            let name = match compare {
                Compare::Eq => "eq",
                Compare::Ne => "ne",
                Compare::Lt => "lt",
                Compare::Ge => "ge",
            };
            format!("setp.{name}.u32 %p{dest}, {}, {};", operand(a), operand(b))
        }
        What::Select(dest, a, b, pred) => {
            format!("selp.b32 %r{dest}, {}, {}, %p{pred};", operand(a), operand(b))
        }
        _ => unreachable!("{what:?} computes nothing"),
    }
}

/// Returns the PTX of an instruction that synchronizes threads.
fn meeting(what: &What) -> String {
    match *what {
        What::Barrier { how, name, count, is_aligned, dest, pred } => {
            let family = if is_aligned { "bar" } else { "barrier" };
            let count = count.map_or_else(String::new, |count| format!(", {count}"));
            match how {
                Use::Sync => format!("{family}.sync {name}{count};"),
                Use::Arrive => format!("{family}.arrive {name}{count};"),
                Use::Reduce => format!("{family}.red.popc.u32 %r{dest}, {name}{count}, %p{pred};"),
                Use::All | Use::Any => {
                    let operation = if how == Use::All { "and" } else { "or" };
                    let dest = dest % PREDS;
                    format!("{family}.red.{operation}.pred %p{dest}, {name}{count}, %p{pred};")
                }
            }
        }
        What::WarpSync { mask } => format!("bar.warp.sync {mask:#x};"),
        What::Shuffle { dest, source, lane, mask } => {
            format!("shfl.sync.idx.b32 %r{dest}, %r{source}, {lane}, 31, {mask:#x};")
        }
        What::Vote { dest, pred, mask } => {
            format!("vote.sync.any.pred %p{dest}, %p{pred}, {mask:#x};")
        }
        _ => unreachable!("nobody meets at {what:?}"),
    }
}

/// Returns the lines of a load or a store.
fn access(guard: &str, what: &What) -> Vec<String> {
    match *what {
        What::Load { dest, place, bytes: 8 } => {
            let (mut lines, space, address) = address(&place);
            lines.push(format!("{guard}ld{space}.u64 %wide, {address};"));
            lines.push(format!("{guard}cvt.u32.u64 %r{dest}, %wide;"));
            lines
        }
        What::Load { dest, place, bytes } => {
            let (mut lines, space, address) = address(&place);
            lines.push(format!("{guard}ld{space}.u{} %r{dest}, {address};", 8 * bytes));
            lines
        }
        What::Store { place, bytes, source } => {
            let (mut lines, space, address) = address(&place);
            let value = if bytes == 8 {
                lines.push(format!("cvt.u64.u32 %wide, {};", operand(source)));
                "%wide".to_owned()
            } else {
                operand(source)
            };
            lines.push(format!("{guard}st{space}.u{} {address}, {value};", 8 * bytes));
            lines
        }
        What::LoadPair { dests: [first, second], place } => {
            let (mut lines, space, address) = address(&place);
            lines.push(format!("{guard}ld{space}.v2.u32 {{%r{first}, %r{second}}}, {address};"));
            lines
        }
        What::StorePair { place, sources } => {
            let (mut lines, space, address) = address(&place);
            let [first, second] = sources.map(operand);
            lines.push(format!("{guard}st{space}.v2.u32 {address}, {{{first}, {second}}};"));
            lines
        }
        _ => unreachable!("{what:?} is no load and no store"),
    }
}

fn atomic(
    guard: &str,
    dest: Option<usize>,
    operation: Atomic,
    place: &Place,
    source: Operand,
    compare: Operand,
) -> Vec<String> {
    let (mut lines, space, address) = address(place);
    let (name, ty) = match operation {
        Atomic::Set => {
            lines.push(format!("{guard}st.relaxed.gpu{space}.u32 {address}, {};", operand(source)));
            return lines;
        }
        Atomic::Look => {
            let dest = dest.expect("a load has a result");
            lines.push(format!("{guard}ld.relaxed.gpu{space}.u32 %r{dest}, {address};"));
            return lines;
        }
        Atomic::Add | Atomic::Sub => ("add", "u32"),
        Atomic::Inc => ("inc", "u32"),
        Atomic::Dec => ("dec", "u32"),
        Atomic::Max => ("max", "u32"),
        Atomic::Exch => ("exch", "b32"),
        Atomic::Cas => ("cas", "b32"),
    };
    let value = if operation == Atomic::Sub {
        lines.push(format!("neg.s32 %negated, {};", operand(source)));
        "%negated".to_owned()
    } else {
        operand(source)
    };
    let operands = match operation {
        Atomic::Cas => format!("{}, {value}", operand(compare)),
        _ => value,
    };
    lines.push(match dest {
        Some(dest) => {
            format!("{guard}atom{space}.{name}.{ty} %r{dest}, {address}, {operands};")
        }
        None => format!("{guard}red{space}.{name}.{ty} {address}, {operands};"),
    });
    lines
}

/// Returns the lines of an asynchronous copy.
fn copy(
    guard: &str,
    (to, from): (&Place, &Place),
    bytes: u32,
    size: Option<Operand>,
) -> Vec<String> {
    let (mut lines, _, target) = address(to);
    let (base, offset) = target.trim_matches(['[', ']']).split_once('+').expect("base and offset");
    lines.push(format!("mov.u32 %to, {base};"));
    lines.push(format!("add.u32 %to, %to, {offset};"));
    let (source_lines, _, source) = address(from);
    lines.extend(source_lines);
    let size = size.map_or_else(String::new, |size| format!(", {}", operand(size)));
    let cache = if bytes == 16 { "cg" } else { "ca" };
    lines.push(format!("{guard}cp.async.{cache}.shared.global [%to], {source}, {bytes}{size};"));
    lines
}

/// Returns the lines that select a buffer: a selection between two pointers in one of three forms, or one pointer plus
/// the distance to the other one or zero, where the distance is in elements or composed of two halves.
fn choice(place: &Place) -> Vec<String> {
    let Array::Either(pred) = place.array else { return Vec::new() };
    let way = match place.index {
        Operand::Const(index) => index as usize,
        Operand::Reg(register) => register,
    };
    vec![match (pred, way % 4) {
        (_, 1) => format!(
            "{{ .reg .u64 %d<4>; sub.u64 %d0, %out, %data; shr.s64 %d1, %d0, 3; selp.b64 %d2, %d1, 0, %p{pred}; shl.b64 %d3, %d2, 3; add.u64 %chosen, %data, %d3; }}"
        ),
        (_, 2) => format!(
            "{{ .reg .u32 %l<2>; .reg .u64 %d<6>; sub.u64 %d0, %out, %data; selp.b64 %d1, %d0, 0, %p{pred}; mov.b64 {{%l0, %l1}}, %d1; cvt.u64.u32 %d2, %l1; shl.b64 %d3, %d2, 32; cvt.u64.u32 %d4, %l0; add.u64 %d5, %d3, %d4; add.u64 %chosen, %data, %d5; }}"
        ),
        (0, _) => format!(
            "{{ mov.b64 %chosen, %data; @!%p{pred} bra CHOSEN; mov.b64 %chosen, %out; CHOSEN: }}"
        ),
        (1, _) => format!("mov.b64 %chosen, %data; @%p{pred} mov.b64 %chosen, %out;"),
        _ => format!("selp.b64 %chosen, %out, %data, %p{pred};"),
    }]
}

/// Returns the registers for the base of a variable, and for addresses in 32 and in 64 bits. Half of the places share
/// these registers with other arrays, so that the base of an address is obvious only for some.
fn registers(place: &Place) -> [&'static str; 3] {
    if place.shift.is_multiple_of(2) {
        match place.array {
            Array::A => return ["%base_a", "%in_a", "%at"],
            Array::B => return ["%base_b", "%in_b", "%at"],
            Array::Local => return ["%base_own", "%in_own", "%at"],
            Array::Out => return ["%base", "%here", "%in_out"],
            Array::Data => return ["%base", "%here", "%in_data"],
            Array::Either(_) => return ["%base", "%here", "%in_chosen"],
        }
    }
    ["%base", "%here", "%at"]
}

/// Returns the lines that compute an address, the state space to print, and the address operand.
fn address(place: &Place) -> (Vec<String>, &'static str, String) {
    let Place { array, index, mask, shift, offset, is_generic } = *place;
    let space = match array {
        _ if is_generic => "",
        Array::A | Array::B => ".shared",
        Array::Out | Array::Data | Array::Either(_) => ".global",
        Array::Local => ".local",
    };
    let symbol = match array {
        Array::A => "a",
        Array::B => "b",
        Array::Out => "%out",
        Array::Data => "%data",
        Array::Local => "own",
        Array::Either(_) => "%chosen",
    };
    let choice = choice(place);
    if let (Operand::Const(index), false) = (index, is_generic) {
        let at = offset + ((index & mask) << shift);
        return (choice, space, format!("[{symbol}+{at}]"));
    }
    let index = operand(index);
    let [base, here, at] = registers(place);
    if mask == Place::ALL && array.is_global() {
        let lines = vec![
            format!("mul.wide.u32 %at, {index}, {};", 1 << shift),
            format!("add.u64 {at}, %at, {symbol};"),
        ];
        return (lines, space, format!("[{at}+{offset}]"));
    }
    let mut lines = choice;
    if mask == Place::ALL {
        lines.push(format!("shl.b32 %here, {index}, {shift};"));
    } else {
        lines.push(format!("and.b32 %here, {index}, {mask};"));
        lines.push(format!("shl.b32 %here, %here, {shift};"));
    }
    if array.is_global() {
        lines.push("cvt.u64.u32 %at, %here;".to_owned());
        lines.push(format!("add.u64 {at}, %at, {symbol};"));
        // A generic address of global memory equals the address in the state space.
        return (lines, space, format!("[{at}+{offset}]"));
    }
    lines.push(format!("mov.u32 {base}, {symbol};"));
    lines.push(format!("add.u32 {here}, %here, {base};"));
    if !is_generic {
        return (lines, space, format!("[{here}+{offset}]"));
    }
    let own = if array == Array::Local { "local" } else { "shared" };
    lines.push(format!("cvt.u64.u32 {at}, {here};"));
    lines.push(format!("cvta.{own}.u64 {at}, {at};"));
    (lines, space, format!("[{at}+{offset}]"))
}
