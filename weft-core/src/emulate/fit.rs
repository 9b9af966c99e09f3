//! Whether accesses at open addresses that are known numbers of bytes apart can all lie in their memory, and be aligned:
//! whatever the open part is, it is one for all of them.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::anchor::{Place, Root};
use super::event::{Access, Events, Fault, FaultKind};
use super::machine::Machine;
use super::value::lanes;
use crate::flow::Symbol;
use crate::flow::addresses::buffer;
use crate::ptx::Space;

/// What accesses from one open address need so far, at the made-up addresses at which they are told.
#[derive(Clone, Copy, Debug)]
struct Need {
    first: u64,
    end: u64,
    /// Bytes of the widest access, a power of two.
    multiple: u64,
    /// The remainder of its address by those. The accesses are aligned if the open part and this make up a multiple.
    rest: u64,
}

/// By place and open part.
#[derive(Debug, Default)]
pub(super) struct Needs(HashMap<(Place, Root), Need, RandomState>);

impl Needs {
    /// One more access, of so many bytes, a power of two: what is wrong if not all can be in memory of this size, or aligned.
    fn add(&mut self, at: (Place, Root), first: u64, bytes: u64, size: u64) -> Option<FaultKind> {
        let multiple = bytes.max(1);
        let (end, rest) = (first.saturating_add(bytes), first % multiple);
        let own = self.0.entry(at).or_insert(Need { first, end, multiple, rest });
        let common = multiple.min(own.multiple);
        if own.rest % common != rest % common {
            return Some(FaultKind::Misaligned);
        }
        if multiple > own.multiple {
            (own.multiple, own.rest) = (multiple, rest);
        }
        let (least, most) = (own.first.min(first), own.end.max(end));
        if most - least > size {
            return Some(FaultKind::OutOfBounds);
        }
        (own.first, own.end) = (least, most);
        None
    }
}

impl<E: Events> Machine<'_, E> {
    /// Takes in accesses that surely happen, from one open address; tells of the first lane that has no room beside others.
    pub(super) fn check_fit(&mut self, access: &Access<'_>, place: Place) {
        let Some(root) = access.root else { return };
        if access.maybe.is_some() || access.kind.is_maybe || self.is_in_general(access.warp) {
            return;
        }
        let size = self.size_of(place).unwrap_or(u64::MAX);
        for lane in lanes(access.lanes) {
            let first = access.addresses.lane(lane);
            let found = self.needs.add((place, root), first, access.bytes.into(), size);
            if let Some(kind) = found {
                self.events.fault(Fault {
                    kind,
                    pc: access.pc,
                    warp: access.warp,
                    lane,
                    space: access.space,
                    address: None,
                    bytes: access.bytes,
                    access: access.kind,
                    maybe: None,
                });
                return;
            }
        }
    }

    /// The bytes of a place, if they are known.
    fn size_of(&self, (is_global, region): Place) -> Option<u64> {
        if is_global {
            return self.global.segment(buffer(region?)).map(|own| own.size);
        }
        let is_shared = |own: &&Symbol| own.space == Space::Shared;
        let mut all = self.program.symbols.iter().filter(is_shared);
        let variable = match region {
            Some(at) => &self.program.symbols[at],
            None => all.next().filter(|_| all.next().is_none())?,
        };
        (!variable.is_dynamic()).then_some(variable.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three accesses are found to have no room exactly where no place of the first has room for all.
    #[test]
    fn accesses_fit_where_some_start_has_room_for_all() {
        const SIZE: u64 = 12;
        let all: Vec<(u64, u64)> =
            (16..32).flat_map(|at| [1, 2, 4, 8].map(|bytes| (at, bytes))).collect();
        let is_in = |start: u64, (at, bytes): (u64, u64)| {
            // The memory begins at 32.
            let at = (at + start).checked_sub(32);
            at.is_some_and(|at| at + bytes <= SIZE && at % bytes == 0)
        };
        let place = ((false, None), Root::default());
        for &a in &all {
            for &b in &all {
                for &c in all.iter().step_by(7) {
                    let mut needs = Needs::default();
                    let mut add = |(at, bytes)| needs.add(place, at, bytes, SIZE).is_none();
                    let fits = add(a) && add(b) && add(c);
                    let has_room =
                        (0..64).any(|start| [a, b, c].iter().all(|own| is_in(start, *own)));
                    // Room that only alignment takes is not found out.
                    assert!(fits || !has_room, "{a:?} {b:?} {c:?}");
                    let aligned = (0..64)
                        .any(|start| [a, b, c].iter().all(|own| (own.0 + start) % own.1 == 0));
                    let ends = [a, b, c].map(|own| own.0 + own.1);
                    let least = [a, b, c].map(|own| own.0);
                    let span = ends.iter().max().unwrap() - least.iter().min().unwrap();
                    assert_eq!(fits, aligned && span <= SIZE, "{a:?} {b:?} {c:?}");
                }
            }
        }
    }
}
