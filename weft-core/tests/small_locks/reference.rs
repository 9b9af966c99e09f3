//! All executions of a small kernel: every order of the operations on its lock words, with clocks for what the rules of the PTX
//! manual order (PTX ISA §8.8).

use crate::kernel::{Asking, Kernel, LOCKS, Order, Section, Step, Strength, WORDS};

/// Most threads of a kernel.
const THREADS: usize = 4;
/// Words that can be locked, if each cta has its own.
const WORDS_TO_LOCK: usize = 3 * LOCKS;
/// Most executions that are tried.
const MOST: u32 = 1_500;

/// What the executions of a kernel show.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Judgement {
    pub(crate) executions: u32,
    pub(crate) races: bool,
    /// Whether all threads come to their ends in some execution that was tried.
    pub(crate) ends: bool,
}

impl Judgement {
    pub(crate) const fn is_unknown(self) -> bool {
        self.executions >= MOST && !self.races
    }
}

/// What a thread does next.
#[derive(Clone, Copy, Debug)]
enum Command {
    Take { lock: usize, is_cas: bool, is_reversed: bool, strength: Strength, otherwise: usize },
    Write { lock: usize, value: u32, strength: Strength, is_atomic: bool },
    Access { word: usize, writes: bool },
    Fence(Strength),
    Barrier,
}

/// How many operations of each thread come before.
type Clock = [u32; THREADS];

/// What a write hands to who reads it.
#[derive(Clone, Copy, Debug)]
struct Message {
    clock: Clock,
    cta: u32,
    is_wide: bool,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    cta: u32,
    next: usize,
    clock: Clock,
    /// What relaxed reads have seen so far.
    seen: Vec<Message>,
    /// What the last fences make the next relaxed write release.
    fenced: Vec<(Clock, bool)>,
}

/// An access to a word, as its thread's operation number.
#[derive(Clone, Copy, Debug)]
struct Touch {
    thread: usize,
    number: u32,
    writes: bool,
    /// `None`: weak; otherwise whether it is strong for the device.
    strong: Option<bool>,
}

#[derive(Clone, Debug, Default)]
struct World {
    threads: Vec<Thread>,
    held: [u32; WORDS_TO_LOCK],
    messages: [Vec<Message>; WORDS_TO_LOCK],
    touches: Vec<Vec<Touch>>,
    races: bool,
}

/// Tries all executions, until one has a race. `by_locks`: whether what is released and acquired orders anything.
pub(crate) fn judge(kernel: &Kernel, by_locks: bool) -> Judgement {
    let programs = programs(kernel);
    let agents = kernel.agents.len();
    let cta = |at: usize| u32::try_from(at / agents).expect("few");
    let threads =
        (0..programs.len()).map(|at| Thread { cta: cta(at), ..Thread::default() }).collect();
    let world =
        World { threads, touches: vec![Vec::new(); WORDS + WORDS_TO_LOCK], ..World::default() };
    let mut judge = Judge { programs, by_locks, judgement: Judgement::default() };
    judge.go_on(world);
    judge.judgement
}

fn programs(kernel: &Kernel) -> Vec<Vec<Command>> {
    let agents = kernel.agents.len() * kernel.ctas as usize;
    let of = |agent: usize| {
        let own = if kernel.is_shared { LOCKS * (agent / kernel.agents.len()) } else { 0 };
        let mut commands = Vec::new();
        for part in &kernel.parts {
            if part.agents >> agent & 1 == 1 || matches!(part.step, Step::Barrier) {
                add(&part.step, own, &mut commands);
            }
        }
        commands
    };
    (0..agents).map(of).collect()
}

