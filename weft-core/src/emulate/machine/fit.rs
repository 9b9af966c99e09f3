//! Whether accesses at open addresses that are known numbers of bytes apart can all lie in their memory, and be aligned:
//! whatever the open part is, it is one for all of them.

use super::event::{Access, Events, Fault, OrderQuery};
use super::state::Machine;
use crate::emulate::facts::place::Place;
use crate::emulate::value::lane::lanes;
use crate::flow::Symbol;
use crate::flow::addresses::buffer;
use crate::ptx::Space;

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Takes in accesses that surely happen, from one open address; tells of the first lane that has no room beside others.
    pub(super) fn check_fit(&mut self, access: &Access<'_>, place: Place) {
        let Some(root) = access.class else { return };
        if access.condition.is_some() || access.kind.may_execute || self.is_in_general(access.warp)
        {
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
                    condition: None,
                });
                return;
            }
        }
    }

    /// The bytes of a place, if they are known.
    fn size_of(&self, (is_global, region): Place) -> Option<u64> {
        if is_global {
            return self.global.segment(buffer(region?)).map(|segment| segment.size);
        }
        let is_shared = |symbol: &&Symbol| symbol.space == Space::Shared;
        let mut all = self.program.symbols.iter().filter(is_shared);
        let variable = match region {
            Some(at) => &self.program.symbols[at],
            None => all.next().filter(|_| all.next().is_none())?,
        };
        (!variable.is_dynamic()).then_some(variable.size)
    }
}
