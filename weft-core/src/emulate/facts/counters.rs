//! Atomics that never return a value twice (NFM'14 §4, the repetition-free abstraction). A location that atomics only
//! ever increase, or only ever decrease, is a counter, and what these atomics return are *unique counter values*. Two
//! of them differ by at least the least step, so accesses indexed with different counter values are disjoint if all
//! accesses indexed with one fit the stride between two.
//!
//! Which locations are counters is found while ctas run: any other update spoils a location, and the pass is run again.
//! A plain store starts a new count: counter values from before and after it can be equal.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use foldhash::fast::RandomState;

use super::counter_update::CounterUpdate;
use super::draw_order::DrawOrder;
use super::period::{CounterLocation, CounterPeriod};
use crate::emulate::memory::region::MemoryRegion;
use crate::emulate::value::lane::{SymbolId, signed, truncate};
use crate::flow::{BlockId, Reg};

/// The unique counter values of one count, multiplied by one factor, as an index into one region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CounterIndex(pub(crate) u32);

/// What is known of the values that were drawn from counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// There are none, or counter values are not taken to be unique.
    Nothing,
    /// Those of one counter are different, unless the counter is spoiled.
    Distinct,
    /// They are those of one order of draws, which some schedule has.
    InOrder,
    /// They are those of one order of draws, which perhaps no schedule has.
    InDoubtfulOrder,
}

/// How atomics update a counter, in all passes: in another case, where ctas decide their own conditions otherwise,
/// atomics might update it differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UpdatePattern {
    bytes: u32,
    grows: bool,
}

/// What the running pass knows of a counter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counter {
    region: MemoryRegion,
    /// Number of plain stores to the counter so far.
    count: u32,
}

/// The accesses of one counter index.
#[derive(Clone, Debug)]
pub(crate) struct Indexed {
    pub(crate) count: CounterPeriod,
    pub(crate) multiple: Multiple,
    /// The first byte that is accessed and the one after the last, relative to the multiple of the counter value.
    pub(crate) bytes: (i64, i64),
}

/// A counter value times a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Multiple {
    pub(crate) factor: i64,
    /// How the counter value is extended: below the highest set bit, one bit for each extension, the innermost first,
    /// set if the extension is by the sign. Equal counter values that are extended in two ways can give one address or
    /// two, so they have different counter indices.
    pub(crate) extended: u32,
    /// The product does not wrap around as long as counter values differ by at most this.
    pub(crate) most: u64,
}

impl Multiple {
    /// A counter value times `factor`, in `bits` bits.
    pub(crate) fn new(factor: u64, bits: u32) -> Self {
        let factor = signed(factor, bits);
        let most = truncate(u64::MAX, bits) / factor.unsigned_abs().max(1);
        Self { factor, extended: 1, most }
    }

    /// The product extended by its sign or by zeros and multiplied again, in `bits` bits. `None` if the factor or the
    /// extensions do not fit.
    pub(crate) fn times(self, is_signed: bool, factor: u64, bits: u32) -> Option<Self> {
        let factor = self.factor.checked_mul(signed(factor, bits))?;
        let extended = self.extended.checked_mul(2)? | u32::from(is_signed);
        let most = self.most.min(Self::new(factor.cast_unsigned(), bits).most);
        Some(Self { factor, extended, most })
    }
}

/// The amounts that atomics add to a counter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CounterSteps {
    pub(crate) least: u64,
    pub(crate) all: u64,
}

/// All counters of a check.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) known: BTreeMap<CounterLocation, Counter>,
    pub(crate) patterns: BTreeMap<CounterLocation, UpdatePattern>,
    /// For each count: its least step, and the sum of all its steps in the running pass.
    pub(crate) steps: HashMap<CounterPeriod, CounterSteps, RandomState>,
    /// Locations that are updated as counters are not.
    pub(crate) spoiled: BTreeSet<CounterLocation>,
    pub(crate) spoiled_regions: BTreeSet<MemoryRegion>,
    /// The unique counter values, each with the count that it belongs to.
    pub(crate) values: HashMap<SymbolId, CounterPeriod, RandomState>,
    /// Whether a counter value was stored or given to another lane. Then no symbolic value can stand in for the counter
    /// values of later iterations of a loop.
    pub(crate) is_passed_on: bool,
    /// Whether some symbolic value stands in for later counter values of a loop.
    pub(crate) stands_in: bool,
    pub(crate) indices: HashMap<(MemoryRegion, CounterPeriod, Multiple), CounterIndex, RandomState>,
    pub(crate) indexed: Vec<Indexed>,
    /// Counter values that were used as an index.
    pub(crate) used: HashSet<SymbolId, RandomState>,
    /// For each counter value of a loop's first iteration: the registers that pass the counter value of each iteration
    /// on to the next.
    pub(crate) handed: HashMap<SymbolId, BTreeSet<LoopRegister>, RandomState>,
    /// Registers that turned out not to do that.
    pub(crate) refused: BTreeSet<LoopRegister>,
    /// The fixed order in which ctas draw, if one is chosen; then no value is taken to be unique.
    pub(crate) order: Option<DrawOrder>,
    pub(crate) changed: bool,
}

