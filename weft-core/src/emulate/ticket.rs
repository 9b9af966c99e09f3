//! Atomics that never return a value twice (NFM'14 §4, the repetition-free abstraction): a location that is only ever
//! increased, or only ever decreased, by atomics hands out *tickets*. Two tickets of one counter differ by at least the
//! least step, so accesses that index with different tickets are apart if all that is indexed with one ticket fits the
//! stride between them.
//!
//! Which locations are counters is found while the cta runs: what else happens to a location spoils it, and the pass is
//! run again. A plain store starts a new count: tickets from before and after it may be equal.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use foldhash::fast::RandomState;

use super::anchor::Place;
use super::draw_order::DrawOrder;
use super::facts::Facts;
use super::term::{Lane, TermId};
use super::value::{signed, truncate};
use crate::flow::{BlockId, Reg};

/// Where a counter lies: global or not, the cta whose shared memory holds it, first byte.
pub(super) type At = (bool, u32, u64);

/// Tickets of one count of one counter, multiplied by one factor, added to addresses of one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Queue(u32);

/// What is known of the values that were drawn from counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// There are none, or counters are not told apart.
    Nothing,
    /// They differ.
    Apart,
    /// They are those of one order, in which some schedule draws them.
    InTurn,
    /// They are those of an order that might be the order of no schedule.
    InNoOrder,
}

/// What an atomic does to its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Adds a known number.
    Adds(i64),
    /// Anything else.
    Other,
}

impl Change {
    /// Whether the location holds another value afterwards, a known step away.
    pub(super) fn is_step(self) -> bool {
        matches!(self, Self::Adds(amount) if amount != 0)
    }
}

/// How atomics change a counter, in all passes: ctas that go other ways, at conditions of their own, might change it
/// otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    bytes: u32,
    grows: bool,
}

#[derive(Clone, Copy, Debug)]
struct Counter {
    place: Place,
    /// Plain stores to it so far.
    count: u32,
}

/// A count of a counter.
pub(super) type Count = (At, u32);

#[derive(Clone, Debug)]
struct Indexed {
    count: Count,
    multiple: Multiple,
    /// First and last byte, from the ticket's multiple on.
    bytes: (i64, i64),
}

/// A ticket times a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Multiple {
    factor: i64,
    /// How the ticket is extended: behind the highest set bit, one bit for each extension, from the innermost on: whether
    /// it is by the sign. Equal tickets that are extended in two ways lead to one address or to two, so that no queue
    /// holds both.
    extended: u32,
    /// It does not wrap around while tickets differ by no more than this.
    most: u64,
}

impl Multiple {
    /// Of a ticket, in so many bits.
    fn new(factor: u64, bits: u32) -> Self {
        let factor = signed(factor, bits);
        let most = truncate(u64::MAX, bits) / factor.unsigned_abs().max(1);
        Self { factor, extended: 1, most }
    }

    /// Extended by its sign or by zeros, and multiplied again, in so many bits.
    fn times(self, is_signed: bool, factor: u64, bits: u32) -> Option<Self> {
        let factor = self.factor.checked_mul(signed(factor, bits))?;
        let extended = self.extended.checked_mul(2)? | u32::from(is_signed);
        let most = self.most.min(Self::new(factor.cast_unsigned(), bits).most);
        Some(Self { factor, extended, most })
    }
}

#[derive(Clone, Copy, Debug)]
struct Steps {
    least: u64,
    all: u64,
}

/// All counters of a check.
#[derive(Debug, Default)]
pub(super) struct Tickets {
    counters: BTreeMap<At, Counter>,
    ways: BTreeMap<At, Way>,
    /// The least step of a count, and all of a pass together.
    steps: HashMap<Count, Steps, RandomState>,
    spoiled: BTreeSet<At>,
    spoiled_places: BTreeSet<Place>,
    of: HashMap<TermId, Count, RandomState>,
    /// Whether a ticket was stored or given to another lane: then nobody may stand in for the next ones of a loop.
    is_passed_on: bool,
    stands_in: bool,
    queues: HashMap<(Place, Count, Multiple), Queue, RandomState>,
    indexed: Vec<Indexed>,
    /// Tickets that were used as an index.
    used: HashSet<TermId, RandomState>,
    /// Tickets of the first iteration of a loop, by the registers that hand on those of each to the next.
    handed: HashMap<TermId, BTreeSet<Hand>, RandomState>,
    /// Registers that do not.
    refused: BTreeSet<Hand>,
    /// The order that ctas draw in, if one is chosen: then nothing is a ticket.
    order: Option<DrawOrder>,
    changed: bool,
}

/// The header of a loop, and a register.
type Hand = (BlockId, Reg);

/// The bytes that an access of 16 bytes or less may begin before those that it overlaps.
const WIDEST: u64 = 15;

impl Tickets {
    /// A pass begins. What the pass before took for a ticket is none if it spoiled the counter.
    pub(super) fn begin(&mut self) {
        self.counters.clear();
        self.of.clear();
        self.used.clear();
        self.handed.clear();
        self.steps.values_mut().for_each(|steps| steps.all = 0);
        self.order.iter_mut().for_each(DrawOrder::begin);
    }

