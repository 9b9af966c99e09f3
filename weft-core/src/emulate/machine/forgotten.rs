//! What memory holds is open where a store at an address that is not known may have written.

use std::collections::BTreeSet;

use super::event::{Events, OrderQuery};
use super::piece::Piece;
use super::state::Machine;
use super::stop::{OrStop, PAGE_COST};
use crate::emulate::memory::pages::{ALL, Extent, Memory, ReachedBytes};
use crate::emulate::value::lane::{LaneMask, lanes};
use crate::emulate::value::origin::{Origin, Region};
use crate::emulate::value::warp_id::WarpId;
use crate::flow::addresses::slot;
use crate::flow::{Holds, Instr, PlaceId, Reg};
use crate::ptx::Space;

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// A store at an open address: what it may reach is forgotten.
    pub(super) fn forget_reached(&mut self, piece: &Piece<'_>, origin: Origin) -> OrStop<()> {
        let (space, mask, place) = (piece.space, piece.lanes, piece.instr.place);
        for extent in self.reached_from(piece) {
            self.forget(piece.warp, mask, (space, extent), origin, place)?;
        }
        Ok(())
    }

    /// Where a load at an open address comes from if what it may reach might depend on memory that nothing wrote. That it
    /// reads something written of shared memory is taken for granted, if anything there was.
    pub(super) fn unwritten_reached(&mut self, piece: &Piece<'_>) -> Option<Origin> {
        if piece.space != Space::Shared {
            return self.unwritten_elsewhere(piece);
        }
        let size = piece.decoded.ty().bytes();
        let extents = self.reached_from(piece);
        let shared = &mut self.ctas[self.warps[piece.warp].cta.index()].shared;
        let all: Vec<_> = extents
            .into_iter()
            .map(|extent| shared.written_in(extent, &self.facts.symbolics))
            .collect();
        if all.iter().all(|reached| matches!(reached, ReachedBytes::Nothing)) {
            return Some(Origin::unwritten_at(piece.pc, Space::Shared, size));
        }
        self.facts.assumed.written |=
            all.iter().any(|any_reached| !matches!(any_reached, ReachedBytes::All));
        all.into_iter().find_map(|first_reached| match first_reached {
            ReachedBytes::Unwritten(origin) => Some(origin),
            _ => None,
        })
    }

    /// The same of memory that starts out as something, if nobody knows what.
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

    /// What an access at open addresses may reach.
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
                    // Shadows compare accesses of shared memory by variable, which says so too.
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

    /// Any number of stores by an instruction, wherever its address register leads: what they may reach is forgotten.
    pub(super) fn forget_stored(
        &mut self,
        warp: WarpId,
        mask: LaneMask,
        instr: &Instr,
        origin: Origin,
    ) -> OrStop<()> {
        self.facts.reach.is_used = true;
        for reached in self.reached_by(instr) {
            self.forget(warp, mask, reached, origin, instr.place)?;
        }
        Ok(())
    }

    /// The same in local memory of one lane alone.
    pub(super) fn forget_stored_locally(
        &mut self,
        warp: WarpId,
        lane: usize,
        instr: &Instr,
        origin: Origin,
    ) -> OrStop<()> {
        self.facts.reach.is_used = true;
        for reached in self.reached_by(instr) {
            if reached.0 == Space::Local {
                self.forget(warp, 1 << lane, reached, origin, instr.place)?;
            }
        }
        Ok(())
    }

    /// The spaces and bytes that an instruction may access, by all definitions of its address register.
    fn reached_by(&self, instr: &Instr) -> Vec<(Space, Extent)> {
        let Some(address) = instr.address else { return Vec::new() };
        let Some(base) = address.base else {
            let bytes = instr
                .decoded()
                .map_or(1, |decoded| decoded.ty().bytes() * u32::from(decoded.vector()));
            let last = address.offset.saturating_add(u64::from(bytes) - 1);
            return vec![(address.space, (address.offset, last))];
        };
        match self.based_on(base).filter(|_| !self.facts.reach.strays) {
            Some(reached) => reached,
            None if address.space == Space::Generic => {
                [Space::Shared, Space::Global, Space::Local].map(|space| (space, ALL)).to_vec()
            }
            None => vec![(address.space, ALL)],
        }
    }

    /// The buffers or the variable that all definitions of a register start from.
    fn based_on(&self, base: Reg) -> Option<Vec<(Space, Extent)>> {
        let is_pointer = |at: usize| self.program.is_pointer(at);
        let buffer = |at: usize| (Space::Global, slot(at));
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

    /// A store at known addresses: whether all of it lies in what its address is based on, as it must where that alone
    /// is forgotten for the rounds of a loop. What lies outside of all memory reaches nothing.
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
        if lanes(piece.lanes).any(|lane| strays(piece.addresses.lane(lane))) {
            self.facts.reach.stray();
        }
    }

    /// What these bytes hold is open.
    fn forget(
        &mut self,
        warp: WarpId,
        mask: LaneMask,
        (space, extent): (Space, Extent),
        origin: Origin,
        place: PlaceId,
    ) -> OrStop<()> {
        let looked_at = match space {
            Space::Shared => {
                let shared = &mut self.ctas[self.warps[warp].cta.index()].shared;
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
        self.spend(looked_at as u64 / PAGE_COST, place)
    }
}
