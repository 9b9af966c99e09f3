//! Turns bytes into a kernel and a launch. The kernel has any instructions of the table with any operands and any
//! control flow; most of these kernels would not assemble, and none is meaningful.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use weft_core::launch::requires::{self, Requirement};
use weft_core::launch::{
    Arg, Atomics, BarrierDivergence, Buffer, Dim3, Dimensions, Fields, Launch, Options, Schedule,
};
use weft_core::ptx::isa::{FORMS, TABLE};

/// All mnemonics of the forms that the machine executes.
static MNEMONICS: LazyLock<Vec<String>> =
    LazyLock::new(|| FORMS.iter().flat_map(weft_core::ptx::isa::Form::mnemonics).collect());

const SUFFIXES: &[&str] = &[
    ".u8",
    ".b8",
    ".s8",
    ".u16",
    ".b16",
    ".s16",
    ".u32",
    ".b32",
    ".s32",
    ".u64",
    ".b64",
    ".s64",
    ".b128",
    ".f16",
    ".f16x2",
    ".bf16",
    ".f32",
    ".f64",
    ".pred",
    ".shared",
    ".global",
    ".local",
    ".param",
    ".const",
    ".v2",
    ".v4",
    ".v8",
    ".sync",
    ".aligned",
    ".arrive",
    ".red",
    ".popc",
    ".and",
    ".or",
    ".add",
    ".inc",
    ".dec",
    ".min",
    ".max",
    ".cas",
    ".exch",
    ".lo",
    ".hi",
    ".wide",
    ".sat",
    ".cc",
    ".rn",
    ".rz",
    ".ftz",
    ".lt",
    ".eq",
    ".ne",
    ".ge",
    ".ltu",
    ".volatile",
    ".relaxed",
    ".acquire",
    ".release",
    ".acq_rel",
    ".cta",
    ".gpu",
    ".sys",
    ".cluster",
    ".up",
    ".down",
    ".bfly",
    ".idx",
    ".ballot",
    ".all",
    ".any",
    ".uni",
    ".to",
    ".l",
    ".r",
    ".clamp",
    ".wrap",
    ".warp",
    ".nc",
    ".ca",
    ".shared::cta",
    ".shared::cluster",
    ".mmio",
    ".x",
];

/// Instructions that lead far into the checker: memory, barriers, exchanges, branches, and the instructions that
/// compute their operands.
const LIKELY: &[&str] = &[
    "ld.shared.u32 %r1, [%r2];",
    "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [own+16];",
    "st.shared.u32 [%r2], %r1;",
    "st.shared.u8 [own+5], %r1;",
    "st.shared.v2.u64 [%r3], {%rd1, %rd2};",
    "ld.global.u64 %rd2, [%rd1];",
    "ld.global.u32 %r1, [%rd1+4];",
    "st.global.u32 [%rd1], %r1;",
    "st.global.u16 [%rd2-2], %h1;",
    "ld.u32 %r1, [%rd1];",
    "st.u32 [%rd3], %r1;",
    "ld.local.u32 %r1, [stack+4];",
    "st.local.u32 [stack], %r1;",
    "st.local.u32 [%r2], %r1;",
    "ld.const.u32 %r1, [table];",
    "ld.volatile.shared.u32 %r1, [own];",
    "ld.acquire.gpu.global.u32 %r1, [%rd1];",
    "st.release.gpu.global.u32 [%rd1], %r1;",
    "atom.global.add.u32 %r1, [%rd1], 1;",
    "atom.shared.cas.b32 %r1, [own], %r2, %r3;",
    "atom.shared.inc.u32 %r1, [%r2], 17;",
    "red.global.add.u32 [%rd1], 1;",
    "ld.param.u64 %rd1, [kernel_param_0];",
    "ld.param.u32 %r1, [kernel_param_1];",
    "ld.param.u64 %rd3, [kernel_param_2+8];",
    "mov.u32 %r1, %tid.x;",
    "mov.u32 %r1, %ctaid.x;",
    "mov.u32 %r1, %laneid;",
    "mov.u32 %r2, own;",
    "mov.u64 %rd3, own;",
    "mov.u64 %rd3, global;",
    "mov.u64 %rd3, f0;",
    "cvta.to.global.u64 %rd1, %rd1;",
    "cvta.shared.u64 %rd3, %rd3;",
    "cvta.local.u64 %rd3, %rd3;",
    "mul.wide.u32 %rd2, %r1, 4;",
    "add.s64 %rd1, %rd1, %rd2;",
    "add.s32 %r2, %r2, %r1;",
    "shl.b32 %r1, %r1, 2;",
    "and.b32 %r1, %r1, 31;",
    "add.s32 %r1, %r1, 1;",
    "setp.lt.u32 %p1, %r1, 7;",
    "setp.eq.s32 %p1|%p2, %r1, %r3;",
    "setp.ne.u64 %p2, %rd1, 0;",
    "selp.b32 %r1, %r2, %r3, %p1;",
    "bar.sync 0;",
    "bar.sync 1, 64;",
    "bar.arrive 1, 64;",
    "barrier.sync %r1, 32;",
    "barrier.cta.sync.aligned 2;",
    "bar.red.popc.u32 %r1, 3, %p1;",
    "bar.warp.sync -1;",
    "bar.warp.sync %r1;",
    "shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;",
    "shfl.sync.idx.b32 %r1, %r2, %r3, 31, 65535;",
    "vote.sync.ballot.b32 %r1, %p1, -1;",
    "vote.sync.any.pred %p1, %p2, -1;",
    "match.any.sync.b32 %r1, %r2, -1;",
    "redux.sync.add.s32 %r1, %r2, -1;",
    "activemask.b32 %r1;",
    "elect.sync %r1|%p1, -1;",
    "membar.gl;",
    "fence.acq_rel.gpu;",
    "call f0;",
    "call (%r1), f1, (%r2);",
    "call (%r1), %rd3, (%r2), proto;",
    "call f2, (slot);",
    "call %rd3, funcs;",
    "st.param.b32 [slot], %r1;",
    "brx.idx %r1, targets;",
    "ret;",
    "exit;",
    "trap;",
    "cp.async.ca.shared.global [%r2], [%rd1], 4;",
    "mbarrier.init.shared.b64 [own], 32;",
    "@%p1 ret;",
    "@!%p2 st.shared.u32 [%r2], %r1;",
    "@%p1 bar.sync 0;",
    ".loc 1 7 3",
    ".loc 2 4294967295 0, function_name $n, inlined_at 1 7 3",
];

