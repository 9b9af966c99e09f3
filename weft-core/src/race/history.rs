//! The explaining pass within one cta: all accesses of the bytes found to race, and every racing pair of instructions.

use std::collections::{BTreeSet, HashMap};

use foldhash::fast::RandomState;

use super::copies::CopyMeeting;
use super::entry::{Conflict, conflict};
use super::pages::Pages;
use super::pairs::{Met, Pairs, RacingAccess, Threads};
use super::rows::{KnownRows, LaneBytes, Row, rows};
use super::stored::{StoredByte, are_same};
use crate::emulate::memory::bytes::{Bytes, PAGE, places};
use crate::emulate::{Access, LaneMask, Symbolics, Value, WarpId};
use crate::flow::Pc;
use crate::order::{Epoch, Order};
use crate::ptx::Space;

/// The bytes to watch.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// Bytes of shared memory.
    pub shared: BTreeSet<u64>,
    /// Bytes of global memory.
    pub global: BTreeSet<u64>,
}

/// An access of watched bytes of a page by lanes of a warp.
#[derive(Clone, Debug)]
struct AccessRecord {
    row: Row,
    when: Epoch,
    /// The warp that accesses, or the agent of a bulk copy.
    warp: WarpId,
    /// Whether it is part of a bulk copy.
    is_bulk: bool,
    /// The access by its first lane.
    side: RacingAccess,
    addresses: Value,
    stored: Vec<Value>,
}

/// The watched bytes of a page and their accesses.
#[derive(Clone, Debug, Default)]
struct HistoryPage {
    watched: Bytes,
    records: Vec<AccessRecord>,
    /// For each instruction and warp: the time of its last access, and the records of that time. Only these can be
    /// alike to a later access.
    latest: LastAccesses,
}

/// For each page, and instructions and warps of two accesses of which all lanes raced there: their rows the last time.
type Raced = HashMap<RacedKey, [Row; 2], RandomState>;

type RacedKey = (Space, u64, [(Pc, WarpId); 2]);

/// Most entries of `Raced`.
const MAX_RACED: usize = 1 << 15;

type LastAccesses = HashMap<(Pc, WarpId), (Epoch, Vec<usize>), RandomState>;

/// All accesses of one cta to the watched bytes.
#[derive(Debug)]
pub struct CtaHistory {
    shared: Pages<HistoryPage>,
    global: Pages<HistoryPage>,
    raced: Raced,
    /// Likewise, where the first access is a copy in flight.
    met: Raced,
    known: KnownRows,
}

/// Number of records of a page from which on those that nothing can race with any more are dropped.
const PRUNE_AT: usize = 64;

/// Most comparisons of single bytes that comparing two rows counts for.
const ROW_COST: u32 = 8;

impl CtaHistory {
    /// A history that watches these bytes; the accesses of each state space can take `memory` bytes.
    pub fn within(memory: u64, watched: &Watched) -> Self {
        let pages = |bytes: &BTreeSet<u64>| {
            let mut pages = Pages::<HistoryPage>::within(memory);
            for byte in bytes {
                if let Some(page) = pages.page(byte / PAGE) {
                    page.watched |= 1 << (byte % PAGE);
                }
            }
            pages
        };
        let (shared, global) = (pages(&watched.shared), pages(&watched.global));
        let (raced, met) = (Raced::default(), Raced::default());
        Self { shared, global, raced, met, known: KnownRows::default() }
    }

    /// Adds the pairs of threads of an access that meets a copy in flight on watched bytes.
    pub fn meet(&mut self, space: Space, meeting: &CopyMeeting<'_>, cta: u32, pairs: &mut Pairs) {
        let pages = if space == Space::Shared { &mut self.shared } else { &mut self.global };
        let watched = pages.known(meeting.page).map_or(0, |page| page.watched);
        if watched & meeting.bytes == 0 || !pairs.compare(1) {
            return;
        }
        let sides = meeting.sides();
        let [(a, _), (b, _)] = sides;
        if !pairs.takes(space, a, b) {
            return pairs.cut();
        }
        let is_known = note_rows(&mut self.met, (space, meeting.page, sides), meeting.rows);
        let is_settled = is_known && pairs.is_settled(space, a, b, meeting.conflict);
        if !is_settled && pairs.compare(ROW_COST as usize) {
            meeting.race(cta, watched, pairs);
        }
    }

