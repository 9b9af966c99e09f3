//! Atomics that never return a value twice (NFM'14 §4, the repetition-free abstraction): a location that is only ever
//! increased, or only ever decreased, by atomics hands out *tickets*. Two tickets of one counter differ by at least the
//! least step, so accesses that index with different tickets are apart if all that is indexed with one ticket fits the
//! stride between them.
//!
//! Which locations are counters is found while the cta runs: what else happens to a location spoils it, and the pass is
//! run again. A plain store starts a new count: tickets from before and after it may be equal.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use foldhash::fast::RandomState;

use super::count::{Count, CounterLocation};
use super::draw_order::DrawOrder;
use crate::emulate::memory::region::MemoryRegion;
use crate::emulate::value::lane::{SymbolId, signed, truncate};
use crate::flow::{BlockId, Reg};

/// Tickets of one count of one counter, multiplied by one factor, added to addresses of one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CounterIndex(pub(crate) u32);

/// What is known of the values that were drawn from counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// There are none, or counters are not told apart.
    Nothing,
    /// They differ.
    Distinct,
    /// They are those of one order, in which some schedule draws them.
    InOrder,
    /// They are those of an order that might be the order of no schedule.
    InDoubtfulOrder,
}

/// What an atomic does to its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CounterUpdate {
    /// Adds a known number.
    Adds(i64),
    /// Anything else.
    Other,
}

impl CounterUpdate {
    /// Whether the location holds another value afterwards, a known step away.
    pub(crate) fn is_step(self) -> bool {
        matches!(self, Self::Adds(amount) if amount != 0)
    }
}

/// How atomics change a counter, in all passes: ctas that go other ways, at conditions of their own, might change it
/// otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UpdatePattern {
    bytes: u32,
    grows: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Counter {
    region: MemoryRegion,
    /// Plain stores to it so far.
    count: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Indexed {
    pub(crate) count: Count,
    pub(crate) multiple: Multiple,
    /// First and last byte, from the ticket's multiple on.
    pub(crate) bytes: (i64, i64),
}

/// A ticket times a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Multiple {
    pub(crate) factor: i64,
    /// How the ticket is extended: behind the highest set bit, one bit for each extension, from the innermost on: whether
    /// it is by the sign. Equal tickets that are extended in two ways lead to one address or to two, so that no queue
    /// holds both.
    pub(crate) extended: u32,
    /// It does not wrap around while tickets differ by no more than this.
    pub(crate) most: u64,
}

impl Multiple {
    /// Of a ticket, in so many bits.
    pub(crate) fn new(factor: u64, bits: u32) -> Self {
        let factor = signed(factor, bits);
        let most = truncate(u64::MAX, bits) / factor.unsigned_abs().max(1);
        Self { factor, extended: 1, most }
    }