const OPERANDS: &[&str] = &[
    "%r1",
    "%r2",
    "%r3",
    "%r5",
    "%r99",
    "%rd1",
    "%rd2",
    "%rd3",
    "%h1",
    "%p1",
    "%p2",
    "!%p1",
    "%q1",
    "_",
    "own",
    "stack",
    "table",
    "global",
    "dynamic",
    "slot",
    "f0",
    "f1",
    "L0",
    "L1",
    "targets",
    "funcs",
    "proto",
    "%tid",
    "%tid.x",
    "%ctaid.y",
    "%laneid",
    "%clock",
    "%warpid",
    "WARP_SZ",
    "kernel_param_0",
    "nothing",
    "%r1.x",
    "%r1.b0",
    "-%r1",
    "own+4",
    "own-4",
    "0",
    "1",
    "-1",
    "31",
    "255",
    "4294967295",
    "1.5",
    "0f7FC00000",
    "0d7FF8000000000000",
    "18446744073709551615",
    "-9223372036854775808",
    "{%r1, %r2}",
    "{%rd1, %rd2}",
    "{%r1, %r2, %r3, %r4}",
    "{_, %r1}",
    "{}",
    "(%r1)",
    "()",
    "%r1|%p1",
    "[%r2]",
    "[%rd1]",
    "[%rd1+8]",
    "[%r2-1]",
    "[own]",
    "[own+4095]",
    "[own+4294967295]",
    "[stack]",
    "[table+2]",
    "[0]",
    "[-1]",
    "[4294967292]",
    "[%rd3]",
    "[%rd3+9223372036854775807]",
    "[global]",
    "[dynamic]",
    "[kernel_param_0]",
    "[kernel_param_2+8]",
    "[%rd1, {%r1, %r2}]",
    "[slot]",
    "[f0]",
];

const NUMBERS: &[u32] = &[0, 1, 2, 3, 4, 16, 31, 32, 33, 64, 96, 128, 1023, 1024, 1025, u32::MAX];

/// Returns the kernel and the launch that the bytes select; every sequence of bytes selects one.
pub fn from_bytes(bytes: &[u8]) -> (String, Launch) {
    let mut choices = Unstructured::new(bytes);
    // Choices for which no bytes are left are zero, so that this never fails.
    let launch = launch(&mut choices).unwrap_or_default();
    (text(&mut choices).unwrap_or_default(), launch)
}