    /// A cta begins.
    pub(super) fn begin_cta(&mut self) {
        self.order.iter_mut().for_each(DrawOrder::begin_cta);
    }

    /// The order that ctas draw in, if one is chosen.
    pub(super) const fn order(&mut self) -> Option<&mut DrawOrder> {
        self.order.as_mut()
    }

    /// Whether nothing was counted.
    pub(super) fn is_empty(&self) -> bool {
        let has_none = self.counters.is_empty() && self.of.is_empty() && self.indexed.is_empty();
        let has_none = has_none && self.refused.is_empty();
        has_none && self.spoiled.is_empty() && self.spoiled_places.is_empty() && !self.is_passed_on
    }

    /// Whether the pass that has ended spoiled a counter.
    pub(super) fn settle(&mut self) -> bool {
        self.order.iter_mut().for_each(DrawOrder::settle);
        !std::mem::take(&mut self.changed)
    }

    fn spoil(&mut self, at: At) {
        self.changed |= self.spoiled.insert(at);
    }

    /// Counters of this or of an earlier pass that overlap some bytes.
    fn overlapped(&self, at: At, bytes: u32) -> Vec<At> {
        let (is_global, cta, first) = at;
        let from = (is_global, cta, first.saturating_sub(WIDEST));
        let to = (is_global, cta, first.saturating_add(u64::from(bytes)));
        let overlaps =
            |(own, way): &(&At, &Way)| own.2.saturating_add(u64::from(way.bytes)) > first;
        self.ways.range(from..to).filter(overlaps).map(|(own, _)| *own).collect()
    }

    /// An atomic at a known address. What it returns is a ticket of this count, if it is one.
    pub(super) fn atomic(
        &mut self,
        at: At,
        place: Place,
        bytes: u32,
        change: Change,
    ) -> Option<Count> {
        let others = self.overlapped(at, bytes);
        let Change::Adds(amount) = change else {
            others.into_iter().chain([at]).for_each(|own| self.spoil(own));
            return None;
        };
        if amount == 0 {
            return None;
        }
        let way = Way { bytes, grows: amount > 0 };
        let known = *self.ways.entry(at).or_insert(way);
        if known != way || others.iter().any(|other| *other != at) {
            others.into_iter().chain([at]).for_each(|own| self.spoil(own));
        }
        let counter = *self.counters.entry(at).or_insert(Counter { place, count: 0 });
        let is_spoiled = self.spoiled.contains(&at)
            || [place, (at.0, None)].iter().any(|own| self.spoiled_places.contains(own));
        if is_spoiled {
            return None;
        }
        let count = (at, counter.count);
        let steps = self.steps.entry(count).or_insert(Steps { least: u64::MAX, all: 0 });
        let amount = amount.unsigned_abs();
        *steps = Steps { least: steps.least.min(amount), all: steps.all.saturating_add(amount) };
        Some(count)
    }

    /// A plain store at a known address. Where one stands for the stores of all iterations of a loop, tickets of all counts
    /// that it starts are mixed.
    pub(super) fn store(&mut self, at: At, bytes: u32, is_repeated: bool) {
        for own in self.overlapped(at, bytes) {
            if is_repeated {
                self.spoil(own);
            }
            self.counters.entry(own).and_modify(|counter| counter.count += 1);
        }
    }

    /// A write at an open address of a place; `None`: anywhere. `spoils`: by an atomic, or again and again.
    pub(super) fn write_somewhere(&mut self, place: Place, spoils: bool) {
        if spoils {
            self.changed |= self.spoiled_places.insert(place);
        }
        let may_be_hit = |(at, counter): &(&At, &mut Counter)| {
            let is_apart = matches!((place.1, counter.place.1), (Some(a), Some(b)) if a != b);
            at.0 == place.0 && !is_apart
        };
        self.counters.iter_mut().filter(may_be_hit).for_each(|(_, counter)| counter.count += 1);
    }

    /// The ticket that a term is.
    pub(super) fn of(&self, term: TermId) -> Option<Count> {
        self.of.get(&term).copied()
    }

    /// The count of a counter by now.
    pub(super) fn count(&self, at: At) -> Option<Count> {
        let counter = self.counters.get(&at)?;
        let is_spoiled = self.spoiled.contains(&at)
            || [counter.place, (at.0, None)].iter().any(|own| self.spoiled_places.contains(own));
        (!is_spoiled).then_some((at, counter.count))
    }

    /// Notes that a term stands in for tickets that one lane fetches; false if it cannot.
    pub(super) fn stand_in(&mut self, term: TermId, count: Count) -> bool {
        self.stands_in = true;
        if !self.is_passed_on {
            self.of.insert(term, count);
        }
        !self.is_passed_on
    }

    /// A lane's ticket leaves it.
    pub(super) fn pass_on(&mut self) {
        self.changed |= self.stands_in && !self.is_passed_on;
        self.is_passed_on = true;
    }

