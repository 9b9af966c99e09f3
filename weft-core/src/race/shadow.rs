//! The deciding pass within one cta: which bytes race. For each page it keeps the accesses that later ones might race
//! with.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::entry::{Conflict, conflict, covers};
use super::pages::Pages;
use super::rows::{KnownRows, LaneBytes, Row, rows};
use crate::emulate::memory::bytes::{Bytes, PAGE, places};
use crate::emulate::{Access, AccessKind, Nearness, WarpId, lanes};
use crate::flow::Pc;
use crate::order::{Epoch, Order};
use crate::ptx::Space;

/// An earlier access that later ones might race with.
#[derive(Clone, Debug)]
struct Past {
    row: Row,
    when: Epoch,
    warp: WarpId,
    kind: AccessKind,
}

/// Most of the time of a check goes into these: each fills one line of the cache.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Past>() == 64);

/// The accesses of a page that are kept.
#[derive(Clone, Debug, Default)]
struct ShadowPage {
    /// Accesses that write.
    writes: Vec<Past>,
    /// Accesses that only read, sorted by warp: a new read is compared only with reads of its own warp, and with
    /// writes.
    reads: Vec<Past>,
    /// Bytes that were written.
    written: Bytes,
    /// Number of accesses left after the last per-byte compaction.
    left: usize,
    /// For each conflict, the bytes that are known to race with this conflict or a worse one; `None`: no byte is.
    racing: Option<Box<[Bytes; Conflict::COUNT]>>,
}

/// The shadow of one state space.
#[derive(Clone, Debug)]
pub struct Shadow {
    pages: Pages<ShadowPage>,
    known: KnownRows,
    racing: BTreeMap<u64, Conflict>,
    /// Reads of memory that nothing wrote, by instruction and first byte.
    unwritten: BTreeMap<(Pc, u64), Unwritten>,
}

/// A read of memory that nothing wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unwritten {
    /// The warp that reads.
    pub warp: WarpId,
    /// One of the lanes that read.
    pub lane: usize,
    /// Address of the first byte.
    pub address: u64,
    /// Number of bytes.
    pub bytes: u32,
}

/// Most reads of memory that nothing wrote that are kept.
const MAX_UNWRITTEN: usize = 1 << 16;

/// Most racing bytes that are kept for the explaining pass.
const MAX_RACING: usize = 1 << 18;

/// Number of accesses of a page from which on they are compacted byte by byte.
const MANY: usize = 256;

impl Shadow {
    /// An empty shadow that can take `memory` bytes.
    pub fn within(memory: u64) -> Self {
        let pages = Pages::within(memory);
        let (racing, unwritten) = (BTreeMap::new(), BTreeMap::new());
        Self { pages, known: KnownRows::default(), racing, unwritten }
    }

    /// The bytes that race, each with its worst conflict; at most 262144 of them.
    pub fn racing(&self) -> &BTreeMap<u64, Conflict> {
        &self.racing
    }

    /// By page, the bytes at which accesses conflict and none race.
    pub fn unsteady(&self) -> impl Iterator<Item = (u64, Bytes)> {
        self.pages.all().filter_map(|(number, page)| {
            let known = page.racing.as_ref()?;
            let [least, next, ..] = **known;
            Some((*number, least & !next)).filter(|(_, bytes)| *bytes != 0)
        })
    }

