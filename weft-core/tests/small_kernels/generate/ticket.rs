//! Generates kernels that draw indices from counters.

use super::{Maker, counter, plain, sync};
use crate::kernel::{Array, Atomic, Binary, Instr, Operand, Place, Reg, Stmt, THREAD, What};

impl Maker<'_> {
    /// Adds statements in which threads draw numbers from a counter and access memory at these numbers.
    pub(super) fn ticket(&mut self, body: &mut Vec<Stmt>) {
        let array = self.dice.pick(&[Array::B, Array::B, Array::Out]);
        let place = counter(array, 0);
        if array == Array::B && self.dice.chance(70) {
            // One thread sets the counter to zero.
            let what = What::Store { place, bytes: 4, source: Operand::Const(0) };
            let guard = self.dice.chance(90).then_some((0, false));
            body.push(Stmt::Do(Instr { guard, what }));
            if self.dice.chance(90) {
                body.push(plain(sync()));
            }
        }
        let step = self.dice.pick(&[1, 1, 1, 2, 3, 0]);
        let operation = match self.dice.roll(10) {
            0..6 => Atomic::Add,
            6 => Atomic::Sub,
            7 => Atomic::Inc,
            8 => Atomic::Dec,
            _ => self.operation(),
        };
        let source = match operation {
            // The bound at which the counter wraps around.
            Atomic::Inc | Atomic::Dec => Operand::Const(self.dice.pick(&[0xffff_ffff, 7, 3, 1])),
            _ if self.dice.chance(90) => Operand::Const(step),
            _ => self.operand(),
        };
        let dest = 5;
        let take =
            What::Atomic { dest: Some(dest), operation, place, source, compare: Operand::Const(0) };
        match self.dice.roll(10) {
            0..5 => {
                let guard = self.dice.chance(20).then(|| (self.pred(), self.dice.chance(50)));
                body.push(Stmt::Do(Instr { guard, what: take }));
                self.by_ticket(body, dest);
            }
            5..8 => self.shared_base(body, take, dest),
            _ => {
                let mut inner = vec![plain(take)];
                self.by_ticket(&mut inner, dest);
                let count = if self.dice.chance(50) { Operand::Const(2) } else { self.operand() };
                body.push(Stmt::Loop { count, tests_first: self.dice.chance(50), body: inner });
            }
        }
        if self.dice.chance(15) {
            self.something_else(body, place);
        }
    }

    /// Adds a store to a counter, or an arbitrary atomic on it.
    pub(super) fn something_else(&mut self, body: &mut Vec<Stmt>, place: Place) {
        let what = if self.dice.chance(50) {
            What::Store { place, bytes: 4, source: self.operand() }
        } else {
            let operation = self.operation();
            let (source, compare) = (self.operand(), self.operand());
            What::Atomic { dest: Some(6), operation, place, source, compare }
        };
        let guard = self.dice.chance(50).then(|| (self.pred(), self.dice.chance(50)));
        body.push(Stmt::Do(Instr { guard, what }));
    }

    /// One thread draws a number and passes it to all others through shared memory.
    fn shared_base(&mut self, body: &mut Vec<Stmt>, take: What, dest: Reg) {
        let base = Place { offset: 632, ..counter(Array::A, 0) };
        let then = vec![
            plain(take),
            plain(What::Store { place: base, bytes: 4, source: Operand::Reg(dest) }),
        ];
        body.push(Stmt::If { pred: 0, negated: self.dice.chance(5), then, otherwise: Vec::new() });
        if self.dice.chance(90) {
            body.push(plain(sync()));
        }
        body.push(plain(What::Load { dest, place: base, bytes: 4 }));
        let sum = What::Compute(dest, Binary::Add, Operand::Reg(dest), Operand::Reg(THREAD));
        body.push(plain(sum));
        self.by_ticket(body, dest);
    }

    /// Adds the computation of an index from a drawn number and an access there, which can be wider than the step
    /// between numbers.
    pub(super) fn by_ticket(&mut self, body: &mut Vec<Stmt>, ticket: Reg) {
        let mut index = ticket;
        for _ in 0..self.dice.roll(2) {
            let factor = Operand::Const(self.dice.pick(&[1, 2, 3, 4]));
            let operation = self.dice.pick(&[Binary::Mul, Binary::Add, Binary::Shl, Binary::Sub]);
            body.push(plain(What::Compute(6, operation, Operand::Reg(index), factor)));
            index = 6;
        }
        let bytes: u32 = self.dice.pick(&[4, 4, 4, 1, 2, 8]);
        let shift = self.dice.pick(&[bytes.trailing_zeros(), 2, 3]).max(bytes.trailing_zeros());
        let mask = if self.dice.chance(80) { Place::ALL } else { self.dice.pick(&[63, 63, 3]) };
        let array = self.dice.pick(&[Array::A, Array::A, Array::Out]);
        let offset = if array == Array::Out { 128 } else { 0 };
        let place =
            Place { array, index: Operand::Reg(index), mask, shift, offset, is_generic: false };
        let place = if mask == 63 && shift == 3 { Place { mask: 15, ..place } } else { place };
        let guard = self.dice.chance(15).then(|| (self.pred(), self.dice.chance(50)));
        let store = What::Store { place, bytes, source: self.operand() };
        body.push(Stmt::Do(Instr { guard, what: store }));
        if self.dice.chance(40) {
            // Accesses the same place again, or the place of a later number.
            let further = self.dice.pick(&[0, 0, bytes, 1 << shift, 2 << shift]);
            let place = Place { offset: place.offset + further, ..place };
            let what = if self.dice.chance(50) {
                What::Load { dest: self.dest(), place, bytes }
            } else {
                What::Store { place, bytes, source: self.operand() }
            };
            body.push(plain(what));
        }
    }
}
