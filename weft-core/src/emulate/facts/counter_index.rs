//! Accesses that are indexed with unique counter values, and what is known of the values that were drawn from counters.

use std::collections::BTreeSet;

use super::counters::{CounterIndex, Drawn, Indexed, Multiple};
use super::draw_order::DrawOrder;
use super::period::CounterPeriod;
use super::store::Facts;
use crate::emulate::memory::region::MemoryRegion;
use crate::emulate::value::lane::{Lane, SymbolId};

impl Facts {
    /// Makes this many ctas draw from counters in one fixed order, instead of distinguishing the values that they draw.
    pub(crate) fn choose_draw_order(&mut self, ctas: u64) {
        self.counters.order = Some(DrawOrder::new(ctas));
    }

    /// What is known of the values that were drawn from counters.
    pub(crate) fn drawn(&self) -> Drawn {
        match &self.counters.order {
            _ if self.counters.patterns.is_empty() => Drawn::Nothing,
            None => Drawn::Distinct,
            // A cta that waits might have to draw later, and ctas that decide conditions differently might draw
            // otherwise.
            Some(order) if order.is_kept() && !self.assumed.waits_end && self.splits.is_empty() => {
                Drawn::InOrder
            }
            Some(_) => Drawn::InDoubtfulOrder,
        }
    }

    /// The counter index of an access whose address is open only by a multiple of one unique counter value; `None` for
    /// other accesses.
    pub(crate) fn counter_index(
        &mut self,
        region: MemoryRegion,
        symbol: SymbolId,
    ) -> Option<CounterIndex> {
        let (value, count, multiple) = self.counter_value(symbol)?;
        self.counters.note_index_use(value);
        let next = CounterIndex(u32::try_from(self.counters.indexed.len()).ok()?);
        let key = (region, count, multiple);
        let index = *self.counters.indices.entry(key).or_insert(next);
        if index == next {
            let bytes = (i64::MAX, i64::MIN);
            self.counters.indexed.push(Indexed { count, multiple, bytes });
        }
        Some(index)
    }

    /// Whether a lane contains counter values.
    pub(crate) fn holds_counter_value(&self, lane: Lane) -> bool {
        let Some(symbol) = lane.symbol.filter(|_| !self.counters.values.is_empty()) else {
            return false;
        };
        self.symbolics.atoms(symbol).iter().any(|&(atom, _)| {
            self.counters.values.contains_key(&atom)
                || self
                    .symbolics
                    .inner(atom)
                    .is_some_and(|inner| self.holds_counter_value(Lane::open(inner)))
        })
    }

    /// The one counter value that a symbolic value is a multiple of, with its count and the multiple; `None` if there
    /// is none.
    fn counter_value(&self, symbol: SymbolId) -> Option<(SymbolId, CounterPeriod, Multiple)> {
        let &[(atom, factor)] = self.symbolics.atoms(symbol) else { return None };
        if self.counters.values.is_empty() {
            return None;
        }
        let bits = self.symbolics.bits(symbol);
        // A counter value that is cut to fewer bits than the counter has can repeat.
        if self.symbolics.is_congruent(symbol) || bits < self.symbolics.bits(atom) {
            return None;
        }
        if let Some(&count) = self.counters.values.get(&atom) {
            return Some((atom, count, Multiple::new(factor, bits)));
        }
        let (inner, is_signed) = self.symbolics.extended_from(atom)?;
        let (value, count, inner) = self.counter_value(inner)?;
        Some((value, count, inner.times(is_signed, factor, bits)?))
    }

    /// The counter indices whose accesses are disjoint: all bytes that are accessed with one counter value fit the
    /// stride between two of them.
    pub(crate) fn disjoint_indices(&self) -> BTreeSet<CounterIndex> {
        let is_apart = |indexed: &Indexed| {
            let Some(steps) = self.counters.steps.get(&indexed.count) else { return false };
            let stride =
                u128::from(indexed.multiple.factor.unsigned_abs()) * u128::from(steps.least);
            let extent = i128::from(indexed.bytes.1) - i128::from(indexed.bytes.0);
            let fits = u128::try_from(extent).is_ok_and(|extent| extent <= stride);
            fits && steps.all.saturating_sub(steps.least) <= indexed.multiple.most
        };
        let numbered = self.counters.indexed.iter().zip(0..);
        numbered.filter(|(entry, _)| is_apart(entry)).map(|(_, at)| CounterIndex(at)).collect()
    }
}
