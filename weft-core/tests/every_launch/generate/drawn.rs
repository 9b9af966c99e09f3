//! Kernels whose threads draw places from counters by atomics, and store there.

use std::fmt::Write as _;

use super::Writer;

/// Where the counters of a kernel are: the state space, and the addresses of two.
struct Counters {
    space: &'static str,
    addresses: [&'static str; 2],
}

impl Writer {
    /// Threads store at the places that they draw. Most deviations let two of them draw one place.
    pub(super) fn drawing(&mut self) {
        let counters = if self.dice.chance(50) {
            Counters { space: "shared", addresses: ["counts", "counts+4"] }
        } else {
            Counters { space: "global", addresses: ["%rd1", "%rd1+4"] }
        };
        if self.dice.chance(if counters.space == "shared" { 70 } else { 15 }) {
            self.reset(&counters);
            self.meet_mostly();
        }
        if self.dice.chance(25) {
            let (thread, bound) = (self.global_thread(), self.uniform());
            let done = self.condition(&thread, &bound);
            self.line(&format!("@{done} bra EXIT;"));
        }
        let step = self.dice.pick(&["1", "1", "1", "2", "4", "-1", "3"]);
        let place = match self.dice.roll(14) {
            0 => {
                self.update(&counters);
                self.draw(&counters, 0, step)
            }
            1 => {
                // What both draw is stored behind the last barrier.
                let other = self.draw(&counters, 0, step);
                self.meet_mostly();
                self.reset(&counters);
                self.meet_mostly();
                let place = self.draw(&counters, 0, step);
                self.store_drawn(&counters, &other, step);
                place
            }
            2 => {
                let (one, other) = (self.draw(&counters, 0, step), self.draw(&counters, 1, step));
                let bound = self.uniform();
                let condition = self.condition("%r3", &bound);
                let dest = self.register("r");
                self.line(&format!("selp.b32 {dest}, {one}, {other}, {condition};"));
                dest
            }
            3 => {
                let (one, other) = (self.draw(&counters, 0, step), self.draw(&counters, 0, step));
                self.store_drawn(&counters, &one, step);
                other
            }
            4 => self.drawn_in_a_loop(&counters, step),
            5 => {
                let place = self.draw(&counters, 0, step);
                self.reset(&counters);
                place
            }
            _ => self.draw(&counters, 0, step),
        };
        self.store_drawn(&counters, &place, step);
    }

    fn meet_mostly(&mut self) {
        if self.dice.chance(85) {
            self.barrier();
        }
    }

    /// One thread of each cta, or all, set the counter.
    fn reset(&mut self, counters: &Counters) {
        let (space, address) = (counters.space, counters.addresses[0]);
        let order = self.dice.pick(&["", "", ".relaxed.gpu", ".volatile"]);
        let first = self.register("p");
        self.line(&format!("setp.eq.u32 {first}, %r3, 0;"));
        let guard = if self.dice.chance(85) { format!("@{first} ") } else { String::new() };
        let end = self.label();
        self.line(&format!("@!{first} bra {end};"));
        self.line(&format!("{guard}st{order}.{space}.u32 [{address}], 0;"));
        let _ = writeln!(self.text, "{end}:");
    }

    /// Another atomic on the counter.
    fn update(&mut self, counters: &Counters) {
        let (space, address) = (counters.space, counters.addresses[0]);
        let update = self.dice.pick(&[
            "atom.SPACE.add.u32 %r399, [ADDRESS], 2",
            "red.SPACE.add.u32 [ADDRESS], 1",
            "red.SPACE.add.u32 [ADDRESS], -1",
            "atom.SPACE.inc.u32 %r399, [ADDRESS], 3",
            "atom.SPACE.exch.b32 %r399, [ADDRESS], 0",
            "red.SPACE.min.u32 [ADDRESS], 1",
            "red.SPACE.add.u32 [ADDRESS], 0",
        ]);
        let update = update.replace("SPACE", space).replace("ADDRESS", address);
        self.line(&format!("{update};"));
    }

    fn draw(&mut self, counters: &Counters, number: usize, step: &str) -> String {
        let (space, address) = (counters.space, counters.addresses[number]);
        let scope = if space == "global" && self.dice.chance(10) { ".cta" } else { "" };
        let order = if scope.is_empty() { "" } else { ".relaxed" };
        let dest = self.register("r");
        self.line(&format!("atom{order}{scope}.{space}.add.u32 {dest}, [{address}], {step};"));
        dest
    }

    /// Draws in each iteration of a loop, and stores there; returns the place of the last one.
    fn drawn_in_a_loop(&mut self, counters: &Counters, step: &str) -> String {
        let (number, last, head) = (self.register("r"), self.register("r"), self.label());
        self.line(&format!("mov.u32 {number}, 0;"));
        let _ = writeln!(self.text, "{head}:");
        let place = self.draw(counters, 0, step);
        self.line(&format!("mov.u32 {last}, {place};"));
        if self.dice.chance(50) {
            self.store_drawn(counters, &place, step);
        }
        self.line(&format!("add.u32 {number}, {number}, 1;"));
        let (again, bound) = (self.register("p"), self.dice.pick(&["2", "3", "%r2"]));
        self.line(&format!("setp.lt.u32 {again}, {number}, {bound};"));
        self.line(&format!("@{again} bra {head};"));
        last
    }

    /// Stores one element or several at a multiple of a place, mostly no more than lie between two places.
    fn store_drawn(&mut self, counters: &Counters, place: &str, step: &str) {
        let scale: u32 = self.dice.pick(&[1, 1, 2, 4]);
        let first = self.binary("mul.lo.u32", place, &scale.to_string(), None);
        let room = scale * step.trim_start_matches('-').parse::<u32>().expect("a number");
        let parts = if self.dice.chance(10) { room + 1 } else { 1 + self.dice.roll(room) };
        let is_shared = counters.space == "shared" && self.dice.chance(85);
        for part in 0..parts {
            let index = self.binary("add.u32", &first, &part.to_string(), None);
            if is_shared {
                let base = self.register("r");
                self.line(&format!("mov.u32 {base}, tile;"));
                let address = self.binary("mad.lo.u32", &index, "4", Some(&base));
                self.line(&format!("st.shared.u32 [{address}], %r3;"));
            } else {
                self.store_at(&index);
            }
        }
    }
}