/// Adds what a step does. `own`: the first word that the cta can lock.
fn add(step: &Step, own: usize, commands: &mut Vec<Command>) {
    match step {
        Step::Access { word, writes } => {
            commands.push(Command::Access { word: *word, writes: *writes });
        }
        Step::Fence(strength) => commands.push(Command::Fence(*strength)),
        Step::Barrier => commands.push(Command::Barrier),
        Step::Write { lock, value, strength, is_atomic } => commands.push(Command::Write {
            lock: own + *lock,
            value: *value,
            strength: *strength,
            is_atomic: *is_atomic,
        }),
        Step::Section(section) => {
            let Section { lock, asking, is_cas, is_reversed, take, inside, release } = section;
            let at = commands.len();
            commands.push(Command::Barrier);
            for step in inside {
                add(step, own, commands);
            }
            if let Some((strength, value, is_atomic)) = *release {
                commands.push(Command::Write { lock: own + *lock, value, strength, is_atomic });
            }
            let otherwise = if *asking == Asking::Once { commands.len() } else { at };
            let (lock, is_cas, is_reversed, strength) = (own + *lock, *is_cas, *is_reversed, *take);
            commands[at] = Command::Take { lock, is_cas, is_reversed, strength, otherwise };
        }
    }
}

struct Judge {
    programs: Vec<Vec<Command>>,
    by_locks: bool,
    judgement: Judgement,
}

impl Judge {
    /// Runs all threads up to their next operations on lock words, and then tries each of these.
    fn go_on(&mut self, mut world: World) {
        if self.judgement.is_unknown() || self.judgement.races {
            return;
        }
        while self.run_quietly(&mut world) {}
        self.judgement.races |= world.races;
        let mut is_end = true;
        for at in 0..world.threads.len() {
            if self.is_enabled(&world, at) {
                is_end = false;
                let mut next = world.clone();
                self.operate(&mut next, at);
                self.go_on(next);
            }
        }
        if is_end {
            self.judgement.executions += 1;
            let is_over = |at: usize| world.threads[at].next == self.programs[at].len();
            self.judgement.ends |= (0..world.threads.len()).all(is_over);
        }
    }

    fn command(&self, world: &World, at: usize) -> Option<Command> {
        self.programs[at].get(world.threads[at].next).copied()
    }

    /// Runs what no other thread can notice. Returns whether there was something.
    fn run_quietly(&self, world: &mut World) -> bool {
        let mut has_run = false;
        for at in 0..world.threads.len() {
            while let Some(command) = self.command(world, at) {
                match command {
                    Command::Access { word, writes } => {
                        let number = world.tick(at);
                        world.touch(word, Touch { thread: at, number, writes, strong: None });
                    }
                    Command::Fence(strength) => world.fence(at, strength, self.by_locks),
                    _ => break,
                }
                world.threads[at].next += 1;
                has_run = true;
            }
        }
        has_run | self.meet(world)
    }

    /// Lets the threads of ctas pass a barrier at which all of them are.
    fn meet(&self, world: &mut World) -> bool {
        let mut has_met = false;
        for cta in 0..3 {
            let of_cta: Vec<usize> =
                (0..world.threads.len()).filter(|at| world.threads[*at].cta == cta).collect();
            let is_there = |at: &usize| matches!(self.command(world, *at), Some(Command::Barrier));
            if of_cta.is_empty() || !of_cta.iter().all(is_there) {
                continue;
            }
            let all = of_cta
                .iter()
                .fold(Clock::default(), |all, at| joined(&all, &world.threads[*at].clock));
            for at in of_cta {
                world.threads[at].clock = all;
                world.threads[at].next += 1;
            }
            has_met = true;
        }
        has_met
    }

    /// Whether the next operation of a thread is one on a lock word that changes something.
    fn is_enabled(&self, world: &World, at: usize) -> bool {
        match self.command(world, at) {
            Some(Command::Write { .. }) => true,
            Some(Command::Take { lock, is_reversed, otherwise, .. }) => {
                let is_free = world.held[lock] == 0;
                is_free != is_reversed || otherwise != world.threads[at].next
            }
            _ => false,
        }
    }

    fn operate(&self, world: &mut World, at: usize) {
        let number = world.tick(at);
        match self.command(world, at).expect("a thread with an operation") {
            Command::Write { lock, value, strength, is_atomic } => {
                let strong = (is_atomic || strength.order != Order::Weak)
                    .then_some(strength.is_strong_wide());
                world.touch(WORDS + lock, Touch { thread: at, number, writes: true, strong });
                if is_atomic {
                    world.read(at, lock, strength, self.by_locks);
                }
                world.write(at, (lock, value), strength, is_atomic);
                world.threads[at].next += 1;
            }
            Command::Take { lock, is_cas, is_reversed, strength, otherwise } => {
                let strong = Some(strength.is_strong_wide());
                world.touch(WORDS + lock, Touch { thread: at, number, writes: true, strong });
                let is_free = world.held[lock] == 0;
                world.read(at, lock, strength, self.by_locks);
                if is_free || !is_cas {
                    world.write(at, (lock, 1), strength, true);
                }
                let next = &mut world.threads[at].next;
                *next = if is_free == is_reversed { otherwise } else { *next + 1 };
            }
            other => unreachable!("{other:?} is no operation on a lock word"),
        }
    }
}