    /// Extended by its sign or by zeros, and multiplied again, in so many bits.
    pub(crate) fn times(self, is_signed: bool, factor: u64, bits: u32) -> Option<Self> {
        let factor = self.factor.checked_mul(signed(factor, bits))?;
        let extended = self.extended.checked_mul(2)? | u32::from(is_signed);
        let most = self.most.min(Self::new(factor.cast_unsigned(), bits).most);
        Some(Self { factor, extended, most })
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct CounterSteps {
    pub(crate) least: u64,
    pub(crate) all: u64,
}

/// All counters of a check.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) counters: BTreeMap<CounterLocation, Counter>,
    pub(crate) patterns: BTreeMap<CounterLocation, UpdatePattern>,
    /// The least step of a count, and all of a pass together.
    pub(crate) steps: HashMap<Count, CounterSteps, RandomState>,
    pub(crate) spoiled: BTreeSet<CounterLocation>,
    pub(crate) spoiled_regions: BTreeSet<MemoryRegion>,
    pub(crate) values: HashMap<SymbolId, Count, RandomState>,
    /// Whether a ticket was stored or given to another lane: then nobody may stand in for the next ones of a loop.
    pub(crate) is_passed_on: bool,
    pub(crate) stands_in: bool,
    pub(crate) indices: HashMap<(MemoryRegion, Count, Multiple), CounterIndex, RandomState>,
    pub(crate) indexed: Vec<Indexed>,
    /// Tickets that were used as an index.
    pub(crate) used: HashSet<SymbolId, RandomState>,
    /// Tickets of the first iteration of a loop, by the registers that hand on those of each to the next.
    pub(crate) handed: HashMap<SymbolId, BTreeSet<Hand>, RandomState>,
    /// Registers that do not.
    pub(crate) refused: BTreeSet<Hand>,
    /// The order that ctas draw in, if one is chosen: then nothing is a ticket.
    pub(crate) order: Option<DrawOrder>,
    pub(crate) changed: bool,
}

/// The header of a loop, and a register.
type Hand = (BlockId, Reg);

/// The bytes that an access of 16 bytes or less may begin before those that it overlaps.
const WIDEST: u64 = 15;

impl Counters {
    /// A pass begins. What the pass before took for a ticket is none if it spoiled the counter.
    pub(crate) fn begin(&mut self) {
        self.counters.clear();
        self.values.clear();
        self.used.clear();
        self.handed.clear();
        self.steps.values_mut().for_each(|steps| steps.all = 0);
        self.order.iter_mut().for_each(DrawOrder::begin);
    }

    /// A cta begins.
    pub(crate) fn begin_cta(&mut self) {
        self.order.iter_mut().for_each(DrawOrder::begin_cta);
    }

    /// The order that ctas draw in, if one is chosen.
    pub(crate) const fn order(&mut self) -> Option<&mut DrawOrder> {
        self.order.as_mut()
    }

    /// Whether nothing was counted.
    pub(crate) fn is_empty(&self) -> bool {
        let has_none =
            self.counters.is_empty() && self.values.is_empty() && self.indexed.is_empty();
        let has_none = has_none && self.refused.is_empty();
        has_none && self.spoiled.is_empty() && self.spoiled_regions.is_empty() && !self.is_passed_on
    }

    /// Whether the pass that has ended spoiled a counter.
    pub(crate) fn settle(&mut self) -> bool {
        self.order.iter_mut().for_each(DrawOrder::settle);
        !std::mem::take(&mut self.changed)
    }

    fn spoil(&mut self, at: CounterLocation) {
        self.changed |= self.spoiled.insert(at);
    }

    /// Counters of this or of an earlier pass that overlap some bytes.
    fn overlapped(&self, at: CounterLocation, bytes: u32) -> Vec<CounterLocation> {
        let first = at.address;
        let from = CounterLocation { address: first.saturating_sub(WIDEST), ..at };
        let to = CounterLocation { address: first.saturating_add(u64::from(bytes)), ..at };
        let overlaps = |(known, way): &(&CounterLocation, &UpdatePattern)| {
            known.address.saturating_add(u64::from(way.bytes)) > first
        };
        self.patterns.range(from..to).filter(overlaps).map(|(known, _)| *known).collect()
    }

    /// An atomic at a known address. What it returns is a ticket of this count, if it is one.
    pub(crate) fn atomic(
        &mut self,
        at: CounterLocation,
        region: MemoryRegion,
        bytes: u32,
        change: CounterUpdate,
    ) -> Option<Count> {
        let others = self.overlapped(at, bytes);
        let CounterUpdate::Adds(amount) = change else {
            others.into_iter().chain([at]).for_each(|own| self.spoil(own));
            return None;
        };
        if amount == 0 {
            return None;
        }
        let way = UpdatePattern { bytes, grows: amount > 0 };
        let known = *self.patterns.entry(at).or_insert(way);
        if known != way || others.iter().any(|other| *other != at) {
            others.into_iter().chain([at]).for_each(|spoiled| self.spoil(spoiled));
        }
        let counter = *self.counters.entry(at).or_insert(Counter { region, count: 0 });
        let is_spoiled = self.spoiled.contains(&at)
            || [region, region.whole()].iter().any(|own| self.spoiled_regions.contains(own));
        if is_spoiled {
            return None;
        }
        let count = Count { at, number: counter.count };
        let steps = self.steps.entry(count).or_insert(CounterSteps { least: u64::MAX, all: 0 });
        let amount = amount.unsigned_abs();
        *steps =
            CounterSteps { least: steps.least.min(amount), all: steps.all.saturating_add(amount) };
        Some(count)
    }

