//! Atomics (NFM'14 §4): what they return and what they leave in memory. As the launch chooses, results are open, unique
//! counter values, or computed as if the atomic were a plain read and write.

use super::event::{Events, OrderQuery};
use super::may_execute::OpenSide;
use super::piece::Piece;
use super::state::Machine;
use crate::emulate::facts::counter_update::CounterUpdate;
use crate::emulate::facts::period::CounterLocation;
use crate::emulate::facts::signals::Sent;
use crate::emulate::memory::pages::View;
use crate::emulate::memory::region::MemoryRegion;
use crate::emulate::value::lane::{Lane, SymbolId, lanes, signed, truncate};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::register::Value;
use crate::emulate::value::symbolics::Execution;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::addresses::argument_of;
use crate::flow::{Pc, Reg, space_of};
use crate::launch::Atomics;
use crate::ptx::isa::{Decoded, Modifier};
use crate::ptx::{Space, Type};

const OPERATIONS: [Modifier; 10] = [
    Modifier::Add,
    Modifier::Min,
    Modifier::Max,
    Modifier::And,
    Modifier::Or,
    Modifier::Xor,
    Modifier::Exch,
    Modifier::Cas,
    Modifier::Inc,
    Modifier::Dec,
];

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Runs an atomic at known addresses.
    pub(super) fn atomic(&mut self, piece: &Piece<'_>, operands: &[Value], sent: &Sent) {
        match self.inputs.options.atomics {
            Atomics::Off => self.read_modify_write(piece, operands),
            Atomics::Auto | Atomics::Abstract => {
                self.abstracted(piece, (operands, sent), &mut |machine, (lane, symbol)| {
                    machine.note_draw(piece, operands, lane);
                    Lane::open(symbol)
                });
            }
            Atomics::Unique if self.inputs.draws_in_turn => {
                self.abstracted(piece, (operands, sent), &mut |machine, (lane, symbol)| {
                    machine
                        .draw_in_order(piece, operands, (lane, symbol))
                        .unwrap_or(Lane::open(symbol))
                });
            }
            Atomics::Unique => {
                self.abstracted(piece, (operands, sent), &mut |machine, (lane, symbol)| {
                    machine.take_counter_value(piece, operands, (lane, symbol));
                    Lane::open(symbol)
                });
            }
        }
    }

    /// Makes open what an atomic returns and what it leaves in memory: another thread might always have come between.
    /// `result` gives the result of a lane, for the lane and a new symbolic value that belongs to it.
    fn abstracted(
        &mut self,
        piece: &Piece<'_>,
        (operands, sent): (&[Value], &Sent),
        result: &mut impl FnMut(&mut Self, (usize, SymbolId)) -> Lane,
    ) {
        let &Piece { warp, pc, instr, decoded, lanes: mask, .. } = piece;
        // What `exch` leaves does not depend on what memory held before.
        let is_kept = !decoded.modifiers.has(Modifier::Exch);
        let mut origin = Origin::Atomic(pc);
        let mut results = [Lane::known(0); crate::emulate::value::lane::WARP];
        for lane in lanes(mask) {
            let execution = Execution { cta: self.cta(warp).index, number: self.atomics, lane };
            let symbol =
                self.facts.symbolics.result(Origin::Atomic(pc), execution, decoded.ty().bits());
            let lane_value = result(self, (lane, symbol));
            self.note_returned(sent, lane, lane_value);
            let unwritten = self.unwritten_before(piece, lane);
            origin = unwritten.filter(|_| is_kept).unwrap_or(origin);
            let given = operands.iter().map(|operand| operand.whole(lane));
            origin = self.facts.symbolics.unwritten(given).map_or(origin, Origin::perhaps);
            results[lane] = match unwritten {
                Some(origin) => Lane::open(self.facts.symbolics.any_number(origin)),
                None => lane_value,
            };
        }
        let left = self.facts.symbolics.any_number(origin);
        self.overwrite(piece, left);
        let is_vector = decoded.vector() > 1;
        for dest in instr.dests.iter().flatten() {
            let value =
                if is_vector { Value::open(left) } else { Value::from_lanes(|lane| results[lane]) };
            self.warps[warp].write(*dest, value, mask);
        }
    }

    /// The origin of the word that an atomic reads, perhaps after atomics of other threads, if the word might be from
    /// memory that nothing wrote; otherwise `None`.
    fn unwritten_before(&mut self, piece: &Piece<'_>, lane: usize) -> Option<Origin> {
        let is_shared = piece.space == Space::Shared;
        if !is_shared && !self.facts.symbolics.reads_unwritten {
            return None;
        }
        let (address, size) = (piece.addresses.bits_of(lane), piece.bytes().min(8));
        let guards = self.guards(piece, lane, (address, size));
        let unwritten = Origin::PerhapsUnwritten(piece.pc);
        let view = View { unwritten, guards: guards.as_ref() };
        let memory = if is_shared { &self.ctas[piece.home.index()].shared } else { &self.global };
        let before = memory.load(address, size, view, &mut self.facts.symbolics);
        let others = self.facts.passed_on.in_strong_store(Origin::Atomic(piece.pc));
        let origin = self.facts.symbolics.unwritten([before]).map_or(others, Origin::perhaps);
        origin.unwritten().is_some().then_some(origin)
    }

    /// The result of a lane if the ctas draw from the counter in turn. `None` if the location is no counter, or if the
    /// result is open.
    fn draw_in_order(
        &mut self,
        piece: &Piece<'_>,
        operands: &[Value],
        (lane, symbol): (usize, SymbolId),
    ) -> Option<Lane> {
        let (at, region) = self.location(piece, lane);
        let cta = self.cta(piece.warp).index;
        let change = change(piece.decoded, operands, lane);
        let count = self.facts.counters.atomic(at, region, piece.bytes(), change)?;
        let is_sure = self.may_execute.is_none() && !self.has_open_loop();
        if self.facts.counters.order()?.is_first(count, cta) {
            let seen = self.seen(piece, lane, at.address, piece.bytes());
            let first = if seen.symbol.is_none() { seen } else { Lane::open(symbol) };
            self.facts.counters.order()?.start(count, first, change);
            // A counter can have any first value if nothing states its contents, but not if the kernel changed them.
            let before = self.read(piece, lane, at.address, piece.bytes());
            if first.symbol.is_some()
                && !before.symbol.is_some_and(|held| self.facts.symbolics.is_stable(held))
            {
                self.facts.counters.order()?.give_up();
            }
        }
        let (first, draws) = self.facts.counters.order()?.next(count, change, cta, is_sure)?;
        change.after(draws, first, piece.decoded.ty().bits())
    }

    /// Records that the result of a lane might be a counter value, if counter values were taken to be unique.
    fn note_draw(&mut self, piece: &Piece<'_>, operands: &[Value], lane: usize) {
        let is_returned = piece.instr.dests.iter().any(Option::is_some);
        let change = change(piece.decoded, operands, lane);
        self.facts.draws |= is_returned && change.is_step();
    }

    /// Records the result of a lane as a unique counter value, if its location is a counter.
    fn take_counter_value(
        &mut self,
        piece: &Piece<'_>,
        operands: &[Value],
        (lane, symbol): (usize, SymbolId),
    ) {
        let (at, region) = self.location(piece, lane);
        let change = change(piece.decoded, operands, lane);
        if let Some(count) = self.facts.counters.atomic(at, region, piece.bytes(), change) {
            self.facts.counters.add_counter_value(symbol, count);
            self.note_counter_value((piece.warp, lane), piece.pc, symbol);
        }
    }

    /// Records a plain store, which can start new counts of counters. Where in the order of their atomics a relaxed store
    /// comes is not known: it spoils them.
    pub(super) fn reset_counters(&mut self, piece: &Piece<'_>) {
        if self.inputs.options.atomics != Atomics::Unique {
            return;
        }
        let is_repeated = self.may_execute.as_ref().is_some_and(OpenSide::is_widened);
        let is_at_any_time = self.own_kind(piece.decoded).states_order();
        for lane in lanes(piece.lanes) {
            let (at, _) = self.location(piece, lane);
            if is_at_any_time {
                self.facts.counters.store_at_any_time(at, piece.bytes());
            } else {
                self.facts.counters.store(at, piece.bytes(), is_repeated);
            }
        }
    }

    /// Symbolic values that stand for the counter values that a loop fetches one after the other, in lanes whose
    /// register holds such a value already; `unknown` in other lanes. One of them is enough for all iterations:
    /// accesses of one lane do not race with each other, and other lanes fetch other counter values, unless counter
    /// values are passed on.
    pub(super) fn next_counter_values(
        &mut self,
        warp: WarpId,
        register: Reg,
        fetches: &[Pc],
        unknown: &Value,
    ) -> Value {
        if self.inputs.options.atomics != Atomics::Unique {
            return unknown.clone();
        }
        let value = self.warps[warp].registers[register].clone();
        self.atomics += 1;
        Value::from_lanes(|lane| {
            self.next_counter_value(warp, value.whole(lane), fetches, lane)
                .map_or_else(|| unknown.whole(lane), Lane::open)
        })
    }

    /// As `next_counter_values`, for one lane. `None` unless all `fetches` are atomics on the counter that `value`
    /// comes from.
    fn next_counter_value(
        &mut self,
        warp: WarpId,
        value: Lane,
        fetches: &[Pc],
        lane: usize,
    ) -> Option<SymbolId> {
        let count = self.facts.counters.count_of(value.symbol?).filter(|_| value.bits == 0)?;
        for pc in fetches {
            let instr = &self.program.code[pc.index()];
            let (decoded, address) = (instr.decoded()?, instr.address?);
            let addresses = self.addresses(warp, &address);
            let whole = addresses.whole(lane);
            let (space, within) = match address.space {
                Space::Generic => space_of(whole.bits),
                space => (space, whole.bits),
            };
            let is_global = space == Space::Global;
            let cta = if is_global { 0 } else { self.cta(warp).index };
            let at = CounterLocation { is_global, cta, address: within };
            let is_same = whole.symbol.is_none() && self.facts.counters.count(at) == Some(count);
            let is_fetch = decoded.ty().bits() == self.facts.symbolics.bits(value.symbol?);
            if !is_same || !is_fetch {
                return None;
            }
        }
        let execution = Execution { cta: self.cta(warp).index, number: self.atomics, lane };
        let origin = Origin::Atomic(*fetches.first()?);
        let symbol = self.facts.symbolics.result(
            origin,
            execution,
            self.facts.symbolics.bits(value.symbol?),
        );
        self.facts.counters.stand_in(symbol, count).then_some(symbol)
    }

    /// The location that a lane accesses, as counters are identified, and its region.
    fn location(&self, piece: &Piece<'_>, lane: usize) -> (CounterLocation, MemoryRegion) {
        let address = piece.addresses.bits_of(lane);
        if piece.space == Space::Global {
            let region = MemoryRegion { is_global: true, base: argument_of(address) };
            return (CounterLocation { is_global: true, cta: 0, address }, region);
        }
        let end = address.saturating_add(u64::from(piece.bytes()));
        let variable = self.program.shared_variable(address, end);
        let cta = self.ctas[piece.home.index()].cta.index;
        let region = MemoryRegion { is_global: false, base: variable };
        (CounterLocation { is_global: false, cta, address }, region)
    }

    /// Runs an atomic as a plain access: lane after lane reads, computes and writes.
    fn read_modify_write(&mut self, piece: &Piece<'_>, operands: &[Value]) {
        let &Piece { warp, pc, instr, decoded, addresses, lanes: mask, .. } = piece;
        let size = decoded.ty().bytes();
        if decoded.vector() > 1 || size > 8 {
            let stored =
                operands.iter().flat_map(|operand| lanes(mask).map(|lane| operand.whole(lane)));
            let stored = self.facts.symbolics.unwritten(stored);
            let before = self.unwritten_in_bytes(piece);
            let open = self
                .facts
                .symbolics
                .any_number(before.or(stored).unwrap_or(Origin::Unsupported(pc)));
            self.overwrite(piece, open);
            for dest in instr.dests.iter().flatten() {
                self.warps[warp].write(*dest, Value::open(open), mask);
            }
            return;
        }
        let mut old = [Lane::known(0); crate::emulate::value::lane::WARP];
        for lane in lanes(mask) {
            let address = addresses.bits_of(lane);
            old[lane] = self.read_plainly(piece, lane, address, size);
            let values: Vec<_> = operands.iter().map(|operand| operand.whole(lane)).collect();
            let known: Option<Vec<u64>> =
                values.iter().map(|lane| lane.symbol.is_none().then_some(lane.bits)).collect();
            let new = known
                .filter(|_| old[lane].symbol.is_none())
                .and_then(|known| modified(decoded, old[lane].bits, &known));
            let from = self.facts.symbolics.unwritten(values.into_iter().chain([old[lane]]));
            let symbol = self.facts.symbolics.any_number(from.unwrap_or(Origin::Atomic(pc)));
            self.write(piece, lane, address, size, new.map_or(Lane::open(symbol), Lane::known));
        }
        for dest in instr.dests.iter().flatten() {
            self.warps[warp].write(*dest, Value::from_lanes(|lane| old[lane]), mask);
        }
    }
}

