//! Generates kernels in which a value depends on an open condition and is passed through registers or memory to a place
//! where it matters.
//!
//! A carrier gets a value, then another value under an open condition. Then it is read and decides a branch or an
//! address, by which threads race or do not.

use super::{Maker, plain, sync};
use crate::kernel::{Array, Compare, GLOBAL, Instr, Operand, Place, Pred, Reg, Stmt, THREAD, What};

/// The place of a value that only its own thread accesses.
#[derive(Clone, Copy, Debug)]
enum Carrier {
    Reg,
    Memory { place: Place, bytes: u32 },
}

/// The register that is the carrier, or into which the carrier in memory is loaded.
const VALUE: Reg = 5;
/// The predicate that holds the open condition.
const OPEN: Pred = 2;

impl Maker<'_> {
    pub(super) fn flow(&mut self, body: &mut Vec<Stmt>) {
        let carrier = self.carrier();
        let first = self.carried(carrier);
        body.push(plain(first));
        if self.dice.chance(30) {
            let also = self.stmt(2);
            body.push(also);
        }
        self.condition(body);
        let changed = self.changes(carrier);
        let construct = self.under_condition(changed);
        body.push(construct);
        if self.dice.chance(25) {
            self.overwritten(body, carrier);
        } else if self.dice.chance(20) {
            body.push(plain(sync()));
        }
        self.matters(body, carrier);
        if self.dice.chance(25) {
            let also = self.stmt(1);
            body.push(also);
        }
    }

    fn carrier(&mut self) -> Carrier {
        let array = match self.dice.roll(8) {
            0 | 1 => return Carrier::Reg,
            2 | 3 => Array::Local,
            4 => Array::Out,
            _ => Array::A,
        };
        let bytes = self.dice.pick(&[4, 4, 4, 2, 8]);
        let index = match array {
            Array::Local => Operand::Const(1),
            Array::Out => Operand::Reg(GLOBAL),
            _ => Operand::Reg(THREAD),
        };
        let mask = if array == Array::Local { 3 } else { Place::ALL };
        let is_generic = self.dice.chance(8);
        let place = Place { array, index, mask, shift: 3, offset: 0, is_generic };
        Carrier::Memory { place, bytes }
    }

    /// Returns the instruction that gives the carrier a value.
    fn carried(&mut self, carrier: Carrier) -> What {
        let value = match self.dice.roll(5) {
            0 | 1 => Operand::Reg(THREAD),
            _ => Operand::Const(self.dice.roll(3)),
        };
        match carrier {
            Carrier::Reg => What::Move(VALUE, value),
            // Sometimes with another width.
            Carrier::Memory { place, bytes } => {
                let bytes = if self.dice.chance(10) { 1 } else { bytes };
                What::Store { place, bytes, source: value }
            }
        }
    }

    /// Sets the last predicate to an open condition on the argument or on a word of the data.
    fn condition(&mut self, body: &mut Vec<Stmt>) {
        let open = if self.dice.chance(30) {
            Operand::Reg(1)
        } else {
            let index = match self.dice.roll(2) {
                0 => Operand::Reg(THREAD),
                _ => Operand::Const(self.dice.roll(self.words)),
            };
            body.push(plain(What::Load { dest: 6, place: self.data(index), bytes: 4 }));
            Operand::Reg(6)
        };
        let compare = self.dice.pick(&[Compare::Eq, Compare::Ne, Compare::Lt, Compare::Ge]);
        let bound = Operand::Const(self.dice.roll(3));
        let mut test =
            Stmt::Do(Instr { guard: None, what: What::Test(OPEN, compare, open, bound) });
        if self.dice.chance(15) {
            // For some threads the predicate keeps its value: a known one, or another condition.
            let what = What::Test(OPEN, compare, open, bound);
            test = Stmt::Do(Instr { guard: Some((0, self.dice.chance(50))), what });
        }
        body.push(test);
    }

    /// Returns the statements under the condition.
    fn changes(&mut self, carrier: Carrier) -> Vec<Stmt> {
        let mut changes = Vec::new();
        if self.dice.chance(20) {
            let also = self.stmt(3);
            changes.push(also);
        }
        if self.dice.chance(40) {
            // The carrier is used before it changes: in a loop, with the value of the iteration before.
            self.matters(&mut changes, carrier);
        }
        if let (Carrier::Memory { place, bytes }, true) = (carrier, self.dice.chance(30)) {
            // The carrier is loaded before it changes.
            changes.push(plain(What::Load { dest: VALUE, place, bytes }));
            let one = Operand::Const(1);
            let sum = What::Compute(VALUE, crate::kernel::Binary::Add, Operand::Reg(VALUE), one);
            changes.push(plain(sum));
            changes.push(plain(What::Store { place, bytes, source: Operand::Reg(VALUE) }));
            return changes;
        }
        if matches!(carrier, Carrier::Reg) && self.dice.chance(40) {
            let one = Operand::Const(1);
            let sum = What::Compute(VALUE, crate::kernel::Binary::Add, Operand::Reg(VALUE), one);
            changes.push(plain(sum));
            return changes;
        }
        let change = self.carried(carrier);
        let guard = self.dice.chance(20).then(|| (self.pred(), self.dice.chance(50)));
        changes.push(Stmt::Do(Instr { guard, what: change }));
        changes
    }

    /// Adds a store by one thread to the carrier of an unknown thread, mostly separated from the rest by barriers.
    fn overwritten(&mut self, body: &mut Vec<Stmt>, carrier: Carrier) {
        let Carrier::Memory { place, .. } = carrier else { return };
        body.push(plain(sync()));
        let index = Operand::Reg(self.dice.pick(&[1, 6, 6]));
        let place = Place { index, mask: if place.mask == 3 { 3 } else { 7 }, ..place };
        let source = Operand::Const(self.dice.roll(3));
        let store = What::Store { place, bytes: self.dice.pick(&[4, 4, 8]), source };
        let guard = Some((0, self.dice.chance(5)));
        body.push(Stmt::Do(Instr { guard, what: store }));
        if self.dice.chance(90) {
            body.push(plain(sync()));
        }
    }

    fn under_condition(&mut self, changes: Vec<Stmt>) -> Stmt {
        let negated = self.dice.chance(50);
        match self.dice.roll(13) {
            0..3 => Stmt::If { pred: OPEN, negated, then: changes, otherwise: Vec::new() },
            3 => {
                let otherwise = self.block(2);
                Stmt::If { pred: OPEN, negated, then: changes, otherwise }
            }
            4 => {
                // A condition that is known outside and open inside.
                let inner = Stmt::If { pred: OPEN, negated, then: changes, otherwise: Vec::new() };
                Stmt::If { pred: 0, negated, then: vec![inner], otherwise: Vec::new() }
            }
            5 => {
                let arms = [changes, Vec::new(), self.block(3), Vec::new()];
                Stmt::Switch { index: self.dice.pick(&[1, 6]), arms }
            }
            6 => {
                let mut body = changes;
                body.push(Stmt::Break(Some((OPEN, negated))));
                Stmt::Loop { count: Operand::Const(2), tests_first: self.dice.chance(50), body }
            }
            7..12 => {
                let count = Operand::Reg(self.dice.pick(&[1, 6]));
                Stmt::Loop { count, tests_first: self.dice.chance(70), body: changes }
            }
            _ => match changes.last() {
                Some(Stmt::Do(last)) => {
                    Stmt::Do(Instr { guard: Some((OPEN, negated)), what: last.what })
                }
                _ => Stmt::If { pred: OPEN, negated, then: changes, otherwise: Vec::new() },
            },
        }
    }

    /// Adds the use of the carrier, in which its value decides something.
    fn matters(&mut self, body: &mut Vec<Stmt>, carrier: Carrier) {
        if let Carrier::Memory { place, bytes } = carrier {
            body.push(plain(What::Load { dest: VALUE, place, bytes }));
        }
        let index = if self.dice.chance(50) { Operand::Reg(VALUE) } else { Operand::Reg(THREAD) };
        let offset = self.dice.pick(&[0, 0, 4]);
        let place = Place { array: Array::B, index, mask: 7, shift: 2, offset, is_generic: false };
        let access = if self.dice.chance(70) {
            What::Store { place, bytes: 4, source: self.operand() }
        } else {
            What::Load { dest: 6, place, bytes: 4 }
        };
        let compare = self.dice.pick(&[Compare::Eq, Compare::Ne, Compare::Lt]);
        let bound = Operand::Const(self.dice.roll(3));
        let test = plain(What::Test(1, compare, Operand::Reg(VALUE), bound));
        match self.dice.roll(4) {
            0 => body.push(plain(access)),
            1 => {
                body.push(test);
                body.push(Stmt::Do(Instr { guard: Some((1, self.dice.chance(50))), what: access }));
            }
            2 => {
                body.push(test);
                let then = vec![plain(access)];
                body.push(Stmt::If { pred: 1, negated: false, then, otherwise: Vec::new() });
            }
            _ => {
                body.push(test);
                let mut then = vec![plain(access)];
                if self.dice.chance(50) {
                    then.insert(0, plain(sync()));
                }
                body.push(Stmt::If { pred: 1, negated: true, then, otherwise: self.block(2) });
            }
        }
        // An access that might race with it.
        if self.dice.chance(50) {
            let index = self.dice.pick(&[Operand::Reg(THREAD), Operand::Reg(2), Operand::Const(1)]);
            let place = Place { index, offset: 0, ..place };
            let what = if self.dice.chance(60) {
                What::Load { dest: 6, place, bytes: 4 }
            } else {
                What::Store { place, bytes: 4, source: Operand::Const(1) }
            };
            body.push(plain(what));
        }
    }
}
