//! The room and the alignment that accesses from one open address need of their memory, all together.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::event::FaultKind;
use crate::emulate::facts::alias::AliasClass;
use crate::emulate::memory::region::MemoryRegion;

/// What the accesses of one alias class need so far, at their representative addresses.
#[derive(Clone, Copy, Debug)]
struct MemoryNeed {
    /// First byte that is accessed.
    first: u64,
    /// The byte after the last one that is accessed.
    end: u64,
    /// Bytes of the widest access, a power of two.
    multiple: u64,
    /// The address of that access modulo `multiple`. The accesses are aligned if the sum of the open part and this is a
    /// multiple of `multiple`.
    rest: u64,
}

/// The needs of each region and alias class.
#[derive(Debug, Default)]
pub(super) struct Needs(HashMap<(MemoryRegion, AliasClass), MemoryNeed, RandomState>);

impl Needs {
    /// Adds an access of `bytes` bytes, a power of two, at the representative address `first` in memory of `size`
    /// bytes. Returns what is wrong if the accesses so far cannot all be aligned, or cannot all be in memory, at the
    /// same time.
    pub(super) fn add(
        &mut self,
        at: (MemoryRegion, AliasClass),
        first: u64,
        bytes: u64,
        size: u64,
    ) -> Option<FaultKind> {
        let multiple = bytes.max(1);
        let (end, rest) = (first.saturating_add(bytes), first % multiple);
        let need = self.0.entry(at).or_insert(MemoryNeed { first, end, multiple, rest });
        let common = multiple.min(need.multiple);
        if need.rest % common != rest % common {
            return Some(FaultKind::Misaligned);
        }
        if multiple > need.multiple {
            (need.multiple, need.rest) = (multiple, rest);
        }
        let (least, most) = (need.first.min(first), need.end.max(end));
        if most - least > size {
            return Some(FaultKind::OutOfBounds);
        }
        (need.first, need.end) = (least, most);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three accesses fit exactly if some start aligns all of them and they span no more than the size of the memory.
    /// They fit in particular if some start has room for all of them.
    #[test]
    fn accesses_fit_where_some_start_has_room_for_all() {
        const SIZE: u64 = 12;
        let all: Vec<(u64, u64)> =
            (16..32).flat_map(|at| [1, 2, 4, 8].map(|bytes| (at, bytes))).collect();
        let is_in = |start: u64, (at, bytes): (u64, u64)| {
            // Memory begins at 32.
            let at = (at + start).checked_sub(32);
            at.is_some_and(|at| at + bytes <= SIZE && at % bytes == 0)
        };
        let region = MemoryRegion { is_global: false, base: None };
        let place = (region, AliasClass::default());
        for &a in &all {
            for &b in &all {
                for &c in all.iter().step_by(7) {
                    let mut needs = Needs::default();
                    let mut add = |(at, bytes)| needs.add(place, at, bytes, SIZE).is_none();
                    let fits = add(a) && add(b) && add(c);
                    let has_room =
                        (0..64).any(|start| [a, b, c].iter().all(|access| is_in(start, *access)));
                    // That no start is both aligned and in memory is not found out.
                    assert!(fits || !has_room, "{a:?} {b:?} {c:?}");
                    let aligned = (0..64).any(|start| {
                        [a, b, c].iter().all(|access| (access.0 + start) % access.1 == 0)
                    });
                    let ends = [a, b, c].map(|access| access.0 + access.1);
                    let least = [a, b, c].map(|access| access.0);
                    let span = ends.iter().max().unwrap() - least.iter().min().unwrap();
                    assert_eq!(fits, aligned && span <= SIZE, "{a:?} {b:?} {c:?}");
                }
            }
        }
    }
}
