//! Generates loops in each iteration of which one thread passes a value to all others: a number from a counter, or one
//! computed from that of the iteration before. All threads leave the loop by that number, or after some iterations.

use super::{Maker, counter, plain, sync};
use crate::kernel::{
    Array, Atomic, Binary, Compare, Instr, NUMBER, Operand, Place, Reg, Stmt, THREAD, What,
};

/// The register into which the number is drawn and loaded.
const VALUE: Reg = 5;

impl Maker<'_> {
    pub(super) fn queue(&mut self, body: &mut Vec<Stmt>) {
        let base = Place { offset: 632, ..counter(Array::A, 0) };
        let place = match self.dice.roll(4) {
            0 => counter(Array::B, 0),
            1 => counter(Array::Out, 0),
            _ => self.data(Operand::Const(0)),
        };
        if self.dice.chance(70) {
            for place in [place, base] {
                let what =
                    What::Store { place, bytes: 4, source: Operand::Const(self.dice.roll(2)) };
                if !place.array.is_global() {
                    body.push(Stmt::Do(Instr { guard: Some((0, false)), what }));
                }
            }
            body.push(plain(sync()));
        }
        let hands_first = self.dice.chance(25);
        let (hand, uses) = (self.hand(place, base), self.uses());
        let mut round = Vec::new();
        if hands_first {
            // An iteration uses the number that was passed in the iteration before.
            body.extend(hand.clone());
            round.extend(uses);
            round.extend(self.dice.chance(85).then(|| plain(sync())));
            round.extend(hand);
        } else {
            round.extend(hand);
            round.extend(uses);
            round.extend(self.dice.chance(85).then(|| plain(sync())));
        }
        if self.dice.chance(10) {
            self.something_else(&mut round, place);
        }
        let count = match self.dice.roll(4) {
            0 => Operand::Const(3),
            1 => self.operand(),
            _ => Operand::Reg(NUMBER),
        };
        let tests_first = self.dice.chance(50);
        body.push(Stmt::Loop { count, tests_first, body: round });
        if self.dice.chance(30) {
            let after = self.stmt(2);
            body.push(after);
        }
    }

    /// Returns statements in which one thread gets a number and passes it on through shared memory, or to the lanes of
    /// its warp.
    fn hand(&mut self, place: Place, base: Place) -> Vec<Stmt> {
        let source = Operand::Const(self.dice.pick(&[1, 2, self.block, self.block, 4]));
        let operation = self.dice.pick(&[Atomic::Add, Atomic::Add, Atomic::Add, Atomic::Sub]);
        let (dest, compare) = (Some(VALUE), Operand::Const(0));
        let take = plain(What::Atomic { dest, operation, place, source, compare });
        let left = [
            plain(What::Load { dest: VALUE, place: base, bytes: 4 }),
            plain(What::Compute(VALUE, Binary::Add, Operand::Reg(VALUE), source)),
        ];
        let mut then = if self.dice.chance(70) { vec![take] } else { left.to_vec() };
        let is_shuffled = self.dice.chance(20);
        if !is_shuffled || self.dice.chance(20) {
            then.push(plain(What::Store { place: base, bytes: 4, source: Operand::Reg(VALUE) }));
        }
        let negated = self.dice.chance(4);
        let mut all = vec![Stmt::If { pred: 0, negated, then, otherwise: Vec::new() }];
        if is_shuffled {
            let (dest, source, lane, mask) = (VALUE, VALUE, 0, u32::MAX);
            all.push(plain(What::Shuffle { dest, source, lane, mask }));
            return all;
        }
        all.extend(self.dice.chance(90).then(|| plain(sync())));
        all.push(plain(What::Load { dest: VALUE, place: base, bytes: 4 }));
        all
    }

    /// Returns statements in which all threads use the number.
    fn uses(&mut self) -> Vec<Stmt> {
        let mut all = Vec::new();
        if self.dice.chance(50) {
            let most = if self.dice.chance(60) { Operand::Reg(NUMBER) } else { Operand::Const(4) };
            all.push(plain(What::Test(2, Compare::Ge, Operand::Reg(VALUE), most)));
            all.push(Stmt::Break(Some((2, false))));
        }
        let with = if self.dice.chance(85) { Operand::Reg(THREAD) } else { self.operand() };
        all.push(plain(What::Compute(6, Binary::Add, Operand::Reg(VALUE), with)));
        if self.dice.chance(40) {
            self.by_ticket(&mut all, 6);
            return all;
        }
        let (index, mask, shift, offset) = (Operand::Reg(6), Place::ALL, 2, 128);
        let place = Place { array: Array::Out, index, mask, shift, offset, is_generic: false };
        all.push(plain(What::Store { place, bytes: 4, source: Operand::Reg(THREAD) }));
        all
    }
}
