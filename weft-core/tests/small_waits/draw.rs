//! Random kernels: ctas hand data on by flags or counters, each part of the protocol drawn, and some slots changed afterwards.

use crate::dice::Dice;
use crate::step::{Change, EVERYONE, Kernel, Order, Scope, Set, Slot, Step, Until};

/// Threads that do something, and how many there are: one, two lanes, or two warps.
const AGENTS: [(&[u32], u32); 7] = [
    (&[0], 1),
    (&[0], 32),
    (&[0], 64),
    (&[0, 1], 2),
    (&[0, 1], 32),
    (&[0, 32], 64),
    (&[0, 32], 64),
];

/// What a sender does to a sync word.
#[derive(Clone, Copy)]
enum Signal {
    Flag(u32),
    Count,
}

struct Draft<'a> {
    dice: &'a mut Dice,
    kernel: Kernel,
    /// Whether nothing of the protocol is left out.
    is_careful: bool,
    /// The agent of which all is asked, if threads hand on data without their ctas.
    alone: Option<Set>,
}

/// Draws a kernel.
pub(crate) fn kernel(dice: &mut Dice) -> Kernel {
    let (agents, block) = dice.pick(&AGENTS);
    let ctas = if dice.chance(45) { 3 } else { 2 };
    let kernel = Kernel {
        ctas,
        block,
        agents: agents.to_vec(),
        words: ctas.max(2 + dice.roll(2)),
        syncs: vec![0; 2],
        is_buffer: dice.chance(15),
        is_apart: dice.chance(60),
        slots: Vec::new(),
    };
    let mut draft = Draft { is_careful: dice.chance(60), alone: None, kernel, dice };
    match draft.dice.roll(10) {
        0..=3 => draft.chain(),
        4 => draft.threads(),
        5..=6 => draft.join(),
        _ => draft.rounds(),
    }
    if draft.dice.chance(40) {
        for _ in 0..=draft.dice.roll(2) {
            draft.change();
        }
    }
    draft.kernel
}

