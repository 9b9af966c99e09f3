//! Random kernels of the shapes that kernels have which know no launch: guards, strided loops, rows and columns, tiles,
//! barriers and exchanges, each with deviations that make some of them race.

mod arithmetic;
mod butterflies;
mod digits;
mod drawn;
mod rotated;
mod warps;

use std::fmt::Write;

use crate::dice::Dice;

/// A kernel under construction. Names of registers are operands.
struct Writer {
    text: String,
    dice: Dice,
    registers: u32,
    labels: u32,
    /// 32-bit values that depend on nothing but the launch.
    uniform: Vec<String>,
    /// 32-bit values that can be used here.
    values: Vec<String>,
    /// How many loops and branches are around the present place.
    depth: u32,
}

const PROLOGUE: &str = "\
.version 7.0
.target sm_80
.address_size 64

.visible .entry kernel(.param .u64 out, .param .u64 in, .param .u32 n, .param .u32 w, .param .u32 k)
{
    .reg .u32 %r<400>;
    .reg .u64 %rd<400>;
    .reg .pred %p<400>;
    .shared .align 4 .b8 tile[16384];
    .shared .align 4 .b8 counts[8];

    ld.param.u64 %rd0, [out];
    ld.param.u64 %rd1, [in];
    cvta.to.global.u64 %rd0, %rd0;
    cvta.to.global.u64 %rd1, %rd1;
    ld.param.u32 %r0, [n];
    ld.param.u32 %r1, [w];
    ld.param.u32 %r2, [k];
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %ntid.x;
";

/// Returns the text of the kernel that a seed gives; its entry is called `kernel`.
pub(crate) fn kernel(seed: u64) -> String {
    written(seed, |writer| match writer.dice.roll(16) {
        0 | 1 => writer.wrapping(),
        2 | 3 => writer.carrying(),
        4 | 5 => writer.asserting(),
        6 | 7 => writer.exchanging(),
        8 => writer.unrolled(),
        9 | 10 => writer.rotated(),
        _ => writer.parts(),
    })
}

/// Likewise, of a kernel whose threads go through rows in unrolled loops.
pub(crate) fn unrolled(seed: u64) -> String {
    written(seed, Writer::unrolled)
}

/// Likewise, of a kernel that takes numbers apart into fields of bits.
pub(crate) fn digits(seed: u64) -> String {
    written(seed, Writer::digits)
}

/// Likewise, of a kernel whose threads exchange values with partners.
pub(crate) fn butterflies(seed: u64) -> String {
    written(seed, Writer::butterfly)
}

/// Likewise, of a kernel in which it matters where threads meet.
pub(crate) fn meeting(seed: u64) -> String {
    written(
        seed,
        |writer| if seed.is_multiple_of(2) { writer.exchanging() } else { writer.rotated() },
    )
}

/// Likewise, of a kernel some of whose threads might pass by what the others do together, and that might go in steps that are
/// passed.
pub(crate) fn requiring(seed: u64) -> String {
    let text = written(seed, |writer| {
        let end = writer.label();
        if writer.dice.chance(80) {
            let thread =
                if writer.dice.chance(50) { "%r3".to_owned() } else { writer.global_thread() };
            let bound = writer.dice.pick(&["%r0", "%r1", "%r2"]);
            let compared =
                writer.dice.pick(&["setp.ge.u32", "setp.ge.s32", "setp.ge.s32", "setp.gt.u32"]);
            writer.line(&format!("{compared} %p0, {thread}, {bound};\n    @%p0 bra {end};"));
        }
        match writer.dice.roll(8) {
            0 => writer.unrolled(),
            1 => writer.exchanging(),
            2 | 3 => {
                writer.shared();
                writer.line("bar.sync 0;");
                writer.shared();
            }
            4 => writer.stepping(),
            _ => {
                writer.exchange();
                let own = writer.global_thread();
                writer.store_at(&own);
            }
        }
        // Threads that passed by are seen where they come to another barrier.
        let _ = writeln!(writer.text, "{end}:");
        let barrier = writer.dice.pick(&["bar.sync 0;", "bar.warp.sync 0xffffffff;"]);
        writer.line(barrier);
    });
    // The extent of the block is passed, too.
    let passes = seed.is_multiple_of(3) || seed.is_multiple_of(4);
    let body = text.strip_prefix(PROLOGUE).filter(|_| passes);
    body.map_or(text.clone(), |body| {
        format!("{PROLOGUE}{}", body.replace("%r4,", "%r2,").replace("%r4;", "%r2;"))
    })
}

/// Likewise, of a kernel whose threads draw places from counters.
pub(crate) fn drawing(seed: u64) -> String {
    written(seed, Writer::drawing)
}

fn written(seed: u64, body: impl FnOnce(&mut Writer)) -> String {
    let mut writer = Writer {
        text: PROLOGUE.to_owned(),
        dice: Dice::new(seed),
        registers: 7,
        labels: 0,
        uniform: ["%r0", "%r1", "%r2", "%r4", "%r5", "%r6"].map(str::to_owned).to_vec(),
        values: ["%r3"].map(str::to_owned).to_vec(),
        depth: 0,
    };
    // A kernel that reads no index of the grid in x is launched with several ctas in x all the same.
    let dimension = if writer.dice.chance(10) { "y" } else { "x" };
    writer.line(&format!("mov.u32 %r5, %ctaid.{dimension};\nmov.u32 %r6, %nctaid.{dimension};"));
    body(&mut writer);
    writer.text.push_str("EXIT:\n    ret;\n}\n");
    writer.text
}

impl Writer {
    /// Accesses, barriers, branches and loops in one or two dimensions.
    fn parts(&mut self) {
        if self.dice.chance(25) {
            self.second_dimension();
        }
        let global = self.global_thread();
        self.values.push(global);
        for _ in 0..=self.dice.roll(4) {
            self.part();
        }
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "    {line}");
    }

    fn register(&mut self, prefix: &str) -> String {
        self.registers += 1;
        format!("%{prefix}{}", self.registers)
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    fn binary(&mut self, operation: &str, a: &str, b: &str, c: Option<&str>) -> String {
        let dest = self.register("r");
        let rest = c.map(|c| format!(", {c}")).unwrap_or_default();
        self.line(&format!("{operation} {dest}, {a}, {b}{rest};"));
        dest
    }

    /// The number of the thread in the grid.
    fn global_thread(&mut self) -> String {
        self.binary("mad.lo.u32", "%r5", "%r4", Some("%r3"))
    }

    /// The thread and the cta in y; blocks and grids are then open in y too.
    fn second_dimension(&mut self) {
        for (special, is_uniform) in
            [("%tid.y", false), ("%ntid.y", true), ("%ctaid.y", true), ("%nctaid.y", true)]
        {
            let dest = self.register("r");
            self.line(&format!("mov.u32 {dest}, {special};"));
            if is_uniform { self.uniform.push(dest) } else { self.values.push(dest) }
        }
    }

    fn number(&mut self) -> String {
        self.dice
            .pick(&["1", "2", "3", "4", "5", "8", "16", "31", "32", "33", "64", "12", "0", "255"])
            .to_owned()
    }

    fn uniform(&mut self) -> String {
        if self.dice.chance(30) {
            return self.number();
        }
        let at = self.dice.roll(u32::try_from(self.uniform.len()).expect("few"));
        self.uniform[at as usize].clone()
    }

    fn value(&mut self) -> String {
        if self.dice.chance(20) {
            return self.uniform();
        }
        // The latest values are the most likely ones.
        let count = u32::try_from(self.values.len()).expect("few");
        let at = self.dice.roll(count).max(self.dice.roll(count));
        self.values[at as usize].clone()
    }

    /// A value that is computed from others.
    fn computed(&mut self) -> String {
        let (a, b, u) = (self.value(), self.value(), self.uniform());
        match self.dice.roll(16) {
            0..=2 => a,
            3 => self.binary("add.u32", &a, &u, None),
            4 => self.binary("mul.lo.u32", &a, &u, None),
            5 | 6 => self.binary("mad.lo.u32", &a, &u, Some(&b)),
            7 => self.binary("sub.u32", &u, &a, None),
            8 => self.binary("div.u32", &a, &u, None),
            9 => self.binary("rem.u32", &a, &u, None),
            10 => {
                // Quotient and remainder, put together in another order.
                let (row, column) =
                    (self.binary("div.u32", &a, &u, None), self.binary("rem.u32", &a, &u, None));
                let other = self.uniform();
                self.binary("mad.lo.u32", &column, &other, Some(&row))
            }
            11 => {
                let shift = self.dice.pick(&["1", "2", "5", "31"]);
                let operation = self.dice.pick(&["shl.b32", "shr.u32", "shr.s32"]);
                self.binary(operation, &a, shift, None)
            }
            12 => {
                let mask = self.dice.pick(&["31", "1", "7", "-2", "-32", "255", "4", "28", "252"]);
                self.binary("and.b32", &a, mask, None)
            }
            13 => {
                let operation =
                    self.dice.pick(&["min.u32", "max.u32", "min.s32", "xor.b32", "or.b32"]);
                self.binary(operation, &a, &u, None)
            }
            14 => {
                let condition = self.condition(&a, &u);
                let dest = self.register("r");
                let c = self.value();
                self.line(&format!("selp.b32 {dest}, {a}, {c}, {condition};"));
                dest
            }
            _ => self.binary("mad.lo.u32", &b, &u, Some(&a)),
        }
    }

    /// Ends the threads for which a comparison holds.
    fn leave(&mut self, comparison: &str, a: &str, b: &str) {
        let outside = self.register("p");
        self.line(&format!("setp.{comparison} {outside}, {a}, {b};"));
        self.line(&format!("@{outside} bra EXIT;"));
    }

    fn store_at(&mut self, index: &str) {
        let address = self.element("%rd0", index, 4);
        self.line(&format!("st.global.u32 [{address}], %r3;"));
    }

    fn condition(&mut self, a: &str, b: &str) -> String {
        let dest = self.register("p");
        let comparison = self.dice.pick(&[
            "lt.u32", "lt.s32", "ge.u32", "ge.s32", "eq.u32", "ne.u32", "gt.u32", "le.s32",
        ]);
        self.line(&format!("setp.{comparison} {dest}, {a}, {b};"));
        dest
    }

    /// One access, barrier, branch or loop.
    fn part(&mut self) {
        match self.dice.roll(if self.depth < 2 { 12 } else { 6 }) {
            0..=2 => self.global(),
            3 => self.shared(),
            4 => {
                let new = self.computed();
                self.values.push(new);
            }
            5 => self.barrier(),
            6 | 7 => self.guarded(),
            8 => self.exit(),
            _ => self.repeated(),
        }
    }

    fn address(&mut self, base: &str, bytes: u32) -> String {
        let index = self.computed();
        let bytes = if self.dice.chance(8) { bytes * 2 } else { bytes };
        self.element(base, &index, bytes)
    }

    fn element(&mut self, base: &str, index: &str, bytes: u32) -> String {
        let dest = self.register("rd");
        let wide = self.dice.pick(&["mul.wide.u32", "mul.wide.u32", "mul.wide.s32"]);
        self.line(&format!("{wide} {dest}, {index}, {bytes};"));
        let sum = self.register("rd");
        self.line(&format!("add.u64 {sum}, {base}, {dest};"));
        sum
    }

    fn global(&mut self) {
        let base = self.dice.pick(&["%rd0", "%rd0", "%rd0", "%rd1"]);
        let address = self.address(base, 4);
        let offset = self.dice.pick(&["", "", "", "+4", "+2", "+-4"]);
        let offset = if offset == "+2" { "" } else { offset };
        match self.dice.roll(8) {
            0 => {
                let dest = self.register("r");
                self.line(&format!("ld.global.u32 {dest}, [{address}{offset}];"));
            }
            1 => self.line(&format!("red.global.add.u32 [{address}{offset}], %r3;")),
            _ => self.line(&format!("st.global.u32 [{address}{offset}], %r3;")),
        }
    }

    fn shared(&mut self) {
        let index = self.computed();
        let index = self.binary("and.b32", &index, "1023", None);
        let base = self.register("r");
        self.line(&format!("mov.u32 {base}, tile;"));
        let address = self.binary("mad.lo.u32", &index, "4", Some(&base));
        if self.dice.chance(40) {
            let dest = self.register("r");
            self.line(&format!("ld.shared.u32 {dest}, [{address}];"));
        } else {
            self.line(&format!("st.shared.u32 [{address}], %r3;"));
        }
    }

    fn barrier(&mut self) {
        self.line("bar.sync 0;");
    }

    fn guarded(&mut self) {
        let (a, b) =
            (if self.dice.chance(70) { self.value() } else { self.uniform() }, self.uniform());
        let condition = self.condition(&a, &b);
        let end = self.label();
        let sign = self.dice.pick(&["", "!"]);
        self.line(&format!("@{sign}{condition} bra {end};"));
        self.body();
        let _ = writeln!(self.text, "{end}:");
    }

    fn exit(&mut self) {
        let (a, b) = (self.value(), self.uniform());
        let condition = self.condition(&a, &b);
        self.line(&format!("@{condition} bra EXIT;"));
    }

    fn body(&mut self) {
        let known = self.values.len();
        self.depth += 1;
        for _ in 0..=self.dice.roll(3) {
            self.part();
        }
        self.depth -= 1;
        self.values.truncate(known);
    }

    /// A loop that counts by a step while it is below a bound, or halves.
    fn repeated(&mut self) {
        let (index, head, end) = (self.register("r"), self.label(), self.label());
        let bound = self.uniform();
        let is_strided = self.dice.chance(50);
        let (first, step) = if is_strided {
            let whole = self.binary("mul.lo.u32", "%r4", "%r6", None);
            let global = self.values[self.values.len() - 1].clone();
            let strides =
                [("%r3", "%r4"), (global.as_str(), whole.as_str()), ("%r3", whole.as_str())];
            let (first, step) = self.dice.pick(&strides);
            (first.to_owned(), step.to_owned())
        } else {
            (
                self.dice.pick(&["0", "0", "1", "%r3"]).to_owned(),
                self.dice.pick(&["1", "1", "2", "3"]).to_owned(),
            )
        };
        let halves = !is_strided && self.dice.chance(25);
        let first = if halves { self.dice.pick(&["%r4", "32", "%r0"]).to_owned() } else { first };
        self.line(&format!("mov.u32 {index}, {first};"));
        let _ = writeln!(self.text, "{head}:");
        let condition = self.register("p");
        if halves {
            self.line(&format!("setp.eq.u32 {condition}, {index}, 0;"));
        } else {
            let comparison = self.dice.pick(&["ge.u32", "ge.u32", "ge.s32"]);
            self.line(&format!("setp.{comparison} {condition}, {index}, {bound};"));
        }
        self.line(&format!("@{condition} bra {end};"));
        let known = (self.values.len(), self.uniform.len());
        if is_strided || first == "%r3" {
            self.values.push(index.clone());
        } else {
            self.uniform.push(index.clone());
            self.values.push(index.clone());
        }
        self.body();
        self.values.truncate(known.0);
        self.uniform.truncate(known.1);
        if halves {
            self.line(&format!("shr.u32 {index}, {index}, 1;"));
        } else {
            self.line(&format!("add.u32 {index}, {index}, {step};"));
        }
        self.line(&format!("bra {head};"));
        let _ = writeln!(self.text, "{end}:");
    }
}
