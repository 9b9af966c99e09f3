//! Forgets contents of memory: after a store at an unknown address, all that it might have written is open.

use std::collections::BTreeSet;

use super::event::{Events, OrderQuery};
use super::piece::Piece;
use super::state::Machine;
use super::stop::{OrStop, PAGE_COST};
use crate::emulate::memory::pages::{ALL, Extent, Memory, ReachedBytes};
use crate::emulate::sync::group::CtaRank;
use crate::emulate::value::lane::{LaneMask, lanes};
use crate::emulate::value::origin::{Origin, Region};
use crate::emulate::value::warp_id::WarpId;
use crate::flow::addresses::slot;
use crate::flow::{Holds, Instr, PlaceId, Reg};
use crate::ptx::Space;

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Forgets what a store at an open address can reach.
    pub(super) fn forget_reached(&mut self, piece: &Piece<'_>, origin: Origin) -> OrStop<()> {
        let (space, mask, place) = (piece.space, piece.lanes, piece.instr.place);
        for extent in self.reached_from(piece) {
            self.forget((piece.warp, piece.home), mask, (space, extent), origin, place)?;
        }
        Ok(())
    }

    /// The origin of what a load at an open address reads, if that might depend on memory that nothing wrote; otherwise
    /// `None`. If some of the shared memory that the load can reach was written, it is assumed to read written bytes.
    pub(super) fn unwritten_reached(&mut self, piece: &Piece<'_>) -> Option<Origin> {
        if piece.space != Space::Shared {
            return self.unwritten_elsewhere(piece);
        }
        let size = piece.decoded.ty().bytes();
        let extents = self.reached_from(piece);
        let shared = &mut self.ctas[piece.home.index()].shared;
        let all: Vec<_> = extents
            .into_iter()
            .map(|extent| shared.written_in(extent, &self.facts.symbolics))
            .collect();
        if all.iter().all(|reached| matches!(reached, ReachedBytes::Nothing)) {
            return Some(Origin::unwritten_at(piece.pc, Space::Shared, size));
        }
        self.facts.assumed.written |=
            all.iter().any(|reached| !matches!(reached, ReachedBytes::All));
        all.into_iter().find_map(|reached| match reached {
            ReachedBytes::Unwritten(origin) => Some(origin),
            _ => None,
        })
    }

    /// As `unwritten_reached`, for memory that holds something from the start, which might be unknown.
    fn unwritten_elsewhere(&mut self, piece: &Piece<'_>) -> Option<Origin> {
        if !self.facts.symbolics.reads_unwritten {
            return None;
        }
        let extents = self.reached_from(piece);
        let local = self.warps[piece.warp].local.iter();
        let memories = match piece.space {
            Space::Local => local.collect(),
            Space::Global => vec![&self.global],
            _ => Vec::new(),
        };
        let in_it = |memory: &&Memory| {
            extents.iter().find_map(|at| memory.unwritten_in(*at, &self.facts.symbolics))
        };
        memories.iter().find_map(in_it)
    }

    /// The pieces of memory that an access at open addresses can reach.
    fn reached_from(&mut self, piece: &Piece<'_>) -> BTreeSet<Extent> {
        let &Piece { pc, space, addresses, lanes: mask, .. } = piece;
        let variable = self.variable_around(pc, space);
        let mut extents = BTreeSet::new();
        for lane in lanes(mask) {
            match (self.region(pc, addresses.whole(lane)), variable) {
                (Region::Buffer(argument), _) if space == Space::Global => {
                    extents.insert(slot(argument));
                }
                (Region::Among(params), _) if space == Space::Global => {
                    extents.extend(params.all().map(slot));
                }
                (_, Some(variable)) => {
                    // The same assumption is made wherever shadows compare accesses to shared memory by variable.
                    self.facts.assumed.variables |= space != Space::Shared;
                    extents.insert(self.program.extent_of(variable));
                }
                (_, None) => {
                    extents.insert(ALL);
                }
            }
        }
        extents
    }

    /// Forgets what any number of stores by an instruction can reach, wherever its address register leads.
    pub(super) fn forget_stored(
        &mut self,
        warp: WarpId,
        mask: LaneMask,
        instr: &Instr,
        origin: Origin,
    ) -> OrStop<()> {
        self.facts.strays.is_used = true;
        let own = self.warps[warp].cta;
        for reached in self.reached_by(instr) {
            // The address might be one of another cta.
            let is_shared = reached.0 == Space::Shared;
            let homes = CtaRank::all(self.ctas.len());
            let homes: Vec<_> = homes.filter(|home| is_shared || *home == own).collect();
            for home in homes {
                self.forget((warp, home), mask, reached, origin, instr.place)?;
            }
        }
        Ok(())
    }

    /// As `forget_stored`, in local memory of one lane alone.
    pub(super) fn forget_stored_locally(
        &mut self,
        warp: WarpId,
        lane: usize,
        instr: &Instr,
        origin: Origin,
    ) -> OrStop<()> {
        self.facts.strays.is_used = true;
        for reached in self.reached_by(instr) {
            if reached.0 == Space::Local {
                let home = self.warps[warp].cta;
                self.forget((warp, home), 1 << lane, reached, origin, instr.place)?;
            }
        }
        Ok(())
    }

    /// The spaces and bytes that an instruction can access, given all definitions of its address register.
    fn reached_by(&self, instr: &Instr) -> Vec<(Space, Extent)> {
        let Some(address) = instr.address else { return Vec::new() };
        let Some(base) = address.base else {
            let bytes = instr
                .decoded()
                .map_or(1, |decoded| decoded.ty().bytes() * u32::from(decoded.vector()));
            let last = address.offset.saturating_add(u64::from(bytes) - 1);
            return vec![(address.space, (address.offset, last))];
        };
        match self.based_on(base).filter(|_| !self.facts.strays.some) {
            Some(reached) => reached,
            None if address.space == Space::Generic => {
                [Space::Shared, Space::Global, Space::Local].map(|space| (space, ALL)).to_vec()
            }
            None => vec![(address.space, ALL)],
        }
    }

    /// The buffers, or the variable, that all definitions of a register start from; `None` if they are not known.
    fn based_on(&self, base: Reg) -> Option<Vec<(Space, Extent)>> {
        let is_pointer = |at: usize| self.program.is_pointer(at);
        let buffer = |at: usize| (Space::Global, slot(self.program.buffer_of(at)));
        match self.program.holds[base.index()] {
            Holds::Param(at) if is_pointer(at) => Some(vec![buffer(at)]),
            Holds::Params(params) if params.all().all(is_pointer) => {
                Some(params.all().map(buffer).collect())
            }
            Holds::Variable(at) => {
                Some(vec![(self.program.symbols[at].space, self.program.extent_of(at))])
            }
            _ => None,
        }
    }

    /// Records a store at known addresses that reaches memory outside of what its address is based on. As long as there
    /// is no such store, only what the address is based on is forgotten for stores of a loop. Bytes outside of all
    /// memory do not count.
    pub(super) fn note_strays(&mut self, piece: &Piece<'_>) {
        let Some(base) = piece.instr.address.and_then(|address| address.base) else { return };
        let Some(reached) = self.based_on(base) else { return };
        let size = u64::from(piece.bytes());
        let is_inside = |address: u64| {
            let end = address.saturating_add(size - 1);
            let holds = |(space, (first, last)): &(Space, Extent)| {
                *space == piece.space && *first <= address && end <= *last
            };
            reached.iter().any(holds)
        };
        let (least, most) = piece.addresses.ends(piece.lanes);
        if reached.len() == 1 && is_inside(least) && is_inside(most) {
            return;
        }
        let is_memory = |address| {
            piece.space == Space::Local || self.piece(piece.space, address, size).is_some()
        };
        let strays = |address| !is_inside(address) && is_memory(address);
        if lanes(piece.lanes).any(|lane| strays(piece.addresses.bits_of(lane))) {
            self.facts.strays.stray();
        }
    }

    /// Makes the contents of these bytes open, and counts the pages that this goes through against the limit.
    fn forget(
        &mut self,
        (warp, home): (WarpId, CtaRank),
        mask: LaneMask,
        (space, extent): (Space, Extent),
        origin: Origin,
        place: PlaceId,
    ) -> OrStop<()> {
        let pages = match space {
            Space::Shared => {
                let shared = &mut self.ctas[home.index()].shared;
                shared.forget(extent, origin, &self.facts.symbolics)
            }
            Space::Global => self.global.forget(extent, origin, &self.facts.symbolics),
            Space::Local => {
                let Self { warps, facts, .. } = self;
                lanes(mask)
                    .map(|lane| warps[warp].local(lane).forget(extent, origin, &facts.symbolics))
                    .sum()
            }
            _ => 0,
        };
        self.spend(pages as u64 / PAGE_COST, place)
    }
}