    /// Whether a register may hand on tickets from each iteration of a loop to the next.
    pub(super) fn can_hand_on(&self, hand: Hand) -> bool {
        !self.refused.contains(&hand)
    }

    /// A register hands on what is this ticket after the first iteration; false if it cannot.
    pub(super) fn hand_on(&mut self, ticket: TermId, hand: Hand) -> bool {
        if self.used.contains(&ticket) {
            return false;
        }
        self.handed.entry(ticket).or_default().insert(hand);
        true
    }

    /// A register turns out not to.
    pub(super) fn refuse_to_hand_on(&mut self, hand: Hand) {
        self.changed |= self.refused.insert(hand);
    }

    /// A ticket is used as an index.
    fn use_up(&mut self, ticket: TermId) {
        self.used.insert(ticket);
        for hand in self.handed.remove(&ticket).into_iter().flatten() {
            self.refuse_to_hand_on(hand);
        }
    }

    /// An access of a queue begins so many bytes from the ticket's multiple on.
    pub(super) fn reach(&mut self, queue: Queue, offset: i64, bytes: u32) {
        let own = &mut self.indexed[queue.0 as usize].bytes;
        *own = (own.0.min(offset), own.1.max(offset.saturating_add(i64::from(bytes))));
    }

    /// Notes that a term is a ticket.
    pub(super) fn hand_out(&mut self, term: TermId, count: Count) {
        self.of.insert(term, count);
    }
}

impl Facts {
    /// Lets so many ctas draw from counters in one order, instead of telling apart what they draw.
    pub(crate) fn draw_in_turn(&mut self, ctas: u64) {
        self.tickets.order = Some(DrawOrder::new(ctas));
    }

    /// What is known of what was drawn from counters.
    pub(crate) fn drawn(&self) -> Drawn {
        match &self.tickets.order {
            _ if self.tickets.ways.is_empty() => Drawn::Nothing,
            None => Drawn::Apart,
            // Whoever waits might have to draw later, and ctas that choose for themselves might draw otherwise.
            Some(own) if own.is_kept() && !self.assumed.waits_end && self.splits.is_empty() => {
                Drawn::InTurn
            }
            Some(_) => Drawn::InNoOrder,
        }
    }

    /// The queue of an access that is indexed with one ticket and nothing else open.
    pub(super) fn queue(&mut self, place: Place, term: TermId) -> Option<Queue> {
        let (ticket, count, multiple) = self.ticket(term)?;
        self.tickets.use_up(ticket);
        let next = Queue(u32::try_from(self.tickets.indexed.len()).ok()?);
        let key = (place, count, multiple);
        let queue = *self.tickets.queues.entry(key).or_insert(next);
        if queue == next {
            let bytes = (i64::MAX, i64::MIN);
            self.tickets.indexed.push(Indexed { count, multiple, bytes });
        }
        Some(queue)
    }

    /// Whether tickets are in a lane.
    pub(super) fn has_ticket(&self, lane: Lane) -> bool {
        let Some(term) = lane.term.filter(|_| !self.tickets.of.is_empty()) else { return false };
        self.symbolics.atoms(term).iter().any(|&(atom, _)| {
            self.tickets.of.contains_key(&atom)
                || self
                    .symbolics
                    .inner(atom)
                    .is_some_and(|inner| self.has_ticket(Lane::open(inner)))
        })
    }

    /// The one ticket that a term is a multiple of.
    fn ticket(&self, term: TermId) -> Option<(TermId, Count, Multiple)> {
        let &[(atom, factor)] = self.symbolics.atoms(term) else { return None };
        if self.tickets.of.is_empty() {
            return None;
        }
        let bits = self.symbolics.bits(term);
        // Cut to fewer bits than the counter has, it comes back.
        if self.symbolics.drifts(term) || bits < self.symbolics.bits(atom) {
            return None;
        }
        if let Some(&count) = self.tickets.of.get(&atom) {
            return Some((atom, count, Multiple::new(factor, bits)));
        }
        let (inner, is_signed) = self.symbolics.extended_from(atom)?;
        let (ticket, count, inner) = self.ticket(inner)?;
        Some((ticket, count, inner.times(is_signed, factor, bits)?))
    }

    /// The queues in which all that is indexed with one ticket fits the stride between two.
    pub(crate) fn apart(&self) -> BTreeSet<Queue> {
        let is_apart = |own: &Indexed| {
            let Some(steps) = self.tickets.steps.get(&own.count) else { return false };
            let stride = u128::from(own.multiple.factor.unsigned_abs()) * u128::from(steps.least);
            let extent = i128::from(own.bytes.1) - i128::from(own.bytes.0);
            let fits = u128::try_from(extent).is_ok_and(|extent| extent <= stride);
            fits && steps.all.saturating_sub(steps.least) <= own.multiple.most
        };
        let numbered = self.tickets.indexed.iter().zip(0..);
        numbered.filter(|(own, _)| is_apart(own)).map(|(_, at)| Queue(at)).collect()
    }
}
