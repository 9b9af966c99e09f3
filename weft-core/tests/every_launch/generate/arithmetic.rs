//! Kernels that race only where integers wrap around, some of them for ordinary inputs.

use std::fmt::Write as _;

use super::Writer;

impl Writer {
    /// Stores that race only where an index wraps around for ordinary values of others.
    pub(super) fn wrapping(&mut self) {
        let (thread, u) = (self.global_thread(), self.uniform());
        let threads = self.binary("mul.lo.u32", "%r4", "%r6", None);
        match self.dice.roll(4) {
            0 => {
                // A number that stands for none, and the one after it.
                let index = self.or_none(&thread, &u);
                let next = self.binary("add.u32", &index, "1", None);
                self.store_at(&next);
            }
            1 => {
                let index = self.or_none(&thread, &u);
                let even = self.binary("mad.lo.u32", &index, "2", Some("2"));
                self.store_at(&even);
            }
            2 => {
                // A difference that might be below zero, rounded.
                self.store_at(&thread);
                let difference = self.binary("sub.u32", &thread, &u, None);
                let quotient = self.binary("shr.u32", &difference, "5", None);
                let index = self.binary("mad.lo.u32", &quotient, "32", Some(&threads));
                self.leave("ne.u32", &thread, "0");
                self.store_at(&index);
            }
            _ => {
                // The number of the highest bit, which is -1 of zero.
                self.store_at(&thread);
                let highest = self.register("r");
                self.line(&format!("bfind.u32 {highest}, {u};"));
                let row = self.binary("add.u32", &highest, "1", None);
                let end = self.binary("mad.lo.u32", &row, &threads, Some(&threads));
                let behind = self.binary("sub.u32", &end, &thread, None);
                let index = self.binary("sub.u32", &behind, "1", None);
                self.store_at(&index);
            }
        }
    }

    /// Stores of one cta at multiples of a value that a loop carries, within the loop and behind it.
    pub(super) fn carrying(&mut self) {
        self.leave("ne.u32", "%r5", "0");
        let (factor, head, end) = (self.register("r"), self.label(), self.label());
        let first = self.dice.pick(&["1", "2", "3", "%r4"]);
        let bound = self.dice.pick(&["%r4", "%r1", "64", "0"]);
        let comparison = self.dice.pick(&["ge.u32", "eq.u32"]);
        let step = self.dice.pick(&["shl.b32", "shl.b32", "shr.u32", "mul.lo.u32", "sub.u32"]);
        let by = if step == "mul.lo.u32" { "3" } else { "1" };
        self.line(&format!("mov.u32 {factor}, {first};"));
        let _ = writeln!(self.text, "{head}:");
        let done = self.register("p");
        self.line(&format!("setp.{comparison} {done}, {factor}, {bound};"));
        self.line(&format!("@{done} bra {end};"));
        if self.dice.chance(80) {
            self.barrier();
        }
        let index = self.binary("mul.lo.u32", "%r3", &factor, None);
        self.store_at(&index);
        self.line(&format!("{step} {factor}, {factor}, {by};"));
        self.line(&format!("bra {head};"));
        let _ = writeln!(self.text, "{end}:");
        if self.dice.chance(30) {
            self.barrier();
            let index = self.binary("mul.lo.u32", "%r3", &factor, None);
            self.store_at(&index);
        }
    }

    /// Stores of all threads to one element, unless what holds of integers holds of a value.
    pub(super) fn asserting(&mut self) {
        let thread = self.global_thread();
        self.store_at(&thread);
        let value = self.opaque();
        let (holds, end) = (self.register("p"), self.label());
        match self.dice.roll(3) {
            0 => {
                let factor = self.dice.pick(&["3", "1000", "65536", "16"]);
                let product = self.binary("mul.lo.u32", &value, factor, None);
                let quotient = self.binary("div.u32", &product, factor, None);
                self.line(&format!("setp.eq.u32 {holds}, {quotient}, {value};"));
            }
            1 => {
                let added = self.dice.pick(&["1", "256", "1048576", "%r3"]);
                let sum = self.binary("add.u32", &value, added, None);
                self.line(&format!("setp.ge.u32 {holds}, {sum}, {value};"));
            }
            _ => {
                let shift = self.dice.pick(&["2", "8", "20"]);
                let high = self.binary("shl.b32", &value, shift, None);
                let low = self.binary("shr.u32", &high, shift, None);
                self.line(&format!("setp.eq.u32 {holds}, {low}, {value};"));
            }
        }
        self.line(&format!("@{holds} bra {end};"));
        self.line("st.global.u32 [%rd1], %r3;");
        let _ = writeln!(self.text, "{end}:");
    }