    /// Records an access of a warp, and adds each pair of instructions that races because of it.
    pub fn access(
        &mut self,
        access: &Access<'_>,
        cta: u32,
        order: &Order,
        symbolics: &Symbolics,
        pairs: &mut Pairs,
    ) {
        let space = access.space;
        let Self { shared, global, raced, known, .. } = self;
        let pages = if space == Space::Shared { shared } else { global };
        if pages.is_empty() || !pairs.compare(0) {
            return;
        }
        if pages.is_over() || pages.is_full {
            pairs.cut();
            return;
        }
        rows(access, known, |number, mut row| {
            let Some(page) = pages.known(number) else { return };
            row.restrict(page.watched);
            if row.bytes == 0 {
                return;
            }
            let new = AccessRecord::new(access, cta, row, order);
            let alike = page.alike(&new);
            // A loop without barriers repeats its accesses: a repeated access is not compared with all others again.
            if !pairs.compare(alike.len() + 1)
                || alike.iter().any(|at| page.records[*at].says(&new))
            {
                return;
            }
            let cost = ROW_COST.min(new.row.lanes.count_ones()) as usize;
            if !pairs.compare(cost * (page.records.len() + 1)) {
                return;
            }
            let meeting = Meeting { space, page: number, order, symbolics };
            let before = page.held();
            page.add(new, |old, new| meeting.race(old, new, raced, pairs));
            page.prune(order);
            let after = page.held();
            pages.grow(before, after);
        });
    }
}

impl HistoryPage {
    /// Bytes that the page's records take, counted with one stored value each.
    fn held(&self) -> usize {
        self.records.len() * (size_of::<AccessRecord>() + size_of::<Value>())
    }

    /// The records that might be alike to a new one.
    fn alike(&self, new: &AccessRecord) -> &[usize] {
        let latest = self.latest.get(&(new.side.pc, new.side.warp));
        latest.filter(|(when, _)| *when == new.when).map_or(&[], |(_, records)| records)
    }

    /// Adds a record, and calls `meet` with each other record that shares bytes with it and might race with it.
    fn add(&mut self, new: AccessRecord, mut meet: impl FnMut(&AccessRecord, &AccessRecord)) {
        let Self { records, latest, .. } = self;
        let writes = |record: &AccessRecord| record.side.kind.writes;
        let may_race = |old: &&AccessRecord| {
            old.row.bytes & new.row.bytes != 0 && (writes(old) || writes(&new))
        };
        if writes(&new) && new.row.is_of_several() {
            meet(&new, &new);
        }
        for old in records.iter().filter(may_race) {
            meet(old, &new);
        }
        let alike = latest_of(latest, &new);
        if !alike.iter().any(|at| records[*at].take_in(&new)) {
            alike.push(records.len());
            records.push(new);
        }
    }

    fn prune(&mut self, order: &Order) {
        if self.records.len() < PRUNE_AT || !self.records.len().is_power_of_two() {
            return;
        }
        self.records.retain(|old| !order.is_before_all(old.warp, old.when, old.row.lanes));
        self.latest.clear();
        for (at, record) in self.records.iter().enumerate() {
            latest_of(&mut self.latest, record).push(at);
        }
    }
}

/// Whether two accesses had these rows the last time; notes them if not.
fn note_rows(raced: &mut Raced, key: RacedKey, [old, new]: [&Row; 2]) -> bool {
    let is_known = raced.get(&key).is_some_and(|[a, b]| a == old && b == new);
    if !is_known {
        if raced.len() >= MAX_RACED {
            raced.clear();
        }
        raced.insert(key, [old.clone(), new.clone()]);
    }
    is_known
}

/// The records of the last time of an instruction and warp, after making that the time of `record`.
fn latest_of<'a>(latest: &'a mut LastAccesses, record: &AccessRecord) -> &'a mut Vec<usize> {
    let key = (record.side.pc, record.side.warp);
    let (when, records) = latest.entry(key).or_insert_with(|| (record.when, Vec::new()));
    if *when != record.when {
        *when = record.when;
        records.clear();
    }
    records
}

impl AccessRecord {
    fn new(access: &Access<'_>, cta: u32, row: Row, order: &Order) -> Self {
        let lane = row.lanes.trailing_zeros() as usize;
        let is_store = access.kind.writes && !access.kind.is_atomic();
        Self {
            row,
            when: order.now(access.warp),
            warp: access.warp,
            is_bulk: access.only_issuer().is_some(),
            side: RacingAccess::new(access, cta, lane),
            addresses: access.addresses.clone(),
            stored: if is_store { access.stored.to_vec() } else { Vec::new() },
        }
    }

    fn side(&self, lane: usize) -> RacingAccess {
        let address = self.addresses.bits_of(lane);
        if self.is_bulk {
            return RacingAccess { address, ..self.side };
        }
        let lane = u8::try_from(lane).expect("a warp has 32 lanes");
        RacingAccess { lane, address, ..self.side }
    }

    /// The lane that issued a bulk copy; `None` for other accesses.
    fn issuer(&self) -> Option<u8> {
        self.is_bulk.then_some(self.side.lane)
    }

    /// Whether both are accesses of one instruction and warp to the same addresses, at one time.
    fn is_alike(&self, other: &Self) -> bool {
        let (a, b) = (self.side, other.side);
        !self.is_bulk
            && (a.pc, a.warp, self.when, a.kind) == (b.pc, b.warp, other.when, b.kind)
            && self.addresses == other.addresses
    }

    /// Whether `other` is the same access again, with nothing in between that the warp could have learnt from.
    fn says(&self, other: &Self) -> bool {
        self.is_alike(other) && self.row.has(&other.row) && self.stored == other.stored
    }