/// How an atomic of one lane updates its location.
pub(super) fn change(decoded: &Decoded, operands: &[Value], lane: usize) -> CounterUpdate {
    let ty = decoded.ty();
    let bits = ty.bits();
    let Some(Lane { bits: operand, symbol: None }) =
        operands.first().map(|value| value.whole(lane))
    else {
        return CounterUpdate::Other;
    };
    if ty.is_float() || matches!(ty, Type::Other | Type::B128) || decoded.vector() > 1 {
        return CounterUpdate::Other;
    }
    let is_unbounded = truncate(operand, bits) == truncate(u64::MAX, bits);
    match decoded.modifiers.first_of(&OPERATIONS) {
        Some(Modifier::Add) => CounterUpdate::Adds(signed(operand, bits)),
        Some(Modifier::Inc) if is_unbounded => CounterUpdate::Adds(1),
        Some(Modifier::Inc) => CounterUpdate::CountsUpTo(truncate(operand, bits)),
        Some(Modifier::Dec) if is_unbounded => CounterUpdate::Adds(-1),
        _ => CounterUpdate::Other,
    }
}

/// What an atomic leaves in memory, from what was there and its operands (PTX ISA §9.7.13.5); `None` if that is not
/// modelled.
fn modified(decoded: &Decoded, old: u64, operands: &[u64]) -> Option<u64> {
    let ty = decoded.ty();
    let bits = ty.bits();
    if ty.is_float() || matches!(ty, Type::Other | Type::U16x2 | Type::S16x2) {
        return None;
    }
    let old = truncate(old, bits);
    let b = truncate(*operands.first()?, bits);
    let is_less = |a: u64, b: u64| {
        if ty.is_signed() { signed(a, bits) < signed(b, bits) } else { a < b }
    };
    let new = match decoded.modifiers.first_of(&OPERATIONS)? {
        Modifier::Add => old.wrapping_add(b),
        Modifier::Min => {
            if is_less(b, old) {
                b
            } else {
                old
            }
        }
        Modifier::Max => {
            if is_less(old, b) {
                b
            } else {
                old
            }
        }
        Modifier::And => old & b,
        Modifier::Or => old | b,
        Modifier::Xor => old ^ b,
        Modifier::Exch => b,
        Modifier::Cas => {
            if old == b {
                truncate(*operands.get(1)?, bits)
            } else {
                old
            }
        }
        Modifier::Inc => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        Modifier::Dec => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
        _ => return None,
    };
    Some(truncate(new, bits))
}
