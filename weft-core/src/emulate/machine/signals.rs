//! Signals of a cta: atomics on locations that count how many threads of the launch have come somewhere, and what follows
//! where a condition says that one of them is the last.

use std::rc::Rc;

use super::asking::changes_nothing;
use super::atomic::change;
use super::event::{Events, OrderQuery, SentSignal};
use super::implied::AtomComparison;
use super::may_execute::OpenSide;
use super::memory_order::{MemoryOrder, MemoryScope, Ordering};
use super::piece::Piece;
use super::state::Machine;
use crate::emulate::facts::counter_update::CounterUpdate;
use crate::emulate::facts::signals::{Sent, Signal, SignalKey, SignalResults, SignalStep};
use crate::emulate::value::lane::{Lane, LaneMask, WARP, lanes};
use crate::emulate::value::register::Value;
use crate::emulate::value::symbolics::Relation;
use crate::flow::Operand;
use crate::ptx::Space;
use crate::ptx::isa::Effect;
use crate::slice::Keep;

/// Most signals of a cta of which it is kept who sent them.
const MAX_SENDERS: usize = 1 << 16;

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Notes what an access to known addresses of global memory writes: signals, or what spoils them. Returns the signals.
    pub(super) fn note_signals(&mut self, piece: &Piece<'_>) -> Sent {
        let mut sent = [None; WARP];
        if !self.signals.are_followed || piece.space != Space::Global {
            return sent;
        }
        let effect = piece.decoded.row.effect;
        if effect == Effect::Load {
            return sent;
        }
        let seen = self.signal_by(piece.lanes, true);
        // What the slice leaves out is not in registers.
        let is_kept = self.slice.keep[piece.pc.index()] == Keep::Value;
        let is_known = |source: &&Operand| is_kept || matches!(source, Operand::Constant(_));
        let operand = piece.instr.sources.first().filter(is_known);
        let operand = operand.map(|source| self.operand(piece.warp, piece.pc, source));
        for lane in lanes(piece.lanes) {
            let (address, own) = (piece.addresses.bits_of(lane), (piece.warp, lane));
            // Who was the last has the location to itself.
            let is_after = seen.is_some_and(|seen| {
                seen.location == address
                    && self.signals.senders.get(seen.number as usize) == Some(&own)
            });
            // Others might wait for what it leaves there.
            if is_after && !self.facts.awaits.is_asked(address, piece.bytes()) {
                continue;
            }
            let operand = operand.as_ref().map(|value| value.whole(lane));
            self.note_flag(piece, lane, operand);
            if effect == Effect::Atomic && changes_nothing(piece.instr) {
                // What it sees orders its cta perhaps.
                self.facts.signals.send_somewhere();
                continue;
            }
            if effect == Effect::Atomic {
                sent[lane] = Some(self.send(piece, lane, operand));
            } else {
                self.facts.signals.spoil(address, piece.bytes());
            }
        }
        sent
    }

    /// Sends the signal of a lane.
    fn send(&mut self, piece: &Piece<'_>, lane: usize, operand: Option<Lane>) -> Signal {
        let &Piece { warp, decoded, addresses, .. } = piece;
        let is_sure = self.may_execute.is_none()
            && !self.has_open_loop()
            && self.facts.splits.outcomes().next().is_none();
        let operand = operand.filter(|_| is_sure);
        let step = operand.and_then(|operand| self.step_of(piece, lane, operand));
        let signal = self.facts.signals.send(addresses.bits_of(lane), piece.bytes(), step);
        let order = MemoryOrder::new(Ordering::of_access(decoded), MemoryScope::of(decoded));
        if self.signals.senders.len() < MAX_SENDERS {
            self.signals.senders.push((warp, lane));
        }
        let key = SignalKey::all(signal.location);
        self.send_signal(SentSignal { signal, key, warp, lane, order });
        signal
    }

    /// How an atomic of a lane changes its location, if it is known and a number is added; it is strong for the whole grid.
    fn step_of(&mut self, piece: &Piece<'_>, lane: usize, operand: Lane) -> Option<SignalStep> {
        let &Piece { decoded, addresses, .. } = piece;
        let (address, bytes) = (addresses.bits_of(lane), piece.bytes());
        if MemoryScope::of(decoded).is_within_group() || operand.symbol.is_some() {
            return None;
        }
        let (amount, most) = match change(decoded, &[Value::uniform(operand.bits)], 0) {
            CounterUpdate::Adds(amount) => (amount, u64::MAX),
            CounterUpdate::CountsUpTo(most) => (1, most),
            CounterUpdate::Other => return None,
        };
        let (first, is_assumed) = self.held_before(address, bytes, piece.pc);
        (bytes <= 8).then_some(SignalStep { bytes, amount, most, first, is_assumed })
    }

    /// Notes what atomics returned that are signals.
    pub(super) fn note_returned(&mut self, sent: &Sent, lane: usize, result: Lane) {
        if let (Some(signal), Some(symbol)) = (sent[lane], result.symbol) {
            self.facts.signals.returned(symbol, signal);
        }
    }

    /// Whether some signal has returned a value, on which conditions can depend.
    fn knows_results(&self) -> bool {
        self.signals.are_followed && self.facts.signals.have_returned()
    }

    /// The signal of which conditions under which these lanes run say that it is the last one at its location.
    pub(super) fn seen_signal(&mut self, mask: LaneMask) -> Option<Signal> {
        self.signal_by(mask, false)
    }

    /// Notes whether the case that runs is that of the last cta, and each cta can be that: then what is found in it happens.
    fn judge_case(&mut self) {
        let Some(case) = self.facts.splits.only_choice() else { return };
        let Some((condition, holds)) = self.facts.splits.outcomes().next() else { return };
        let symbolics = &self.facts.symbolics;
        let literals = symbolics.literals(condition, holds);
        let about = match literals[..] {
            [(literal, is_it)] => {
                AtomComparison::of(literal, symbolics).map(|about| (about, is_it))
            }
            _ => None,
        };
        let is_sure = about.is_some_and(|(about, is_it)| {
            let signal = self.facts.signals.asked(about.atom);
            signal.is_some_and(|signal| {
                self.is_last(signal, &about, is_it) && self.can_be_last(signal)
            })
        });
        self.facts.signals.judge_case(case, is_sure);
    }

    /// As `seen_signal`. `perhaps`: of locations of which no pass has found out what changes them, a signal that a condition is
    /// about is taken to be the last one; the next pass knows better.
    fn signal_by(&mut self, mask: LaneMask, perhaps: bool) -> Option<Signal> {
        if !self.knows_results() {
            return None;
        }
        let mut literals = self.literals_of(mask).into_iter().rev();
        literals.find_map(|(literal, holds)| {
            let about = AtomComparison::of(literal, &self.facts.symbolics)?;
            let signal = self.facts.signals.asked(about.atom)?;
            let is_new = perhaps && !self.facts.signals.is_known(signal.location);
            (is_new || self.is_last(signal, &about, holds)).then_some(signal)
        })
    }

    /// Whether a signal is the last one if a comparison with its result has this outcome.
    fn is_last(&mut self, signal: Signal, about: &AtomComparison, holds: bool) -> bool {
        let Some(results) = self.facts.signals.results(signal.location) else { return false };
        let is_last = match about.relation {
            Relation::Equal => holds && results.is_last(i128::from(about.equal())),
            _ => about.is_plain() && results.only_of_last(|result| about.is_less(result) == holds),
        };
        self.facts.assumed.zero_counters |=
            is_last && self.facts.signals.is_assumed(signal.location);
        is_last
    }

    /// The value of the atom of a comparison that has this outcome, if only one has it.
    pub(super) fn value_by(&mut self, given: &AtomComparison, holds: bool) -> Option<u64> {
        if given.relation == Relation::Equal && holds {
            return Some(given.equal());
        }
        let signal = self.facts.signals.asked(given.atom)?;
        let is_last = self.is_last(signal, given, holds);
        self.facts.signals.results(signal.location).filter(|_| is_last).map(SignalResults::last)
    }

    /// Whether each cta can be the one that sends the last signal at this location: none sends several, and none waits for others.
    fn can_be_last(&self, signal: Signal) -> bool {
        self.facts.awaits.is_empty() && self.facts.signals.can_be_last(signal.location)
    }

    /// The signal that is the last one by the only condition that is open here.
    pub(super) fn seen_alone(&mut self, mask: LaneMask) -> Option<Signal> {
        if !self.knows_results() {
            return None;
        }
        let alone = |side: &&OpenSide| side.decided.len() == 1 && !side.is_widened();
        let side = Rc::clone(&self.may_execute.as_ref().filter(alone)?.decided[0]);
        let symbolics = &self.facts.symbolics;
        let lane = mask.trailing_zeros() as usize % WARP;
        let one = side.condition(lane, symbolics)?;
        let is_one = lanes(mask).all(|lane| side.condition(lane, symbolics) == Some(one));
        // Of several conditions, others might not hold.
        let [(literal, holds)] = symbolics.literals(one, side.holds)[..] else { return None };
        let about = AtomComparison::of(literal, symbolics).filter(|_| is_one)?;
        let signal = self.facts.signals.asked(about.atom)?;
        self.is_last(signal, &about, holds).then_some(signal)
    }

    /// Whether these lanes come here in some schedule although a condition is open: that their cta is the last one.
    pub(super) fn comes_last(&mut self, mask: LaneMask) -> bool {
        if !self.knows_results() {
            return false;
        }
        self.judge_case();
        let seen = self.seen_alone(mask);
        seen.is_some_and(|signal| self.can_be_last(signal))
    }
}
