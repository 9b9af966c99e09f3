//! Kernels whose lanes exchange values, under conditions and in loops that some of them pass together.

use std::fmt::Write as _;

use super::Writer;

impl Writer {
    /// Exchanges under a condition, in a loop over rows, or in a loop that their results end.
    pub(super) fn exchanging(&mut self) {
        if self.dice.chance(10) {
            self.second_dimension();
        }
        let row = self.row();
        let end = self.label();
        match self.dice.roll(4) {
            0 => {
                let bound = self.warp_bound();
                let condition = self.condition(&row, &bound);
                self.line(&format!("@{condition} bra {end};"));
                self.exchange();
                self.store_row(&row);
            }
            1 => {
                let (index, head) = (self.register("r"), self.label());
                let (bound, step) = (self.uniform(), self.warp_bound());
                self.line(&format!("mov.u32 {index}, {row};"));
                let _ = writeln!(self.text, "{head}:");
                let done = self.register("p");
                self.line(&format!("setp.ge.s32 {done}, {index}, {bound};"));
                self.line(&format!("@{done} bra {end};"));
                self.exchange();
                self.store_row(&index);
                self.line(&format!("add.s32 {index}, {index}, {step};"));
                self.line(&format!("bra {head};"));
            }
            2 => self.until_all_agree(&row),
            _ => {
                // Some bits of a value decide.
                let bound = self.warp_bound();
                let other = self.binary("and.b32", &row, &bound, None);
                let number = self.number();
                let condition = self.condition(&other, &number);
                self.line(&format!("@{condition} bra {end};"));
                self.exchange();
                self.store_row(&other);
            }
        }
        let _ = writeln!(self.text, "{end}:");
        // Lanes that do not come to an exchange are seen where they come to a barrier instead.
        let barrier = self.dice.pick(&["bar.sync 0;", "bar.warp.sync 0xffffffff;"]);
        self.line(barrier);
    }

    /// A value that lanes of a warp might have in common.
    fn row(&mut self) -> String {
        let threads = self.global_thread();
        let thread = if self.dice.chance(85) { "%r3".to_owned() } else { threads };
        let shift = self.dice.pick(&["5", "5", "5", "6", "4", "1"]);
        match self.dice.roll(7) {
            0 | 1 => self.binary("shr.u32", &thread, shift, None),
            2 => {
                // A signed division.
                let bits = self.dice.pick(&["27", "27", "28", "26"]);
                let sign = self.binary("shr.s32", &thread, "31", None);
                let below = self.binary("shr.u32", &sign, bits, None);
                let sum = self.binary("add.s32", &thread, &below, None);
                self.binary("shr.s32", &sum, shift, None)
            }
            3 => {
                let divisor = self.dice.pick(&["32", "64", "96", "16", "33", "%r4"]);
                let operation = self.dice.pick(&["div.u32", "div.u32", "rem.u32"]);
                self.binary(operation, &thread, divisor, None)
            }
            4 => {
                let mask = self.dice.pick(&["-32", "-64", "992", "-16", "31"]);
                self.binary("and.b32", &thread, mask, None)
            }
            5 => {
                let other = self.dice.pick(&["32", "64", "-32", "1", "16"]);
                let operation = self.dice.pick(&["add.u32", "sub.u32", "or.b32", "xor.b32"]);
                let moved = self.binary(operation, &thread, other, None);
                self.binary("shr.u32", &moved, shift, None)
            }
            _ => thread,
        }
    }

    fn warp_bound(&mut self) -> String {
        if self.dice.chance(30) {
            return self.uniform();
        }
        self.dice.pick(&["32", "31", "33", "1", "2", "64", "63", "-1", "-32", "0"]).to_owned()
    }

    pub(super) fn exchange(&mut self) {
        let (dest, valid) = (self.register("r"), self.register("p"));
        let exchange = match self.dice.roll(4) {
            0 => "bar.warp.sync 0xffffffff;".to_owned(),
            1 => format!("vote.sync.ballot.b32 {dest}, {valid}, 0xffffffff;"),
            2 => format!("redux.sync.add.u32 {dest}, %r3, 0xffffffff;"),
            _ => format!("shfl.sync.bfly.b32 {dest}|{valid}, %r3, 16, 31, 0xffffffff;"),
        };
        if exchange.contains("ballot") {
            self.line(&format!("setp.ne.u32 {valid}, %r3, 0;"));
        }
        self.line(&exchange);
    }

    /// A store to an element of the thread, or one to the row that often only the first lane does.
    fn store_row(&mut self, row: &str) {
        if self.dice.chance(60) {
            let own = self.global_thread();
            return self.store_at(&own);
        }
        let (lane, other, next) =
            (self.binary("and.b32", "%r3", "31", None), self.register("p"), self.label());
        self.line(&format!("setp.ne.u32 {other}, {lane}, 0;"));
        self.line(&format!("@{other} bra {next};"));
        self.store_at(row);
        let _ = writeln!(self.text, "{next}:");
    }

    /// A loop that goes on as long as some lane or thread has something left, or as long as this one has.
    fn until_all_agree(&mut self, row: &str) {
        let (round, head) = (self.register("r"), self.label());
        let (goes_on, agreed) = (self.register("p"), self.register("p"));
        self.line(&format!("mov.u32 {round}, 0;"));
        let _ = writeln!(self.text, "{head}:");
        if self.dice.chance(30) {
            self.shared();
        }
        self.line(&format!("add.u32 {round}, {round}, 1;"));
        let left = self.binary("and.b32", row, "3", None);
        self.line(&format!("setp.gt.u32 {goes_on}, {left}, {round};"));
        let vote = self.dice.pick(&[
            "vote.sync.any.pred P, Q, 0xffffffff;",
            "vote.sync.all.pred P, Q, 0xffffffff;",
            "vote.sync.any.pred P, Q, 0xffff;",
            "bar.red.or.pred P, 0, Q;",
            "bar.red.and.pred P, 0, Q;",
        ]);
        self.line(&vote.replace('P', &agreed).replace('Q', &goes_on));
        let decides = if self.dice.chance(75) { agreed } else { goes_on };
        self.line(&format!("@{decides} bra {head};"));
        let own = self.global_thread();
        self.store_at(&own);
    }
}
