//! The reference machine: asynchronous copies. A copy is an agent of its own: it knows what its thread knew when it was
//! issued, and its thread knows what it did once it has waited for it. Values are copied at once: where that matters,
//! something races.

use super::Machine;
use super::access::Kind;
use crate::clocks::Thread;
use crate::kernel::{Operand, Place};
use crate::memory::{ORDER, Value};

impl Machine<'_> {
    pub(super) fn copy(
        &mut self,
        thread: Thread,
        pc: usize,
        (to, from): (Place, Place),
        (bytes, size): (u32, Option<Operand>),
    ) {
        let copy = self.clocks.issue(thread);
        self.lanes[thread].copies.push((None, copy));
        let size = size.map_or(Value::known(bytes), |size| self.value(thread, size));
        self.outcome.decides |= size.rests;
        let read = size.bits.min(bytes);
        let mut values = [Value::default(); 4];
        if read > 0 {
            let at = self.touch(thread, pc, from, read, Kind::Copy { copy, writes: false });
            for (value, word) in values.iter_mut().zip(0..read.div_ceil(4)) {
                let rest = (read - 4 * word).min(4);
                let at = at.map(|at| at + 4 * word as usize);
                *value = self.read(thread, from.array, at, rest);
            }
        }
        if read > 0 && read < bytes {
            // The check does not follow what a part of a source leaves.
            values = values.map(|value| value.on(ORDER));
        }
        let at = self.touch(thread, pc, to, bytes, Kind::Copy { copy, writes: true });
        for (value, word) in values.into_iter().zip(0..bytes / 4) {
            self.outcome.stored |= value.rests;
            self.write(thread, to.array, at.map(|at| at + 4 * word as usize), 4, value);
        }
    }

    pub(super) fn commit(&mut self, thread: Thread) {
        let lane = &mut self.lanes[thread];
        for (group, _) in &mut lane.copies {
            *group = group.or(Some(lane.groups));
        }
        lane.groups += 1;
    }

    /// Waits for all groups but the last `keep`; `None`: for all copies.
    pub(super) fn wait(&mut self, thread: Thread, keep: Option<u32>) {
        let lane = &mut self.lanes[thread];
        let groups = lane.groups;
        let is_complete = |group: Option<u32>| match keep {
            None => true,
            Some(keep) => group.is_some_and(|group| group + keep < groups),
        };
        let (complete, rest): (Vec<_>, Vec<_>) =
            lane.copies.iter().partition(|(group, _)| is_complete(*group));
        lane.copies = rest;
        for (_, copy) in complete {
            self.clocks.complete(copy, thread);
        }
    }
}
