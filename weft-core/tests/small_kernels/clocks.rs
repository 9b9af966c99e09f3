//! The reference for happens-before and races: a vector clock for each thread, and a list of all accesses to each byte.

use std::collections::BTreeMap;

use crate::kernel::Array;

/// The number of a thread in the launch; behind those, the numbers of copies.
pub(crate) type Thread = usize;

/// The epoch of an action: the thread, and its own clock at that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    thread: Thread,
    at: u32,
}

/// A vector clock: for each thread, the last epoch that happens before.
pub(crate) type Clock = Vec<u32>;

pub(crate) fn join(clock: &mut Clock, other: &Clock) {
    clock.resize(clock.len().max(other.len()), 0);
    for (own, other) in clock.iter_mut().zip(other) {
        *own = (*own).max(*other);
    }
}

/// The vector clocks of all threads.
#[derive(Clone, Debug)]
pub(crate) struct Clocks(Vec<Clock>);

impl Clocks {
    pub(crate) fn new(threads: usize) -> Self {
        let clock = |thread| (0..threads).map(|other| u32::from(other == thread)).collect();
        Self((0..threads).map(clock).collect())
    }

    /// Returns the current epoch of a thread.
    pub(crate) fn now(&self, thread: Thread) -> Stamp {
        Stamp { thread, at: self.0[thread][thread] }
    }

    /// Whether the action with this stamp happens before what the thread does next.
    pub(crate) fn is_before(&self, stamp: Stamp, thread: Thread) -> bool {
        self.0[thread].get(stamp.thread).is_some_and(|known| *known >= stamp.at)
    }

    /// Returns the number of a copy that a thread issues: it knows what the thread knows, and what it does itself is known
    /// to nobody else.
    pub(crate) fn issue(&mut self, thread: Thread) -> Thread {
        let copy = self.0.len();
        let mut clock = self.0[thread].clone();
        clock.resize(copy, 0);
        clock.push(1);
        self.0.push(clock);
        copy
    }

    /// Makes a thread know that a copy is complete.
    pub(crate) fn complete(&mut self, copy: Thread, thread: Thread) {
        let clock = self.0[copy].clone();
        self.learn(thread, &clock);
    }

    /// Returns the thread's clock, to be joined by others, and begins a new epoch of the thread.
    pub(crate) fn give(&mut self, thread: Thread) -> Clock {
        let given = self.0[thread].clone();
        self.0[thread][thread] += 1;
        given
    }

    /// Joins a clock into the thread's clock.
    pub(crate) fn learn(&mut self, thread: Thread, given: &Clock) {
        join(&mut self.0[thread], given);
    }
}

/// A byte of the shared memory of a cta, or of global memory (with cta 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Location {
    pub(crate) cta: usize,
    /// All shared memory counts as the first array.
    pub(crate) array: Array,
    pub(crate) byte: usize,
}

/// An access to one byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) stamp: Stamp,
    /// The index of the instruction.
    pub(crate) site: usize,
    pub(crate) writes: bool,
    pub(crate) is_atomic: bool,
    /// The byte that a plain store leaves; `None` for a load or an atomic.
    pub(crate) stored: Option<u8>,
}

/// A racing pair of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Race {
    pub(crate) is_global: bool,
    /// The two instructions, in the order of the code.
    pub(crate) sites: (usize, usize),
}

/// All accesses so far, and the racing pairs of instructions, each with whether all of its races are benign: plain
/// writes of equal bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Races {
    accesses: BTreeMap<Location, Vec<Access>>,
    pub(crate) found: BTreeMap<Race, bool>,
}

impl Races {
    /// Records an access to a byte and its races with the earlier accesses.
    pub(crate) fn access(&mut self, at: Location, new: Access, clocks: &Clocks) {
        let before = self.accesses.entry(at).or_default();
        for old in before.iter() {
            let conflicts = (old.writes || new.writes) && !(old.is_atomic && new.is_atomic);
            let thread = new.stamp.thread;
            if old.stamp.thread == thread || !conflicts || clocks.is_before(old.stamp, thread) {
                continue;
            }
            let is_benign = old.stored.is_some() && old.stored == new.stored;
            let sites = (old.site.min(new.site), old.site.max(new.site));
            let race = Race { is_global: at.array.is_global(), sites };
            let benign = self.found.entry(race).or_insert(true);
            *benign &= is_benign;
        }
        before.push(new);
    }
}
