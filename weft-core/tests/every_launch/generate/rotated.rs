//! Loops as compilers write them: tested before they begin and at their end, and unrolled.

use std::fmt::Write as _;

use super::Writer;

impl Writer {
    /// The threads of a cta, or of a warp, go through the columns of its row, once or twice: a loop for the rest, and one that is
    /// unrolled.
    pub(super) fn unrolled(&mut self) {
        let columns = self.dice.pick(&["%r0", "%r0", "%r1", "100"]);
        let width = if self.dice.chance(92) { columns } else { "%r2" };
        let (row, first, step) = self.row_of();
        self.leave("ge.s32", &first, columns);
        let before = self.binary("mul.lo.s32", &row, width, None);
        for _ in 0..self.dice.pick(&[1, 1, 2]) {
            self.columns(&before, columns, &first, step);
        }
    }

    /// The row of a thread, its first column, and the step to the next one.
    fn row_of(&mut self) -> (String, String, &'static str) {
        if self.dice.chance(60) {
            return ("%r5".to_owned(), "%r3".to_owned(), "%r4");
        }
        let lanes = self.dice.pick(&[8, 32]);
        let thread = if self.dice.chance(92) { self.global_thread() } else { "%r3".to_owned() };
        let row = self.binary("shr.u32", &thread, if lanes == 8 { "3" } else { "5" }, None);
        let lane = self.binary("and.b32", "%r3", &(lanes - 1).to_string(), None);
        (row, lane, self.dice.pick(if lanes == 8 { &["8"] } else { &["32", "32", "16"] }))
    }

    /// Goes through the columns of a row.
    fn columns(&mut self, before: &str, columns: &str, first: &str, step: &str) {
        let by: u32 = self.dice.pick(&[2, 4, 4, 8]);
        let complement = self.binary("xor.b32", first, "-1", None);
        let last = self.binary("add.s32", &complement, columns, None);
        let whole = self.binary("div.u32", &last, step, None);
        let rounded = if self.dice.chance(94) { "1" } else { self.dice.pick(&["0", "2"]) };
        let rounds = self.binary("add.s32", &whole, rounded, None);
        let (column, left) = (self.register("r"), self.register("r"));
        self.line(&format!("mov.u32 {column}, {first};"));
        self.line(&format!("and.b32 {left}, {rounds}, {};", by - 1));
        let (head, rest) = (self.label(), self.label());
        let (none, again) = (self.register("p"), self.register("p"));
        self.line(&format!("setp.eq.s32 {none}, {left}, 0;"));
        self.line(&format!("@{none} bra {rest};"));
        let _ = writeln!(self.text, "{head}:");
        self.store_column(before, &column, (step, 0));
        self.line(&format!("add.s32 {column}, {column}, {step};"));
        self.line(&format!("add.s32 {left}, {left}, -1;"));
        self.line(&format!("setp.ne.s32 {again}, {left}, 0;"));
        self.line(&format!("@{again} bra {head};"));
        let _ = writeln!(self.text, "{rest}:");
        let few = if self.dice.chance(94) { by } else { by - 1 };
        let (head, end) = (self.label(), self.label());
        self.line(&format!("setp.lt.u32 {none}, {rounds}, {few};"));
        self.line(&format!("@{none} bra {end};"));
        let _ = writeln!(self.text, "{head}:");
        let stores = if self.dice.chance(94) { by } else { by + 1 };
        for at in 0..stores {
            self.store_column(before, &column, (step, at));
        }
        if self.dice.chance(50) {
            self.line(&format!("mad.lo.s32 {column}, {step}, {by}, {column};"));
        } else {
            for _ in 0..by {
                self.line(&format!("add.s32 {column}, {column}, {step};"));
            }
        }
        self.line(&format!("setp.lt.s32 {again}, {column}, {columns};"));
        self.line(&format!("@{again} bra {head};"));
        let _ = writeln!(self.text, "{end}:");
    }

