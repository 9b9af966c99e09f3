//! What a kernel does wrong, by enumeration of threads, accesses and bytes.

use std::collections::{BTreeMap, BTreeSet};

use crate::kernel::{Kernel, Step};

/// What is wrong, by step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wrongs {
    /// Pairs of steps that race, the first one first; a step can race with itself.
    pub(crate) races: BTreeSet<(usize, usize)>,
    /// Accesses outside of their buffers.
    pub(crate) outside: BTreeSet<usize>,
    /// Accesses at no multiple of their width.
    pub(crate) misaligned: BTreeSet<usize>,
}

/// One thread's access to a byte.
#[derive(Clone, Copy)]
struct Touch {
    cta: u64,
    thread: u64,
    step: usize,
    /// The number of barriers before.
    interval: usize,
    is_store: bool,
}

impl Touch {
    fn races_with(self, other: Self) -> bool {
        let is_other = (self.cta, self.thread) != (other.cta, other.thread);
        let is_unordered = self.cta != other.cta || self.interval == other.interval;
        is_other && is_unordered && (self.is_store || other.is_store)
    }
}

pub(crate) fn wrongs(kernel: &Kernel) -> Wrongs {
    let mut wrongs = Wrongs::default();
    let mut touched: BTreeMap<(usize, i64), Vec<Touch>> = BTreeMap::new();
    for cta in 0..kernel.grid {
        for thread in 0..kernel.block {
            for (step, what) in kernel.steps.iter().enumerate() {
                let Step::Access(access) = what else { continue };
                let before = &kernel.steps[..step];
                let interval = before.iter().filter(|own| matches!(own, Step::Barrier)).count();
                if thread >= access.threads {
                    continue;
                }
                let index = if access.is_of_grid { cta * kernel.block + thread } else { thread };
                let pointer = kernel.pointers[access.pointer];
                let first = i64::try_from(pointer.offset + index * access.stride).expect("small");
                let first = first + access.shift;
                let width = i64::try_from(access.width).expect("small");
                let size = kernel.sizes[pointer.buffer]
                    .map_or(i64::MAX, |size| i64::try_from(size).expect("small"));
                if first < 0 || first + width > size {
                    wrongs.outside.insert(step);
                }
                // Buffers begin at multiples of 256.
                if first.rem_euclid(width) != 0 {
                    wrongs.misaligned.insert(step);
                }
                let touch = Touch { cta, thread, step, interval, is_store: access.is_store };
                for byte in first..first + width {
                    touched.entry((pointer.buffer, byte)).or_default().push(touch);
                }
            }
        }
    }
    for all in touched.values() {
        for (at, one) in all.iter().enumerate() {
            for other in &all[at + 1..] {
                if one.races_with(*other) {
                    wrongs.races.insert((one.step.min(other.step), one.step.max(other.step)));
                }
            }
        }
    }
    wrongs
}
