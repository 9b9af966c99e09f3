//! Random kernels that compute with addresses and let the results decide something.

use std::fmt::Write;

use crate::moved::Dice;

const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.extern .shared .align 16 .b8 dyn[];\n\
    .shared .align 4 .b8 a[256];\n.shared .align 8 .b8 b[256];\n.global .align 4 .b8 g[256];\n\
    .const .align 8 .b8 c[64];\n.entry k(.param .u64 p, .param .u64 .ptr .global .align 16 q)\n{\n\
    .reg .b64 %d<5>, %x, %own, %l;\n.reg .b32 %r<3>, %t, %i, %n;\n.reg .pred %p<3>;\n\
    .local .align 8 .b8 l[64];\n\
    mov.u32 %t, %tid.x;\nmul.wide.u32 %own, %t, 8;\nmov.u64 %x, b;\nadd.u64 %own, %own, %x;\n\
    mov.u64 %l, l;\ncvta.local.u64 %l, %l;\nmov.u32 %i, 0;\nmov.pred %p0, 0;\n\
    mov.u32 %r0, a;\nmov.u32 %r1, 12;\nmov.u32 %r2, %t;\n";

const MASKS: [u64; 9] = [15, !15, 1023, !1023, 0x70, 0xff0, 4, 0x3fc, 0xffff_ffff];

/// Returns the kernel of a seed.
pub(crate) fn kernel(seed: u64) -> String {
    let mut writer =
        Writer { dice: Dice(seed), text: HEAD.to_owned(), favourite: 0, last: "%d0".to_owned() };
    // The first numbers of neighbouring seeds are similar.
    for _ in 0..4 {
        writer.dice.roll(2);
    }
    writer.favourite = writer.dice.roll(7);
    (0..5).for_each(|at| writer.start(at));
    let is_loop = writer.dice.roll(3) == 0;
    if is_loop {
        writer.line("L:");
    }
    for _ in 0..=writer.dice.roll(6) {
        writer.step();
    }
    if is_loop {
        writer.line("add.u32 %i, %i, 1; setp.lt.u32 %p1, %i, 3; @%p1 bra L;");
    }
    writer.decide();
    writer.text.push_str("END: ret;\n}\n");
    writer.text
}

struct Writer {
    dice: Dice,
    text: String,
    /// The initial value of registers in half of the cases.
    favourite: u64,
    /// The register that was written last.
    last: String,
}

impl Writer {
    fn line(&mut self, text: &str) {
        writeln!(self.text, "{text}").expect("a string takes all");
    }

    fn wide(&mut self) -> String {
        format!("%d{}", self.dice.roll(5))
    }

    /// Returns a register, most likely the one that was written last.
    fn recent(&mut self) -> String {
        if self.dice.roll(2) == 0 { self.last.clone() } else { self.wide() }
    }

    fn narrow(&mut self) -> String {
        format!("%r{}", self.dice.roll(3))
    }

    fn three(&mut self) -> usize {
        usize::try_from(self.dice.roll(3)).expect("it is small")
    }

    fn mask(&mut self) -> u64 {
        MASKS[usize::try_from(self.dice.roll(MASKS.len() as u64)).expect("few masks")]
    }

    fn start(&mut self, at: u64) {
        let kind = if self.dice.roll(2) == 0 { self.favourite } else { self.dice.roll(9) };
        let own = match kind {
            0 | 1 => format!("ld.param.u64 %d{at}, [p];"),
            2 => format!("ld.param.u64 %d{at}, [q];"),
            3 => format!("mov.u64 %d{at}, a; cvta.shared.u64 %d{at}, %d{at};"),
            4 => format!("mov.u64 %d{at}, dyn;"),
            5 => format!("mov.u64 %d{at}, g;"),
            6 => format!("mov.u64 %d{at}, {};", ["%l", "c", "b"][self.three()]),
            7 => format!("mov.u64 %d{at}, {};", self.dice.roll(64)),
            _ => format!("cvt.u64.u32 %d{at}, %t;"),
        };
        self.line(&own);
    }

    fn step(&mut self) {
        let (dest, first, second) = (self.wide(), self.recent(), self.wide());
        self.last.clone_from(&dest);
        let (narrow, other) = (self.narrow(), self.narrow());
        let (mask, small) = (self.mask(), self.dice.roll(12));
        let own = match self.dice.roll(44) {
            0 | 1 => format!("add.u64 {dest}, {first}, {second};"),
            2 => format!("add.u64 {dest}, {first}, {};", self.dice.roll(2048)),
            3 | 4 => format!("sub.u64 {dest}, {first}, {second};"),
            5 | 6 => format!("and.b64 {dest}, {first}, {mask};"),
            7 => format!("or.b64 {dest}, {first}, {mask};"),
            8 => format!("xor.b64 {dest}, {first}, {second};"),
            9 => format!("shl.b64 {dest}, {first}, {small};"),
            10 => format!("shr.u64 {dest}, {first}, {small};"),
            11 => format!("shr.s64 {dest}, {first}, {small};"),
            12 => format!("mul.lo.u64 {dest}, {first}, {small};"),
            13 => format!("neg.s64 {dest}, {first};"),
            14 => format!("min.u64 {dest}, {first}, {second};"),
            15 => format!("max.s64 {dest}, {first}, {second};"),
            16 => format!("selp.b64 {dest}, {first}, {second}, %p0;"),
            38 | 39 => format!(
                "setp.lt.u64 %p0, {dest}, {first}; selp.b64 {dest}, {first}, {second}, %p0;"
            ),
            40 => format!(
                "setp.ge.u64 %p0, {first}, {second}; selp.b64 {dest}, {mask}, {small}, %p0;"
            ),
            41 => format!("st.local.u64 [l+32], {first};"),
            42 | 43 => format!("ld.local.u64 {dest}, [l+32];"),
            17 => format!("setp.lt.u64 %p0, {first}, {second};"),
            18 => format!("setp.eq.u64 %p0, {first}, {second};"),
            19 => format!("rem.u64 {dest}, {first}, {};", [8, 16, 24][self.three()]),
            20 => format!("bfe.u64 {dest}, {first}, {small}, {};", 1 + self.dice.roll(6)),
            21 | 22 => format!("cvt.u32.u64 {narrow}, {first};"),
            23 => format!("cvt.u64.u32 {dest}, {narrow};"),
            24 => format!("cvt.s64.s32 {dest}, {narrow};"),
            25 => format!("mov.b64 {{{narrow}, %n}}, {first};"),
            26 => format!("mov.b64 {{%n, {narrow}}}, {first};"),
            27 => format!("mov.b64 {dest}, {{{narrow}, {other}}};"),
            28 => format!("shfl.sync.idx.b32 {narrow}, {other}, 0, 31, 0xffffffff;"),
            29 => format!("mad.lo.u64 {dest}, {first}, {small}, {second};"),
            30 => format!("sub.u32 {narrow}, {narrow}, {other};"),
            31 => format!("add.u32 {narrow}, {narrow}, {other};"),
            32 => format!("and.b32 {narrow}, {other}, {};", mask & 0xffff_ffff),
            33 => format!("xor.b32 {narrow}, {narrow}, {other};"),
            34 => format!("mul.wide.u32 {dest}, {narrow}, {small};"),
            35 => format!("@%p0 mov.u64 {dest}, {first};"),
            36 => format!("popc.b64 {narrow}, {first};"),
            _ => self.through_memory(&dest, &first),
        };
        self.line(&own);
    }

    /// Stores a value and loads it again.
    fn through_memory(&mut self, d: &str, a: &str) -> String {
        match self.dice.roll(6) {
            0 => format!("st.local.u64 [l+8], {a}; ld.local.u64 {d}, [l+8];"),
            1 => format!("st.u64 [%l+16], {a}; ld.local.u64 {d}, [l+16];"),
            2 => format!("st.local.u64 [l+24], {a}; ld.u64 {d}, [%l+24];"),
            3 => format!("st.shared.u64 [%own], {a}; ld.shared.u64 {d}, [%own];"),
            4 => format!("st.local.u64 [l], {a}; ld.local.u32 %n, [l+4]; cvt.u64.u32 {d}, %n;"),
            _ => format!(
                "cvta.shared.u64 %x, %own; st.u64 [%x], {a}; ld.shared.u32 %n, [%own]; cvt.u64.u32 {d}, %n;"
            ),
        }
    }

    /// Lets the computed value decide whether threads race, whether an access is in bounds, or how many threads reach a
    /// barrier.
    fn decide(&mut self) {
        let (a, b, r) = (self.recent(), self.wide(), self.narrow());
        let race = "@%p2 bra END; st.shared.u32 [a], %t;";
        let own = match self.dice.roll(11) {
            7 => format!("st.u8 [{a}], %t;"),
            8 => format!("st.shared.u8 [{a}], %t;"),
            9 => format!("st.shared.v2.u32 [{r}], {{%t, %t}};"),
            10 => format!("st.global.u32 [{a}], %t;"),
            0 => format!("setp.eq.u64 %p2, {a}, {b}; {race}"),
            1 => format!("setp.lt.u64 %p2, {a}, {b}; {race}"),
            2 => format!("and.b64 %x, {a}, {}; setp.ne.u64 %p2, %x, 0; {race}", self.mask()),
            3 => format!("setp.lt.u32 %p2, {r}, 64; {race}"),
            4 => format!(
                "and.b32 %n, {r}, 0x3fc; mov.u32 %i, a; add.u32 %i, %i, %n; st.shared.u32 [%i], %t;"
            ),
            5 => format!(
                "and.b64 %x, {a}, 0x3ff; mov.u64 %own, a; add.u64 %own, %own, %x; st.shared.u32 [%own], %t;"
            ),
            _ => format!("cvt.u32.u64 %n, {a}; and.b32 %n, %n, 63; bar.sync 1, %n;"),
        };
        self.line(&own);
    }
}
