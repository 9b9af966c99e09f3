//! Generates values that are read while they are, or might be, written: stores to one word by several threads, some at
//! open addresses, and a load of the word that decides a branch or an address.

use super::{Maker, plain, sync};
use crate::kernel::{
    Array, Binary, Compare, GLOBAL, Instr, Operand, Place, Pred, Reg, Stmt, THREAD, What,
};

/// The register into which the word is loaded.
const VALUE: Reg = 5;
/// The register that holds an open index.
const INDEX: Reg = 6;
/// The predicate with which the value is tested.
const TESTED: Pred = 2;

impl Maker<'_> {
    pub(super) fn races(&mut self, body: &mut Vec<Stmt>) {
        let word = self.word();
        body.push(plain(self.data_load()));
        if self.dice.chance(80) {
            let source = Operand::Const(self.dice.roll(3));
            body.push(only_first(What::Store { place: word, bytes: 4, source }));
            self.perhaps_sync(body, 90);
        }
        for _ in 0..=self.dice.roll(2) {
            let store = self.word_store(word);
            body.push(store);
            self.perhaps_sync(body, 20);
        }
        self.perhaps_sync(body, 40);
        body.push(plain(What::Load { dest: VALUE, place: word, bytes: 4 }));
        self.perhaps_sync(body, 30);
        if self.dice.chance(30) {
            let store = self.word_store(word);
            body.push(store);
            self.perhaps_sync(body, 30);
        }
        self.value_matters(body);
    }

    fn perhaps_sync(&mut self, body: &mut Vec<Stmt>, percent: u32) {
        if self.dice.chance(percent) {
            body.push(plain(sync()));
        }
    }

    fn word(&mut self) -> Place {
        let array = self.dice.pick(&[Array::A, Array::A, Array::B, Array::Out]);
        // Offsets at the beginning of a page, and on both sides of a page boundary.
        let offset = self.dice.pick(&[0, 4, 124, 128]);
        let index = Operand::Const(0);
        Place { array, index, mask: Place::ALL, shift: 2, offset, is_generic: false }
    }

    fn data_load(&mut self) -> What {
        let index = Operand::Const(self.dice.roll(self.words));
        What::Load { dest: INDEX, place: self.data(index), bytes: 4 }
    }

    /// Returns a store to the word: by all or some threads, of one value or several, at its address or at an open one.
    fn word_store(&mut self, word: Place) -> Stmt {
        let place = match self.dice.roll(4) {
            0 => Place { index: Operand::Reg(INDEX), mask: 7, offset: word.offset & !7, ..word },
            _ => word,
        };
        let source = match self.dice.roll(4) {
            0 => Operand::Reg(THREAD),
            1 => Operand::Reg(INDEX),
            _ => Operand::Const(self.dice.roll(3)),
        };
        let bytes = self.dice.pick(&[4, 4, 4, 1]);
        let what = What::Store { place, bytes, source };
        let guard = self.dice.chance(70).then(|| (self.pred(), self.dice.chance(30)));
        Stmt::Do(Instr { guard, what })
    }

    /// Adds statements in which the value decides a branch or an address.
    fn value_matters(&mut self, body: &mut Vec<Stmt>) {
        if self.dice.chance(50) {
            let compare = self.dice.pick(&[Compare::Eq, Compare::Ne, Compare::Lt]);
            let limit = Operand::Const(self.dice.roll(3));
            body.push(plain(What::Test(TESTED, compare, Operand::Reg(VALUE), limit)));
            let offset = self.dice.pick(&[0, 0, 4, 600]);
            let then =
                if self.dice.chance(25) { plain(sync()) } else { self.access(THREAD, offset) };
            let (negated, then) = (self.dice.chance(50), vec![then]);
            body.push(Stmt::If { pred: TESTED, negated, then, otherwise: Vec::new() });
            return;
        }
        if self.dice.chance(50) {
            let sum = (Operand::Reg(VALUE), Operand::Reg(THREAD));
            body.push(plain(What::Compute(VALUE, Binary::Add, sum.0, sum.1)));
        }
        let offset = self.dice.pick(&[0, 64, 600]);
        let access = self.access(VALUE, offset);
        body.push(access);
    }

    fn access(&mut self, index: Reg, offset: u32) -> Stmt {
        let array = self.dice.pick(&[Array::B, Array::A, Array::Out]);
        let index = if array == Array::Out && index == THREAD { GLOBAL } else { index };
        let index = Operand::Reg(index);
        let place = Place { array, index, mask: Place::ALL, shift: 2, offset, is_generic: false };
        plain(match self.dice.roll(3) {
            0 => What::Load { dest: 2, place, bytes: 4 },
            _ => What::Store { place, bytes: 4, source: Operand::Reg(THREAD) },
        })
    }
}

fn only_first(what: What) -> Stmt {
    Stmt::Do(Instr { guard: Some((0, false)), what })
}
