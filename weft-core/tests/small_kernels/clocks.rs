//! Happens-before and races, the textbook way: a vector clock for each thread, and every access to every byte.

use std::collections::BTreeMap;

use crate::kernel::Array;

/// A thread of the launch, by number.
pub(crate) type Thread = usize;

/// What a thread did before it next gave its clock away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    thread: Thread,
    at: u32,
}

/// By thread: how much of what it did happens before.
pub(crate) type Clock = Vec<u32>;

pub(crate) fn join(clock: &mut Clock, other: &Clock) {
    clock.resize(clock.len().max(other.len()), 0);
    for (own, other) in clock.iter_mut().zip(other) {
        *own = (*own).max(*other);
    }
}

/// The clocks of all threads.
#[derive(Clone, Debug)]
pub(crate) struct Clocks(Vec<Clock>);

impl Clocks {
    pub(crate) fn new(threads: usize) -> Self {
        let clock = |thread| (0..threads).map(|other| u32::from(other == thread)).collect();
        Self((0..threads).map(clock).collect())
    }

    /// The stamp of what the thread does now.
    pub(crate) fn now(&self, thread: Thread) -> Stamp {
        Stamp { thread, at: self.0[thread][thread] }
    }

    /// Whether what the stamp is of happens before what the thread does now.
    pub(crate) fn is_before(&self, stamp: Stamp, thread: Thread) -> bool {
        self.0[thread][stamp.thread] >= stamp.at
    }

    /// What the thread did so far, to be learnt by others. What it does from now on is not part of it.
    pub(crate) fn give(&mut self, thread: Thread) -> Clock {
        let given = self.0[thread].clone();
        self.0[thread][thread] += 1;
        given
    }

    /// The thread learns what others gave.
    pub(crate) fn learn(&mut self, thread: Thread, given: &Clock) {
        join(&mut self.0[thread], given);
    }
}

/// A byte of memory: of a cta's shared memory, or of the launch (cta 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Location {
    pub(crate) cta: usize,
    /// Of shared memory the first array stands for both.
    pub(crate) array: Array,
    pub(crate) byte: usize,
}

/// An access of a byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) stamp: Stamp,
    /// The instruction.
    pub(crate) site: usize,
    pub(crate) writes: bool,
    pub(crate) is_atomic: bool,
    /// What a store leaves there; `None`: it reads too.
    pub(crate) stored: Option<u8>,
}

/// Races of two instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Race {
    pub(crate) is_global: bool,
    /// The instructions, the first in the code first.
    pub(crate) sites: (usize, usize),
}

/// All accesses, and which of them race: by pair of instructions whether all of it are plain writes of equal bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Races {
    accesses: BTreeMap<Location, Vec<Access>>,
    pub(crate) found: BTreeMap<Race, bool>,
}

impl Races {
    /// A thread accesses a byte.
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
