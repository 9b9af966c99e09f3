//! Generates random kernels: phases of work with barriers between most of them, so that many are free of races.

mod bypass;
mod copies;
mod flow;
mod queue;
mod races;
mod ticket;

use crate::dice::Dice;
use crate::kernel::{
    Array, Atomic, Atomics, Binary, Compare, GLOBAL, Instr, Kernel, NUMBER, Operand, PREDS, Place,
    Pred, REGS, Reg, Stmt, THREAD, Use, What,
};

/// The theme of a kernel: the constructs that it exercises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Theme {
    /// Open branches and addresses; no atomics.
    Plain,
    /// Values that depend on an open value, passed through registers and memory to a branch or an address.
    Flow,
    /// Values that are read while they are, or might be, written.
    Races,
    /// Barriers of several kinds, names and counts, two warps and more.
    Barriers,
    /// Aligned barriers that lanes can bypass.
    Bypass,
    /// Atomics, with few threads.
    Atomics(Atomics),
    /// Indices drawn from counters.
    Tickets(Atomics),
    /// Likewise, with relaxed loads and stores of the counters.
    Relaxed(Atomics),
    /// Pointers to one of two buffers, selected by a predicate.
    Chosen,
    /// One thread passes a value to all others in each iteration of a loop.
    Queues(Atomics),
    /// Asynchronous copies, their groups, and the waits for them.
    Copies,
}

/// Generates a kernel.
pub(crate) fn kernel(dice: &mut Dice, theme: Theme) -> Kernel {
    let block = match theme {
        Theme::Plain => dice.pick(&[2, 3, 4, 4, 4, 8, 34]),
        Theme::Chosen => dice.pick(&[2, 2, 3, 4, 4, 34]),
        Theme::Flow => dice.pick(&[2, 2, 3, 4, 34]),
        Theme::Races => dice.pick(&[2, 4, 34, 66]),
        Theme::Copies => dice.pick(&[2, 3, 4, 34, 34]),
        Theme::Barriers => dice.pick(&[3, 33, 34, 64, 66]),
        Theme::Bypass => dice.pick(&[2, 3, 3, 4, 34]),
        Theme::Atomics(_) | Theme::Tickets(_) | Theme::Relaxed(_) => dice.pick(&[2, 2, 3, 3, 4]),
        Theme::Queues(_) => dice.pick(&[2, 2, 3]),
    };
    let atomics = match theme {
        Theme::Plain
        | Theme::Flow
        | Theme::Races
        | Theme::Barriers
        | Theme::Chosen
        | Theme::Copies
        | Theme::Bypass => Atomics::Abstract,
        Theme::Atomics(atomics)
        | Theme::Tickets(atomics)
        | Theme::Relaxed(atomics)
        | Theme::Queues(atomics) => atomics,
    };
    let many = if matches!(theme, Theme::Queues(_)) { 30 } else { 10 };
    let grid = if block <= 4 && dice.chance(many) { 2 } else { 1 };
    let words = dice.pick(&[1, 2, 4]);
    let mut maker = Maker { dice, theme, block, words, loops: 0 };
    let body = maker.kernel();
    Kernel { block: block as usize, grid, atomics, words: words as usize, body }
}

struct Maker<'d> {
    dice: &'d mut Dice,
    theme: Theme,
    block: u32,
    /// Number of words in the buffer of words: a power of two.
    words: u32,
    /// Number of loops around the current statement.
    loops: usize,
}

