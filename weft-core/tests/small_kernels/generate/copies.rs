//! Generates asynchronous copies: rounds in which threads copy, make a group, wait, meet at a barrier and read, each with
//! something left out or misplaced at times.

use super::{Maker, plain, sync};
use crate::kernel::{
    Array, Binary, Compare, GLOBAL, Instr, NUMBER, Operand, Place, Pred, Reg, Stmt, THREAD, What,
};

/// The register that holds the size of a source.
const SIZE: Reg = 5;
/// The register into which copied words are loaded.
const VALUE: Reg = 6;
/// The register whose value is another one in each iteration of a loop, if any is.
const MOVED: Reg = 3;
/// The predicate with which a copied value is tested.
const TESTED: Pred = 2;

impl Maker<'_> {
    pub(super) fn copies(&mut self, body: &mut Vec<Stmt>) {
        for _ in 0..self.dice.roll(3) {
            let what = match self.input() {
                What::Load { place, bytes, .. } if self.dice.chance(50) => {
                    What::Load { dest: VALUE, place, bytes }
                }
                _ => self.test(),
            };
            body.push(plain(what));
        }
        for _ in 0..=self.dice.roll(2) {
            let is_loop = self.dice.chance(25);
            self.loops = usize::from(is_loop && self.dice.chance(60));
            let mut round = Vec::new();
            self.round(&mut round);
            if self.loops > 0 {
                let step = Operand::Const(self.dice.pick(&[1, self.block]));
                round.push(plain(What::Compute(MOVED, Binary::Add, Operand::Reg(MOVED), step)));
            }
            if is_loop {
                let counts = [Operand::Const(3), Operand::Reg(NUMBER), Operand::Reg(NUMBER)];
                let count =
                    if self.dice.chance(20) { self.operand() } else { self.dice.pick(&counts) };
                let tests_first = self.dice.chance(60);
                body.push(Stmt::Loop { count, tests_first, body: round });
            } else if self.dice.chance(10) {
                let (pred, negated) = (self.pred(), self.dice.chance(50));
                body.push(Stmt::If { pred, negated, then: round, otherwise: Vec::new() });
            } else {
                body.extend(round);
            }
            if self.dice.chance(20) {
                body.push(plain(What::Wait(None)));
            }
            if self.dice.chance(85) {
                body.push(plain(sync()));
            }
        }
    }

    fn round(&mut self, body: &mut Vec<Stmt>) {
        for _ in 0..=self.dice.roll(4) / 3 {
            self.copy(body);
            if self.dice.chance(90) {
                body.push(plain(What::Commit));
            }
        }
        let mut rest = Vec::new();
        if self.dice.chance(6) {
            rest.push(self.use_of_copy());
        }
        if self.dice.chance(94) {
            let keep = self.dice.pick(&[
                None,
                None,
                None,
                Some(0),
                Some(0),
                Some(0),
                Some(0),
                Some(1),
                Some(2),
            ]);
            rest.push(plain(What::Wait(keep)));
        }
        if self.dice.chance(90) {
            rest.push(plain(sync()));
        }
        if rest.len() > 1 && self.dice.chance(6) {
            rest.swap(0, 1);
        }
        body.extend(rest);
        for _ in 0..=self.dice.roll(2) {
            let stmt = self.use_of_copy();
            body.push(stmt);
        }
        if self.dice.chance(20) {
            let compare = self.dice.pick(&[Compare::Eq, Compare::Ne, Compare::Lt]);
            body.push(plain(What::Test(TESTED, compare, Operand::Reg(VALUE), Operand::Const(1))));
            let then = vec![self.use_of_copy()];
            body.push(Stmt::If { pred: TESTED, negated: false, then, otherwise: Vec::new() });
        }
    }

    /// Adds a copy, by all or some threads.
    fn copy(&mut self, body: &mut Vec<Stmt>) {
        let bytes = if self.loops > 0 { 4 } else { self.dice.pick(&[4, 4, 8, 16]) };
        let from = match self.dice.roll(6) {
            0 if bytes == 4 => self.data(Operand::Reg(THREAD)),
            _ => self.aligned(Array::Out, bytes),
        };
        let array = self.dice.pick(&[Array::A, Array::A, Array::B]);
        let to = self.aligned(array, bytes);
        let size = match self.dice.roll(12) {
            0 => Some(Operand::Const(self.dice.roll(bytes + 1))),
            1 => {
                let sizes = (Operand::Const(bytes), Operand::Const(self.dice.pick(&[0, 0, 1, 2])));
                let pred = self.pred();
                body.push(plain(What::Select(SIZE, sizes.0, sizes.1, pred)));
                Some(Operand::Reg(SIZE))
            }
            _ => None,
        };
        let guard = self.dice.chance(15).then(|| (self.pred(), self.dice.chance(50)));
        body.push(Stmt::Do(Instr { guard, what: What::Copy { to, from, bytes, size } }));
    }

    /// Returns a place of so many bytes, which is aligned: mostly one for each thread.
    fn aligned(&mut self, array: Array, bytes: u32) -> Place {
        let own = if array == Array::Out { GLOBAL } else { THREAD };
        let index = match self.dice.roll(40) {
            0 => Operand::Reg(2),
            1 => Operand::Reg(3),
            2 => Operand::Const(self.dice.roll(2)),
            _ if self.loops > 0 && self.dice.chance(60) => Operand::Reg(MOVED),
            _ => Operand::Reg(own),
        };
        let (mask, shift) = (Place::ALL, bytes.trailing_zeros());
        let offset = self.dice.pick(&[0, 0, 0, 64]);
        let index = if bytes == 16 && offset == 64 { Operand::Const(1) } else { index };
        Place { array, index, mask, shift, offset, is_generic: false }
    }

    /// Returns a load of a copied word, at times a store to it, or a store to where copies read.
    fn use_of_copy(&mut self) -> Stmt {
        let array = self.dice.pick(&[Array::A, Array::A, Array::A, Array::B, Array::Out]);
        let bytes = self.dice.pick(&[4, 4, 8]);
        let mut place = self.aligned(array, 4);
        if array != Array::Out && self.dice.chance(40) {
            place.index = Operand::Reg(self.dice.pick(&[2, 3]));
        }
        let guard = self.dice.chance(10).then(|| (self.pred(), self.dice.chance(50)));
        let what = match self.dice.roll(12) {
            0 => What::Store { place, bytes: 4, source: Operand::Reg(THREAD) },
            1 => What::Load { dest: VALUE, place: self.aligned(array, bytes), bytes },
            _ => What::Load { dest: VALUE, place, bytes: 4 },
        };
        Stmt::Do(Instr { guard, what })
    }
}
