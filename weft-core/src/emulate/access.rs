//! Accesses to memory: which space and bytes each lane touches, what it reads, and what it leaves behind.

use std::collections::BTreeSet;

use super::event::{Access, DoubtKind, Events, Kind, OpenAccess};
use super::machine::{Machine, Step, doubt};
use super::memory::Loaded;
use super::ops::space_of;
use super::term::{Origin, Region};
use super::value::{LaneMask, Value, WARP, lanes, signed, truncate};
use crate::flow::{Address, Instr, Pc};
use crate::launch::Atomics;
use crate::ptx::isa::{Decoded, Effect, Modifier};
use crate::ptx::{Space, Type};
use crate::slice::Keep;

impl<E: Events> Machine<'_, E> {
    pub(super) fn access(
        &mut self,
        warp: usize,
        pc: Pc,
        instr: &Instr,
        enabled: LaneMask,
    ) -> Step<()> {
        let (Some(decoded), Some(address)) = (instr.decoded(), instr.address) else {
            return Err(doubt(DoubtKind::Unsupported, instr.place, None));
        };
        let addresses = self.addresses(warp, &address);
        let open = addresses.open_lanes() & enabled;
        if open != 0 {
            self.access_open(warp, pc, instr, decoded, &address, &addresses, open)?;
        }
        for (space, lanes, addresses) in split(address.space, addresses, enabled & !open) {
            self.access_space(warp, pc, instr, decoded, space, &addresses, lanes)?;
        }
        Ok(())
    }

    fn addresses(&self, warp: usize, address: &Address) -> Value {
        // The addresses of these spaces have 32 bits, whatever the register's width.
        let bits = if matches!(address.space, Space::Generic | Space::Global) { 64 } else { 32 };
        let Some(base) = address.base else {
            return Value::uniform(truncate(address.offset, bits));
        };
        let value = &self.warps[warp].registers[base.index()];
        if let Some((base, step)) = value.as_affine() {
            return Value::affine_in(base.wrapping_add(address.offset), step, bits);
        }
        let open = value.open_lanes();
        let lane = |lane: usize| {
            let own = value.lane(lane);
            if open >> lane & 1 == 1 {
                own
            } else {
                truncate(own.wrapping_add(address.offset), bits)
            }
        };
        Value::each(std::array::from_fn(lane), open)
    }

    /// Where a lane accesses is open: what it reads is open, and what it may overwrite is open too.
    #[allow(clippy::too_many_arguments, reason = "the parts of one access")]
    fn access_open(
        &mut self,
        warp: usize,
        pc: Pc,
        instr: &Instr,
        decoded: &Decoded,
        address: &Address,
        addresses: &Value,
        open: LaneMask,
    ) -> Step<()> {
        let origin = addresses.term(open).and_then(|term| self.terms.origin(term));
        let region =
            |lane: usize| match addresses.term(1 << lane).map(|term| self.terms.region(term)) {
                Some(Region::Buffer(argument)) => Some(argument),
                _ => None,
            };
        let regions: BTreeSet<_> = lanes(open).map(region).collect();
        let space = match address.space {
            Space::Generic if !regions.contains(&None) => Space::Global,
            space => space,
        };
        let is_observed = matches!(space, Space::Shared | Space::Global);
        let writes = decoded.row.effect != Effect::Load;
        if space == Space::Generic || (writes && !is_observed && space != Space::Local) {
            return Err(doubt(DoubtKind::Address, instr.place, origin));
        }
        // What was there may be overwritten.
        match space {
            Space::Shared if writes => self.shared.forget(),
            Space::Global if writes => self.global.forget(),
            Space::Local if writes => {
                lanes(open).for_each(|lane| self.warps[warp].local(lane).forget());
            }
            _ => {}
        }
        if is_observed {
            let (is_global, kind) = (space == Space::Global, self.kind(decoded));
            for region in regions {
                let access = OpenAccess { pc, is_global, region, kind, origin };
                self.events.open_access(warp, open, access);
            }
        }
        let value = Value::open(self.terms.fresh(origin.unwrap_or(Origin::Unsupported(pc))));
        for dest in instr.dests.iter().flatten() {
            self.warps[warp].write(*dest, value.clone(), open);
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one access")]
    fn access_space(
        &mut self,
        warp: usize,
        pc: Pc,
        instr: &Instr,
        decoded: &Decoded,
        space: Space,
        addresses: &Value,
        lanes: LaneMask,
    ) -> Step<()> {
        let keep = self.slice.keep[pc.index()];
        let stored: Vec<Value> = if keep == Keep::Value && decoded.row.effect != Effect::Load {
            instr.sources.iter().map(|source| self.operand(warp, pc, source)).collect()
        } else {
            Vec::new()
        };
        let element = decoded.ty().bytes();
        if matches!(space, Space::Shared | Space::Global) {
            self.count_commands(lanes);
            self.spend(u64::from(lanes.count_ones() / 4), instr.place)?;
            let bytes = element * u32::from(decoded.vector());
            let access = Access {
                warp,
                lanes,
                pc,
                space,
                addresses,
                bytes,
                kind: self.kind(decoded),
                stored: &stored,
                maybe: self.maybe.as_ref().map(|maybe| maybe.origin),
            };
            self.check_bounds(&access);
            self.events.access(&access, self.terms);
        }
        if keep != Keep::Value {
            return Ok(());
        }
        match decoded.row.effect {
            Effect::Load => self.load(warp, pc, instr, decoded, space, addresses, lanes),
            Effect::Store => self.store(warp, pc, decoded, space, addresses, lanes, &stored),
            _ => self.atomic(warp, pc, instr, decoded, space, addresses, lanes),
        }
        Ok(())
    }

    /// Before and after each access the lanes that stand together synchronize (NFM'14 §3). Lanes under an open condition
    /// may stand on different sides of it.
    pub(super) fn in_lock_step(&mut self, warp: usize) {
        if self.inputs.options.warp_synchronous && self.maybe.is_none() {
            self.events.converge(warp, self.front);
        }
    }

    /// `atomics = "off"` makes an atomic a plain access.
    fn kind(&self, decoded: &Decoded) -> Kind {
        let is_maybe = self.maybe.is_some();
        let kind = Kind { is_maybe, ..kind(decoded) };
        if kind.is_atomic && self.inputs.options.atomics == Atomics::Off {
            return Kind { writes: true, is_maybe, ..Kind::default() };
        }
        kind
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one access")]
    fn load(
        &mut self,
        warp: usize,
        pc: Pc,
        instr: &Instr,
        decoded: &Decoded,
        space: Space,
        addresses: &Value,
        mask: LaneMask,
    ) {
        let ty = decoded.ty();
        // What a strong load sees is up to the schedule; values of 16 bytes are not followed.
        if ty == Type::B128 || kind(decoded).is_strong {
            let origin =
                if ty == Type::B128 { Origin::Unsupported(pc) } else { Origin::Strong(pc) };
            let value = Value::open(self.terms.fresh(origin));
            for dest in instr.dests.iter().flatten() {
                self.warps[warp].write(*dest, value.clone(), mask);
            }
            return;
        }
        let size = ty.bytes().min(8);
        for (at, dest) in instr.dests.iter().enumerate() {
            let Some(dest) = dest else { continue };
            let offset = at as u64 * u64::from(ty.bytes());
            let read = |machine: &mut Self, lane: usize| {
                let address = addresses.lane(lane).wrapping_add(offset);
                extended(ty, machine.read(warp, pc, space, lane, address, size))
            };
            let value = if addresses.as_uniform().is_some() && space != Space::Local {
                match read(self, 0) {
                    Loaded::Known(bits) => Value::uniform(bits),
                    Loaded::Open(term) => Value::open(term),
                }
            } else {
                let (mut each, mut open) = ([0; WARP], 0);
                for lane in lanes(mask) {
                    match read(self, lane) {
                        Loaded::Known(bits) => each[lane] = bits,
                        Loaded::Open(term) => {
                            each[lane] = u64::from(term);
                            open |= 1 << lane;
                        }
                    }
                }
                Value::each(each, open)
            };
            self.warps[warp].write(*dest, value, mask);
        }
    }

    fn read(
        &mut self,
        warp: usize,
        pc: Pc,
        space: Space,
        lane: usize,
        address: u64,
        size: u32,
    ) -> Loaded {
        let unwritten = Origin::Unwritten(pc);
        match space {
            Space::Shared => self.shared.load(address, size, unwritten, self.terms),
            Space::Global => self.global.load(address, size, unwritten, self.terms),
            Space::Local => self.warps[warp].local(lane).load(address, size, unwritten, self.terms),
            Space::Param => self.inputs.params.load(address, size, unwritten, self.terms),
            Space::Const => self.inputs.constants.load(address, size, unwritten, self.terms),
            _ => Loaded::Open(self.terms.fresh(Origin::Unsupported(pc))),
        }
    }

    fn write(
        &mut self,
        warp: usize,
        space: Space,
        lane: usize,
        address: u64,
        size: u32,
        value: Loaded,
    ) {
        let value = match &self.maybe {
            // The sides of a branch have local memory of their own.
            Some(maybe) if space != Space::Local || maybe.is_guard() => {
                Loaded::Open(self.terms.unclear(maybe.origin))
            }
            _ => value,
        };
        match space {
            Space::Shared => self.shared.store(address, size, value),
            Space::Global => self.global.store(address, size, value),
            Space::Local => self.warps[warp].local(lane).store(address, size, value),
            _ => {}
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one access")]
    fn store(
        &mut self,
        warp: usize,
        pc: Pc,
        decoded: &Decoded,
        space: Space,
        addresses: &Value,
        mask: LaneMask,
        stored: &[Value],
    ) {
        let ty = decoded.ty();
        if ty == Type::B128 {
            let term = self.terms.fresh(Origin::Unsupported(pc));
            self.overwrite(warp, decoded, space, addresses, mask, term);
            return;
        }
        for (at, value) in stored.iter().take(usize::from(decoded.vector())).enumerate() {
            for lane in lanes(mask) {
                let address = addresses.lane(lane).wrapping_add(at as u64 * u64::from(ty.bytes()));
                self.write(warp, space, lane, address, ty.bytes(), lane_of(value, lane, ty));
            }
        }
    }

    /// All bytes of an access become open.
    fn overwrite(
        &mut self,
        warp: usize,
        decoded: &Decoded,
        space: Space,
        addresses: &Value,
        mask: LaneMask,
        term: u32,
    ) {
        let bytes = u64::from(decoded.ty().bytes()) * u64::from(decoded.vector());
        let size = decoded.ty().bytes().min(8);
        for lane in lanes(mask) {
            for at in (0..bytes).step_by(size as usize) {
                let address = addresses.lane(lane).wrapping_add(at);
                self.write(warp, space, lane, address, size, Loaded::Open(term));
            }
        }
    }

    /// What an atomic returns and leaves is open: another thread may always have come between.
    #[allow(clippy::too_many_arguments, reason = "the parts of one access")]
    fn atomic(
        &mut self,
        warp: usize,
        pc: Pc,
        instr: &Instr,
        decoded: &Decoded,
        space: Space,
        addresses: &Value,
        mask: LaneMask,
    ) {
        let term = self.terms.fresh(Origin::Atomic(pc));
        self.overwrite(warp, decoded, space, addresses, mask, term);
        for dest in instr.dests.iter().flatten() {
            self.warps[warp].write(*dest, Value::open(term), mask);
        }
    }
}

/// A lane's value as it goes to memory.
fn lane_of(value: &Value, lane: usize, ty: Type) -> Loaded {
    let bits = value.lane(lane);
    if value.open_lanes() >> lane & 1 == 1 {
        Loaded::Open(u32::try_from(bits).unwrap_or(u32::MAX))
    } else {
        Loaded::Known(truncate(bits, ty.bits()))
    }
}

/// Loads of signed types extend to the register, which may be wider.
fn extended(ty: Type, loaded: Loaded) -> Loaded {
    match loaded {
        Loaded::Known(bits) if ty.is_signed() => {
            Loaded::Known(signed(bits, ty.bits()).cast_unsigned())
        }
        loaded => loaded,
    }
}

/// The lanes by the space that they access, with addresses within it.
fn split(space: Space, addresses: Value, mask: LaneMask) -> Vec<(Space, LaneMask, Value)> {
    if mask == 0 {
        return Vec::new();
    }
    if space != Space::Generic {
        return vec![(space, mask, addresses)];
    }
    let mut parts: Vec<(Space, LaneMask)> = Vec::new();
    for lane in lanes(mask) {
        let (space, _) = space_of(addresses.lane(lane));
        match parts.iter_mut().find(|(own, _)| *own == space) {
            Some((_, lanes)) => *lanes |= 1 << lane,
            None => parts.push((space, 1 << lane)),
        }
    }
    let within = |space: Space| {
        let base = crate::flow::window(space);
        match addresses.as_affine() {
            Some((first, step)) => Value::affine(first.wrapping_sub(base), step),
            None => {
                Value::each(std::array::from_fn(|lane| addresses.lane(lane).wrapping_sub(base)), 0)
            }
        }
    };
    parts.into_iter().map(|(space, lanes)| (space, lanes, within(space))).collect()
}

/// How an instruction acts on memory (PTX ISA §8.4).
fn kind(decoded: &Decoded) -> Kind {
    const STRONG: [Modifier; 6] = [
        Modifier::Volatile,
        Modifier::Relaxed,
        Modifier::Acquire,
        Modifier::Release,
        Modifier::AcqRel,
        Modifier::Mmio,
    ];
    let is_atomic = decoded.row.effect == Effect::Atomic;
    Kind {
        writes: decoded.row.effect != Effect::Load,
        is_atomic,
        is_strong: is_atomic || decoded.modifiers.first_of(&STRONG).is_some(),
        // Without cluster dimensions a cluster is one cta.
        is_cta_scoped: decoded.modifiers.first_of(&[Modifier::Cta, Modifier::Cluster]).is_some(),
        element: u8::try_from(decoded.ty().bytes()).unwrap_or(0),
        is_maybe: false,
    }
}
