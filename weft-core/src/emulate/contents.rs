//! What accesses read and leave behind, where the slice keeps it.

use super::access::{Piece, kind};
use super::event::Events;
use super::machine::Machine;
use super::memory::Loaded;
use super::term::Origin;
use super::value::{Value, WARP, lanes, signed, truncate};
use crate::ptx::{Space, Type};

impl<E: Events> Machine<'_, E> {
    pub(super) fn load(&mut self, piece: &Piece<'_>) {
        let &Piece { warp, pc, instr, decoded, space, addresses, lanes: mask } = piece;
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
                extended(ty, machine.read(piece, lane, address, size))
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

    fn read(&mut self, piece: &Piece<'_>, lane: usize, address: u64, size: u32) -> Loaded {
        let &Piece { warp, pc, space, .. } = piece;
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

    fn write(&mut self, piece: &Piece<'_>, lane: usize, address: u64, size: u32, value: Loaded) {
        let &Piece { warp, space, .. } = piece;
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

    pub(super) fn store(&mut self, piece: &Piece<'_>, stored: &[Value]) {
        let &Piece { pc, decoded, addresses, lanes: mask, .. } = piece;
        let ty = decoded.ty();
        if ty == Type::B128 {
            let term = self.terms.fresh(Origin::Unsupported(pc));
            self.overwrite(piece, term);
            return;
        }
        for (at, value) in stored.iter().take(usize::from(decoded.vector())).enumerate() {
            for lane in lanes(mask) {
                let address = addresses.lane(lane).wrapping_add(at as u64 * u64::from(ty.bytes()));
                self.write(piece, lane, address, ty.bytes(), lane_of(value, lane, ty));
            }
        }
    }

    /// All bytes of an access become open.
    fn overwrite(&mut self, piece: &Piece<'_>, term: u32) {
        let &Piece { decoded, addresses, lanes: mask, .. } = piece;
        let bytes = u64::from(decoded.ty().bytes()) * u64::from(decoded.vector());
        let size = decoded.ty().bytes().min(8);
        for lane in lanes(mask) {
            for at in (0..bytes).step_by(size as usize) {
                let address = addresses.lane(lane).wrapping_add(at);
                self.write(piece, lane, address, size, Loaded::Open(term));
            }
        }
    }

    /// What an atomic returns and leaves is open: another thread may always have come between.
    pub(super) fn atomic(&mut self, piece: &Piece<'_>) {
        let &Piece { warp, pc, instr, lanes: mask, .. } = piece;
        let term = self.terms.fresh(Origin::Atomic(pc));
        self.overwrite(piece, term);
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
