//! Unique counter values that a loop passes on to its next iteration in registers, as `for (b = draw(); b < n; b =
//! draw())` does.
//!
//! The general state stands for any later iteration. If a register holds, at the end of the first iteration, a counter
//! value that the thread drew in it, then the register is assumed to hold, at the start of each later iteration, what
//! the same instruction of that thread drew in the iteration before: a counter value of its own, the same in all
//! registers that hold it, and different from all others. At the end of each general iteration, the register must hold
//! what that iteration drew; if it does not, the pass is run again without this assumption.
//!
//! At the start of the second iteration, the register holds the counter value of the first one. If that is used as an
//! index itself, the two would have to be compared as equal; then the register is open.

use super::draws::Draw;
use super::event::{Events, OrderQuery};
use super::open_loop::OpenLoop;
use super::state::Machine;
use crate::emulate::value::lane::{Lane, LaneMask, SymbolId, WARP, lanes};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::register::Value;
use crate::emulate::value::symbolics::Execution;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{BlockId, Pc, Reg};
use crate::launch::Atomics;

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Records the draw that a counter value comes from.
    pub(super) fn note_counter_value(
        &mut self,
        (warp, lane): (WarpId, usize),
        pc: Pc,
        value: SymbolId,
    ) {
        let block = &self.program.blocks[self.warps[warp].block.index()];
        let Some(&header) = block.loops.last() else { return };
        let Some((entry, iteration)) = self.iteration_of(warp, header) else { return };
        let draw = Draw { pc, warp, lane, header, entry, iteration };
        let count = self.draws.counts.entry(draw).or_default();
        *count += 1;
        self.draws.of.insert(value, draw);
    }

    /// The draw that a value comes from; `None` if its instruction drew more than once in the iteration.
    fn draw_of(&self, value: Lane) -> Option<Draw> {
        let draw = *self.draws.of.get(&value.symbol?)?;
        (self.draws.counts.get(&draw) == Some(&1)).then_some(draw)
    }

    /// What a register holds at the start of a general iteration, from what it holds now, at the end of the iteration
    /// before. Lanes that are not known to hold a counter value of that iteration hold `unknown`.
    pub(super) fn hand_on(
        &mut self,
        warp: WarpId,
        header: BlockId,
        register: Reg,
        unknown: &Value,
    ) -> Value {
        let is_unique = self.inputs.options.atomics == Atomics::Unique;
        if !is_unique || !self.facts.counters.can_hand_on((header, register)) {
            return unknown.clone();
        }
        let Some((entry, iterations)) = self.iteration_of(warp, header) else {
            return unknown.clone();
        };
        let old_value = self.warps[warp].registers[register].clone();
        let mut expected = [None; WARP];
        let value = Value::from_lanes(|lane| {
            let whole = old_value.whole(lane);
            let draw = self.draw_of(whole).filter(|draw| {
                (draw.header, draw.entry, draw.iteration + 1) == (header, entry, iterations)
            });
            let renamed =
                draw.and_then(|draw| self.renamed(whole.symbol?, draw, (header, register)));
            let (Some(symbol), Some(draw)) = (renamed, draw) else { return unknown.whole(lane) };
            expected[lane] = Some((Draw { iteration: iterations, ..draw }, whole.bits));
            Lane { bits: whole.bits, symbol: Some(symbol) }
        });
        if expected.iter().any(Option::is_some) {
            let state = self.open_loops.get_mut(&(warp, header));
            if let Some(general) = state.and_then(OpenLoop::general_mut) {
                general.handed.push((register, expected));
            }
        }
        value
    }

    /// The counter value that stands for what each iteration draws for the next one, if `value` is what the first
    /// iteration drew; `None` if the register cannot pass it on.
    fn renamed(&mut self, value: SymbolId, draw: Draw, to: (BlockId, Reg)) -> Option<SymbolId> {
        let count = self.facts.counters.count_of(value)?;
        if !self.facts.counters.hand_on(value, to) {
            return None;
        }
        if let Some(&known) = self.draws.renamed.get(&value) {
            return Some(known);
        }
        self.atomics += 1;
        let execution =
            Execution { cta: self.cta(draw.warp).index, number: self.atomics, lane: draw.lane };
        let bits = self.facts.symbolics.bits(value);
        let renamed = self.facts.symbolics.result(Origin::Atomic(draw.pc), execution, bits);
        self.facts.counters.add_counter_value(renamed, count);
        self.draws.renamed.insert(value, renamed);
        Some(renamed)
    }

    /// Checks that registers hold, at the end of a general iteration, what that iteration drew.
    pub(super) fn check_handed(&mut self, warp: WarpId, header: BlockId, mask: LaneMask) {
        let state = self.open_loops.get_mut(&(warp, header));
        let Some(general) = state.and_then(OpenLoop::general_mut) else { return };
        let mut handed = std::mem::take(&mut general.handed);
        for (register, expected) in &mut handed {
            let value = self.warps[warp].registers[*register].clone();
            for lane in lanes(mask) {
                let Some((draw, bits)) = &mut expected[lane] else { continue };
                let whole = value.whole(lane);
                if whole.bits != *bits || self.draw_of(whole) != Some(*draw) {
                    self.facts.counters.refuse_to_hand_on((header, *register));
                }
                draw.iteration += 1;
            }
        }
        let state = self.open_loops.get_mut(&(warp, header));
        if let Some(general) = state.and_then(OpenLoop::general_mut) {
            general.handed = handed;
        }
    }
}
