//! The reference machine: instructions that access memory or wait.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::arithmetic::{update, wraps};
use super::{Machine, State};
use crate::barriers::Arrival;
use crate::clocks::{Access, Location, Thread};
use crate::kernel::{Array, Atomic, Atomics, Operand, Place, Use, What};
use crate::memory::{Memory, ORDER, SHARED, UNSET, Value, byte_of};

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Load,
    /// The first four bytes, and the next four.
    Store([Value; 2]),
    Atomic,
    /// A relaxed load.
    Look,
    /// The read or the write of the copy with this number.
    Copy {
        copy: Thread,
        writes: bool,
    },
}

impl Machine<'_> {
    /// Replaces an array that depends on a predicate by the array that the predicate selects.
    fn chosen(&mut self, thread: Thread, mut what: What) -> What {
        if let Some(place) = what.place_mut()
            && let Array::Either(pred) = place.array
        {
            let condition = self.lanes[thread].preds[pred];
            self.outcome.decides |= condition.rests;
            place.array = if condition.bits != 0 { Array::Out } else { Array::Data };
        }
        what
    }

    pub(super) fn act(&mut self, thread: Thread, pc: usize, what: What) {
        match self.chosen(thread, what) {
            What::Load { dest, place, bytes } => {
                let at = self.touch(thread, pc, place, bytes, Kind::Load);
                self.lanes[thread].regs[dest] = self.read(thread, place.array, at, bytes);
            }
            What::Store { place, bytes, source } => {
                self.store(thread, pc, place, bytes, source);
            }
            What::LoadPair { dests, place } => {
                let at = self.touch(thread, pc, place, 8, Kind::Load);
                for (dest, at) in dests.into_iter().zip([at, at.map(|at| at + 4)]) {
                    self.lanes[thread].regs[dest] = self.read(thread, place.array, at, 4);
                }
            }
            What::StorePair { place, sources } => {
                let values = sources.map(|source| self.value(thread, source));
                self.outcome.stored |= values[0].rests | values[1].rests;
                let at = self.touch(thread, pc, place, 8, Kind::Store(values));
                for (value, at) in values.into_iter().zip([at, at.map(|at| at + 4)]) {
                    self.write(thread, place.array, at, 4, value);
                }
            }
            What::Atomic { dest, operation, place, source, compare } => {
                let (source, compare) = (self.value(thread, source), self.value(thread, compare));
                let is_look = operation == Atomic::Look;
                let kind = if is_look { Kind::Look } else { Kind::Atomic };
                let at = self.touch(thread, pc, place, 4, kind);
                let old = self.read(thread, place.array, at, 4);
                if !is_look {
                    let new = self.updated(operation, old, source, compare);
                    self.write(thread, place.array, at, 4, new);
                }
                if let Some(dest) = dest {
                    self.lanes[thread].regs[dest] = old.on(ORDER);
                }
            }
            What::Barrier { how, name, count, is_aligned, pred, .. } => {
                // Reductions are alike until the result is written.
                let how = if matches!(how, Use::All | Use::Any) { Use::Reduce } else { how };
                let arrival = Arrival { name, count, how };
                self.lanes[thread].state = State::Arrives { arrival, is_aligned, pred };
                self.lanes[thread].pc = pc;
                self.settle(thread);
            }
            What::Copy { to, from, bytes, size } => {
                self.copy(thread, pc, (to, from), (bytes, size));
            }
            What::Commit => self.commit(thread),
            What::Wait(keep) => self.wait(thread, keep),
            What::WarpSync { mask } => self.meet(thread, pc, mask, false),
            What::Vote { mask, .. } | What::Shuffle { mask, .. } => {
                self.meet(thread, pc, mask, true);
            }
            What::Move(..) | What::Compute(..) | What::Test(..) | What::Select(..) => {}
        }
    }

    fn store(&mut self, thread: Thread, pc: usize, place: Place, bytes: u32, source: Operand) {
        let value = self.value(thread, source);
        self.outcome.stored |= value.rests;
        let value = if bytes < 4 {
            Value { bits: value.bits & ((1 << (8 * bytes)) - 1), ..value }
        } else {
            value
        };
        let kind = Kind::Store([value, Value::default()]);
        let at = self.touch(thread, pc, place, bytes, kind);
        self.write(thread, place.array, at, bytes, value);
    }

    /// Returns the value that an atomic leaves in memory.
    fn updated(&mut self, operation: Atomic, old: Value, source: Value, compare: Value) -> Value {
        self.outcome.wraps |= wraps(operation, old.bits, source.bits);
        let rests = old.rests | source.rests | compare.rests | ORDER;
        Value { bits: update(operation, old.bits, source.bits, compare.bits), rests }
    }

    /// Returns the contents of memory, zero outside of it.
    pub(super) fn read(
        &mut self,
        thread: Thread,
        array: Array,
        at: Option<usize>,
        bytes: u32,
    ) -> Value {
        let rests = if array == Array::Local { 0 } else { SHARED };
        let value = at.map_or(Value::default(), |at| {
            self.memory(thread, array).load(at, bytes as usize).on(rests)
        });
        self.outcome.reads_unset |= value.rests & UNSET != 0;
        value
    }

    pub(super) fn write(
        &mut self,
        thread: Thread,
        array: Array,
        at: Option<usize>,
        bytes: u32,
        value: Value,
    ) {
        if let Some(at) = at {
            self.memory(thread, array).store(at, bytes as usize, value);
        }
    }

    /// Records an access and returns the first byte that it touches, relative to its state space or buffer.
    pub(super) fn touch(
        &mut self,
        thread: Thread,
        site: usize,
        place: Place,
        bytes: u32,
        kind: Kind,
    ) -> Option<usize> {
        let index = self.value(thread, place.index);
        self.outcome.decides |= index.rests;
        let address = place.address(index.bits);
        self.outcome.wraps |= index.rests & ORDER != 0 && place.wraps(index.bits);
        // A part of the source of a copy can have any size.
        let is_aligned = !bytes.is_power_of_two() || address.is_multiple_of(u64::from(bytes));
        if !is_aligned && place.array != Array::Local {
            self.outcome.misaligned.push(site);
        }
        let at = usize::try_from(address).expect("addresses have 64 bits");
        let is_inside = at + bytes as usize <= self.memory(thread, place.array).bytes()
            && !place.strays(address, bytes);
        if place.array == Array::Local {
            return is_inside.then_some(at);
        }
        if !is_inside {
            self.outcome.outside.push(site);
        }
        let touch = hash(&(thread, site, place.array, at));
        self.outcome.touched = self.outcome.touched.wrapping_add(touch);
        let cta = if place.array.is_global() { 0 } else { thread / self.block };
        let array = place.array;
        for byte in 0..bytes as usize {
            let access = Access {
                stamp: match kind {
                    Kind::Copy { copy, .. } => self.clocks.now(copy),
                    _ => self.clocks.now(thread),
                },
                site,
                writes: !matches!(kind, Kind::Load | Kind::Look | Kind::Copy { writes: false, .. }),
                is_atomic: matches!(kind, Kind::Atomic | Kind::Look)
                    && self.atomics != Atomics::Off,
                stored: match kind {
                    Kind::Store(values) => Some(byte_of(values[byte / 4], byte % 4)),
                    Kind::Load | Kind::Atomic | Kind::Look | Kind::Copy { .. } => None,
                },
            };
            let location = Location { cta, array, byte: at + byte };
            self.races.access(location, access, &self.clocks);
        }
        is_inside.then_some(at)
    }

    fn memory(&mut self, thread: Thread, array: Array) -> &mut Memory {
        let cta = thread / self.block;
        match array {
            Array::A | Array::B => &mut self.shared[cta],
            Array::Data | Array::Either(_) => &mut self.data,
            Array::Out => &mut self.out,
            Array::Local => &mut self.lanes[thread].own,
        }
    }
}

fn hash(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
