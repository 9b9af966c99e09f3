//! Accesses to memory: which space and bytes each lane touches, what it reads, and what it leaves behind.

use std::collections::BTreeSet;

use super::event::{Access, DoubtKind, Events, Kind, OpenAccess};
use super::machine::{Machine, Step, doubt};
use super::ops::space_of;
use super::term::{Origin, Region};
use super::value::{LaneMask, Value, lanes, truncate};
use crate::flow::{Address, Instr, Pc};
use crate::launch::Atomics;
use crate::ptx::Space;
use crate::ptx::isa::{Decoded, Effect, Modifier};
use crate::slice::Keep;

/// The lanes of one access that access one space, at known addresses.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub(super) warp: usize,
    pub(super) pc: Pc,
    pub(super) instr: &'a Instr,
    pub(super) decoded: &'a Decoded,
    pub(super) space: Space,
    pub(super) addresses: &'a Value,
    pub(super) lanes: LaneMask,
}

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
            let (space, addresses) = (address.space, &addresses);
            self.access_open(&Piece { warp, pc, instr, decoded, space, addresses, lanes: open })?;
        }
        for (space, lanes, addresses) in split(address.space, addresses, enabled & !open) {
            let addresses = &addresses;
            self.access_space(&Piece { warp, pc, instr, decoded, space, addresses, lanes })?;
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
    fn access_open(&mut self, piece: &Piece<'_>) -> Step<()> {
        let &Piece { warp, pc, instr, decoded, space, addresses, lanes: open } = piece;
        let origin = addresses.term(open).and_then(|term| self.terms.origin(term));
        let region =
            |lane: usize| match addresses.term(1 << lane).map(|term| self.terms.region(term)) {
                Some(Region::Buffer(argument)) => Some(argument),
                _ => None,
            };
        let regions: BTreeSet<_> = lanes(open).map(region).collect();
        let space = match space {
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

    fn access_space(&mut self, piece: &Piece<'_>) -> Step<()> {
        let &Piece { warp, pc, instr, decoded, space, addresses, lanes } = piece;
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
            Effect::Load => self.load(piece),
            Effect::Store => self.store(piece, &stored),
            _ => self.atomic(piece),
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
pub(super) fn kind(decoded: &Decoded) -> Kind {
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