    /// For each instruction, its read of memory that nothing wrote at the lowest address. Instructions are left out if one of their
    /// reads of such memory conflicts with a write, which might happen before it in another schedule.
    pub fn unwritten(&self) -> BTreeMap<Pc, Unwritten> {
        let unsteady: BTreeMap<u64, Bytes> = self.unsteady().collect();
        let is_unsteady = |byte: u64| {
            unsteady.get(&(byte / PAGE)).is_some_and(|bytes| bytes >> (byte % PAGE) & 1 == 1)
        };
        let conflicts = |read: &Unwritten| {
            let mut bytes = read.address..read.address.saturating_add(u64::from(read.bytes));
            self.racing.range(bytes.clone()).next().is_some() || bytes.any(is_unsteady)
        };
        let left_out = self.unwritten.iter().filter(|(_, read)| conflicts(read));
        let left_out: BTreeSet<Pc> = left_out.map(|((pc, _), _)| *pc).collect();
        let mut first = BTreeMap::new();
        for ((pc, _), read) in self.unwritten.iter().filter(|((pc, _), _)| !left_out.contains(pc)) {
            first.entry(*pc).or_insert(*read);
        }
        first
    }

    /// Whether more memory was accessed, or more bytes race, than can be kept.
    pub fn is_full(&self) -> bool {
        self.pages.is_full || self.racing.len() >= MAX_RACING
    }

    /// Records that bytes of a page race, or conflict.
    pub fn race(&mut self, number: u64, bytes: Bytes, conflict: Conflict) {
        let (pages, all) = (&mut self.pages, &mut self.racing);
        let Some(page) = pages.page(number) else { return };
        note_racing(&mut page.racing, bytes, conflict, &mut |new, conflict| {
            for at in places(new) {
                note_byte(all, number * PAGE + at, conflict);
            }
        });
    }

    /// Records an access of a warp, and compares it with those before.
    pub fn access(&mut self, access: &Access<'_>, order: &Order) {
        let is_certain = access.reads && !access.kind.may_execute && !access.is_representative;
        let watches = is_certain && access.space == Space::Shared;
        let (pages, racing, unwritten) = (&mut self.pages, &mut self.racing, &mut self.unwritten);
        rows(access, &mut self.known, |number, row| {
            let Some(page) = pages.page(number) else { return };
            if watches && row.bytes & !page.written != 0 {
                note_unwritten(access, &row, page.written, unwritten);
            }
            let (warp, kind) = (access.warp, access.kind);
            let new = Past { row, when: order.now(access.warp), warp, kind };
            let before = page.held();
            page.add(new, order, |bytes, conflict| {
                for at in places(bytes) {
                    note_byte(racing, number * PAGE + at, conflict);
                }
            });
            let after = page.held();
            pages.grow(before, after);
        });
    }
}

/// Records that a byte races, if it does.
fn note_byte(racing: &mut BTreeMap<u64, Conflict>, byte: u64, conflict: Conflict) {
    if conflict.is_race() && racing.len() < MAX_RACING {
        let known = racing.entry(byte).or_insert(conflict);
        *known = (*known).max(conflict);
    }
}

/// Records the lanes of a row that read memory that nothing wrote.
fn note_unwritten(
    access: &Access<'_>,
    row: &Row,
    written: Bytes,
    unwritten: &mut BTreeMap<(Pc, u64), Unwritten>,
) {
    let Access { pc, bytes, .. } = *access;
    for lane in lanes(row.lanes_at(row.bytes & !written)) {
        if unwritten.len() < MAX_UNWRITTEN {
            let address = access.addresses.bits_of(lane);
            let (warp, lane) = access.thread(lane);
            let read = Unwritten { warp, lane, address, bytes };
            unwritten.entry((pc, address)).or_insert(read);
        }
    }
}

impl ShadowPage {
    /// Bytes that the page's accesses take.
    fn held(&self) -> usize {
        (self.writes.len() + self.reads.len()) * size_of::<Past>()
    }

