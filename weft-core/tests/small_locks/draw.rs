//! Random kernels: critical sections, each part of which is drawn, and now and then something else.

use crate::dice::Dice;
use crate::kernel::{Asking, Kernel, LOCKS, Order, Part, Section, Step, Strength, WORDS};

/// Ctas, threads that do something in each, and how many threads a cta has.
const AGENTS: [(u32, &[u32], u32); 8] = [
    (1, &[0, 1], 32),
    (1, &[0, 32], 64),
    (1, &[0, 1, 32], 64),
    (2, &[0], 32),
    (2, &[0], 64),
    (3, &[0], 32),
    (2, &[0, 1], 32),
    (2, &[0, 32], 64),
];

/// Draws a kernel.
pub(crate) fn kernel(dice: &mut Dice) -> Kernel {
    let (ctas, agents, block) = dice.pick(&AGENTS);
    let is_shared = dice.chance(if ctas == 1 { 40 } else { 12 });
    let is_data_shared = is_shared && ctas == 1 && dice.chance(75);
    let is_careful = dice.chance(20);
    let mut draft = Draft { dice, is_careful, ctas };
    let all = (1 << (ctas as usize * agents.len())) - 1;
    let parts = 1 + draft.dice.roll(3);
    let mut part = |_| {
        // Often a single part is careless.
        draft.is_careful = is_careful || draft.dice.chance(50);
        draft.part(all)
    };
    let parts = (0..parts).map(&mut part).collect();
    Kernel { ctas, block, agents: agents.to_vec(), is_shared, is_data_shared, parts }
}

struct Draft<'a> {
    dice: &'a mut Dice,
    /// Whether nothing of a critical section is left out.
    is_careful: bool,
    ctas: u32,
}

impl Draft<'_> {
    fn minds(&mut self) -> bool {
        self.is_careful || self.dice.chance(88)
    }

    fn part(&mut self, all: u32) -> Part {
        let agents = if self.dice.chance(75) { all } else { 1 + self.dice.roll(all) };
        let odds = if self.is_careful { 12 } else { 30 };
        let step =
            if self.dice.chance(odds) { self.other() } else { Step::Section(self.section(true)) };
        Part { agents, step }
    }

    fn section(&mut self, can_nest: bool) -> Section {
        let lock = self.dice.roll(2) as usize;
        let asking =
            self.dice.pick(&[Asking::Before, Asking::Peeled, Asking::Around, Asking::Once]);
        let take = self.strength(&[Order::Relaxed, Order::Relaxed, Order::Acquire, Order::AcqRel]);
        if !self.is_careful && self.dice.chance(15) {
            // A thread that only takes the lock might not hand on what others did with it.
            let strength = Strength { order: Order::Relaxed, is_wide: true };
            let release = Some((strength, 0, self.dice.chance(30)));
            let (inside, take) = (Vec::new(), strength);
            return Section {
                lock,
                asking,
                is_cas: true,
                is_reversed: false,
                take,
                inside,
                release,
            };
        }
        let mut inside = Vec::new();
        if !take.order.acquires() && self.minds() || self.dice.chance(10) {
            inside.push(self.fence(Order::Acquire));
        }
        for _ in 0..=self.dice.roll(2) {
            inside.push(self.inner(lock, can_nest));
        }
        let mut release = None;
        if self.dice.chance(92) {
            let is_atomic = self.dice.chance(50);
            let mut orders = vec![Order::Relaxed, Order::Release];
            if !is_atomic {
                orders.push(Order::Volatile);
            }
            if !self.minds() && !is_atomic {
                orders = vec![Order::Weak];
            }
            let strength = self.strength(&orders);
            if !strength.order.releases() && self.minds() || self.dice.chance(10) {
                inside.push(self.fence(Order::Release));
            }
            if !self.minds() && self.dice.chance(40) {
                inside.push(self.inner(lock, false));
            }
            let value = if self.minds() { 0 } else { self.dice.roll(3) };
            release = Some((strength, value, is_atomic));
        }
        let is_reversed = !self.is_careful && self.dice.chance(4);
        Section { lock, asking, is_cas: self.dice.chance(70), is_reversed, take, inside, release }
    }

    /// Something in a critical section of a lock.
    fn inner(&mut self, lock: usize, can_nest: bool) -> Step {
        if can_nest && self.dice.chance(8) {
            return Step::Section(self.section(false));
        }
        if !self.is_careful && self.dice.chance(6) {
            return self.other();
        }
        let is_own = self.minds();
        let word = if is_own { lock } else { self.dice.roll(3) as usize % WORDS };
        Step::Access { word, writes: self.dice.chance(60) }
    }

    fn other(&mut self) -> Step {
        match self.dice.roll(if self.is_careful { 7 } else { 10 }) {
            0..=2 => Step::Access { word: WORDS - 1, writes: self.dice.chance(30) },
            3 | 4 => self.fence(Order::AcqRel),
            5..=6 => Step::Barrier,
            7 => Step::Access { word: self.dice.roll(3) as usize, writes: self.dice.chance(60) },
            _ => {
                let is_atomic = self.dice.chance(50);
                let orders = [Order::Relaxed, Order::Release, Order::Volatile];
                let strength = self.strength(if is_atomic { &orders[..2] } else { &orders });
                let lock = self.dice.roll(2) as usize % LOCKS;
                Step::Write { lock, value: self.dice.roll(2), strength, is_atomic }
            }
        }
    }

    fn fence(&mut self, own: Order) -> Step {
        // Relaxed stands for sequentially consistent.
        Step::Fence(self.strength(&[own, Order::AcqRel, Order::Relaxed]))
    }

    fn strength(&mut self, orders: &[Order]) -> Strength {
        let order = self.dice.pick(orders);
        let is_narrow = if self.ctas == 1 { self.dice.chance(40) } else { !self.minds() };
        Strength { order, is_wide: !is_narrow }
    }
}
