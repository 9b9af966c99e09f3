//! The explaining pass between ctas: for each watched byte of global memory which instructions access it, and every
//! racing pair of instructions. No barrier orders ctas.

use std::collections::{BTreeSet, HashMap};

use foldhash::fast::RandomState;

use super::entry::conflict;
use super::pairs::{Met, Pairs, RacingAccess, Threads};
use super::stored::StoredByte;
use crate::emulate::memory::bytes::PAGE;
use crate::emulate::{
    Access, AccessKind, LaneMask, Nearness, Symbolics, Value, WARP, WarpId, lanes,
};
use crate::flow::Pc;
use crate::ptx::Space;

/// An access of a byte by one lane.
#[derive(Clone, Copy, Debug)]
struct CtaRecord {
    side: RacingAccess,
    stored: StoredByte,
}

impl CtaRecord {
    /// Whether both accesses do the same to the byte, in one cta or in two.
    fn is_alike(&self, other: &Self, symbolics: &Symbolics) -> bool {
        let (a, b) = (self.side, other.side);
        let is_same =
            || self.stored == other.stored || self.stored.is_same(&other.stored, symbolics);
        (a.pc, a.kind) == (b.pc, b.kind) && is_same()
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
    /// Number of records of all bytes, and the limit.
    kept: u64,
    most: u64,
}

/// An access, without its instruction and warp.
#[derive(Debug, PartialEq, Eq)]
struct CtaAccess {
    cta: u32,
    lanes: LaneMask,
    kind: AccessKind,
    addresses: Value,
    stored: Vec<Value>,
}

impl CtaAccess {
    fn new(access: &Access<'_>, cta: u32) -> Self {
        let &Access { lanes, kind, addresses, stored, .. } = access;
        Self { cta, lanes, kind, addresses: addresses.clone(), stored: stored.to_vec() }
    }
}

impl LaunchHistory {
    /// A history that watches these bytes and can take `memory` bytes.
    pub fn within(memory: u64, watched: BTreeSet<u64>) -> Self {
        let most = memory / (2 * size_of::<CtaRecord>() as u64);
        let (records, latest) = (HashMap::default(), HashMap::default());
        Self { watched, records, latest, kept: 0, most }
    }

    /// Records an access by a warp of a cta, and adds each pair of instructions that races because of it.
    pub fn access(
        &mut self,
        access: &Access<'_>,
        cta: u32,
        symbolics: &Symbolics,
        pairs: &mut Pairs,
    ) {
        if self.watched.is_empty() || !pairs.compare(0) {
            return;
        }
        let (key, last) = ((access.pc, access.warp), CtaAccess::new(access, cta));
        if self.latest.get(&key) == Some(&last) {
            return;
        }
        self.latest.insert(key, last);
        if self.kept >= self.most {
            pairs.cut();
            return;
        }
        for (byte, mut new) in self.records_of(access, cta) {
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
            for old in records.iter().filter(|old| old.side.cta != cta) {
                if let Some(conflict) = conflict(old.side.kind, new.side.kind, Nearness::Grid) {
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
                records.push((*byte, CtaRecord { side, stored }));
            }
        }
        records
    }
}
