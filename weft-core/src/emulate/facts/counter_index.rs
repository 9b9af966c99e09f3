//! Accesses that are indexed with tickets, and what was drawn from counters.

use std::collections::BTreeSet;

use super::Facts;
use super::count::Count;
use super::counters::{CounterIndex, Drawn, Indexed, Multiple};
use super::draw_order::DrawOrder;
use crate::emulate::memory::region::MemoryRegion;
use crate::emulate::value::lane::{Lane, SymbolId};

impl Facts {
    /// Lets so many ctas draw from counters in one order, instead of telling apart what they draw.
    pub(crate) fn choose_draw_order(&mut self, ctas: u64) {
        self.counters.order = Some(DrawOrder::new(ctas));
    }

    /// What is known of what was drawn from counters.
    pub(crate) fn drawn(&self) -> Drawn {
        match &self.counters.order {
            _ if self.counters.patterns.is_empty() => Drawn::Nothing,
            None => Drawn::Distinct,
            // Whoever waits might have to draw later, and ctas that choose for themselves might draw otherwise.
            Some(order) if order.is_kept() && !self.assumed.waits_end && self.splits.is_empty() => {
                Drawn::InOrder
            }
            Some(_) => Drawn::InDoubtfulOrder,
        }
    }

    /// The queue of an access that is indexed with one ticket and nothing else open.
    pub(crate) fn counter_index(
        &mut self,
        region: MemoryRegion,
        symbol: SymbolId,
    ) -> Option<CounterIndex> {
        let (value, count, multiple) = self.counter_value(symbol)?;
        self.counters.use_up(value);
        let next = CounterIndex(u32::try_from(self.counters.indexed.len()).ok()?);
        let key = (region, count, multiple);
        let index = *self.counters.indices.entry(key).or_insert(next);
        if index == next {
            let bytes = (i64::MAX, i64::MIN);
            self.counters.indexed.push(Indexed { count, multiple, bytes });
        }
        Some(index)
    }

    /// Whether tickets are in a lane.
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

    /// The one ticket that a term is a multiple of.
    fn counter_value(&self, symbol: SymbolId) -> Option<(SymbolId, Count, Multiple)> {
        let &[(atom, factor)] = self.symbolics.atoms(symbol) else { return None };
        if self.counters.values.is_empty() {
            return None;
        }
        let bits = self.symbolics.bits(symbol);
        // Cut to fewer bits than the counter has, it comes back.
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

    /// The queues in which all that is indexed with one ticket fits the stride between two.
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
