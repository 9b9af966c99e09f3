//! What accesses read from memory and what they leave there, if the slice keeps it.

use super::event::{Events, OrderQuery};
use super::may_execute::OpenSide;
use super::piece::{Piece, kind};
use super::state::Machine;
use crate::emulate::facts::Facts;
use crate::emulate::memory::inputs::Inputs;
use crate::emulate::memory::pages::{Memory, View};
use crate::emulate::value::guard::Guards;
use crate::emulate::value::lane::{Lane, SymbolId, lanes};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::register::Value;
use crate::emulate::value::symbolics::Symbolics;
use crate::flow::Pc;
use crate::ptx::{Space, Type};

/// Most bytes between the first and the last lane of a load for which contents from before the launch are taken as one
/// row.
const MAX_ROW: u64 = 1 << 12;

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Runs a load at known addresses.
    pub(super) fn load(&mut self, piece: &Piece<'_>) {
        let &Piece { warp, pc, instr, decoded, space, addresses, lanes: mask, .. } = piece;
        let ty = decoded.ty();
        let is_racing = self.facts.racing.contains(&pc);
        if ty == Type::B128 && !is_racing && self.load_answers(piece) {
            return;
        }
        if ty == Type::B128 || is_racing {
            let origin =
                if is_racing { of_racing_store(self.facts, pc) } else { Origin::Unsupported(pc) };
            let origin = self.unwritten_in_bytes(piece).unwrap_or(origin);
            let value = Value::open(self.facts.symbolics.any_number(origin));
            for dest in instr.dests.iter().flatten() {
                self.warps[warp].write(*dest, value.clone(), mask);
            }
            return;
        }
        let size = ty.bytes().min(8);
        for (at, dest) in instr.dests.iter().enumerate() {
            let Some(dest) = dest else { continue };
            let offset = at as u64 * u64::from(ty.bytes());
            let is_one = space != Space::Local && self.is_one(piece, offset, size);
            let is_general = self.warps[warp].general.is_some();
            let is_seen = kind(decoded).is_strong() || space == Space::Local || is_general;
            let mut see = |lane: usize| {
                let address = addresses.bits_of(lane).wrapping_add(offset);
                let lane_value = if kind(decoded).is_strong() {
                    self.seen(piece, lane, address, size)
                } else {
                    self.read_plainly(piece, lane, address, size)
                };
                extended(self.facts, ty, lane_value)
            };
            let value = if !is_seen {
                self.load_row(piece, offset, size)
            } else if is_one {
                let lane_value = see(0);
                Value::uniform(lane_value.bits).on_one(lane_value.symbol)
            } else {
                Value::from_lanes(|lane| match mask >> lane & 1 {
                    1 => see(lane),
                    _ => Lane::known(0),
                })
            };
            self.warps[warp].write(*dest, value, mask);
        }
    }

    /// The origin of the bytes that lanes load, if they might be from memory that nothing wrote.
    pub(super) fn unwritten_in_bytes(&mut self, piece: &Piece<'_>) -> Option<Origin> {
        if !self.facts.symbolics.reads_unwritten && self.is_all_written(piece) {
            return None;
        }
        let mut parts = Vec::new();
        for lane in lanes(piece.lanes) {
            for at in (0..piece.bytes()).step_by(8) {
                let address = piece.addresses.bits_of(lane).wrapping_add(u64::from(at));
                parts.push(self.read(piece, lane, address, (piece.bytes() - at).min(8)));
            }
        }
        self.facts.symbolics.unwritten(parts)
    }

    /// Whether all bytes that lanes load lie in shared memory and were surely written.
    fn is_all_written(&self, piece: &Piece<'_>) -> bool {
        let is_written = |lane: usize| {
            let address = piece.addresses.bits_of(lane);
            self.shared(piece.home).is_surely_written(address, piece.bytes(), None)
        };
        piece.space == Space::Shared && lanes(piece.lanes).all(is_written)
    }

    /// Whether all lanes read one word, and see the same of it. Under an open condition, some lanes can know more than
    /// others about whether the word was written.
    fn is_one(&self, piece: &Piece<'_>, offset: u64, size: u32) -> bool {
        let is_known = |address: u64| {
            let at = address.wrapping_add(offset);
            self.may_execute.is_none()
                || piece.space != Space::Shared
                || self.shared(piece.home).is_surely_written(at, size, None)
        };
        piece.addresses.as_uniform().is_some_and(is_known)
    }

    /// What lanes read by a plain load, `offset` bytes behind their addresses.
    pub(super) fn load_row(&mut self, piece: &Piece<'_>, offset: u64, size: u32) -> Value {
        let &Piece { pc, decoded, space, addresses, lanes: mask, .. } = piece;
        let is_one = self.is_one(piece, offset, size);
        let Self { ctas, global, inputs, facts, may_execute, .. } = self;
        let shared = &ctas[piece.home.index()].shared;
        let Some(memory) = held(space, shared, global, inputs) else {
            return Value::open(facts.symbolics.any_number(Origin::Unsupported(pc)));
        };
        let ty = decoded.ty();
        let may_change = matches!(space, Space::Shared | Space::Global);
        let is_global = space == Space::Global;
        if is_global && ty.is_float() && facts.symbolics.distinguishes_floats {
            let addresses = addresses.plus(offset, 64);
            let (least, most) = addresses.ends(mask);
            let end = most.saturating_add(u64::from(size));
            let is_row = end - least < MAX_ROW
                && memory.is_initial(least, end)
                && lanes(mask)
                    .all(|lane| facts.interference.load(true, addresses.bits_of(lane), size));
            if let Some(row) =
                is_row.then(|| facts.symbolics.loaded_row(&addresses, size * 8)).flatten()
            {
                return Value::row_of(row, addresses.as_uniform().is_some());
            }
        }
        let mut reader = memory.reader();
        let mut read = |lane: usize| {
            let address = addresses.bits_of(lane).wrapping_add(offset);
            let condition = may_execute.as_ref().filter(|_| space == Space::Shared);
            let guards = condition
                .and_then(|side| guards_of(side, memory, lane, (address, size), &facts.symbolics));
            let unwritten = Origin::unwritten_at(pc, space, size);
            let value = reader.load(
                address,
                size,
                View { unwritten, guards: guards.as_ref() },
                &mut facts.symbolics,
            );
            let races = may_change && !facts.interference.load(is_global, address, size);
            let lane_value = if races { racing(facts, pc, value) } else { value };
            extended(facts, ty, lane_value)
        };
        if is_one {
            let lane_value = read(0);
            return Value::uniform(lane_value.bits).on_one(lane_value.symbol);
        }
        Value::from_lanes(|lane| if mask >> lane & 1 == 1 { read(lane) } else { Lane::known(0) })
    }

    /// What a plain load sees: what memory holds, unless the bytes race.
    pub(super) fn read_plainly(
        &mut self,
        piece: &Piece<'_>,
        lane: usize,
        address: u64,
        size: u32,
    ) -> Lane {
        let value = self.read(piece, lane, address, size);
        let may_change = matches!(piece.space, Space::Shared | Space::Global);
        let is_global = piece.space == Space::Global;
        let races = may_change && !self.facts.interference.load(is_global, address, size);
        if races { racing(self.facts, piece.pc, value) } else { value }
    }

    /// What a strong load sees: what memory holds, unless that depends on the schedule.
    pub(super) fn seen(&mut self, piece: &Piece<'_>, lane: usize, address: u64, size: u32) -> Lane {
        let is_global = piece.space == Space::Global;
        if !is_global && piece.space != Space::Shared {
            return self.read(piece, lane, address, size);
        }
        // The ctas of a cluster run together: the first one stands for all of them.
        let (cta, ran) = (self.ctas[0].cta.index, self.spent);
        // It is not known what ctas write that are not run.
        let is_settled = (!is_global || self.inputs.runs_all_ctas)
            && self.facts.interference.poll(cta, ran, is_global, address, size);
        let value = if is_settled { Some(self.read(piece, lane, address, size)) } else { None };
        // The host can write to global memory whose contents are open while the kernel runs.
        if let Some(lane_value) = value.filter(|seen| !is_global || seen.symbol.is_none()) {
            return lane_value;
        }
        let origin = self.facts.passed_on.in_strong_store(Origin::Strong(piece.pc));
        Lane::open(self.facts.symbolics.any_number(origin))
    }

    /// The guards under which a lane accesses bytes; `None` if nothing depends on them.
    pub(super) fn guards(
        &self,
        piece: &Piece<'_>,
        lane: usize,
        bytes: (u64, u32),
    ) -> Option<Guards> {
        let may_execute = self.may_execute.as_ref().filter(|_| piece.space == Space::Shared)?;
        guards_of(may_execute, self.shared(piece.home), lane, bytes, &self.facts.symbolics)
    }

    /// What memory holds at an address, for one lane. `size` is at most 8 bytes.
    pub(super) fn read(&mut self, piece: &Piece<'_>, lane: usize, address: u64, size: u32) -> Lane {
        let &Piece { warp, pc, space, .. } = piece;
        let unwritten = Origin::unwritten_at(pc, space, size);
        let guards = self.guards(piece, lane, (address, size));
        let view = View { unwritten, guards: guards.as_ref() };
        if space == Space::Local {
            return self.warps[warp].local(lane).load(
                address,
                size,
                view,
                &mut self.facts.symbolics,
            );
        }
        if let Some(origin) = self.other_iterations(piece, address, size) {
            let is_written = space != Space::Shared
                || self.shared(piece.home).is_surely_written(address, size, view.guards);
            let origin = if is_written { origin } else { unwritten.perhaps() };
            return Lane::open(self.facts.symbolics.unclear(origin));
        }
        let shared = &self.ctas[piece.home.index()].shared;
        match held(space, shared, &self.global, self.inputs) {
            Some(memory) => memory.load(address, size, view, &mut self.facts.symbolics),
            None => Lane::open(self.facts.symbolics.any_number(Origin::Unsupported(pc))),
        }
    }

    /// Writes a value for one lane. Under an open condition, the bytes hold the old or the new value, so they are open.
    pub(super) fn write(
        &mut self,
        piece: &Piece<'_>,
        lane: usize,
        address: u64,
        size: u32,
        value: Lane,
    ) {
        let &Piece { warp, space, .. } = piece;
        self.note_written(piece, address, size);
        self.leave_behind(piece, value);
        let guards = self.guards(piece, lane, (address, size));
        let memory = match space {
            Space::Shared => &mut self.ctas[piece.home.index()].shared,
            Space::Global => &mut self.global,
            Space::Local => self.warps[warp].local(lane),
            _ => return,
        };
        match &self.may_execute {
            // Each side of a branch has a copy of local memory, to which it surely writes.
            Some(may_execute) if space != Space::Local || may_execute.is_guard() => {
                let view = View { unwritten: may_execute.origin, guards: None };
                let before = memory.load(address, size, view, &mut self.facts.symbolics);
                let origin =
                    self.facts.symbolics.unwritten([value, before]).unwrap_or(may_execute.origin);
                let value = Lane::open(self.facts.symbolics.unclear(origin));
                match &guards {
                    Some(guards) => memory.store_under(guards, address, size, value),
                    None => memory.store(address, size, value),
                }
            }
            _ => memory.store(address, size, value),
        }
    }

    /// Runs a store at known addresses.
    pub(super) fn store(&mut self, piece: &Piece<'_>, stored: &[Value]) {
        let &Piece { pc, decoded, addresses, lanes: mask, .. } = piece;
        let ty = decoded.ty();
        if ty == Type::B128 {
            let origin = self.unwritten_stored(piece).unwrap_or(Origin::Unsupported(pc));
            let symbol = self.facts.symbolics.any_number(origin);
            self.overwrite(piece, symbol);
            return;
        }
        for (at, value) in stored.iter().take(usize::from(decoded.vector())).enumerate() {
            for lane in lanes(mask) {
                let address =
                    addresses.bits_of(lane).wrapping_add(at as u64 * u64::from(ty.bytes()));
                let value = narrowed(self.facts, value.whole(lane), ty);
                self.note_passed_on(value);
                self.write(piece, lane, address, ty.bytes(), value);
            }
        }
    }

    /// Records that a counter value is stored or given to another lane, which can use it then.
    pub(super) fn note_passed_on(&mut self, value: Lane) {
        if self.facts.holds_counter_value(value) {
            self.facts.counters.pass_on();
        }
    }

    /// Makes all bytes of an access open.
    pub(super) fn overwrite(&mut self, piece: &Piece<'_>, symbol: SymbolId) {
        let &Piece { decoded, addresses, lanes: mask, .. } = piece;
        let bytes = u64::from(decoded.ty().bytes()) * u64::from(decoded.vector());
        let size = decoded.ty().bytes().min(8);
        for lane in lanes(mask) {
            for at in (0..bytes).step_by(size as usize) {
                let address = addresses.bits_of(lane).wrapping_add(at);
                self.write(piece, lane, address, size, Lane::open(symbol));
            }
        }
    }
}

