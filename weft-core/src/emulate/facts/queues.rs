//! Accesses that are indexed with tickets, and what was drawn from counters.

use std::collections::BTreeSet;

use super::Facts;
use super::counters::{Drawn, Indexed, Multiple, Queue};
use super::draw_order::DrawOrder;
use super::place::{Count, Place};
use crate::emulate::value::lane::{Lane, SymbolId};

impl Facts {
    /// Lets so many ctas draw from counters in one order, instead of telling apart what they draw.
    pub(crate) fn draw_in_turn(&mut self, ctas: u64) {
        self.counters.order = Some(DrawOrder::new(ctas));
    }

    /// What is known of what was drawn from counters.
    pub(crate) fn drawn(&self) -> Drawn {
        match &self.counters.order {
            _ if self.counters.ways.is_empty() => Drawn::Nothing,
            None => Drawn::Apart,
            // Whoever waits might have to draw later, and ctas that choose for themselves might draw otherwise.
            Some(order) if order.is_kept() && !self.assumed.waits_end && self.splits.is_empty() => {
                Drawn::InTurn
            }
            Some(_) => Drawn::InNoOrder,
        }
    }

    /// The queue of an access that is indexed with one ticket and nothing else open.
    pub(crate) fn queue(&mut self, place: Place, term: SymbolId) -> Option<Queue> {
        let (ticket, count, multiple) = self.ticket(term)?;
        self.counters.use_up(ticket);
        let next = Queue(u32::try_from(self.counters.indexed.len()).ok()?);
        let key = (place, count, multiple);
        let queue = *self.counters.queues.entry(key).or_insert(next);
        if queue == next {
            let bytes = (i64::MAX, i64::MIN);
            self.counters.indexed.push(Indexed { count, multiple, bytes });
        }
        Some(queue)
    }

    /// Whether tickets are in a lane.
    pub(crate) fn has_ticket(&self, lane: Lane) -> bool {
        let Some(term) = lane.symbol.filter(|_| !self.counters.of.is_empty()) else { return false };
        self.symbolics.atoms(term).iter().any(|&(atom, _)| {
            self.counters.of.contains_key(&atom)
                || self
                    .symbolics
                    .inner(atom)
                    .is_some_and(|inner| self.has_ticket(Lane::open(inner)))
        })
    }

    /// The one ticket that a term is a multiple of.
    fn ticket(&self, term: SymbolId) -> Option<(SymbolId, Count, Multiple)> {
        let &[(atom, factor)] = self.symbolics.atoms(term) else { return None };
        if self.counters.of.is_empty() {
            return None;
        }
        let bits = self.symbolics.bits(term);
        // Cut to fewer bits than the counter has, it comes back.
        if self.symbolics.drifts(term) || bits < self.symbolics.bits(atom) {
            return None;
        }
        if let Some(&count) = self.counters.of.get(&atom) {
            return Some((atom, count, Multiple::new(factor, bits)));
        }
        let (inner, is_signed) = self.symbolics.extended_from(atom)?;
        let (ticket, count, inner) = self.ticket(inner)?;
        Some((ticket, count, inner.times(is_signed, factor, bits)?))
    }

    /// The queues in which all that is indexed with one ticket fits the stride between two.
    pub(crate) fn apart(&self) -> BTreeSet<Queue> {
        let is_apart = |indexed: &Indexed| {
            let Some(steps) = self.counters.steps.get(&indexed.count) else { return false };
            let stride =
                u128::from(indexed.multiple.factor.unsigned_abs()) * u128::from(steps.least);
            let extent = i128::from(indexed.bytes.1) - i128::from(indexed.bytes.0);
            let fits = u128::try_from(extent).is_ok_and(|extent| extent <= stride);
            fits && steps.all.saturating_sub(steps.least) <= indexed.multiple.most
        };
        let numbered = self.counters.indexed.iter().zip(0..);
        numbered.filter(|(entry, _)| is_apart(entry)).map(|(_, at)| Queue(at)).collect()
    }
}
