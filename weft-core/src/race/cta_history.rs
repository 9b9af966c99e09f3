//! The explaining pass between ctas: for each watched byte of global memory which instructions access it, and every
//! racing pair of instructions. No barrier orders ctas, but signals might.

use std::collections::{BTreeSet, HashMap};

use foldhash::fast::RandomState;

use super::ctas::{Tag, are_ordered};
use super::entry::{Conflict, conflict};
use super::hand_over::HandOvers;
use super::pairs::{Met, Pairs, RacingAccess, Threads};
use super::stored::StoredByte;
use crate::emulate::memory::bytes::PAGE;
use crate::emulate::{
    Access, AccessKind, LaneMask, Nearness, Symbolics, Value, WARP, WarpId, lanes,
};
use crate::flow::Pc;
use crate::order::SignalTag;
use crate::ptx::Space;

/// An access of a byte by one lane.
#[derive(Clone, Debug)]
struct CtaRecord {
    side: RacingAccess,
    stored: StoredByte,
    /// The number of its moment, while the cta runs.
    moment: usize,
    tag: Tag,
}

impl CtaRecord {
    fn tagged(&self) -> (AccessKind, &Tag) {
        (self.side.kind, &self.tag)
    }

    /// Whether signals might order two accesses of different ctas.
    fn might_be_ordered(&self, other: &Self) -> bool {
        let might = |(one, other): (&SignalTag, &SignalTag)| one.might_be_ordered(other);
        self.tag.as_deref().zip(other.tag.as_deref()).is_some_and(might)
    }

    /// Whether both accesses do the same to the byte, in one cta or in two.
    fn is_alike(&self, other: &Self, symbolics: &Symbolics) -> bool {
        let (a, b) = (self.side, other.side);
        let is_same =
            || self.stored == other.stored || self.stored.is_same(&other.stored, symbolics);
        (a.pc, a.kind, &self.tag) == (b.pc, b.kind, &other.tag) && is_same()
    }
}

/// What might order accesses of different ctas.
#[derive(Clone, Debug)]
pub enum PerhapsOrdered {
    /// Nothing.
    Never,
    /// Signals.
    BySignals,
    /// Release and acquire patterns that are not followed.
    ByPatterns(HandOvers),
}

impl PerhapsOrdered {
    fn order(&self, one: &CtaRecord, other: &CtaRecord, conflict: Conflict) -> bool {
        match self {
            Self::Never => false,
            // Strong accesses might be meant to be in no order.
            Self::BySignals => conflict == Conflict::Strong || one.might_be_ordered(other),
            Self::ByPatterns(patterns) => patterns.might_order(one.side.pc, other.side.pc),
        }
    }
}

/// Number of records of a byte from which on the values of further stores are not distinguished.
const MAX_VALUES: usize = 64;

/// Accesses of all ctas to the watched bytes of global memory: for each byte, instruction and stored value, those of at
/// most two ctas.
#[derive(Debug)]
pub struct LaunchHistory {
    watched: BTreeSet<u64>,
    records: HashMap<u64, Vec<CtaRecord>, RandomState>,
    /// For each instruction and warp, its last access. Ctas run one after another, so an access that equals the last
    /// one adds nothing.
    latest: HashMap<(Pc, WarpId), CtaAccess, RandomState>,
    perhaps: PerhapsOrdered,
    /// The records of the running cta, with their bytes, if ctas signal to each other.
    waiting: Vec<(u64, CtaRecord)>,
    /// Number of records of all bytes, and the limit.
    kept: u64,
    most: u64,
}

/// An access, without its instruction and warp.
#[derive(Debug, PartialEq, Eq)]
struct CtaAccess {
    cta: u32,
    moment: Option<usize>,
    lanes: LaneMask,
    kind: AccessKind,
    addresses: Value,
    stored: Vec<Value>,
}

impl CtaAccess {
    fn new(access: &Access<'_>, cta: u32, moment: Option<usize>) -> Self {
        let &Access { lanes, kind, addresses, stored, .. } = access;
        Self { cta, moment, lanes, kind, addresses: addresses.clone(), stored: stored.to_vec() }
    }
}

impl LaunchHistory {
    /// A history that watches these bytes and can take `memory` bytes.
    pub fn within(memory: u64, watched: BTreeSet<u64>, perhaps: PerhapsOrdered) -> Self {
        let most = memory / (2 * size_of::<CtaRecord>() as u64);
        let (records, latest) = (HashMap::default(), HashMap::default());
        Self { watched, records, latest, perhaps, waiting: Vec::new(), kept: 0, most }
    }