    /// Merges an alike access into this record. If their values differ, the record no longer counts as storing known
    /// values.
    fn take_in(&mut self, other: &Self) -> bool {
        let is_same = self.stored == other.stored;
        let may = is_same || self.row.bytes & other.row.bytes != 0;
        let is_one = may && self.is_alike(other) && self.row.merge(&other.row);
        if is_one && !is_same {
            self.stored.clear();
        }
        is_one
    }

    /// Whether all lanes store one value to one address.
    fn is_uniform(&self) -> bool {
        let lanes = self.row.lanes;
        self.row.by == LaneBytes::All && self.stored.iter().all(|value| value.is_one(lanes))
    }

    /// The byte that a lane stored at address `at`.
    fn stored(&self, lane: usize, at: u64) -> StoredByte {
        let offset = at.wrapping_sub(self.addresses.bits_of(lane));
        StoredByte::new(&self.stored, self.side.bytes, lane, offset)
    }
}

/// The worst conflict of two accesses, and lanes of the earlier and the later one that have it.
type WorstPair = (Conflict, (usize, usize));

/// The page on which two accesses are compared, and the order and the symbolic values to compare them by.
struct Meeting<'a> {
    space: Space,
    page: u64,
    order: &'a Order,
    symbolics: &'a Symbolics,
}

impl Meeting<'_> {
    /// Adds the pairs of threads of two accesses that nothing orders.
    fn race(&self, old: &AccessRecord, new: &AccessRecord, raced: &mut Raced, pairs: &mut Pairs) {
        let Self { space, order, .. } = *self;
        let (before, after) = (old.warp, new.warp);
        let nearness = order.nearness(before, after);
        let Some(conflict) = conflict(old.side.kind, new.side.kind, nearness) else { return };
        if order.is_before((before, old.when, old.row.lanes), (after, new.row.lanes)) {
            return;
        }
        // Then all lanes race, and if their rows did before, nothing is new.
        if order.is_one(before, after) {
            let sides = [old, new].map(|record| (record.side.pc, record.side.warp));
            let key = (space, self.page, sides);
            let is_known = note_rows(raced, key, [&old.row, &new.row]);
            if is_known && pairs.is_settled(space, old.side.pc, new.side.pc, conflict) {
                return;
            }
        }
        let (threads, worst) = self.unordered(old, new, conflict);
        let Some((conflict, (first, second))) = worst else { return };
        let is_benign = || {
            if old.is_uniform() && new.is_uniform() {
                return self.store_the_same(old, first, new, second);
            }
            threads.iter().all(|(first, second)| self.store_the_same(old, first, new, second))
        };
        let met = Met { space, page: self.page, bytes: old.row.bytes & new.row.bytes };
        let issued = threads.issued(old.issuer(), new.issuer());
        pairs.add(met, &old.side(first), &new.side(second), &issued, conflict, is_benign);
    }

    /// For each lane of the later access: the lanes of the earlier one that share a byte with it and are not ordered
    /// before it. Also returns the worst conflict of such a pair, and one that has it. `conflict`: that of a pair which is
    /// in no order at all.
    fn unordered(
        &self,
        old: &AccessRecord,
        new: &AccessRecord,
        conflict: Conflict,
    ) -> (Threads, Option<WorstPair>) {
        let (before, after) = (old.warp, new.warp);
        let both = old.row.bytes & new.row.bytes;
        let of = |unordered: &dyn Fn((WarpId, Epoch, LaneMask), (WarpId, usize)) -> LaneMask| {
            let mut threads = Threads::default();
            old.row.meet(&new.row, both, |lane, others| {
                threads.of[lane] = unordered((before, old.when, others), (after, lane));
            });
            threads
        };
        let unordered = of(&|before, after| self.order.unordered_lanes(before, after));
        if !self.order.is_agent(after) {
            return (unordered, unordered.first().map(|pair| (conflict, pair)));
        }
        let unknown = of(&|before, after| self.order.unknown_lanes(before, after)).first();
        let unfenced = match conflict {
            Conflict::Strong | Conflict::Race if !self.order.has_open_fence() => Conflict::Unfenced,
            _ => Conflict::Possible,
        };
        let unfenced = || unordered.first().map(|pair| (unfenced, pair));
        (unordered, unknown.map(|pair| (conflict, pair)).or_else(unfenced))
    }

    /// Whether two lanes provably leave the same in all bytes that both store.
    fn store_the_same(
        &self,
        old: &AccessRecord,
        first: usize,
        new: &AccessRecord,
        second: usize,
    ) -> bool {
        if old.stored.is_empty() || new.stored.is_empty() {
            return false;
        }
        let is_one_place = old.addresses.bits_of(first) == new.addresses.bits_of(second)
            && old.side.bytes == new.side.bytes;
        if is_one_place && are_same(&old.stored, first, &new.stored, second, self.symbolics) {
            return true;
        }
        let mut bytes = places(old.row.bytes_of(first) & new.row.bytes_of(second))
            .map(|at| self.page * PAGE + at);
        bytes.all(|at| old.stored(first, at).is_same(&new.stored(second, at), self.symbolics))
    }
}
