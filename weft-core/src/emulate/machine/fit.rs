//! Checks accesses at open addresses that are known numbers of bytes apart: whether all of them can lie in their memory
//! and be aligned. The open part of their addresses is unknown, but the same for all of them.

use super::event::{Access, Events, Fault, OrderQuery};
use super::state::Machine;
use crate::emulate::memory::region::MemoryRegion;
use crate::emulate::value::lane::lanes;
use crate::flow::{BufferPlace, Symbol};
use crate::ptx::Space;

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Records an access that surely happens at representative addresses. Emits a fault for the first lane that cannot
    /// lie in its region, or cannot be aligned, together with the accesses before.
    pub(super) fn check_fit(&mut self, access: &Access<'_>, region: MemoryRegion) {
        let Some(class) = access.class else { return };
        if access.condition.is_some() || access.kind.may_execute || self.is_in_general(access.warp)
        {
            return;
        }
        let size = self.size_of(region).unwrap_or(u64::MAX);
        for lane in lanes(access.lanes) {
            let first = access.addresses.bits_of(lane);
            let found = self.needs.add((region, class), first, access.bytes.into(), size);
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

    /// Size of a region in bytes, if it is known.
    fn size_of(&self, region: MemoryRegion) -> Option<u64> {
        if region.is_global {
            let first = BufferPlace { buffer: region.base?, offset: 0 };
            let segment = self.global.segment(self.program.address_of(first));
            return segment.map(|segment| segment.size);
        }
        let is_shared = |symbol: &&Symbol| symbol.space == Space::Shared;
        let mut all = self.program.symbols.iter().filter(is_shared);
        let variable = match region.base {
            Some(at) => &self.program.symbols[at],
            None => all.next().filter(|_| all.next().is_none())?,
        };
        (!variable.is_dynamic()).then_some(variable.size)
    }
}