/// The header of a loop, and a register.
type LoopRegister = (BlockId, Reg);

/// How far before other bytes an access can begin that overlaps them: accesses have at most 16 bytes.
const WIDEST: u64 = 15;

impl Counters {
    /// Prepares for a new pass. Symbolic values that the pass before took for counter values are forgotten: their
    /// counters might be spoiled.
    pub(crate) fn begin(&mut self) {
        self.known.clear();
        self.values.clear();
        self.used.clear();
        self.handed.clear();
        self.steps.values_mut().for_each(|steps| steps.all = 0);
        self.order.iter_mut().for_each(DrawOrder::begin);
    }

    /// Prepares for the next cta.
    pub(crate) fn begin_cta(&mut self) {
        self.order.iter_mut().for_each(DrawOrder::begin_cta);
    }

    /// The fixed order in which ctas draw, if one is chosen.
    pub(crate) const fn order(&mut self) -> Option<&mut DrawOrder> {
        self.order.as_mut()
    }

    /// Whether nothing is known about counters.
    pub(crate) fn is_empty(&self) -> bool {
        let has_none = self.known.is_empty() && self.values.is_empty() && self.indexed.is_empty();
        let has_none = has_none && self.refused.is_empty();
        has_none && self.spoiled.is_empty() && self.spoiled_regions.is_empty() && !self.is_passed_on
    }

    /// Whether the pass that has ended spoiled no counter and refused nothing that it relied on.
    pub(crate) fn settle(&mut self) -> bool {
        self.order.iter_mut().for_each(DrawOrder::settle);
        !std::mem::take(&mut self.changed)
    }

    fn spoil(&mut self, at: CounterLocation) {
        self.changed |= self.spoiled.insert(at);
    }

    /// The counters of this or an earlier pass that overlap these bytes.
    fn overlapped(&self, at: CounterLocation, bytes: u32) -> Vec<CounterLocation> {
        let first = at.address;
        let from = CounterLocation { address: first.saturating_sub(WIDEST), ..at };
        let to = CounterLocation { address: first.saturating_add(u64::from(bytes)), ..at };
        let overlaps = |(known, way): &(&CounterLocation, &UpdatePattern)| {
            known.address.saturating_add(u64::from(way.bytes)) > first
        };
        self.patterns.range(from..to).filter(overlaps).map(|(known, _)| *known).collect()
    }

    /// Records an atomic at a known address. Returns the count that its result is a counter value of; `None` if it is
    /// no counter value.
    pub(crate) fn atomic(
        &mut self,
        at: CounterLocation,
        region: MemoryRegion,
        bytes: u32,
        change: CounterUpdate,
    ) -> Option<CounterPeriod> {
        let others = self.overlapped(at, bytes);
        let amount = match change {
            CounterUpdate::Adds(0) => return None,
            CounterUpdate::Adds(amount) => amount,
            // Values come again, which does not matter where it is known which ones.
            CounterUpdate::CountsUpTo(_) if self.order.is_some() => 1,
            CounterUpdate::CountsUpTo(_) | CounterUpdate::Other => {
                // The ctas can draw from it in turn, if not uniquely.
                if change.is_step() {
                    self.patterns.entry(at).or_insert(UpdatePattern { bytes, grows: true });
                }
                others.into_iter().chain([at]).for_each(|own| self.spoil(own));
                return None;
            }
        };
        let way = UpdatePattern { bytes, grows: amount > 0 };
        let known = *self.patterns.entry(at).or_insert(way);
        if known != way || others.iter().any(|other| *other != at) {
            others.into_iter().chain([at]).for_each(|spoiled| self.spoil(spoiled));
        }
        let counter = *self.known.entry(at).or_insert(Counter { region, count: 0 });
        let is_spoiled = self.spoiled.contains(&at)
            || [region, region.whole()].iter().any(|own| self.spoiled_regions.contains(own));
        if is_spoiled {
            return None;
        }
        let count = CounterPeriod { at, number: counter.count };
        let steps = self.steps.entry(count).or_insert(CounterSteps { least: u64::MAX, all: 0 });
        let amount = amount.unsigned_abs();
        *steps =
            CounterSteps { least: steps.least.min(amount), all: steps.all.saturating_add(amount) };
        Some(count)
    }