    /// Adds an access and drops the accesses that it covers. Emits the bytes that race with their conflict, each byte
    /// at most once for each conflict.
    fn add(&mut self, new: Past, order: &Order, mut emit: impl FnMut(Bytes, Conflict)) {
        let writes = new.kind.writes;
        if writes {
            self.written |= new.row.bytes;
        }
        // The accesses that can be alike: all writes, or the reads of the warp.
        let alike = if writes { 0..self.writes.len() } else { self.reads_of(new.warp) };
        let racing = &mut self.racing;
        let (writes_before, reads_before) = (&mut self.writes, &mut self.reads);
        let (same, others) =
            if writes { (writes_before, reads_before) } else { (reads_before, writes_before) };
        // Every access since the old one was compared with it, so the new one adds nothing.
        let is_copy = order.is_agent(new.warp);
        let is_known = |old: &Past| old.is_alike(&new) && old.row.has(&new.row);
        if !is_copy && same[alike.clone()].iter().any(is_known) {
            return;
        }
        if writes
            && new.row.is_of_several()
            && let Some(conflict) = conflict(new.kind, new.kind, Nearness::Cta)
        {
            note_racing(racing, new.row.bytes, conflict, &mut emit);
        }
        let mut is_covered = |old: &mut Past| {
            if let Some((bytes, conflict)) = old.conflict_with(&new, order) {
                note_racing(racing, bytes, conflict, &mut emit);
            }
            old.row.bytes == 0
        };
        if !others.is_empty() {
            others.retain_mut(|old| !is_covered(old));
        }
        let (mut covered, mut free) = (0, None);
        for at in alike.clone() {
            if is_covered(&mut same[at]) {
                (covered, free) = (covered + 1, Some(at));
            }
        }
        put(same, alike, (covered, free), new);
        if self.writes.len() + self.reads.len() >= MANY.max(2 * self.left) {
            self.writes = settled(&self.writes);
            self.reads = settled(&self.reads);
            self.left = self.writes.len() + self.reads.len();
        }
    }

    /// The positions of a warp's reads.
    fn reads_of(&self, warp: WarpId) -> Range<usize> {
        let first = self.reads.partition_point(|old| old.warp < warp);
        let count = self.reads[first..].iter().take_while(|old| old.warp == warp).count();
        first..first + count
    }
}

/// Notes bytes that race, and emits those that were not known to, or to conflict less.
fn note_racing(
    racing: &mut Option<Box<[Bytes; Conflict::COUNT]>>,
    bytes: Bytes,
    conflict: Conflict,
    emit: &mut impl FnMut(Bytes, Conflict),
) {
    let known = racing.get_or_insert_default();
    let unknown = bytes & !known[conflict as usize];
    known[..=conflict as usize].iter_mut().for_each(|known| *known |= unknown);
    if unknown != 0 {
        emit(unknown, conflict);
    }
}

/// Adds an access to a list, among those of a range: into an access there that is alike, into the entry of one that it
/// covers, or behind the range. The other covered accesses are dropped.
fn put(
    all: &mut Vec<Past>,
    range: Range<usize>,
    (covered, free): (usize, Option<usize>),
    new: Past,
) {
    let takes_in = |old: &&mut Past| old.row.bytes != 0 && old.is_alike(&new);
    let mut rest = all[range.clone()].iter_mut().filter(takes_in);
    let is_merged = rest.any(|old| old.row.merge(&new.row));
    // A repeated access is the usual case: it covers one access and takes its entry.
    let mut dropped = covered;
    match free {
        _ if is_merged => {}
        Some(free) => {
            all[free] = new;
            dropped -= 1;
        }
        None => {
            // Most pages hold one access, so memory is reserved for exactly one.
            if all.is_empty() {
                all.reserve_exact(1);
            }
            all.insert(range.end, new);
        }
    }
    if dropped != 0 {
        all.retain(|old| old.row.bytes != 0);
    }
}

