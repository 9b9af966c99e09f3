//! The pass that explains: all accesses of the bytes found to race, and every racing pair among them.

use std::collections::{BTreeSet, HashMap};

use super::entry::{Entry, conflict};
use super::pairs::{Pairs, Side};
use crate::emulate::{Access, TermId, Terms, lanes};
use crate::order::Order;
use crate::ptx::Space;

/// Bytes to watch.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// Of shared memory.
    pub shared: BTreeSet<u64>,
    /// Of global memory.
    pub global: BTreeSet<u64>,
}

impl Watched {
    const fn of(&self, space: Space) -> &BTreeSet<u64> {
        match space {
            Space::Shared => &self.shared,
            _ => &self.global,
        }
    }
}

/// A byte as it was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stored {
    Known(u8),
    /// A byte of an open value: its term, what is added, the byte's place.
    Term(TermId, u64, u32),
    Unknown,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    entry: Entry,
    /// The access by its first lane.
    side: Side,
    stored: Stored,
}

impl Record {
    fn side(&self, lane: usize) -> Side {
        Side { lane: u8::try_from(lane).unwrap_or(0), ..self.side }
    }

    /// Whether both are one instruction's accesses of one location at one moment.
    fn is_alike(&self, other: &Self) -> bool {
        let (a, b) = (self.side, other.side);
        a.pc == b.pc && a.address == b.address && self.entry.is_alike(&other.entry)
    }

    /// Takes in an alike access: where their values differ, no write is provably the same as another.
    fn add(&mut self, other: &Self) {
        self.entry.lanes |= other.entry.lanes;
        if self.stored != other.stored {
            self.stored = Stored::Unknown;
        }
    }

    /// Whether both are writes that provably leave the same byte.
    fn is_benign(&self, other: &Self, terms: &Terms) -> bool {
        match (self.stored, other.stored) {
            (Stored::Known(a), Stored::Known(b)) => a == b,
            (Stored::Term(a, ..), Stored::Term(..)) => {
                self.stored == other.stored && terms.is_stable(a) && !terms.may_wrap(a)
            }
            _ => false,
        }
    }
}

/// All accesses of one cta to the watched bytes.
#[derive(Debug)]
pub struct History {
    watched: Watched,
    records: HashMap<(bool, u64), Vec<Record>>,
}

/// Records of a byte before those that nothing can race with any more are dropped.
const PRUNE_AT: usize = 64;

fn records_of(
    access: &Access<'_>,
    cta: u32,
    when: crate::order::Moment,
    watched: &BTreeSet<u64>,
) -> Vec<(u64, Record)> {
    let mut records = Vec::new();
    let uniform = access.addresses.as_uniform().filter(|_| !access.kind.writes);
    let groups: Vec<_> = match uniform {
        Some(_) => vec![(access.lanes.trailing_zeros() as usize, access.lanes)],
        None => lanes(access.lanes).map(|lane| (lane, 1 << lane)).collect(),
    };
    for (lane, mask) in groups {
        let address = access.addresses.lane(lane);
        for byte in watched.range(address..address.saturating_add(u64::from(access.bytes))) {
            let warp = u8::try_from(access.warp).unwrap_or(u8::MAX);
            let entry = Entry { lanes: mask, when, warp, kind: access.kind };
            let side = Side {
                pc: access.pc,
                kind: access.kind,
                cta,
                warp,
                lane: u8::try_from(lane).unwrap_or(0),
                address,
                bytes: access.bytes,
                maybe: access.maybe,
            };
            records.push((
                *byte,
                Record { entry, side, stored: stored(access, lane, byte - address) },
            ));
        }
    }
    records
}

/// The byte at `offset` of what a lane stores.
fn stored(access: &Access<'_>, lane: usize, offset: u64) -> Stored {
    if access.stored.is_empty() || !access.kind.writes || access.kind.is_atomic {
        return Stored::Unknown;
    }
    let element = u64::from(access.bytes) / access.stored.len() as u64;
    let part =
        usize::try_from(offset / element.max(1)).ok().and_then(|part| access.stored.get(part));
    let Some(value) = part else { return Stored::Unknown };
    let within = u32::try_from(offset % element.max(1)).unwrap_or(0);
    let bits = value.lane(lane);
    if let Some(term) = value.base(lane) {
        return Stored::Term(term, bits, within);
    }
    bits.to_le_bytes().get(within as usize).map_or(Stored::Unknown, |byte| Stored::Known(*byte))
}