impl Maker<'_> {
    fn kernel(&mut self) -> Vec<Stmt> {
        let mut body = Vec::new();
        if self.theme == Theme::Flow {
            self.flow(&mut body);
            return body;
        }
        if self.theme == Theme::Bypass {
            self.bypass(&mut body);
            return body;
        }
        if let Theme::Queues(_) = self.theme {
            self.queue(&mut body);
            return body;
        }
        if self.theme == Theme::Copies {
            self.copies(&mut body);
            return body;
        }
        if self.theme == Theme::Races {
            self.races(&mut body);
            return body;
        }
        // Most kernels begin with loads of their data.
        let looks = if matches!(self.theme, Theme::Tickets(_) | Theme::Relaxed(_)) { 2 } else { 3 };
        for _ in 0..self.dice.roll(looks) {
            let what = self.input();
            body.push(plain(what));
            if self.dice.chance(60) {
                let what = self.test();
                body.push(plain(what));
            }
        }
        if matches!(self.theme, Theme::Tickets(_) | Theme::Relaxed(_)) {
            self.ticket(&mut body);
        }
        let phases = match self.theme {
            Theme::Tickets(_) | Theme::Relaxed(_) => self.dice.roll(4) / 3,
            _ => 1 + self.dice.roll(3),
        };
        for phase in 0..phases {
            if phase > 0 && self.dice.chance(80) {
                let barrier = self.barrier();
                body.push(barrier);
            }
            let count = 1 + self.dice.roll(3);
            self.work(&mut body, count, 0);
        }
        body
    }

    fn work(&mut self, body: &mut Vec<Stmt>, count: u32, depth: u32) {
        for _ in 0..count {
            let stmt = self.stmt(depth);
            body.push(stmt);
        }
    }

    fn block(&mut self, depth: u32) -> Vec<Stmt> {
        let mut body = Vec::new();
        let count = 1 + self.dice.roll(2);
        self.work(&mut body, count, depth + 1);
        body
    }

    fn stmt(&mut self, depth: u32) -> Stmt {
        let deep = if depth >= 3 { 0 } else { 12 };
        match self.dice.roll(100) {
            kind if kind < deep => {
                let (pred, negated) = (self.pred(), self.dice.chance(50));
                let then = self.block(depth);
                let otherwise = if self.dice.chance(30) { self.block(depth) } else { Vec::new() };
                Stmt::If { pred, negated, then, otherwise }
            }
            kind if kind < deep + 6 && deep > 0 && self.loops < 2 => {
                let (count, tests_first) = (self.operand(), self.dice.chance(70));
                self.loops += 1;
                let body = self.block(depth);
                self.loops -= 1;
                Stmt::Loop { count, tests_first, body }
            }
            30..32 => Stmt::Jump(Some((self.pred(), self.dice.chance(50))), self.dice.roll(3)),
            32..36 => Stmt::Label(self.dice.roll(3)),
            36..38 if deep > 0 => {
                let arms = std::array::from_fn(|_| match self.dice.roll(3) {
                    0 => Vec::new(),
                    _ => self.block(depth + 1),
                });
                Stmt::Switch { index: self.reg(), arms }
            }
            18..20 => Stmt::Return(Some((self.pred(), self.dice.chance(50)))),
            20..22 if self.loops > 0 => Stmt::Break(Some((self.pred(), self.dice.chance(50)))),
            22..27 if depth > 0 && self.dice.chance(30) => self.barrier(),
            27..30 => self.warp(),
            _ => self.instr(),
        }
    }

    fn instr(&mut self) -> Stmt {
        let guard = self.dice.chance(15).then(|| (self.pred(), self.dice.chance(50)));
        let has_atomics =
            matches!(self.theme, Theme::Atomics(_) | Theme::Tickets(_) | Theme::Relaxed(_));
        let what = match self.dice.roll(100) {
            30..70 if matches!(self.theme, Theme::Relaxed(_)) => self.atomic(),
            0..35 => self.store(),
            35..55 => self.load(),
            55..60 => self.input(),
            60..70 => self.test(),
            70..75 => What::Select(self.dest(), self.operand(), self.operand(), self.pred()),
            75..85 if has_atomics => self.atomic(),
            _ => self.compute(),
        };
        Stmt::Do(Instr { guard, what })
    }

    fn pred(&mut self) -> Pred {
        self.dice.roll(3) as usize % PREDS
    }

    fn reg(&mut self) -> Reg {
        let any = self.dice.roll(8) as usize % REGS;
        if self.dice.chance(25) { THREAD } else { any }
    }

    /// Returns a destination register, never one of the thread's indices.
    fn dest(&mut self) -> Reg {
        2 + self.dice.roll(5) as usize % (GLOBAL - 2)
    }

    fn operand(&mut self) -> Operand {
        match self.dice.roll(10) {
            0..3 => Operand::Const(self.dice.roll(5)),
            3 => Operand::Reg(NUMBER),
            _ => Operand::Reg(self.reg()),
        }
    }

    fn compute(&mut self) -> What {
        let all = [
            Binary::Add,
            Binary::Add,
            Binary::Sub,
            Binary::And,
            Binary::Xor,
            Binary::Mul,
            Binary::Min,
            Binary::Shl,
        ];
        let (dest, operation) = (self.dest(), self.dice.pick(&all));
        if self.dice.chance(15) {
            return What::Move(dest, self.operand());
        }
        What::Compute(dest, operation, self.operand(), self.operand())
    }

    fn test(&mut self) -> What {
        let compare = self.dice.pick(&[Compare::Eq, Compare::Ne, Compare::Lt, Compare::Ge]);
        What::Test(self.pred(), compare, self.operand(), self.operand())
    }

    /// Returns a load of a word of the data, either one for all threads or one by thread.
    fn input(&mut self) -> What {
        let index = match self.dice.roll(3) {
            0 => Operand::Reg(THREAD),
            _ => Operand::Const(self.dice.roll(self.words)),
        };
        What::Load { dest: self.dest(), place: self.data(index), bytes: 4 }
    }

    const fn data(&self, index: Operand) -> Place {
        let mask = self.words - 1;
        Place { array: Array::Data, index, mask, shift: 2, offset: 0, is_generic: false }
    }

    fn place(&mut self, bytes: u32) -> Place {
        let array = match self.dice.roll(20) {
            0..10 => Array::A,
            10..13 => Array::B,
            13..17 => Array::Out,
            17 => Array::Data,
            _ => Array::Local,
        };
        let index = match self.dice.roll(20) {
            0..12 if array == Array::Out => Operand::Reg(GLOBAL),
            0..12 => Operand::Reg(THREAD),
            12..15 => Operand::Reg(2 + self.dice.roll(2) as usize),
            15..18 => Operand::Reg(self.reg()),
            _ => Operand::Const(self.dice.roll(4)),
        };
        if self.theme == Theme::Chosen && bytes == 4 && self.dice.chance(40) {
            return Place { array: Array::Either(self.pred()), ..self.data(index) };
        }
        if array == Array::Data {
            let place = self.data(index);
            // The buffer has room for words only, not for wider accesses.
            return if bytes > 4 { Place { array: Array::Out, ..place } } else { place };
        }
        if array == Array::Local {
            let index = if self.dice.chance(60) { Operand::Const(0) } else { index };
            let is_generic = self.dice.chance(10);
            return Place { array, index, mask: 3, shift: 3, offset: 0, is_generic };
        }
        let natural = bytes.trailing_zeros();
        let shift = if self.dice.chance(80) { natural } else { self.dice.roll(4) };
        let aligned = shift >= natural || self.dice.chance(5);
        let shift = if aligned { shift } else { natural };
        let mask = match self.dice.roll(20) {
            _ if matches!(index, Operand::Reg(THREAD | GLOBAL)) && self.dice.chance(80) => {
                Place::ALL
            }
            19 if self.dice.chance(20) => Place::ALL,
            0 => 0,
            1 => 1,
            2..12 if self.block <= 8 => 7,
            _ => 63,
        };
        let offset = match self.dice.roll(20) {
            0..14 => 0,
            14..18 => 64,
            _ => bytes * self.dice.roll(3),
        };
        let is_generic = self.dice.chance(4);
        Place { array, index, mask, shift, offset, is_generic }
    }

    fn bytes(&mut self) -> u32 {
        self.dice.pick(&[4, 4, 4, 4, 4, 1, 2, 8])
    }

    fn store(&mut self) -> What {
        let bytes = self.bytes();
        if bytes == 8 && self.dice.chance(60) {
            return What::StorePair {
                place: self.place(8),
                sources: [self.operand(), self.operand()],
            };
        }
        What::Store { place: self.place(bytes), bytes, source: self.operand() }
    }

    fn load(&mut self) -> What {
        let bytes = self.bytes();
        if bytes == 8 && self.dice.chance(60) {
            let first = self.dest();
            let dests = [first, 2 + (first - 1) % (GLOBAL - 2)];
            return What::LoadPair { dests, place: self.place(8) };
        }
        What::Load { dest: self.dest(), place: self.place(bytes), bytes }
    }

    fn barrier(&mut self) -> Stmt {
        let whole = self.block.div_ceil(32) * 32;
        let mut barrier = What::Barrier {
            how: Use::Sync,
            name: 0,
            count: None,
            is_aligned: true,
            dest: 0,
            pred: 0,
        };
        let percent = if self.theme == Theme::Barriers { 70 } else { 12 };
        if self.dice.chance(percent) {
            let how = self.dice.pick(&[Use::Sync, Use::Sync, Use::Arrive, Use::Reduce]);
            let name = if self.dice.chance(3) { 16 } else { self.dice.roll(2) };
            let count = match self.dice.roll(20) {
                0..6 if how != Use::Arrive => None,
                19 => Some(self.dice.pick(&[0, 16, 128])),
                15..19 => Some(32),
                _ => Some(whole),
            };
            let (is_aligned, dest, pred) = (self.dice.chance(80), self.dest(), self.pred());
            let reductions = [Use::Reduce, Use::All, Use::Any, Use::Reduce];
            let how = if how == Use::Reduce { reductions[dest % 4] } else { how };
            barrier = What::Barrier { how, name, count, is_aligned, dest, pred };
        }
        let guard = self.dice.chance(5).then(|| (self.pred(), self.dice.chance(50)));
        Stmt::Do(Instr { guard, what: barrier })
    }

    /// Returns a warp barrier or a vote.
    fn warp(&mut self) -> Stmt {
        let mask = if self.dice.chance(85) { u32::MAX } else { self.dice.pick(&[1, 3, 6, 12]) };
        let what = match self.dice.roll(20) {
            0..12 => What::WarpSync { mask },
            12..16 => What::Vote { dest: self.pred(), pred: self.pred(), mask },
            _ => {
                let lane = self.dice.roll(self.block.min(4));
                What::Shuffle { dest: self.dest(), source: self.reg(), lane, mask }
            }
        };
        plain(what)
    }

    fn operation(&mut self) -> Atomic {
        self.dice.pick(&[
            Atomic::Add,
            Atomic::Add,
            Atomic::Sub,
            Atomic::Inc,
            Atomic::Dec,
            Atomic::Exch,
            Atomic::Cas,
            Atomic::Max,
        ])
    }

    fn atomic(&mut self) -> What {
        let operation = match self.theme {
            Theme::Relaxed(_) if self.dice.chance(70) => {
                self.dice.pick(&[Atomic::Set, Atomic::Set, Atomic::Look])
            }
            _ => self.operation(),
        };
        let returns = match operation {
            Atomic::Set => false,
            Atomic::Exch | Atomic::Cas | Atomic::Look => true,
            _ => self.dice.chance(60),
        };
        let dest = returns.then(|| self.dest());
        let place = if self.dice.chance(80) {
            counter(self.dice.pick(&[Array::B, Array::B, Array::Out]), self.dice.roll(2))
        } else {
            let mut place = self.place(4);
            if place.array == Array::Local {
                place = counter(Array::B, 0);
            }
            place
        };
        What::Atomic { dest, operation, place, source: self.operand(), compare: self.operand() }
    }
}

const fn plain(what: What) -> Stmt {
    Stmt::Do(Instr { guard: None, what })
}

const fn sync() -> What {
    What::Barrier { how: Use::Sync, name: 0, count: None, is_aligned: true, dest: 0, pred: 0 }
}

/// Returns the place of a single word.
const fn counter(array: Array, at: u32) -> Place {
    Place { array, index: Operand::Const(at), mask: 1, shift: 2, offset: 600, is_generic: false }
}
