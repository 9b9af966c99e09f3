//! Threads that wait until a location in global memory holds a value: what they know behind the loop in which they ask for it.

use super::asking::{AskingLoop, changes_nothing};
use super::event::{AwaitedSignal, Events, OrderQuery, SentSignal};
use super::memory_order::{MemoryOrder, MemoryScope, Ordering};
use super::open_loop::OpenLoop;
use super::piece::Piece;
use super::spin::TryValues;
use super::state::Machine;
use crate::emulate::facts::signals::{Signal, SignalKey};
use crate::emulate::memory::pages::View;
use crate::emulate::value::lane::{Lane, LaneMask, lanes, truncate};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{BlockId, Pc, space_of};
use crate::ptx::Space;
use crate::ptx::isa::{Effect, Modifier};

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Notes that lanes have left a loop, in which they might have waited for signals.
    pub(super) fn leave_loop(&mut self, warp: WarpId, header: BlockId, mask: LaneMask) {
        if !self.signals.are_followed || self.may_execute.is_some() {
            return;
        }
        let Some(asking) = AskingLoop::of(self.program, header) else { return };
        let instr = &self.program.code[asking.pc.index()];
        let (Some(decoded), Some(address)) = (instr.decoded(), instr.address) else { return };
        let fixed = asking.fixed(self.program);
        if address.base.is_some_and(|base| !fixed.contains(&base)) {
            return;
        }
        let addresses = self.addresses(warp, &address);
        let order = MemoryOrder::new(Ordering::of_access(decoded), MemoryScope::of(decoded));
        for lane in lanes(mask & !addresses.open_lanes()) {
            let location = match (address.space, space_of(addresses.bits_of(lane))) {
                (Space::Global, _) => addresses.bits_of(lane),
                (Space::Generic, (Space::Global, at)) => at,
                _ => continue,
            };
            let known = fixed.iter().filter_map(|register| {
                let held = self.warps[warp].registers[*register].whole(lane);
                held.symbol.is_none().then_some((*register, held.bits))
            });
            let known: TryValues = known.collect();
            let bytes = decoded.ty().bytes();
            let first = self.held_before(location, bytes, asking.pc);
            self.facts.signals.await_value();
            self.facts.awaits.ask(location, bytes, first);
            let passes = |value: u64| {
                asking.passes(self.program, &known, truncate(value, decoded.ty().bits()))
            };
            let Some((key, is_assumed)) = self.awaited_key(location, &passes) else { continue };
            self.facts.assumed.zero_counters |= is_assumed;
            let before = self.facts.awaits.before(key).into_iter().collect();
            self.events.await_signal(AwaitedSignal { warp, lane, order, key, before });
        }
    }

    /// What a lane has waited for at a location, if that is known, and whether it rests on what the location is assumed to have held.
    fn awaited_key(
        &self,
        location: u64,
        passes: &dyn Fn(u64) -> Option<bool>,
    ) -> Option<(SignalKey, bool)> {
        let signals = &self.facts.signals;
        if signals.lets_pass_at_last(location, passes) {
            return Some((SignalKey::all(location), signals.is_assumed(location)));
        }
        self.facts.awaits.awaited(location, passes)
    }

    /// What a location held before the launch, and whether that is only assumed: nothing states it, and zero is taken.
    pub(super) fn held_before(&mut self, location: u64, bytes: u32, pc: Pc) -> (u64, bool) {
        let view = View { unwritten: Origin::Atomic(pc), guards: None };
        let first =
            self.inputs.global.load(location, bytes.min(8), view, &mut self.facts.symbolics);
        let is_assumed = first.symbol.is_some();
        (if is_assumed { 0 } else { first.bits }, is_assumed)
    }

    /// Notes what a lane writes to a location for which threads might wait.
    pub(super) fn note_flag(&mut self, piece: &Piece<'_>, lane: usize, operand: Option<Lane>) {
        let (location, bytes) = (piece.addresses.bits_of(lane), piece.bytes());
        if self.facts.awaits.is_empty() || changes_nothing(piece.instr) {
            return;
        }
        let value = operand.and_then(|operand| self.flag_value(piece, operand));
        self.facts.awaits.write(location, bytes, value);
        let Some(value) = value.filter(|_| self.facts.awaits.is_asked(location, bytes)) else {
            return;
        };
        let &Piece { warp, decoded, .. } = piece;
        let order = MemoryOrder::new(Ordering::of_access(decoded), MemoryScope::of(decoded));
        let signal = Signal { location, number: u32::MAX };
        let key = SignalKey { location, value: Some(value) };
        self.send_signal(SentSignal { signal, key, warp, lane, order });
    }

    /// Emits a signal, and notes what its sender had waited for before.
    pub(super) fn send_signal(&mut self, sent: SentSignal) {
        self.events.signal(sent);
        if !self.facts.awaits.is_empty() {
            self.facts.awaits.chain(sent.key, self.events.awaited_before());
        }
    }

    /// The value that a lane surely leaves at a location, once, for the whole grid to see; `None` if that is not known.
    fn flag_value(&self, piece: &Piece<'_>, operand: Lane) -> Option<u64> {
        let &Piece { warp, decoded, .. } = piece;
        let block = &self.program.blocks[self.warps[warp].block.index()];
        let is_open =
            |header: &BlockId| self.open_loops.get(&(warp, *header)).is_some_and(OpenLoop::is_open);
        let is_sure = self.may_execute.is_none()
            && self.facts.splits.outcomes().next().is_none()
            && !block.loops.iter().any(is_open);
        let stores = match decoded.row.effect {
            Effect::Store => Ordering::of_access(decoded) != Ordering::Weak,
            Effect::Atomic => decoded.modifiers.has(Modifier::Exch),
            _ => false,
        };
        let is_one = decoded.vector() == 1 && piece.bytes() <= 8;
        let is_seen = stores && is_one && !MemoryScope::of(decoded).is_within_group();
        (is_sure && is_seen && operand.symbol.is_none())
            .then(|| truncate(operand.bits, decoded.ty().bits()))
    }

    /// Whether all lanes of an access to known addresses access locations by which threads wait for each other, of which it is
    /// known what changes them.
    pub(super) fn synchronizes(&self, piece: &Piece<'_>) -> bool {
        let is_known = |location: u64| {
            self.facts.awaits.is_asked(location, piece.bytes())
                && (self.facts.awaits.is_flag(location)
                    || self.facts.signals.results(location).is_some())
        };
        piece.space == Space::Global
            && !self.facts.awaits.is_empty()
            && lanes(piece.lanes).all(|lane| is_known(piece.addresses.bits_of(lane)))
    }
}
