//! Values exchanged within a warp by shfl, vote, match, redux, elect and activemask (PTX ISA §9.7.9.6, §9.7.13.9-14).
//! Exchanges order no memory.

use super::event::{Events, OrderQuery};
use super::may_execute::OpenSide;
use super::state::Machine;
use crate::emulate::value::lane::{Lane, LaneMask, SymbolId, WARP, lanes, signed, truncate};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::register::Value;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::Pc;
use crate::ptx::isa::{Decoded, Modifier, Opcode};
use crate::slice::Keep;

const VOTES: [Modifier; 4] = [Modifier::Ballot, Modifier::All, Modifier::Any, Modifier::Uni];
const SHUFFLES: [Modifier; 3] = [Modifier::Up, Modifier::Down, Modifier::Bfly];
const OPERATIONS: [Modifier; 6] =
    [Modifier::Add, Modifier::Min, Modifier::Max, Modifier::And, Modifier::Or, Modifier::Xor];

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Exchanges values among the lanes of `here`, and writes the results.
    pub(super) fn exchange(&mut self, warp: WarpId, pc: Pc, here: LaneMask) {
        self.exchanges[warp] = self.exchanges[warp].saturating_add(1);
        let instr = &self.program.code[pc.index()];
        if instr.waits() && self.may_execute.is_none() {
            self.events.meet(warp, here);
        }
        if self.slice.keep[pc.index()] != Keep::Value {
            return;
        }
        let Some(decoded) = instr.decoded() else { return };
        let results = match decoded.row.opcode {
            Opcode::Activemask => {
                let active = Value::uniform(u64::from(here));
                Some((active.clone(), active))
            }
            Opcode::Elect => {
                self.facts.assumed.elected = true;
                let leader = here.trailing_zeros();
                Some((Value::uniform(leader.into()), Value::bits(here & here.wrapping_neg())))
            }
            _ if !is_computed(decoded) => None,
            Opcode::Shfl => self.shuffle(warp, pc, decoded, here),
            Opcode::Vote => {
                self.ballot(warp, pc, decoded, here).map(|value| (value, Value::uniform(0)))
            }
            Opcode::Match => self.matching(warp, pc, decoded, here),
            Opcode::Redux => {
                self.reduce(warp, pc, decoded, here).map(|value| (value, Value::uniform(0)))
            }
            _ => None,
        };
        let (first, second) = results.unwrap_or_else(|| {
            let open = self.open_results(warp, pc, decoded, here);
            (open.clone(), open)
        });
        for (dest, value) in instr.dests.iter().zip([first, second]) {
            if let Some(dest) = dest {
                self.warps[warp].write(*dest, value, here);
            }
        }
    }

    /// The results of an exchange of open values.
    fn open_results(&mut self, warp: WarpId, pc: Pc, decoded: &Decoded, here: LaneMask) -> Value {
        let symbol = self.open_result(warp, pc, decoded, here);
        let divides = decoded.row.opcode == Opcode::Match && !decoded.modifiers.has(Modifier::All);
        match self.facts.symbolics.origin(symbol).filter(|_| divides) {
            Some(origin) => self.divide(origin, self.group_of(warp, pc, here)),
            None => Value::open(symbol),
        }
    }

    /// The result of an exchange of open values. Votes and reductions give all participants the same value. An exchange
    /// that stands for those of all iterations of a loop gives another value in each iteration.
    fn open_result(&mut self, warp: WarpId, pc: Pc, decoded: &Decoded, here: LaneMask) -> SymbolId {
        let sources = self.program.code[pc.index()].sources.len();
        let all: Vec<_> = (0..sources).map(|at| self.source(warp, pc, at)).collect();
        let open =
            all.iter().flat_map(|value| lanes(here).filter_map(|lane| value.symbol_of(lane)));
        let origin = self.facts.symbolics.origin_among(open).unwrap_or(Origin::Unsupported(pc));
        // A reduction can have the same result whatever an open lane gives, because of what other lanes give.
        let is_reduced = decoded.row.opcode == Opcode::Redux;
        let origin = if is_reduced { origin.perhaps() } else { origin };
        let is_one = matches!(decoded.row.opcode, Opcode::Vote | Opcode::Redux);
        if is_one && self.may_execute.as_ref().is_none_or(OpenSide::is_convergent) {
            let bits = decoded.ty().bits();
            let number = self.exchanges[warp];
            return self.facts.symbolics.exchanged(
                origin,
                (self.cta(warp).index, warp, number),
                bits,
            );
        }
        self.facts.symbolics.any_number(origin)
    }

    /// The values of `shfl`, and for each lane whether it reads from within its segment; `None` if an operand other
    /// than the data is open.
    fn shuffle(
        &mut self,
        warp: WarpId,
        pc: Pc,
        decoded: &Decoded,
        here: LaneMask,
    ) -> Option<(Value, Value)> {
        let [data, offset, clamp] = [0, 1, 2].map(|at| self.source(warp, pc, at));
        if (offset.open_lanes() | clamp.open_lanes()) & here != 0 {
            return None;
        }
        let undefined = Lane::open(self.facts.symbolics.any_number(Origin::Unsupported(pc)));
        let (mut values, mut within) = ([Lane::known(0); WARP], 0);
        for lane in lanes(here) {
            let (from, is_within) =
                shuffled(decoded, lane as u64, offset.bits_of(lane), clamp.bits_of(lane));
            let from = usize::try_from(from).unwrap_or(lane) % WARP;
            within |= u32::from(is_within) << lane;
            // A lane that does not take part gives an undefined value.
            let is_here = here >> from & 1 == 1;
            values[lane] = if is_here { data.whole(from) } else { undefined };
            if from != lane {
                self.note_passed_on(values[lane]);
            }
        }
        Some((Value::from_lanes(|lane| values[lane]), Value::bits(within)))
    }

    /// The result of `vote`; `None` if it depends on open lanes.
    fn ballot(&mut self, warp: WarpId, pc: Pc, decoded: &Decoded, here: LaneMask) -> Option<Value> {
        let predicate = self.source(warp, pc, 0);
        let trues = predicate.truth() & here;
        let open = predicate.open_lanes() & here;
        if open != 0 {
            // One lane can decide for all.
            return match decoded.modifiers.first_of(&VOTES)? {
                Modifier::Any if trues != 0 => Some(Value::uniform(1)),
                Modifier::All if trues | open != here => Some(Value::uniform(0)),
                Modifier::Uni if trues != 0 && trues | open != here => Some(Value::uniform(0)),
                // What the others give does not matter.
                Modifier::Any | Modifier::All => {
                    let one = self.common_value(&predicate, open).filter(|one| one.bits == 0)?;
                    one.symbol.map(Value::open)
                }
                _ => None,
            };
        }
        Some(Value::uniform(match decoded.modifiers.first_of(&VOTES)? {
            Modifier::Ballot => u64::from(trues),
            Modifier::All => u64::from(trues == here),
            Modifier::Any => u64::from(trues != 0),
            _ => u64::from(trues == here || trues == 0),
        }))
    }

    /// The mask of `match`, and the predicate of `match.all`; `None` if the data are open in some lane.
    fn matching(
        &mut self,
        warp: WarpId,
        pc: Pc,
        decoded: &Decoded,
        here: LaneMask,
    ) -> Option<(Value, Value)> {
        let data = self.source(warp, pc, 0);
        if data.open_lanes() & here != 0 {
            return None;
        }
        let bits = decoded.ty().bits();
        let datum = |lane: usize| truncate(data.bits_of(lane), bits);
        let equal = |lane: usize| {
            lanes(here)
                .filter(|&other| datum(other) == datum(lane))
                .fold(0, |set, at| set | 1 << at)
        };
        let first = equal(here.trailing_zeros() as usize % WARP);
        if decoded.modifiers.has(Modifier::All) {
            let is_all: LaneMask = if first == here { here } else { 0 };
            return Some((
                Value::uniform(u64::from(is_all)),
                Value::uniform(u64::from(is_all != 0)),
            ));
        }
        Some((Value::each(std::array::from_fn(|lane| u64::from(equal(lane)))), Value::uniform(0)))
    }

    /// The result of `redux` on integers; `None` if the data are open in some lane.
    fn reduce(&mut self, warp: WarpId, pc: Pc, decoded: &Decoded, here: LaneMask) -> Option<Value> {
        let data = self.source(warp, pc, 0);
        let ty = decoded.ty();
        if data.open_lanes() & here != 0 {
            return None;
        }
        let operation = decoded.modifiers.first_of(&OPERATIONS)?;
        let combine = |a: u64, b: u64| match operation {
            Modifier::Add => a.wrapping_add(b),
            Modifier::And => a & b,
            Modifier::Or => a | b,
            Modifier::Xor => a ^ b,
            _ => {
                let less = if ty.is_signed() { signed(a, 32) < signed(b, 32) } else { a < b };
                if less == (operation == Modifier::Min) { a } else { b }
            }
        };
        let all = lanes(here).map(|lane| truncate(data.bits_of(lane), 32)).reduce(combine)?;
        Some(Value::uniform(truncate(all, 32)))
    }
}

/// Whether the result is known if the operands are. Which lanes are active at `activemask`, and which lane is elected,
/// depends on the hardware; sums and extrema of floats are not computed.
pub(crate) fn is_computed(decoded: &Decoded) -> bool {
    let is_known =
        matches!(decoded.row.opcode, Opcode::Shfl | Opcode::Vote | Opcode::Match | Opcode::Redux);
    is_known && !decoded.ty().is_float()
}

/// The lane that a lane reads from, and whether that lane is within its segment.
fn shuffled(decoded: &Decoded, lane: u64, offset: u64, clamp: u64) -> (u64, bool) {
    let (offset, limit, segment) = (offset & 31, clamp & 31, clamp >> 8 & 31);
    let most = (lane & segment) | (limit & !segment & 31);
    let (from, is_within) = match decoded.modifiers.first_of(&SHUFFLES) {
        Some(Modifier::Up) => (lane.wrapping_sub(offset), lane >= most + offset),
        Some(Modifier::Down) => (lane + offset, lane + offset <= most),
        Some(_) => (lane ^ offset, lane ^ offset <= most),
        None => {
            let from = (lane & segment) | (offset & !segment & 31);
            (from, from <= most)
        }
    };
    (if is_within { from } else { lane }, is_within)
}