impl Draft<'_> {
    /// Each cta waits for the one before it, in some order of the ctas, or for the first of them.
    fn chain(&mut self) {
        let mut ctas: Vec<_> = (0..self.kernel.ctas).collect();
        for at in (1..ctas.len()).rev() {
            let other = self.dice.roll(u32::try_from(at + 1).expect("few")) as usize;
            ctas.swap(at, other);
        }
        // Semaphores are handed on; otherwise each cta has a flag or a counter of its own.
        let (is_semaphore, is_fan) = (self.dice.chance(35), self.dice.chance(15));
        let is_count = self.dice.chance(20);
        for (at, cta) in ctas.iter().enumerate() {
            let own = 1 << cta;
            if at > 0 {
                let from = if is_fan { 0 } else { at - 1 };
                let sync = if is_semaphore { 0 } else { from };
                let value = if is_semaphore { u32::try_from(at).expect("few") } else { 1 };
                let until =
                    if is_semaphore && is_fan { Until::AtLeast(1) } else { self.until(value) };
                self.receive(own, sync, until);
            }
            self.accesses(own, false);
            let is_last = at + 1 == ctas.len() || is_fan && at > 0;
            if !is_last || self.dice.chance(10) {
                let value = if is_semaphore { 1 + u32::try_from(at).expect("few") } else { 1 };
                let signal = if is_count { Signal::Count } else { Signal::Flag(value) };
                self.send(own, if is_semaphore || is_last { 0 } else { at }, signal);
            }
            if self.dice.chance(15) {
                self.accesses(own, false);
            }
        }
    }

    /// Each thread waits for the one before it, in some order of the threads of all ctas.
    fn threads(&mut self) {
        let agents = self.kernel.agents.len();
        let mut threads: Vec<_> = (0..self.kernel.ctas as usize * agents).collect();
        for at in (1..threads.len()).rev() {
            let other = self.dice.roll(u32::try_from(at + 1).expect("few")) as usize;
            threads.swap(at, other);
        }
        threads.truncate(4);
        for (at, thread) in threads.iter().enumerate() {
            let value = u32::try_from(at).expect("few");
            let cta = 1 << (thread / agents);
            self.alone = Some(1 << (thread % agents));
            if at > 0 {
                let until = self.until(value);
                self.receive(cta, 0, until);
            }
            self.accesses(cta, false);
            if at + 1 < threads.len() {
                self.send(cta, 0, Signal::Flag(value + 1));
            }
        }
        self.alone = None;
    }

    /// One cta waits for all others, or two for the third.
    fn join(&mut self) {
        let all = (1 << self.kernel.ctas) - 1;
        let one = 1 << self.dice.roll(self.kernel.ctas);
        let (senders, waits) =
            if self.dice.chance(70) { (all & !one, one) } else { (one, all & !one) };
        let is_own = self.dice.chance(70);
        self.accesses(senders, is_own);
        self.send(senders, 0, Signal::Count);
        let until = self.until(senders.count_ones());
        self.receive(waits, 0, until);
        let is_own = is_own && self.dice.chance(50);
        self.accesses(waits, is_own);
    }

    /// All ctas meet, once or twice.
    fn rounds(&mut self) {
        let all = (1 << self.kernel.ctas) - 1;
        let is_same = self.dice.chance(30);
        let rounds = if self.dice.chance(70) { 1 } else { 2 };
        self.accesses(all, true);
        for round in 0..rounds {
            let sync = if is_same { 0 } else { round };
            self.send(all, sync, Signal::Count);
            let earlier = if is_same { u32::try_from(round).expect("few") } else { 0 };
            let until = self.until(self.kernel.ctas * (earlier + 1));
            self.receive(all, sync, until);
            self.accesses(all, true);
        }
    }

    fn push(&mut self, ctas: u32, agents: Set, step: Step) {
        self.kernel.slots.push(Slot { ctas, agents, step });
    }

    fn full(&self) -> Set {
        (1 << self.kernel.agents.len()) - 1
    }

    /// A set of agents, often one alone.
    fn set(&mut self) -> Set {
        self.alone.unwrap_or_else(|| 1 + self.dice.roll(self.full()))
    }

    fn leader(&mut self) -> Set {
        if let Some(agent) = self.alone {
            return agent;
        }
        let agents = u32::try_from(self.kernel.agents.len()).expect("few");
        if self.dice.chance(70) { 1 } else { 1 << self.dice.roll(agents) }
    }

    /// Does the right thing, or perhaps not.
    fn minds(&mut self) -> bool {
        self.is_careful || self.dice.chance(75)
    }

    fn scope(&mut self) -> Scope {
        let scope = if self.dice.chance(85) { Scope::Gpu } else { Scope::Sys };
        if self.is_careful || self.dice.chance(93) { scope } else { Scope::Cta }
    }

    fn until(&mut self, value: u32) -> Until {
        let value = if self.minds() || self.dice.chance(60) { value } else { self.dice.roll(3) };
        match self.dice.roll(8) {
            0 | 1 => Until::AtLeast(value),
            2 => Until::MoreThan(value.saturating_sub(1)),
            3 if value == 1 => Until::Differs(0),
            _ => Until::Equal(value),
        }
    }

    fn accesses(&mut self, ctas: u32, is_own: bool) {
        for _ in 0..=self.dice.roll(2) {
            let word = self.dice.roll(self.kernel.words);
            // A word of its own, where several ctas store at once.
            let is_own = is_own && self.dice.chance(85);
            let agents = if self.is_careful { self.alone.unwrap_or(1) } else { self.set() };
            let agents = if self.dice.chance(30) { self.set() } else { agents };
            let is_store = self.dice.chance(60) && agents.is_power_of_two();
            let word = if is_own && is_store { 0 } else { word };
            let of_cta = is_own || self.dice.chance(10);
            let step =
                if is_store { Step::Put { word, of_cta } } else { Step::Get { word, of_cta } };
            self.push(ctas, agents, step);
        }
    }

    fn barrier(&mut self, ctas: u32) {
        let is_needed = self.kernel.agents.len() > 1 && self.minds();
        if self.alone.is_none() && (is_needed || self.dice.chance(20)) {
            self.push(ctas, EVERYONE, Step::Barrier);
        }
    }

    fn fence(&mut self, ctas: u32, agents: Set) {
        let step = Step::Fence { is_sc: self.dice.chance(50), scope: self.scope() };
        self.push(ctas, agents, step);
    }

    fn send(&mut self, ctas: u32, sync: usize, signal: Signal) {
        let leader = self.leader();
        if !self.minds() {
            let set = if self.dice.chance(50) { self.full() } else { self.set() };
            self.fence(ctas, set);
        }
        self.barrier(ctas);
        let releases = self.dice.chance(45);
        if (!releases && self.minds()) || self.dice.chance(10) {
            self.fence(ctas, leader);
        }
        let (order, scope) = (if releases { Order::Release } else { Order::Relaxed }, self.scope());
        let step = match signal {
            Signal::Flag(value) if self.dice.chance(80) => {
                let is_volatile = order == Order::Relaxed && self.dice.chance(50);
                let order = if is_volatile { Order::Volatile } else { order };
                Step::Store { sync, value, order, scope }
            }
            Signal::Flag(value) => {
                Step::Atomic { sync, change: Change::Exchange(value), order, scope }
            }
            Signal::Count => {
                let is_both = releases && self.dice.chance(40);
                let order = if is_both { Order::AcqRel } else { order };
                let is_reduction = !is_both && self.dice.chance(30);
                let change = if is_reduction { Change::Reduce(1) } else { Change::Add(1) };
                Step::Atomic { sync, change, order, scope }
            }
        };
        self.push(ctas, leader, step);
    }

    fn receive(&mut self, ctas: u32, sync: usize, until: Until) {
        let agents = match self.dice.roll(10) {
            0 if self.alone.is_none() => EVERYONE,
            1 if self.alone.is_none() => self.full(),
            _ => self.leader(),
        };
        let acquires = self.dice.chance(45);
        let order = match self.dice.roll(2) {
            _ if acquires => Order::Acquire,
            0 => Order::Volatile,
            _ => Order::Relaxed,
        };
        // The last of them, two loads, is hardly ever understood.
        let style = if self.dice.chance(5) { 3 } else { self.dice.roll(3) };
        let step = Step::Wait { sync, until, order, scope: self.scope(), style };
        self.push(ctas, agents, step);
        if (!acquires && self.minds()) || self.dice.chance(10) {
            let agents = if self.minds() { agents } else { self.set() };
            self.fence(ctas, agents);
        }
        self.barrier(ctas);
        if !self.minds() && self.dice.chance(50) {
            let set = self.set();
            self.fence(ctas, set);
        }
    }

    /// Changes one slot, leaves it out, or adds one.
    fn change(&mut self) {
        let slots = u32::try_from(self.kernel.slots.len()).expect("few");
        let at = self.dice.roll(slots) as usize;
        let is_sent = |slot: &Slot| matches!(slot.step, Step::Store { .. } | Step::Atomic { .. });
        match self.dice.roll(14) {
            // Without a signal, most waits do not end.
            0 | 1 if !is_sent(&self.kernel.slots[at]) => drop(self.kernel.slots.remove(at)),
            2 => self.kernel.slots.swap(at, (at + 1) % slots as usize),
            3 => {
                let sync = self.dice.roll(2) as usize;
                if !self.kernel.is_buffer {
                    self.kernel.syncs[sync] = 1 + self.dice.roll(2);
                }
            }
            4..=6 => {
                let step = self.weakened(self.kernel.slots[at].step);
                self.kernel.slots[at].step = step;
            }
            // A sync word gets another value, now and then from the threads that signal there.
            12 | 13 => {
                let Slot { mut ctas, mut agents, .. } = self.kernel.slots[at];
                if agents == EVERYONE || self.dice.chance(30) {
                    (ctas, agents) = (1 << self.dice.roll(self.kernel.ctas), self.leader());
                }
                let (value, scope) = (self.dice.roll(3), self.scope());
                let order = self.dice.pick(&[Order::Relaxed, Order::Volatile, Order::Release]);
                let step = Step::Store { sync: 0, value, order, scope };
                self.kernel.slots.insert(at, Slot { ctas, agents, step });
            }
            7 => self.kernel.slots[at].ctas |= 1 << self.dice.roll(self.kernel.ctas),
            8 => {
                let set = if self.dice.chance(50) { self.full() } else { self.set() };
                self.kernel.slots[at].agents = set;
            }
            _ => {
                let ctas = 1 + self.dice.roll((1 << self.kernel.ctas) - 1);
                let (agents, step) = (self.leader(), self.step());
                self.kernel.slots.insert(at, Slot { ctas, agents, step });
            }
        }
    }

    fn weakened(&mut self, step: Step) -> Step {
        let is_cta = self.dice.chance(30);
        let scope_of = |scope| if is_cta { Scope::Cta } else { scope };
        let order = if self.dice.chance(25) { Order::Weak } else { Order::Relaxed };
        match step {
            Step::Store { sync, value, scope, .. } => {
                Step::Store { sync, value, order, scope: scope_of(scope) }
            }
            Step::Atomic { sync, scope, .. } => {
                let change = match self.dice.roll(4) {
                    0 => Change::Exchange(self.dice.roll(3)),
                    1 => Change::Add(1 + self.dice.roll(2)),
                    _ => Change::Add(1),
                };
                Step::Atomic { sync, change, order: Order::Relaxed, scope: scope_of(scope) }
            }
            Step::Wait { sync, until, scope, style, .. } => {
                let until = if self.dice.chance(30) { Until::AtLeast(1) } else { until };
                Step::Wait { sync, until, order, scope: scope_of(scope), style }
            }
            Step::Fence { is_sc, .. } => Step::Fence { is_sc, scope: Scope::Cta },
            Step::Put { word, of_cta } => Step::Get { word, of_cta },
            Step::Get { word, of_cta } => Step::Get { word, of_cta: !of_cta },
            other => other,
        }
    }

    /// Any step, for one agent.
    fn step(&mut self) -> Step {
        let (sync, value) = (self.dice.roll(2) as usize, self.dice.roll(3));
        let word = self.dice.roll(self.kernel.words);
        let (of_cta, scope) = (self.dice.chance(30), self.scope());
        let order = self.dice.pick(&[Order::Relaxed, Order::Volatile, Order::Weak]);
        let load = self.dice.pick(&[order, Order::Acquire]);
        let store = self.dice.pick(&[order, Order::Release]);
        let strong =
            self.dice.pick(&[Order::Relaxed, Order::Release, Order::Acquire, Order::AcqRel]);
        let change = if self.dice.chance(50) { Change::Exchange(value) } else { Change::Add(1) };
        match self.dice.roll(12) {
            0 | 1 => Step::Put { word, of_cta },
            2 => Step::Get { word, of_cta },
            3 => Step::Store { sync, value, order: store, scope },
            4 | 5 => Step::Load { sync, order: load, scope },
            6 => Step::Atomic { sync, change, order: strong, scope },
            7 => {
                let until = self.until(value);
                Step::Wait { sync, until, order: load, scope, style: self.dice.roll(4) }
            }
            8 | 9 => Step::Fence { is_sc: self.dice.chance(50), scope },
            _ => Step::Barrier,
        }
    }
}
