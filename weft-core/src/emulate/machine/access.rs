//! Runs accesses: splits their lanes by state space and by whether the address is known, emits each part, and reads and
//! writes memory where the slice keeps contents.

use super::cluster::Home;
use super::doubt::DoubtKind;
use super::event::{AccessKind, Events, OrderQuery};
use super::may_execute::OpenSide;
use super::piece::{Piece, kind};
use super::state::Machine;
use super::stop::{ATOMIC_COST, CONTENTS_PART, OPEN_ACCESS_COST, OrStop, PAGE_COST, doubt};
use crate::emulate::memory::pages::{Memory, MemoryUse};
use crate::emulate::value::lane::{Lane, LaneMask, lanes, truncate};
use crate::emulate::value::origin::{Origin, Region};
use crate::emulate::value::register::Value;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{Address, Clusters, Instr, Pc, space_of};
use crate::launch::Atomics;
use crate::ptx::Space;
use crate::ptx::isa::{Decoded, Effect, Modifier};
use crate::slice::Keep;

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Runs an access in the lanes of `enabled`.
    pub(super) fn access(
        &mut self,
        warp: WarpId,
        pc: Pc,
        instr: &Instr,
        enabled: LaneMask,
    ) -> OrStop<()> {
        let (Some(decoded), Some(address)) = (instr.decoded(), instr.address) else {
            return Err(doubt(DoubtKind::Unsupported, instr.place, None));
        };
        if decoded.modifiers.has(Modifier::Cluster)
            && !matches!(self.program.clusters, Clusters::OfOne | Clusters::OfSeveral(_))
            && self.inputs.grid.count() > 1
        {
            // Which ctas form a cluster might be stated only when the kernel is launched.
            return Err(doubt(DoubtKind::Unsupported, instr.place, None));
        }
        if decoded.is_asynchronous {
            self.begin_copies(warp, enabled)?;
        }
        if decoded.row.effect == Effect::Atomic {
            self.atomics += 1;
            // Each lane's result is a symbolic value of its own, and its access is compared by itself.
            self.spend(ATOMIC_COST * u64::from(enabled.count_ones()), instr.place)?;
        }
        let addresses = self.addresses(warp, &address);
        let open = addresses.open_lanes() & enabled;
        let (space, home) = (address.space, self.warps[warp].cta);
        let all =
            Piece { warp, pc, instr, decoded, space, home, addresses: &addresses, lanes: enabled };
        if space != Space::Generic {
            if open != 0 {
                self.access_homes(&Piece { lanes: open, ..all }, Self::access_open)?;
            }
            if enabled != open {
                self.access_homes(&Piece { lanes: enabled & !open, ..all }, Self::access_space)?;
            }
            return Ok(());
        }
        for (space, lanes, addresses) in self.split_open(pc, &addresses, open) {
            let part = Piece { space, addresses: &addresses, lanes, ..all };
            self.access_homes(&part, Self::access_open)?;
        }
        for (space, lanes, addresses) in split(&addresses, enabled & !open) {
            let part = Piece { space, addresses: &addresses, lanes, ..all };
            self.access_homes(&part, Self::access_space)?;
        }
        Ok(())
    }

    /// Runs the parts of an access, each with the lanes that access the shared memory of one cta.
    fn access_homes(
        &mut self,
        all: &Piece<'_>,
        mut run: impl FnMut(&mut Self, &Piece<'_>) -> OrStop<()>,
    ) -> OrStop<()> {
        if !self.has_peers() || all.space != Space::Shared {
            return run(self, all);
        }
        let reaches = all.decoded.reaches_cluster
            || all.instr.address.is_some_and(|address| address.space == Space::Generic);
        let open = all.addresses.open_lanes() & all.lanes;
        if reaches && open != 0 {
            // Which cta an open address leads to is not known.
            let symbol = all.addresses.symbol(open);
            let origin = symbol.and_then(|symbol| self.facts.symbolics.origin(symbol));
            return Err(doubt(DoubtKind::Address, all.instr.place, origin));
        }
        let homes = self.homes(all.warp, (all.addresses, all.lanes), reaches);
        let unclear = || doubt(DoubtKind::Unsupported, all.instr.place, None);
        for Home { cta, lanes, addresses } in homes.ok_or_else(unclear)? {
            run(self, &Piece { home: cta, addresses: &addresses, lanes, ..*all })?;
        }
        Ok(())
    }

    /// The address of each lane: its base register plus the offset, in the width of the space.
    pub(super) fn addresses(&self, warp: WarpId, address: &Address) -> Value {
        // Addresses have 64 bits in these two spaces and 32 bits in the others, whatever the register's width.
        let bits = if matches!(address.space, Space::Generic | Space::Global) { 64 } else { 32 };
        let Some(base) = address.base else {
            return Value::uniform(truncate(address.offset, bits));
        };
        let value = &self.warps[warp].registers[base];
        value.plus(address.offset, bits).based_on(value)
    }

    /// Runs an access at open addresses: what it reads is open, and so is afterwards all that it might have
    /// overwritten.
    fn access_open(&mut self, piece: &Piece<'_>) -> OrStop<()> {
        let &Piece { warp, pc, instr, decoded, space, addresses, lanes: open, .. } = piece;
        let origin = addresses.symbol(open).and_then(|symbol| self.facts.symbolics.origin(symbol));
        let writes = decoded.row.effect != Effect::Load;
        if space == Space::Generic {
            return Err(doubt(DoubtKind::Address, instr.place, origin));
        }
        if writes && is_read_only(space) {
            self.emit_read_only(piece);
        }
        self.spend(OPEN_ACCESS_COST, instr.place)?;
        // The address of an access to a thread's own memory decides nothing by itself.
        if space != Space::Local {
            self.check_written(warp, addresses, open, instr.place);
        }
        let decides = self.slice.keep[pc.index()] == Keep::Value;
        let reads = decoded.row.effect != Effect::Store && decides;
        let before = reads.then(|| self.unwritten_reached(piece)).flatten();
        if writes && self.slice.contents.has(space) {
            let unwritten = self.unwritten_stored(piece);
            self.forget_reached(piece, unwritten.or(origin).unwrap_or(Origin::Register))?;
        }
        if is_observed(space) {
            self.emit_open(piece);
        }
        if writes && self.is_in_general(warp) {
            self.facts.inherited.write_somewhere(space == Space::Global);
        }
        let given = origin.unwrap_or(Origin::Unsupported(pc));
        let value = Value::open(match before {
            Some(origin) => self.facts.symbolics.anything(origin, Region::Number),
            None if kind(decoded).is_strong() => {
                self.facts.symbolics.any_number(self.facts.passed_on.in_strong_store(given))
            }
            None => self.facts.symbolics.any_number(given),
        });
        for dest in instr.dests.iter().flatten() {
            self.warps[warp].write(*dest, value.clone(), open);
        }
        Ok(())
    }

    /// Runs an access at known addresses of one space.
    fn access_space(&mut self, piece: &Piece<'_>) -> OrStop<()> {
        let &Piece { pc, instr, decoded, space, lanes, .. } = piece;
        let keep = self.slice.keep[pc.index()];
        if decoded.row.effect != Effect::Load && is_read_only(space) {
            self.emit_read_only(piece);
        }
        let stored = self.stored(piece);
        if is_observed(space) {
            self.count_commands(lanes);
            self.spend(u64::from(lanes.count_ones() / 4), instr.place)?;
            // An atomic leaves something other than its operand.
            let is_left = decoded.row.effect == Effect::Store;
            self.emit_known(piece, if is_left { &stored } else { &[] });
        }
        let sent = self.note_signals(piece);
        if decoded.row.effect == Effect::Store {
            self.reset_counters(piece);
        }
        if keep != Keep::Value {
            return Ok(());
        }
        if decoded.row.effect != Effect::Load {
            self.note_strays(piece);
        }
        let before = self.held(piece);
        match decoded.row.effect {
            Effect::Load => self.load(piece),
            Effect::Store => self.store(piece, &stored),
            _ => self.atomic(piece, &stored, &sent),
        }
        let made = self.held(piece).more_than(before);
        self.contents += made.bytes();
        if self.contents > self.facts.limit.memory / CONTENTS_PART {
            return Err(doubt(DoubtKind::Memory, instr.place, None));
        }
        self.spend(PAGE_COST * made.pages as u64, instr.place)
    }

    /// How much is kept of local memory for an access to it, of global memory for any other access.
    fn held(&self, piece: &Piece<'_>) -> MemoryUse {
        match piece.space {
            Space::Local => self.warps[piece.warp].local.iter().map(Memory::held).sum(),
            _ => self.global.held(),
        }
    }

    /// In lock step, synchronizes the lanes that run together: where they converge, and after each access (NFM'14 §3).
    /// Lanes under an open condition can be on different sides of it, unless the condition is the same for all of them.
    pub(super) fn in_lock_step(&mut self, warp: WarpId) {
        let is_together = self.may_execute.as_ref().is_none_or(OpenSide::is_in_step);
        if self.inputs.options.warp_synchronous && is_together {
            self.events.converge(warp, self.warps[warp].front);
        }
    }

    /// The values that an access stores, one for each element; empty if the slice does not keep them.
    pub(super) fn stored(&mut self, piece: &Piece<'_>) -> Vec<Value> {
        let &Piece { warp, pc, instr, decoded, .. } = piece;
        if self.slice.keep[pc.index()] != Keep::Value || decoded.row.effect == Effect::Load {
            return Vec::new();
        }
        instr.sources.iter().map(|source| self.operand(warp, pc, source)).collect()
    }

    /// Splits the lanes at open generic addresses by the space that they access. Adding numbers to an address does not
    /// lead out of its space.
    fn split_open(&self, pc: Pc, addresses: &Value, mask: LaneMask) -> Parts {
        let mut parts: Vec<(Space, LaneMask)> = Vec::new();
        for lane in lanes(mask) {
            let value = addresses.whole(lane);
            let is_number =
                value.symbol.is_some_and(|symbol| self.facts.symbolics.is_number(symbol));
            let space = match (self.region(pc, value), space_of(value.bits)) {
                (Region::Buffer(_) | Region::Among(_), _) => Space::Global,
                (_, (space, _)) if is_number && space != Space::Global => space,
                _ => Space::Generic,
            };
            add(&mut parts, space, lane);
        }
        let part = |(space, mask)| (space, mask, within(space, addresses).based_on(addresses));
        parts.into_iter().map(part).collect()
    }

    /// The region of an open address of an access; unclear if the access might lead from one buffer to another.
    pub(super) fn region(&self, pc: Pc, address: Lane) -> Region {
        if self.inputs.strays.contains_key(&pc) {
            return Region::Unclear;
        }
        self.facts.symbolics.region(address)
    }

    /// The variable in which an access at an open address stays, as an index into the symbols of the program; `None` if
    /// none is known.
    pub(super) fn variable_around(&self, pc: Pc, space: Space) -> Option<usize> {
        let base = self.program.code[pc.index()].address?.base?;
        self.program.variable_of(space, base).filter(|_| !self.inputs.strays.contains_key(&pc))
    }

    /// How an instruction acts on memory here. Under an open condition it might not happen; `atomics = "off"` makes an
    /// atomic a plain access.
    pub(super) fn own_kind(&self, decoded: &Decoded) -> AccessKind {
        let may_execute = self.may_execute.is_some();
        let kind = AccessKind { may_execute, ..kind(decoded) };
        if kind.is_atomic() && self.inputs.options.atomics == Atomics::Off {
            return AccessKind { writes: true, may_execute, ..AccessKind::default() };
        }
        kind
    }
}