/// The memory of a space that threads share; `None` for other spaces.
fn held<'a>(
    space: Space,
    shared: &'a Memory,
    global: &'a Memory,
    inputs: &'a Inputs,
) -> Option<&'a Memory> {
    match space {
        Space::Shared => Some(shared),
        Space::Global => Some(global),
        Space::Param => Some(&inputs.params),
        Space::Const => Some(&inputs.constants),
        _ => None,
    }
}

/// The guards under which a lane accesses bytes of shared memory; `None` if the bytes were surely written, so that
/// nothing depends on the guards.
fn guards_of(
    may_execute: &OpenSide,
    shared: &Memory,
    lane: usize,
    (address, size): (u64, u32),
    symbolics: &Symbolics,
) -> Option<Guards> {
    (!shared.is_surely_written(address, size, None)).then(|| may_execute.guards(lane, symbolics))
}

/// What a load sees of racing bytes, if memory holds `held`. The origin of unwritten memory is kept: the bytes might
/// turn out not to race after all.
fn racing(facts: &mut Facts, pc: Pc, held: Lane) -> Lane {
    let origin = facts.symbolics.unwritten([held]).unwrap_or_else(|| of_racing_store(facts, pc));
    Lane::open(facts.symbolics.any_number(origin))
}

/// The origin of what a load sees of a racing store: any store might be the racing one, and might run before the load.
fn of_racing_store(facts: &Facts, pc: Pc) -> Origin {
    facts.passed_on.in_any_store(Origin::Racing(pc))
}

/// A lane's value as it is written to memory.
fn narrowed(facts: &mut Facts, value: Lane, ty: Type) -> Lane {
    facts.symbolics.low(value, ty.bits())
}

/// A loaded value as it is written to the register, which can be wider: loads of signed types extend the sign.
fn extended(facts: &mut Facts, ty: Type, loaded: Lane) -> Lane {
    if ty.is_signed() && ty.bits() < 64 {
        facts.symbolics.extended(loaded, ty.bits(), true)
    } else {
        loaded
    }
}