    /// Records an access by a warp of a cta, and adds each pair of instructions that races because of it. `moment`: the number
    /// of its moment if ctas signal to each other; then [`Self::end_cta`] adds the pairs.
    pub fn access(
        &mut self,
        access: &Access<'_>,
        (cta, moment): (u32, Option<usize>),
        symbolics: &Symbolics,
        pairs: &mut Pairs,
    ) {
        if self.watched.is_empty() || !pairs.compare(0) {
            return;
        }
        let (key, last) = ((access.pc, access.warp), CtaAccess::new(access, cta, moment));
        if self.latest.get(&key) == Some(&last) {
            return;
        }
        self.latest.insert(key, last);
        if self.kept >= self.most {
            pairs.cut();
            return;
        }
        let records = self.records_of(access, cta);
        let Some(moment) = moment else {
            return self.add(records, symbolics, pairs);
        };
        self.kept += records.len() as u64;
        self.waiting
            .extend(records.into_iter().map(|(byte, new)| (byte, CtaRecord { moment, ..new })));
    }

    /// Ends a cta, of whose moments it is known what orders them with accesses of other ctas.
    pub fn end_cta(&mut self, tags: &[Tag], symbolics: &Symbolics, pairs: &mut Pairs) {
        let mut waiting = std::mem::take(&mut self.waiting);
        self.kept = self.kept.saturating_sub(waiting.len() as u64);
        for (_, record) in &mut waiting {
            record.tag = tags.get(record.moment).cloned().flatten();
        }
        self.add(waiting, symbolics, pairs);
    }

    /// Adds records of bytes, and each pair of instructions that races because of them.
    fn add(&mut self, new: Vec<(u64, CtaRecord)>, symbolics: &Symbolics, pairs: &mut Pairs) {
        for (byte, mut new) in new {
            let cta = new.side.cta;
            let (page, bytes) = (byte / PAGE, 1 << (byte % PAGE));
            let met = Met { space: Space::Global, page, bytes };
            let records = self.records.entry(byte).or_default();
            if !pairs.compare(records.len() + 1) {
                return;
            }
            if records.len() >= MAX_VALUES {
                new.stored = StoredByte::Unknown;
            }
            let mut known = records.iter().filter(|old| old.is_alike(&new, symbolics));
            let is_known = match (known.next(), known.next()) {
                (None, _) => false,
                (Some(first), None) => first.side.cta == cta,
                _ => true,
            };
            // What races with a third cta that does the same races with one of the first two.
            if is_known {
                continue;
            }
            let others = records.iter().filter(|old| old.side.cta != cta);
            for old in others.filter(|old| !are_ordered(old.tagged(), new.tagged())) {
                if let Some(conflict) = conflict(old.side.kind, new.side.kind, Nearness::Grid) {
                    let is_possible = conflict.is_race() && self.perhaps.order(old, &new, conflict);
                    let conflict = if is_possible { Conflict::Possible } else { conflict };
                    let threads = Threads::one(old.side.lane, new.side.lane);
                    let is_benign = || old.stored.is_same(&new.stored, symbolics);
                    pairs.add(met, &old.side, &new.side, &threads, conflict, is_benign);
                }
            }
            records.push(new);
            self.kept += 1;
        }
    }

    /// What each lane of an access does to each watched byte; lanes that do the same to the same address count once.
    fn records_of(&self, access: &Access<'_>, cta: u32) -> Vec<(u64, CtaRecord)> {
        let is_store = access.kind.writes && !access.kind.is_atomic();
        let elements = if is_store { access.stored } else { &[] };
        let watched =
            |first: u64| self.watched.range(first..first.saturating_add(u64::from(access.bytes)));
        let is_full =
            |byte: &u64| self.records.get(byte).is_some_and(|records| records.len() >= MAX_VALUES);
        let address = access.addresses.as_uniform();
        let do_the_same =
            address.is_some_and(|address| !access.kind.writes || watched(address).all(is_full));
        let mut records = Vec::new();
        for lane in lanes(access.lanes).take(if do_the_same { 1 } else { WARP }) {
            let side = RacingAccess::new(access, cta, lane);
            for byte in watched(side.address) {
                let stored = StoredByte::new(elements, access.bytes, lane, byte - side.address);
                records.push((*byte, CtaRecord { side, stored, moment: 0, tag: None }));
            }
        }
        records
    }
}
