//! Faults: emits those of accesses that are out of bounds, misaligned or write to read-only memory, of values from
//! memory that nothing wrote, and of traps. Also emits fences, and finds out how much dynamic shared memory is needed.

use super::event::{Access, AccessKind, Events, Fault, FaultKind, Fence, OrderQuery, ProxyFence};
use super::memory_order::{MemoryScope, Ordering};
use super::piece::Piece;
use super::state::Machine;
use super::stop::OrStop;
use crate::emulate::value::lane::{Lane, LaneMask, WARP, lanes};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::register::Value;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{Instr, Pc, PlaceId};
use crate::ptx::Space;
use crate::ptx::isa::Modifier;

/// What is wrong with an access of a lane.
pub(super) fn fault(access: &Access<'_>, kind: FaultKind, lane: usize) -> Fault {
    Fault {
        kind,
        pc: access.pc,
        warp: access.warp,
        lane,
        space: access.space,
        address: Some(access.addresses.bits_of(lane)),
        bytes: access.bytes,
        access: access.kind,
        condition: access.condition,
    }
}

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Emits a fault for the first lane that is outside of all memory, and one for the first lane that is misaligned.
    pub(super) fn check_bounds(&mut self, access: &Access<'_>) {
        let size = u64::from(access.bytes);
        // Sizes are powers of two.
        let is_misaligned = |address: u64| address & size.saturating_sub(1) != 0;
        let misaligned = |lane: &usize| is_misaligned(access.addresses.bits_of(*lane));
        if !access.addresses.are_multiples_of(size)
            && let Some(lane) = lanes(access.lanes).find(misaligned)
        {
            self.events.fault(fault(access, FaultKind::Misaligned, lane));
        }
        if let Some(lane) = self.first_outside(access, size) {
            // If an address is computed from several pointers, one of these might be a number instead.
            let pointer = self.inputs.strays.get(&access.pc).copied().flatten();
            let condition = access.condition.or(pointer.map(Origin::Argument));
            self.events.fault(Fault { condition, ..fault(access, FaultKind::OutOfBounds, lane) });
        }
    }

    /// Emits a fault for the first lane that writes to read-only memory.
    pub(super) fn emit_read_only(&mut self, piece: &Piece<'_>) {
        let lane = piece.lanes.trailing_zeros() as usize % WARP;
        let Lane { bits, symbol } = piece.addresses.whole(lane);
        self.events.fault(Fault {
            kind: FaultKind::ReadOnly,
            pc: piece.pc,
            warp: piece.warp,
            lane,
            space: piece.space,
            address: symbol.is_none().then_some(bits),
            bytes: piece.bytes(),
            access: self.own_kind(piece.decoded),
            condition: self.may_execute.as_ref().map(|may_execute| may_execute.origin),
        });
    }

    /// Emits a fence. Fences for other ways of reaching memory, such as `fence.proxy.alias`, are not modelled and
    /// emit nothing. Fails under an open condition if the fence might publish something.
    pub(super) fn emit_fence(
        &mut self,
        warp: WarpId,
        pc: Pc,
        instr: &Instr,
        lanes: LaneMask,
    ) -> OrStop<()> {
        if let Some(side) = self.may_execute.as_ref().filter(|_| self.program.publishes()) {
            return Err(side.undecided());
        }
        let Some(decoded) = instr.decoded().filter(|decoded| !decoded.is_strange) else {
            return Ok(());
        };
        let (ordering, scope) = (Ordering::of_fence(decoded), MemoryScope::of(decoded));
        let may_execute = self.may_execute.is_some();
        let is_of_inits = decoded.modifiers.has(Modifier::MbarrierInit);
        let seen = self.seen_alone(lanes);
        let fence = Fence { warp, lanes, pc, ordering, scope, is_of_inits, may_execute, seen };
        self.events.fence(fence);
        Ok(())
    }

    /// Emits a fence between the generic and the async proxy.
    pub(super) fn emit_proxy_fence(&mut self, warp: WarpId, lanes: LaneMask) {
        let may_execute = self.may_execute.is_some();
        self.facts.assumed.proxies = true;
        self.events.proxy_fence(ProxyFence { warp, lanes, may_execute });
    }

    /// Emits that lanes abort the launch.
    pub(super) fn emit_trap(&mut self, warp: WarpId, mask: LaneMask, place: PlaceId) {
        self.events.fault(Fault {
            kind: FaultKind::Trapped(place),
            pc: Pc(0),
            warp,
            lane: mask.trailing_zeros() as usize % WARP,
            space: Space::Global,
            address: None,
            bytes: 0,
            access: AccessKind::default(),
            condition: None,
        });
    }

    /// Emits a fault if a branch, an address or a barrier depends on what shared memory held before anything was
    /// written there: for the first of the lanes `open`, in which the value is open, for which it does.
    pub(super) fn check_written(
        &mut self,
        warp: WarpId,
        value: &Value,
        open: LaneMask,
        place: PlaceId,
    ) {
        if !self.facts.symbolics.reads_unwritten {
            return;
        }
        let unwritten = |lane: usize| {
            let origin = self.facts.symbolics.origin(value.symbol_of(lane)?)?;
            Some((origin.unwritten()?, origin, lane))
        };
        // If all lanes have one symbolic value, the first of them stands for all.
        let examined =
            if value.one_symbol(open).is_some() { open & open.wrapping_neg() } else { open };
        let Some((pc, origin, lane)) = lanes(examined).find_map(unwritten) else { return };
        let is_sure = !matches!(origin, Origin::PerhapsUnwritten(_));
        let outer = self.may_execute.as_ref().map(|may_execute| may_execute.origin);
        let condition = if is_sure { outer } else { Some(origin) };
        let instr = &self.program.code[pc.index()];
        let Some(decoded) = instr.decoded() else { return };
        self.events.fault(Fault {
            kind: FaultKind::Uninitialized(place),
            pc,
            warp,
            lane,
            space: Space::Shared,
            address: None,
            bytes: decoded.ty().bytes(),
            access: AccessKind::default(),
            condition,
        });
    }

    /// Returns the first lane outside of all memory. If the lowest and the highest address are in one piece of memory,
    /// all lanes are.
    fn first_outside(&mut self, access: &Access<'_>, size: u64) -> Option<usize> {
        let (least, most) = access.addresses.ends(access.lanes);
        let piece = |address: u64| self.piece(access.space, address, size);
        let (lowest, highest) = (piece(least), piece(most));
        let is_one = lowest.is_some() && lowest == highest;
        if access.space == Space::Shared {
            let rest = if is_one { 0 } else { access.lanes };
            self.note_dynamic(most.saturating_add(size));
            for lane in lanes(rest) {
                self.note_dynamic(access.addresses.bits_of(lane).saturating_add(size));
            }
        }
        if is_one {
            return None;
        }
        let piece = |address: u64| self.piece(access.space, address, size);
        lanes(access.lanes).find(|lane| piece(access.addresses.bits_of(*lane)).is_none())
    }

    /// `%dynamic_smem_size`: the same open value for all threads if the launch does not state it.
    pub(super) fn dynamic_size(&mut self) -> Value {
        match self.inputs.dynamic_shared {
            Some(bytes) => Value::uniform(bytes.into()),
            None => Value::open(self.facts.symbolics.initial(Origin::DynamicShared, 0, 4)),
        }
    }

    /// Records how much dynamic shared memory is needed, if the launch does not state how much there is. `end`: the end
    /// of an access.
    fn note_dynamic(&mut self, end: u64) {
        let Some(first) =
            self.inputs.first_dynamic.filter(|_| self.inputs.dynamic_shared.is_none())
        else {
            return;
        };
        let most = self.inputs.shared.saturating_sub(self.program.static_shared);
        if let Some(needed) = end.checked_sub(first).filter(|needed| *needed <= most) {
            self.run.dynamic_shared = self.run.dynamic_shared.max(needed);
        }
    }

    /// The start of the piece of memory that contains `size` bytes from an address on; `None` if no piece contains all
    /// of them.
    pub(super) fn piece(&self, space: Space, address: u64, size: u64) -> Option<u64> {
        let end = address.checked_add(size)?;
        if space == Space::Shared {
            let pieces = &self.inputs.shared_pieces;
            let at = pieces.partition_point(|(first, _)| *first <= address).checked_sub(1)?;
            return (end <= pieces[at].1).then_some(pieces[at].0);
        }
        let segment = self.global.segment(address)?;
        (end <= segment.start.saturating_add(segment.size)).then_some(segment.start)
    }
}