    /// Records a plain store at a known address. If it stands for the stores of all iterations of a loop
    /// (`is_repeated`), counter values of all counts that it starts are mixed, so it spoils the counters.
    pub(crate) fn store(&mut self, at: CounterLocation, bytes: u32, is_repeated: bool) {
        for hit in self.overlapped(at, bytes) {
            if is_repeated {
                self.spoil(hit);
            }
            self.known.entry(hit).and_modify(|counter| counter.count += 1);
        }
    }

    /// Records a store that might come anywhere among atomics of its location and size, also those that come later in the
    /// running pass.
    pub(crate) fn store_at_any_time(&mut self, at: CounterLocation, bytes: u32) {
        self.overlapped(at, bytes).into_iter().for_each(|hit| self.spoil(hit));
        self.spoiled.insert(at);
    }

    /// Records a write at an open address of a region. `spoils`: the write is an atomic, might come anywhere among atomics, or
    /// stands for the writes of all iterations of a loop.
    pub(crate) fn write_somewhere(&mut self, region: MemoryRegion, spoils: bool) {
        if spoils {
            self.changed |= self.spoiled_regions.insert(region);
        }
        let may_be_hit = |(at, counter): &(&CounterLocation, &mut Counter)| {
            at.is_global == region.is_global && region.may_overlap(counter.region)
        };
        self.known.iter_mut().filter(may_be_hit).for_each(|(_, counter)| counter.count += 1);
    }

    /// The count of a symbolic value that is a counter value.
    pub(crate) fn count_of(&self, symbol: SymbolId) -> Option<CounterPeriod> {
        self.values.get(&symbol).copied()
    }

    /// The current count of a counter; `None` if it is spoiled or no counter.
    pub(crate) fn count(&self, at: CounterLocation) -> Option<CounterPeriod> {
        let counter = self.known.get(&at)?;
        let is_spoiled = self.spoiled.contains(&at)
            || [counter.region, counter.region.whole()]
                .iter()
                .any(|region| self.spoiled_regions.contains(region));
        (!is_spoiled).then_some(CounterPeriod { at, number: counter.count })
    }

    /// Records that a symbolic value stands in for counter values that one lane draws. Returns false if it cannot.
    pub(crate) fn stand_in(&mut self, symbol: SymbolId, count: CounterPeriod) -> bool {
        self.stands_in = true;
        if !self.is_passed_on {
            self.values.insert(symbol, count);
        }
        !self.is_passed_on
    }

    /// Records that a counter value leaves its lane.
    pub(crate) fn pass_on(&mut self) {
        self.changed |= self.stands_in && !self.is_passed_on;
        self.is_passed_on = true;
    }

    /// Whether a register can pass counter values on from each iteration of a loop to the next.
    pub(crate) fn can_hand_on(&self, hand: LoopRegister) -> bool {
        !self.refused.contains(&hand)
    }

    /// Records that a register passes this counter value of the first iteration on. Returns false if it cannot.
    pub(crate) fn hand_on(&mut self, value: SymbolId, hand: LoopRegister) -> bool {
        if self.used.contains(&value) {
            return false;
        }
        self.handed.entry(value).or_default().insert(hand);
        true
    }

    /// Records that a register does not pass counter values on.
    pub(crate) fn refuse_to_hand_on(&mut self, hand: LoopRegister) {
        self.changed |= self.refused.insert(hand);
    }

    /// Records that a counter value is used as an index.
    pub(crate) fn note_index_use(&mut self, value: SymbolId) {
        self.used.insert(value);
        for hand in self.handed.remove(&value).into_iter().flatten() {
            self.refuse_to_hand_on(hand);
        }
    }

    /// Extends the bytes that are accessed with a counter index by `bytes` bytes at `offset` from the multiple of the
    /// counter value.
    pub(crate) fn reach(&mut self, index: CounterIndex, offset: i64, bytes: u32) {
        let extent = &mut self.indexed[index.0 as usize].bytes;
        *extent = (extent.0.min(offset), extent.1.max(offset.saturating_add(i64::from(bytes))));
    }

    /// Records that a symbolic value is a counter value.
    pub(crate) fn add_counter_value(&mut self, symbol: SymbolId, count: CounterPeriod) {
        self.values.insert(symbol, count);
    }
}