    /// A row of each cta is gone through in steps.
    pub(super) fn stepping(&mut self) {
        let columns = self.dice.pick(&["%r0", "%r1", "64"]);
        let step = self.dice.pick(&["%r0", "%r1", "%r2", "%r4"]);
        let width = if self.dice.chance(80) { columns } else { "%r1" };
        let before = self.binary("mul.lo.s32", "%r5", width, None);
        let (column, head, end) = (self.register("r"), self.label(), self.label());
        self.line(&format!("mov.u32 {column}, %r3;"));
        let _ = writeln!(self.text, "{head}:");
        let done = self.register("p");
        self.line(&format!("setp.ge.s32 {done}, {column}, {columns};"));
        self.line(&format!("@{done} bra {end};"));
        self.store_column(&before, &column, ("%r4", 0));
        self.line(&format!("add.s32 {column}, {column}, {step};"));
        if self.dice.chance(30) {
            let more = self.dice.pick(&["%r4", "16", "-16", "-1"]);
            self.line(&format!("add.s32 {column}, {column}, {more};"));
        }
        self.line(&format!("bra {head};"));
        let _ = writeln!(self.text, "{end}:");
    }

    /// Stores to a column, so many steps behind one.
    fn store_column(&mut self, before: &str, column: &str, (step, steps): (&str, u32)) {
        let index = self.binary("add.s32", before, column, None);
        let (offset, address, behind) =
            (self.register("rd"), self.register("rd"), self.register("rd"));
        self.line(&format!("mul.wide.s32 {offset}, {index}, 4;"));
        self.line(&format!("add.s64 {address}, %rd0, {offset};"));
        self.line(&format!("mul.wide.u32 {behind}, {step}, {};", 4 * steps));
        self.line(&format!("add.s64 {address}, {address}, {behind};"));
        self.line(&format!("st.global.u32 [{address}], %r3;"));
    }

    /// Rounds with a barrier, between accesses of all threads to shared memory. All threads go round equally often, or in some
    /// kernels not.
    pub(super) fn rotated(&mut self) {
        let outer = self.dice.chance(60).then(|| self.begin());
        self.words(1);
        if self.dice.chance(60) {
            self.barrier();
        }
        let inner = self.begin();
        let is_early = self.dice.chance(50);
        if is_early && self.dice.chance(90) {
            self.barrier();
        }
        self.words(2);
        if !is_early && self.dice.chance(90) {
            self.barrier();
        }
        self.end(&inner);
        self.words(1);
        if let Some(outer) = outer {
            if self.dice.chance(70) {
                self.barrier();
                self.words(1);
            }
            self.end(&outer);
            self.words(1);
        }
    }

    /// At most so many accesses: a thread writes its own word, or reads that of its neighbour.
    fn words(&mut self, most: u32) {
        for _ in 0..self.dice.roll(most + 1) {
            let base = self.register("r");
            self.line(&format!("mov.u32 {base}, tile;"));
            let own = self.binary("mad.lo.u32", "%r3", "4", Some(&base));
            if self.dice.chance(50) {
                self.line(&format!("st.shared.u32 [{own}], %r3;"));
            } else {
                let dest = self.register("r");
                self.line(&format!("ld.shared.u32 {dest}, [{own}+4];"));
            }
        }
    }

    /// Begins a loop that counts down a number, mostly one that all threads have in common: its counter, its first label and
    /// the one behind it.
    fn begin(&mut self) -> [String; 3] {
        let (count, head, end) = (self.register("r"), self.label(), self.label());
        match self.dice.roll(20) {
            0 => self.line(&format!("and.b32 {count}, %r3, 3;")),
            1 | 2 => {
                // What the thread has written there before, or what a loop has.
                self.line(&format!("mad.lo.u32 {count}, %r3, 4, tile;"));
                self.line(&format!("ld.shared.u32 {count}, [{count}];"));
                self.line(&format!("and.b32 {count}, {count}, 3;"));
            }
            _ => {
                let first = self.uniform();
                self.line(&format!("and.b32 {count}, {first}, 3;"));
            }
        }
        if self.dice.chance(80) {
            let none = self.register("p");
            self.line(&format!("setp.eq.u32 {none}, {count}, 0;"));
            self.line(&format!("@{none} bra {end};"));
        }
        let _ = writeln!(self.text, "{head}:");
        [count, head, end]
    }

    fn end(&mut self, [count, head, end]: &[String; 3]) {
        let again = self.register("p");
        self.line(&format!("setp.gt.s32 {again}, {count}, 1;"));
        self.line(&format!("sub.u32 {count}, {count}, 1;"));
        self.line(&format!("@{again} bra {head};"));
        let _ = writeln!(self.text, "{end}:");
    }
}