fn launch(u: &mut Unstructured<'_>) -> Result<Launch> {
    let block = if u.ratio(7, 8)? {
        Some(Dim3::line(*u.choose(&[64, 1, 33, 32, 96])?))
    } else {
        Some(any_extent(u)?)
    };
    let grid = if u.ratio(1, 2)? {
        None
    } else if u.ratio(7, 8)? {
        Some(Dim3::line(2))
    } else {
        Some(any_extent(u)?)
    };
    let mut args = BTreeMap::new();
    for _ in 0..u.int_in_range(0..=3)? {
        let position = u.int_in_range(0..=3_usize)?;
        let arg = match u.int_in_range(0..=4)? {
            0 => Arg::Fields(Fields {
                bytes: None,
                fields: BTreeMap::from([(u64::from(*u.choose(NUMBERS)?), argument(u)?)]),
            }),
            _ => argument(u)?,
        };
        args.insert(position, arg);
    }
    let options = Options {
        warp_synchronous: u.ratio(1, 4)?,
        atomics: *u.choose(&[Atomics::Auto, Atomics::Abstract, Atomics::Unique, Atomics::Off])?,
        barrier_divergence: *u.choose(&[
            BarrierDivergence::Warp,
            BarrierDivergence::Cta,
            BarrierDivergence::Off,
        ])?,
        schedule: *u.choose(&[
            Schedule::InOrder,
            Schedule::InOrder,
            Schedule::Reverse,
            Schedule::InTurn,
            Schedule::Latest,
            Schedule::Random(1),
        ])?,
        past_findings: false,
        witness: u.int_in_range(0..=2)?,
        any_inputs: u.ratio(1, 4)?,
    };
    let shared = match u.int_in_range(0..=7)? {
        0 => Some(*u.choose(NUMBERS)?),
        1 | 2 => None,
        _ => Some(64),
    };
    let [block, grid] = [block, grid].map(|size| size.map(Dimensions::Is));
    let is_any = u.ratio(1, 8)?;
    let [block, grid] = if is_any { [block, Some(Dimensions::Any)] } else { [block, grid] };
    let requires = requirements(u)?;
    Ok(Launch { block, grid, shared, args, requires, options, ..Launch::default() })
}

fn any_extent(u: &mut Unstructured<'_>) -> Result<Dim3> {
    let z = if u.ratio(1, 8)? { *u.choose(NUMBERS)? } else { 1 };
    let y = if u.ratio(1, 4)? { *u.choose(NUMBERS)? } else { 1 };
    Ok(Dim3 { x: *u.choose(NUMBERS)?, y, z })
}

/// Requirements, of which some fit a kernel.
const REQUIRED: &[&str] = &[
    "#1 == 4",
    "#1 <= 3 && 0 - #2 < block.x",
    "#0 / (#1 - #1) == 1",
    "block.x == 32 && block.y * block.z == 1",
    "grid.x >= 2",
    "pow2(grid.x * 0xffffffffffffffff * 0xffffffffffffffff)",
    "#18446744073709551615 != --1",
];

fn requirements(u: &mut Unstructured<'_>) -> Result<Vec<Requirement>> {
    let mut requires = Vec::new();
    for _ in 0..u.int_in_range(0..=1)? {
        requires.extend(requires::parse(u.choose(REQUIRED)?));
    }
    Ok(requires)
}

fn argument(u: &mut Unstructured<'_>) -> Result<Arg> {
    Ok(match u.int_in_range(0..=3)? {
        0 => Arg::Integer(i128::from(*u.choose(NUMBERS)?)),
        1 => Arg::Float(u.arbitrary()?),
        2 => Arg::Buffer(Buffer { contents: None }),
        _ => Arg::Buffer(Buffer { contents: Some(vec![u.arbitrary()?; u.int_in_range(0..=64)?]) }),
    })
}

fn text(u: &mut Unstructured<'_>) -> Result<String> {
    let mut text = String::from(
        ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"a.cu\"\n.file 2 \"../b.cu\"\n",
    );
    text.push_str(".const .b32 table[4] = {1, 2, 3, 4};\n.global .b32 global[64];\n.extern .shared .b8 dynamic[];\n");
    text.push_str(".extern .func outside (.param .b32 x);\n");
    for function in 0..3 {
        let head = ["f0 ()", "(.reg .b32 out) f1 (.reg .b32 in)", "f2 (.param .b32 in)"][function];
        add(&mut text, format_args!(".func {head}\n"));
        body(u, &mut text, 12)?;
    }
    text.push_str(
        ".visible .entry kernel(.param .u64 kernel_param_0, .param .u32 kernel_param_1,\n\
         .param .align 8 .b8 kernel_param_2[16], .param .u64 .ptr .global kernel_param_3)\n",
    );
    body(u, &mut text, 60)?;
    Ok(text)
}