    /// A plain store at a known address. Where one stands for the stores of all iterations of a loop, tickets of all counts
    /// that it starts are mixed.
    pub(crate) fn store(&mut self, at: CounterLocation, bytes: u32, is_repeated: bool) {
        for hit in self.overlapped(at, bytes) {
            if is_repeated {
                self.spoil(hit);
            }
            self.counters.entry(hit).and_modify(|counter| counter.count += 1);
        }
    }

    /// A write at an open address of a region. `spoils`: by an atomic, or again and again.
    pub(crate) fn write_somewhere(&mut self, region: MemoryRegion, spoils: bool) {
        if spoils {
            self.changed |= self.spoiled_regions.insert(region);
        }
        let may_be_hit = |(at, counter): &(&CounterLocation, &mut Counter)| {
            at.is_global == region.is_global && region.may_overlap(counter.region)
        };
        self.counters.iter_mut().filter(may_be_hit).for_each(|(_, counter)| counter.count += 1);
    }

    /// The ticket that a term is.
    pub(crate) fn count_of(&self, symbol: SymbolId) -> Option<Count> {
        self.values.get(&symbol).copied()
    }

    /// The count of a counter by now.
    pub(crate) fn count(&self, at: CounterLocation) -> Option<Count> {
        let counter = self.counters.get(&at)?;
        let is_spoiled = self.spoiled.contains(&at)
            || [counter.region, counter.region.whole()]
                .iter()
                .any(|region| self.spoiled_regions.contains(region));
        (!is_spoiled).then_some(Count { at, number: counter.count })
    }

    /// Notes that a term stands in for tickets that one lane fetches; false if it cannot.
    pub(crate) fn stand_in(&mut self, symbol: SymbolId, count: Count) -> bool {
        self.stands_in = true;
        if !self.is_passed_on {
            self.values.insert(symbol, count);
        }
        !self.is_passed_on
    }

    /// A lane's ticket leaves it.
    pub(crate) fn pass_on(&mut self) {
        self.changed |= self.stands_in && !self.is_passed_on;
        self.is_passed_on = true;
    }

    /// Whether a register may hand on tickets from each iteration of a loop to the next.
    pub(crate) fn can_hand_on(&self, hand: Hand) -> bool {
        !self.refused.contains(&hand)
    }

    /// A register hands on what is this ticket after the first iteration; false if it cannot.
    pub(crate) fn hand_on(&mut self, value: SymbolId, hand: Hand) -> bool {
        if self.used.contains(&value) {
            return false;
        }
        self.handed.entry(value).or_default().insert(hand);
        true
    }

    /// A register turns out not to.
    pub(crate) fn refuse_to_hand_on(&mut self, hand: Hand) {
        self.changed |= self.refused.insert(hand);
    }

    /// A ticket is used as an index.
    pub(crate) fn use_up(&mut self, value: SymbolId) {
        self.used.insert(value);
        for hand in self.handed.remove(&value).into_iter().flatten() {
            self.refuse_to_hand_on(hand);
        }
    }

    /// An access of a queue begins so many bytes from the ticket's multiple on.
    pub(crate) fn reach(&mut self, index: CounterIndex, offset: i64, bytes: u32) {
        let extent = &mut self.indexed[index.0 as usize].bytes;
        *extent = (extent.0.min(offset), extent.1.max(offset.saturating_add(i64::from(bytes))));
    }

    /// Notes that a term is a ticket.
    pub(crate) fn hand_out(&mut self, symbol: SymbolId, count: Count) {
        self.values.insert(symbol, count);
    }
}