    /// A value that is no sum or product of inputs, and might be large where these are small.
    fn opaque(&mut self) -> String {
        let (a, b) = (self.uniform(), self.uniform());
        let large = self.dice.pick(&["0x40000000", "0x100000", "0x7fffffff", "-1", "1"]);
        match self.dice.roll(9) {
            0 => self.binary("shl.b32", "1", &a, None),
            1 => {
                let operation = self.dice.pick(&["or.b32", "xor.b32"]);
                self.binary(operation, &a, large, None)
            }
            2 => {
                let square = self.binary("mul.lo.u32", &a, &a, None);
                let product = self.binary("mul.lo.u32", &square, &square, None);
                self.binary("xor.b32", &product, &b, None)
            }
            3 => {
                let condition = self.condition(&a, &b);
                let dest = self.register("r");
                self.line(&format!("selp.b32 {dest}, {large}, {a}, {condition};"));
                dest
            }
            4 => {
                let product = self.binary("mul.lo.u32", &a, "1000000", None);
                self.binary("div.u32", &product, "7", None)
            }
            5 => {
                let difference = self.binary("sub.u32", &a, &b, None);
                self.binary("xor.b32", &difference, "1", None)
            }
            6 => {
                let shifted = self.binary("shl.b32", &a, "20", None);
                self.binary("or.b32", &shifted, &b, None)
            }
            _ => self.iterated(large),
        }
    }

    /// What a loop computes from its first value.
    fn iterated(&mut self, large: &'static str) -> String {
        let (value, other, round) = (self.register("r"), self.register("r"), self.register("r"));
        let head = self.label();
        let (first, by) = (self.uniform(), self.uniform());
        let first = if self.dice.chance(25) { large.to_owned() } else { first };
        let by = if self.dice.chance(25) { "65536".to_owned() } else { by };
        self.line(&format!("mov.u32 {value}, {first};"));
        let second = self.dice.pick(&["0", "1", "1000", "%r1"]);
        self.line(&format!("mov.u32 {other}, {second};"));
        self.line(&format!("mov.u32 {round}, 0;"));
        let _ = writeln!(self.text, "{head}:");
        self.iteration(&value, &other, &round, &by);
        if self.dice.chance(40) {
            self.line(&format!("and.b32 {value}, {value}, 0xfffffff7;"));
        }
        self.line(&format!("add.u32 {round}, {round}, 1;"));
        let again = self.again(&value, &other, &round);
        self.line(&format!("@{again} bra {head};"));
        value
    }

    /// What a round does to two values.
    fn iteration(&mut self, value: &str, other: &str, round: &str, by: &str) {
        let steps = [
            "add.u32",
            "add.u32",
            "sub.u32",
            "mul.lo.u32",
            "xor.b32",
            "shl.b32",
            "max.u32",
            "or.b32",
        ];
        match self.dice.roll(5) {
            0 => {
                // They change places.
                let kept = self.binary("add.u32", value, "0", None);
                self.line(&format!("add.u32 {value}, {other}, {by};"));
                self.line(&format!("mov.u32 {other}, {kept};"));
            }
            1 => {
                // One grows, and the other follows.
                let step = self.dice.pick(&steps);
                self.line(&format!("add.u32 {other}, {other}, {by};"));
                self.line(&format!("{step} {value}, {value}, {other};"));
            }
            2 => {
                // Only every eighth round counts.
                let (part, holds) = (self.binary("and.b32", round, "7", None), self.register("p"));
                self.line(&format!("setp.eq.u32 {holds}, {part}, 0;"));
                self.line(&format!("@{holds} add.u32 {other}, {other}, 1;"));
                self.line(&format!("add.u32 {value}, {value}, {by};"));
            }
            _ => {
                let step = self.dice.pick(&steps);
                self.line(&format!("{step} {value}, {value}, {by};"));
            }
        }
    }

    /// Whether another round follows.
    fn again(&mut self, value: &str, other: &str, round: &str) -> String {
        let (again, few) = (self.register("p"), self.register("p"));
        let rounds = self.dice.pick(&["3", "40", "%r1", "%r1", "300"]);
        self.line(&format!("setp.lt.u32 {few}, {round}, {rounds};"));
        match self.dice.roll(8) {
            0 => {
                let part = self.binary("shr.u32", round, "4", None);
                self.line(&format!("setp.lt.u32 {again}, {part}, {rounds};"));
            }
            1 => {
                let bit = self.binary("and.b32", round, "64", None);
                self.line(&format!("setp.eq.u32 {again}, {bit}, 0;"));
            }
            2 => {
                let last = self.binary("mul.lo.u32", "%r1", "%r1", None);
                self.line(&format!("setp.lt.u32 {again}, {round}, {last};"));
            }
            3 => {
                let limit = self.dice.pick(&["100", "%r1", "100000"]);
                let compared = self.dice.pick(&[value, other]).to_owned();
                self.line(&format!("setp.lt.and.u32 {again}, {compared}, {limit}, {few};"));
            }
            4 => {
                self.line(&format!("setp.lt.or.u32 {again}, {round}, 50, {few};"));
            }
            _ => return few,
        }
        again
    }

    /// A number on a condition, and otherwise -1.
    fn or_none(&mut self, number: &str, u: &str) -> String {
        let condition = self.condition(number, u);
        let dest = self.register("r");
        self.line(&format!("selp.b32 {dest}, {number}, -1, {condition};"));
        dest
    }
}