/// Writes the statements of a function, at most `most`.
fn body(u: &mut Unstructured<'_>, text: &mut String, most: usize) -> Result<()> {
    text.push_str(
        "{\n.reg .pred %p<4>;\n.reg .b16 %h<4>;\n.reg .b32 %r<6>;\n.reg .b64 %rd<4>;\n.reg .b128 %q<2>;\n\
         .shared .align 16 .b8 own[256];\n.local .align 8 .b8 stack[64];\n.param .b32 slot;\n\
         targets: .branchtargets L0, L1, L2;\nfuncs: .calltargets f0, f1;\n\
         proto: .callprototype (.reg .b32 _) _ (.reg .b32 _);\n",
    );
    let count = u.int_in_range(0..=most)?;
    let labels: [usize; 3] =
        [u.int_in_range(0..=count)?, u.int_in_range(0..=count)?, u.int_in_range(0..=count)?];
    let mut depth = 0;
    for at in 0..=count {
        for (label, place) in labels.iter().enumerate() {
            // A label within braces is not visible outside of them; branches to such labels are tried as well.
            if *place == at {
                add(text, format_args!("L{label}:\n"));
            }
        }
        if u.is_empty() {
            continue;
        }
        match u.int_in_range(0..=15)? {
            0..=8 => text.push_str(u.choose(LIKELY)?),
            9..=10 => {
                let guard = *u.choose(&["@%p1 ", "@!%p2 ", "", "@%p3 "])?;
                add(text, format_args!("{guard}bra L{};", u.int_in_range(0..=2)?));
            }
            11..=13 => instruction(u, text)?,
            14 if depth < 8 => {
                depth += 1;
                text.push_str("{ .reg .b32 %r<3>;");
            }
            _ if depth > 0 => {
                depth -= 1;
                text.push('}');
            }
            _ => text.push_str("mov.u32 %r3, %tid.x;"),
        }
        text.push('\n');
    }
    text.push_str(&"}".repeat(depth));
    for (label, place) in labels.iter().enumerate() {
        if *place > count {
            add(text, format_args!("L{label}:\n"));
        }
    }
    text.push_str("ret;\n}\n");
    Ok(())
}

fn add(text: &mut String, what: fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = text.write_fmt(what);
}

/// Writes an instruction with arbitrary operands.
fn instruction(u: &mut Unstructured<'_>, text: &mut String) -> Result<()> {
    let guard = *u.choose(&["", "", "@%p1 ", "@!%p2 "])?;
    let (mnemonic, shape) = if u.ratio(1, 2)? {
        let mnemonic = u.choose(&MNEMONICS)?.clone();
        let shape = weft_core::ptx::isa::decode(&mnemonic).map_or("dss", |own| own.row.shape);
        (mnemonic, shape)
    } else {
        let row = u.choose(TABLE)?;
        let mut mnemonic = row.pattern.to_owned();
        for _ in 0..u.int_in_range(0..=4)? {
            mnemonic.push_str(u.choose(SUFFIXES)?);
        }
        (mnemonic, row.shape)
    };
    let mut operands = Vec::new();
    for letter in shape.chars() {
        operands.push(match letter {
            _ if u.ratio(1, 6)? => *u.choose(OPERANDS)?,
            'd' => *u.choose(&["%r1", "%rd2", "%p1", "%h1", "_", "{%r1, %r2}"])?,
            'm' => *u.choose(&["[%r2]", "[%rd1]", "[own+8]", "[%rd3+4]", "[stack]", "[0]"])?,
            'l' => *u.choose(&["L0", "L1", "targets", "f0"])?,
            '*' if u.ratio(1, 2)? => continue,
            _ => *u.choose(&["%r1", "%r3", "%rd1", "%rd2", "%p2", "%h1", "7", "-1", "1.5"])?,
        });
    }
    if u.ratio(1, 12)? {
        operands.pop();
    }
    add(text, format_args!("{guard}{mnemonic} {};", operands.join(", ")));
    Ok(())
}
