//! Butterfly exchanges: each thread has a partner whose number differs from its own in some bits, in loops around barriers, after
//! some threads have ended.

use std::fmt::Write as _;

use super::Writer;

/// What the threads of a butterfly access.
#[derive(Clone, Copy)]
enum Elements {
    Shared,
    Global,
}

impl Writer {
    /// A loop that halves a distance within one that doubles it, or a single exchange.
    pub(super) fn butterfly(&mut self) {
        let elements = if self.dice.chance(60) { Elements::Shared } else { Elements::Global };
        let own = self.own_number(elements);
        self.end_some();
        if self.dice.chance(50) {
            self.element_of(elements, &own, true);
            self.barrier_mostly(80);
        }
        if self.dice.chance(25) {
            let flipped = self.dice.pick(&["1", "2", "3", "16", "-1", "%r0", "%r1", "%r1"]);
            self.exchange_with(elements, &own, flipped);
        } else {
            self.doubling(elements, &own);
        }
        if self.dice.chance(50) {
            self.barrier_mostly(30);
            let is_written = self.dice.chance(30);
            self.element_of(elements, &own, is_written);
        }
    }

    fn own_number(&mut self, elements: Elements) -> String {
        match elements {
            Elements::Global if self.dice.chance(80) => self.global_thread(),
            Elements::Shared if self.dice.chance(10) => self.binary("shr.u32", "%r3", "1", None),
            Elements::Shared | Elements::Global => "%r3".to_owned(),
        }
    }

    /// Some threads end, mostly before they do anything.
    fn end_some(&mut self) {
        if !self.dice.chance(60) {
            return;
        }
        if self.dice.chance(20) {
            let elements = if self.dice.chance(50) { Elements::Shared } else { Elements::Global };
            self.element_of(elements, "%r3", true);
        }
        for _ in 0..=self.dice.roll(2) {
            let number = if self.dice.chance(60) { "%r3".to_owned() } else { self.global_thread() };
            let bound = self.dice.pick(&["%r0", "%r1", "%r2", "20"]);
            let comparison = self.dice.pick(&["ge.u32", "ge.s32", "eq.u32"]);
            self.leave(comparison, &number, bound);
        }
    }

    fn barrier_mostly(&mut self, percent: u32) {
        if self.dice.chance(percent) {
            self.barrier();
        }
    }

    fn doubling(&mut self, elements: Elements, own: &str) {
        let (size, distance) = (self.register("r"), self.register("r"));
        let (outer, inner) = (self.label(), self.label());
        let (next, end) = (self.label(), self.label());
        self.line(&format!("mov.u32 {size}, 2;"));
        let bound = self.dice.pick(&["%r0", "%r1", "%r4", "32"]);
        let _ = writeln!(self.text, "{outer}:");
        let done = self.register("p");
        self.line(&format!("setp.gt.u32 {done}, {size}, {bound};\n    @{done} bra {end};"));
        self.line(&format!("shr.u32 {distance}, {size}, 1;"));
        self.barrier_mostly(15);
        let _ = writeln!(self.text, "{inner}:");
        if self.dice.chance(10) {
            // What comes before the end of the loop is decided happens once more often than the barriers.
            let neighbour = self.binary("add.u32", own, "1", None);
            self.element_of(elements, &neighbour, true);
        }
        let is_over = self.register("p");
        self.line(&format!("setp.eq.u32 {is_over}, {distance}, 0;\n    @{is_over} bra {next};"));
        self.barrier_mostly(15);
        let flipped = if self.dice.chance(85) { distance.clone() } else { size.clone() };
        self.exchange_with(elements, own, &flipped);
        self.barrier_mostly(85);
        self.line(&format!("shr.u32 {distance}, {distance}, 1;\n    bra {inner};"));
        let _ = writeln!(self.text, "{next}:");
        if self.dice.chance(20) {
            self.element_of(elements, own, true);
            self.barrier_mostly(60);
        }
        self.line(&format!("shl.b32 {size}, {size}, 1;\n    bra {outer};"));
        let _ = writeln!(self.text, "{end}:");
    }

    /// The thread with the lesser number accesses both elements; sometimes, so does the other one.
    fn exchange_with(&mut self, elements: Elements, own: &str, flipped: &str) {
        let operation = self.dice.pick(&["xor.b32", "xor.b32", "xor.b32", "xor.b32", "or.b32"]);
        let partner = self.binary(operation, own, flipped, None);
        let end = self.label();
        if self.dice.chance(85) {
            let comparison = self.dice.pick(&["le.u32", "le.s32", "le.u32", "le.s32", "lt.u32"]);
            let skips = self.register("p");
            self.line(&format!("setp.{comparison} {skips}, {partner}, {own};"));
            self.line(&format!("@{skips} bra {end};"));
        }
        self.element_of(elements, own, false);
        let is_written = self.dice.chance(80);
        self.element_of(elements, &partner, is_written);
        self.element_of(elements, own, true);
        let _ = writeln!(self.text, "{end}:");
    }

    fn element_of(&mut self, elements: Elements, index: &str, is_written: bool) {
        let (space, address) = match elements {
            Elements::Global => ("global", self.element("%rd0", index, 4)),
            Elements::Shared => {
                let base = self.register("r");
                self.line(&format!("mov.u32 {base}, tile;"));
                ("shared", self.binary("mad.lo.u32", index, "4", Some(&base)))
            }
        };
        if is_written {
            self.line(&format!("st.{space}.u32 [{address}], %r3;"));
        } else {
            let dest = self.register("r");
            self.line(&format!("ld.{space}.u32 {dest}, [{address}];"));
        }
    }
}