impl History {
    /// Watches these bytes.
    pub fn new(watched: Watched) -> Self {
        Self { watched, records: HashMap::new() }
    }

    /// A warp accesses: adds each pair that this access races with.
    pub fn access(
        &mut self,
        access: &Access<'_>,
        cta: u32,
        order: &Order,
        terms: &Terms,
        pairs: &mut Pairs,
    ) {
        if !pairs.compare(0) {
            return;
        }
        let space = access.space;
        let when = order.now(access.warp);
        for (byte, new) in records_of(access, cta, when, self.watched.of(space)) {
            let records = self.records.entry((space == Space::Global, byte)).or_default();
            if !pairs.compare(records.len() + 1) {
                return;
            }
            let known = records.iter().position(|old| old.is_alike(&new));
            // The same access again, with nothing in between that the warp could have learnt from: nothing new.
            let is_repeated = |old: &Record| {
                old.entry.lanes & new.entry.lanes == new.entry.lanes && old.stored == new.stored
            };
            if known.is_some_and(|at| is_repeated(&records[at])) {
                continue;
            }
            for old in records.iter() {
                race(space, old, &new, order, terms, pairs);
            }
            match known.and_then(|at| records.get_mut(at)) {
                Some(old) => old.add(&new),
                None => records.push(new),
            }
            if records.len() >= PRUNE_AT && records.len().is_power_of_two() {
                records.retain(|old| {
                    !order.is_before_all(
                        usize::from(old.entry.warp),
                        old.entry.when,
                        old.entry.lanes,
                    )
                });
            }
        }
    }
}

/// Adds the pairs of threads of two accesses of one byte that nothing orders.
fn race(space: Space, old: &Record, new: &Record, order: &Order, terms: &Terms, pairs: &mut Pairs) {
    let Some(conflict) = conflict(old.entry.kind, new.entry.kind, true) else { return };
    let is_benign = old.is_benign(new, terms);
    let (before, after) = (usize::from(old.entry.warp), usize::from(new.entry.warp));
    let between = || {
        let is_unordered =
            |lane: &usize| !order.is_before(before, old.entry.when, 1 << lane, after);
        lanes(old.entry.lanes).filter(is_unordered).fold(0, |mask, lane| mask | 1 << lane)
    };
    let others = if before == after { None } else { Some(between()) };
    for lane in lanes(new.entry.lanes) {
        let unordered = others.unwrap_or_else(|| old.entry.unordered(lane, order));
        if unordered != 0 {
            pairs.add(space, &old.side, unordered, &new.side(lane), conflict, is_benign);
        }
    }
}

/// Records of a byte before the values of further ones are not told apart.
const MAX_VALUES: usize = 64;

/// Accesses of all ctas to the watched bytes of global memory: for each byte, instruction and value those of two ctas.
#[derive(Debug)]
pub struct CtaHistory {
    watched: BTreeSet<u64>,
    records: HashMap<u64, Vec<Record>>,
}

impl CtaHistory {
    /// Watches these bytes.
    pub fn new(watched: BTreeSet<u64>) -> Self {
        Self { watched, records: HashMap::new() }
    }

    /// A warp of a cta accesses: adds each pair that this access races with.
    pub fn access(&mut self, access: &Access<'_>, cta: u32, terms: &Terms, pairs: &mut Pairs) {
        if !pairs.compare(0) {
            return;
        }
        for (byte, mut new) in
            records_of(access, cta, crate::order::Moment::default(), &self.watched)
        {
            let records = self.records.entry(byte).or_default();
            if !pairs.compare(records.len() + 1) {
                return;
            }
            if records.len() >= MAX_VALUES {
                new.stored = Stored::Unknown;
            }
            for old in records.iter().filter(|old| old.side.cta != cta) {
                if let Some(conflict) = conflict(old.entry.kind, new.entry.kind, false) {
                    let (lane, is_benign) = (1 << old.side.lane, old.is_benign(&new, terms));
                    pairs.add(Space::Global, &old.side, lane, &new.side, conflict, is_benign);
                }
            }
            let alike = |old: &&Record| {
                old.side.pc == new.side.pc
                    && old.entry.kind == new.entry.kind
                    && old.stored == new.stored
            };
            let mut known = records.iter().filter(alike);
            let is_new = match (known.next(), known.next()) {
                (None, _) => true,
                (Some(first), None) => first.side.cta != cta,
                _ => false,
            };
            if is_new {
                records.push(new);
            }
        }
    }
}