/// Compacts accesses byte by byte: accesses of one warp to a byte, of one kind and at one time, become one. The result
/// is sorted by warp.
fn settled(past: &[Past]) -> Vec<Past> {
    let mut all: BTreeMap<_, Past> = BTreeMap::new();
    for entry in past {
        for at in places(entry.row.bytes) {
            let bytes = 1 << at;
            let lanes = entry.row.lanes_at(bytes);
            let known = all.entry((entry.warp, at, entry.when, entry.kind)).or_insert_with(|| {
                Past { row: Row { bytes, lanes, by: LaneBytes::All }, ..entry.clone() }
            });
            known.row.lanes |= lanes;
        }
    }
    let mut merged: Vec<Past> = Vec::new();
    for entry in all.into_values() {
        if !merged.iter_mut().any(|old| old.is_alike(&entry) && old.row.merge(&entry.row)) {
            merged.push(entry);
        }
    }
    merged
}

impl Past {
    /// Whether both accesses are of one warp, of one kind and at one time.
    fn is_alike(&self, other: &Self) -> bool {
        (self.warp, self.when, self.kind) == (other.warp, other.when, other.kind)
    }

    /// Compares this access with a later one, and drops the bytes at which the later one covers it. Returns the bytes
    /// that race, and their conflict.
    fn conflict_with(&mut self, new: &Self, order: &Order) -> Option<(Bytes, Conflict)> {
        let both = self.row.bytes & new.row.bytes;
        if both == 0 {
            return None;
        }
        let conflict = conflict(self.kind, new.kind, order.nearness(self.warp, new.warp));
        let covers = covers(new.kind, self.kind) && self.is_known_with(new, both, order);
        let is_by_its_lanes =
            covers && !order.is_agent(self.warp) && self.is_by_lanes_of(new, both);
        let unordered = match conflict {
            Some(_) => self.unordered(new, both, order),
            // An access that can only be dropped is not compared lane by lane.
            None if covers && !is_by_its_lanes && self.is_before(new, order) => 0,
            None => both,
        };
        if is_by_its_lanes {
            self.row.bytes &= !both;
        } else if covers {
            self.row.bytes &= !both | unordered;
        }
        conflict.filter(|_| unordered != 0).map(|conflict| (unordered, conflict))
    }

    /// Whether those that know of a later access know of this one, if it is ordered before the later one: what an agent knew it
    /// does not pass on, save what it did itself.
    fn is_known_with(&self, later: &Self, bytes: Bytes, order: &Order) -> bool {
        !order.is_agent(later.warp) || self.is_by_lanes_of(later, bytes)
    }

    /// Whether all lanes that did this access at these bytes do the later one there too: program order.
    fn is_by_lanes_of(&self, later: &Self, bytes: Bytes) -> bool {
        self.warp == later.warp
            && (later.row.by == LaneBytes::All || later.row.by == self.row.by)
            && (self.row.lanes & !later.row.lanes == 0
                || self.row.lanes_at(bytes) & !later.row.lanes == 0)
    }

    /// Whether all lanes of this access are ordered before all lanes of the later one.
    fn is_before(&self, later: &Self, order: &Order) -> bool {
        let before = (self.warp, self.when, self.row.lanes);
        order.is_before(before, (later.warp, later.row.lanes))
    }

    /// Of bytes that both access, those at which some lane of this access is not ordered before another lane of the
    /// later one.
    fn unordered(&self, later: &Self, both: Bytes, order: &Order) -> Bytes {
        if self.is_before(later, order) {
            return 0;
        }
        let (before, after) = (self.warp, later.warp);
        // Each byte belongs to one lane, the same in both accesses: program order.
        let are_own = || self.row.has_own_lanes(&later.row) || later.row.has_own_lanes(&self.row);
        if order.is_own(before, after) && are_own() {
            return 0;
        }
        if before != after && order.is_one(before, after) {
            return both;
        }
        let mut unordered = 0;
        for lane in lanes(later.row.lanes_at(both)) {
            let old = (before, self.when, self.row.lanes);
            let others = order.unordered_lanes(old, (after, lane));
            let bytes = later.row.bytes_of(lane) & both;
            unordered |= lanes(others).fold(0, |all, other| all | self.row.bytes_of(other) & bytes);
        }
        unordered
    }
}

#[cfg(test)]
mod tests;