/// Lanes by the space that they access, with their addresses within the space.
type Parts = Vec<(Space, LaneMask, Value)>;

/// Splits the lanes at known generic addresses by the space that they access.
fn split(addresses: &Value, mask: LaneMask) -> Parts {
    let mut parts: Vec<(Space, LaneMask)> = Vec::new();
    for lane in lanes(mask) {
        let (space, _) = space_of(addresses.bits_of(lane));
        add(&mut parts, space, lane);
    }
    let part = |(space, mask)| (space, mask, within(space, addresses));
    parts.into_iter().map(part).collect()
}

/// Adds a lane to the part of its space.
fn add(parts: &mut Vec<(Space, LaneMask)>, space: Space, lane: usize) {
    match parts.iter_mut().find(|(part_space, _)| *part_space == space) {
        Some((_, lanes)) => *lanes |= 1 << lane,
        None => parts.push((space, 1 << lane)),
    }
}

/// Converts generic addresses to addresses of a space.
fn within(space: Space, addresses: &Value) -> Value {
    addresses.plus(crate::flow::window(space).wrapping_neg(), 64)
}

/// Whether accesses to a space are emitted: threads share it.
const fn is_observed(space: Space) -> bool {
    matches!(space, Space::Shared | Space::Global)
}

/// Whether a kernel can only read a space.
const fn is_read_only(space: Space) -> bool {
    matches!(space, Space::Const | Space::Param)
}
