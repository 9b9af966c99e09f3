//! Generates aligned barriers under branches, loops and guards by which lanes of a warp can diverge, and actions of the
//! lanes that bypass the barriers. Each thread stores to places of its own, so that little races.

use super::{Maker, plain, sync};
use crate::kernel::{Array, Instr, NUMBER, Operand, Place, Stmt, THREAD, What};

impl Maker<'_> {
    pub(super) fn bypass(&mut self, body: &mut Vec<Stmt>) {
        if self.dice.chance(40) {
            let what = self.input();
            body.push(plain(what));
        }
        for _ in 0..2 + self.dice.roll(3) {
            let stmt = self.around(0);
            body.push(stmt);
        }
    }

    fn arounds(&mut self, depth: u32) -> Vec<Stmt> {
        (0..=self.dice.roll(3)).map(|_| self.around(depth + 1)).collect()
    }

    fn around(&mut self, depth: u32) -> Stmt {
        let guard = Some((self.pred(), self.dice.chance(50)));
        match self.dice.roll(100) {
            0..22 if depth < 3 => self.forked(depth),
            22..36 if depth < 3 && self.loops < 2 => self.repeated(depth),
            36..40 if depth < 2 => {
                let arms = std::array::from_fn(|_| match self.dice.roll(3) {
                    0 => Vec::new(),
                    _ => self.arounds(depth + 1),
                });
                Stmt::Switch { index: self.dice.pick(&[THREAD, NUMBER]), arms }
            }
            40..44 if self.loops > 0 => Stmt::Break(guard),
            44..46 => Stmt::Return(guard),
            46..49 => Stmt::Jump(guard, self.dice.roll(3)),
            49..53 => Stmt::Label(self.dice.roll(3)),
            53..58 => plain(self.test()),
            58..62 => Stmt::Do(Instr { guard, what: sync() }),
            62..78 => self.waited(),
            78..84 => self.warp(),
            _ => self.stored(),
        }
    }

    fn forked(&mut self, depth: u32) -> Stmt {
        let (pred, negated) = (self.pred(), self.dice.chance(50));
        let then = self.arounds(depth);
        let otherwise = if self.dice.chance(30) { self.arounds(depth) } else { Vec::new() };
        Stmt::If { pred, negated, then, otherwise }
    }

    fn repeated(&mut self, depth: u32) -> Stmt {
        let count = match self.dice.roll(4) {
            0 => Operand::Reg(THREAD),
            1 => Operand::Reg(NUMBER),
            _ => Operand::Const(1 + self.dice.roll(2)),
        };
        let tests_first = self.dice.chance(50);
        self.loops += 1;
        let body = self.arounds(depth);
        self.loops -= 1;
        Stmt::Loop { count, tests_first, body }
    }

    /// Returns a barrier of all threads; one in four is not aligned.
    fn waited(&mut self) -> Stmt {
        let mut barrier = sync();
        if let What::Barrier { is_aligned, .. } = &mut barrier {
            *is_aligned = self.dice.chance(75);
        }
        plain(barrier)
    }

    /// Returns a store, seldom to local memory, which other threads cannot observe.
    fn stored(&mut self) -> Stmt {
        let array = self.dice.pick(&[Array::A, Array::B, Array::A, Array::Local]);
        let (index, mask) = match array {
            Array::Local => (Operand::Const(0), 3),
            _ => (Operand::Reg(THREAD), Place::ALL),
        };
        let place = Place { array, index, mask, shift: 2, offset: 0, is_generic: false };
        let guard = self.dice.chance(20).then(|| (self.pred(), self.dice.chance(50)));
        let source = Operand::Reg(THREAD);
        Stmt::Do(Instr { guard, what: What::Store { place, bytes: 4, source } })
    }
}