impl Strength {
    /// Whether the operation is strong for all threads of the device: a volatile access is.
    fn is_strong_wide(self) -> bool {
        self.is_wide || self.order == Order::Volatile
    }
}

fn joined(a: &Clock, b: &Clock) -> Clock {
    std::array::from_fn(|at| a[at].max(b[at]))
}

impl World {
    fn tick(&mut self, at: usize) -> u32 {
        self.threads[at].clock[at] += 1;
        self.threads[at].clock[at]
    }

    /// Whether operations of two ctas are strong for each other.
    const fn are_strong(a: (u32, bool), b: (u32, bool)) -> bool {
        a.0 == b.0 || a.1 && b.1
    }

    fn touch(&mut self, word: usize, touch: Touch) {
        let thread = &self.threads[touch.thread];
        for earlier in &self.touches[word] {
            let is_ordered =
                earlier.thread == touch.thread || thread.clock[earlier.thread] >= earlier.number;
            let are_strong = earlier.strong.zip(touch.strong).is_some_and(|(a, b)| {
                Self::are_strong((self.threads[earlier.thread].cta, a), (thread.cta, b))
            });
            self.races |= !is_ordered && (earlier.writes || touch.writes) && !are_strong;
        }
        self.touches[word].push(touch);
    }

    fn fence(&mut self, at: usize, Strength { order, is_wide }: Strength, by_locks: bool) {
        // Relaxed stands for sequentially consistent.
        let is_both = matches!(order, Order::Relaxed | Order::AcqRel);
        let thread = &mut self.threads[at];
        if is_both || order == Order::Acquire {
            let own = (thread.cta, is_wide);
            let heard: Vec<Message> = thread
                .seen
                .iter()
                .filter(|message| by_locks && Self::are_strong((message.cta, message.is_wide), own))
                .copied()
                .collect();
            for message in heard {
                thread.clock = joined(&thread.clock, &message.clock);
            }
        }
        if is_both || order == Order::Release {
            thread.fenced.push((thread.clock, is_wide));
        }
    }

    fn read(&mut self, at: usize, lock: usize, strength: Strength, by_locks: bool) {
        let is_wide = strength.is_strong_wide();
        let thread = &mut self.threads[at];
        let own = (thread.cta, is_wide);
        for message in &self.messages[lock] {
            if !Self::are_strong((message.cta, message.is_wide), own) {
                continue;
            }
            // The narrower of the two scopes is that of the pair.
            let is_wide = message.is_wide && is_wide;
            thread.seen.push(Message { is_wide, ..*message });
            if strength.order.acquires() && by_locks {
                thread.clock = joined(&thread.clock, &message.clock);
            }
        }
    }

    fn write(
        &mut self,
        at: usize,
        (lock, value): (usize, u32),
        strength: Strength,
        is_atomic: bool,
    ) {
        let is_wide = strength.is_strong_wide();
        let thread = &self.threads[at];
        let own = (thread.cta, is_wide);
        // What an atomic has read comes before what reads its write.
        let handed_on =
            |message: &Message| is_atomic && Self::are_strong((message.cta, message.is_wide), own);
        self.messages[lock].retain(handed_on);
        let is_strong = is_atomic || strength.order != Order::Weak;
        let cta = thread.cta;
        if is_strong && strength.order.releases() {
            self.messages[lock].push(Message { clock: thread.clock, cta, is_wide });
        }
        if is_strong {
            let released = thread.fenced.iter().map(|(clock, is_fence_wide)| Message {
                clock: *clock,
                cta,
                is_wide: is_wide && *is_fence_wide,
            });
            self.messages[lock].extend(released);
        }
        self.held[lock] = value;
    }
}
