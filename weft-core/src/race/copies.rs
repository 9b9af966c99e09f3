//! Asynchronous copies in flight: accesses that are still to happen, at any time until their threads have waited for them.
//!
//! A copy is recorded twice as an ordinary access of its thread: when it is issued, so that it is compared with what came
//! before, and when its thread has waited for it, so that it is compared with what comes later. In between, it conflicts
//! with every other access of the same bytes, also with those of its own thread (PTX ISA §9.7.9.25.3).

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

use foldhash::fast::RandomState;

use super::entry::{Conflict, conflict};
use super::pairs::{Met, Pairs, RacingAccess, Threads};
use super::rows::{KnownRows, LaneBytes, Row, rows};
use crate::emulate::memory::bytes::Bytes;
use crate::emulate::{
    Access, AccessKind, AliasClass, CopyCommand, LaneMask, Nearness, Origin, Value, WARP, WarpId,
    lanes,
};
use crate::flow::Pc;
use crate::ptx::Space;

/// The read or the write of a copy, by lanes that have not waited for it.
#[derive(Clone, Debug)]
pub struct CopyInFlight {
    warp: WarpId,
    lanes: LaneMask,
    pc: Pc,
    space: Space,
    addresses: Value,
    bytes: u32,
    kind: AccessKind,
    stored: Vec<Value>,
    condition: Option<Origin>,
    variable: Option<usize>,
    is_representative: bool,
    class: Option<AliasClass>,
    decides: bool,
    /// The groups that it belongs to, by the number of groups that the lanes had made before. Lanes in none of them have
    /// not made a group since.
    groups: Vec<(u64, LaneMask)>,
    /// The numbers of the pages that it touches.
    pages: Vec<u64>,
}

impl CopyInFlight {
    fn new(access: &Access<'_>) -> Self {
        Self {
            warp: access.warp,
            lanes: access.lanes,
            pc: access.pc,
            space: access.space,
            addresses: access.addresses.clone(),
            bytes: access.bytes,
            kind: access.kind,
            stored: access.stored.to_vec(),
            condition: access.condition,
            variable: access.variable,
            is_representative: access.is_representative,
            class: access.class,
            decides: access.decides,
            groups: Vec::new(),
            pages: Vec::new(),
        }
    }

    /// The access, as it was when it was issued, by the lanes of the copy.
    pub fn access(&self) -> Access<'_> {
        Access {
            warp: self.warp,
            issuer: None,
            lanes: self.lanes,
            pc: self.pc,
            space: self.space,
            addresses: &self.addresses,
            bytes: self.bytes,
            kind: self.kind,
            reads: !self.kind.writes,
            stored: &self.stored,
            condition: self.condition,
            variable: self.variable,
            is_representative: self.is_representative,
            class: self.class,
            decides: self.decides,
            seen: None,
            synchronizes: false,
        }
    }

    /// The warp, the instruction and the addresses.
    fn place(&self) -> (WarpId, Pc, Value) {
        (self.warp, self.pc, self.addresses.clone())
    }

    /// Whether a later copy by the same instruction to the same addresses is by at least these lanes.
    fn is_repeated(&self, later: &Access<'_>) -> bool {
        (self.kind, self.bytes) == (later.kind, later.bytes)
            && self.lanes & !later.lanes == 0
            && self.is_representative == later.is_representative
    }

    fn grouped(&self) -> LaneMask {
        self.groups.iter().fold(0, |all, (_, lanes)| all | lanes)
    }
}

/// A copy in flight: its warp, and its number.
type CopyId = (WarpId, u64);

/// The copies of a warp.
const fn of_warp(warp: WarpId) -> RangeInclusive<CopyId> {
    (warp, 0)..=(warp, u64::MAX)
}

/// A page of shared memory, or of global memory if the first part is `true`.
type PageKey = (bool, u64);

/// The most copies that are followed at one time.
const MAX_COPIES: usize = 1 << 16;

/// The copies of a cta's threads that are in flight.
#[derive(Clone, Debug, Default)]
pub struct CopiesInFlight {
    copies: BTreeMap<CopyId, CopyInFlight>,
    /// The copies by their warp, instruction and addresses.
    by_place: HashMap<(WarpId, Pc, Value), Vec<CopyId>, RandomState>,
    /// The rows of the copies, by page.
    pages: HashMap<PageKey, Vec<(CopyId, Row)>, RandomState>,
    /// For each warp, the number of groups that each lane has made.
    groups: BTreeMap<WarpId, [u64; WARP]>,
    known: KnownRows,
    next: u64,
    /// Whether a copy was left out because there were too many.
    pub is_full: bool,
}

/// An access that meets a copy in flight on bytes of a page.
#[derive(Debug)]
pub struct CopyMeeting<'a> {
    copy: &'a CopyInFlight,
    access: &'a Access<'a>,
    pub(super) rows: [&'a Row; 2],
    /// The number of the page.
    pub page: u64,
    /// The bytes that race.
    pub bytes: Bytes,
    /// How they race.
    pub conflict: Conflict,
}

impl CopiesInFlight {
    /// Adds a copy that lanes issue now.
    pub fn issue(&mut self, access: &Access<'_>) {
        self.forget_repeated(access);
        if self.copies.len() >= MAX_COPIES {
            self.is_full = true;
            return;
        }
        let (id, mut copy) = ((access.warp, self.next), CopyInFlight::new(access));
        self.next += 1;
        let is_global = access.space == Space::Global;
        rows(access, &mut self.known, |page, row| {
            self.pages.entry((is_global, page)).or_default().push((id, row));
            copy.pages.push(page);
        });
        self.by_place.entry(copy.place()).or_default().push(id);
        self.copies.insert(id, copy);
    }

    /// Drops the copy that an access repeats: it is complete no later than the new one, so that whatever meets it, or follows
    /// it, meets or follows the new one too.
    fn forget_repeated(&mut self, access: &Access<'_>) {
        let place = (access.warp, access.pc, access.addresses.clone());
        let Self { copies, by_place, .. } = self;
        let mut own = by_place.get(&place).into_iter().flatten();
        let repeated = |id: &&CopyId| copies.get(*id).is_some_and(|old| old.is_repeated(access));
        let Some(&id) = own.find(repeated) else { return };
        let lanes = copies.get_mut(&id).map_or(0, |old| std::mem::take(&mut old.lanes));
        self.land(id, lanes);
    }

    /// Records that lanes of a warp group their copies or have waited for them. Returns the copies that are complete now,
    /// each by the lanes for which it is.
    pub fn command(
        &mut self,
        warp: WarpId,
        mask: LaneMask,
        command: CopyCommand,
    ) -> Vec<CopyInFlight> {
        let made = self.groups.entry(warp).or_insert([0; WARP]);
        let own = self.copies.range_mut(of_warp(warp));
        let CopyCommand::Wait(keep) = command else {
            own.for_each(|(_, copy)| commit(copy, mask, made));
            lanes(mask).for_each(|lane| made[lane] += 1);
            return Vec::new();
        };
        let mut complete = Vec::new();
        for (id, copy) in own {
            let done = completed(copy, mask, keep, made);
            if done != 0 {
                copy.lanes &= !done;
                copy.groups.iter_mut().for_each(|(_, group)| *group &= !done);
                complete.push((*id, done));
            }
        }
        complete.into_iter().filter_map(|(id, done)| self.land(id, done)).collect()
    }

    /// Takes lanes out of the rows of a copy for which it is complete. Returns the copy by these lanes.
    fn land(&mut self, id: CopyId, done: LaneMask) -> Option<CopyInFlight> {
        let copy = self.copies.get(&id)?;
        let is_global = copy.space == Space::Global;
        for page in &copy.pages {
            let Some(rows) = self.pages.get_mut(&(is_global, *page)) else { continue };
            for (_, row) in rows.iter_mut().filter(|(own, _)| *own == id) {
                row.lanes &= !done;
                if row.by != LaneBytes::All {
                    row.bytes = lanes(row.lanes).fold(0, |all, lane| all | row.bytes_of(lane));
                }
            }
            rows.retain(|(_, row)| row.lanes != 0);
            if rows.is_empty() {
                self.pages.remove(&(is_global, *page));
            }
        }
        let landed = if copy.lanes == 0 { self.remove(id) } else { Some(copy.clone()) };
        landed.map(|copy| CopyInFlight { lanes: done, ..copy })
    }

    fn remove(&mut self, id: CopyId) -> Option<CopyInFlight> {
        let copy = self.copies.remove(&id)?;
        let place = copy.place();
        if let Some(ids) = self.by_place.get_mut(&place) {
            ids.retain(|other| *other != id);
            if ids.is_empty() {
                self.by_place.remove(&place);
            }
        }
        Some(copy)
    }

    /// As `meet`, where only the bytes that race are of interest: bytes that surely race are not met again.
    pub fn meet_once(&mut self, access: &Access<'_>, mut met: impl FnMut(&CopyMeeting<'_>)) {
        let mut racing: Vec<(u64, Bytes)> = Vec::new();
        self.meet(access, |meeting| {
            met(meeting);
            if meeting.conflict == Conflict::Race {
                racing.push((meeting.page, meeting.bytes));
            }
        });
        let is_global = access.space == Space::Global;
        for (page, bytes) in racing {
            let Some(rows) = self.pages.get_mut(&(is_global, page)) else { continue };
            rows.retain_mut(|(_, row)| {
                row.restrict(!bytes);
                row.bytes != 0
            });
        }
    }

    /// Calls `met` with each copy in flight that an access conflicts with, page by page.
    pub fn meet(&mut self, access: &Access<'_>, mut met: impl FnMut(&CopyMeeting<'_>)) {
        if self.copies.is_empty() {
            return;
        }
        let is_global = access.space == Space::Global;
        let Self { copies, pages, known, .. } = self;
        rows(access, known, |page, row| {
            for (id, old) in pages.get(&(is_global, page)).into_iter().flatten() {
                let Some(copy) = copies.get(id) else { continue };
                let bytes = old.bytes & row.bytes;
                let conflict =
                    conflict(copy.kind, access.kind, Nearness::Grid).filter(|_| bytes != 0);
                if let Some(conflict) = conflict {
                    met(&CopyMeeting { copy, access, rows: [old, &row], page, bytes, conflict });
                }
            }
        });
    }
}

/// Puts those lanes of a copy into a group that are in none. `made`: the number of groups that each lane has made.
fn commit(copy: &mut CopyInFlight, committing: LaneMask, made: &[u64; WARP]) {
    for lane in lanes(copy.lanes & committing & !copy.grouped()) {
        match copy.groups.iter_mut().find(|(number, _)| *number == made[lane]) {
            Some((_, group)) => *group |= 1 << lane,
            None => copy.groups.push((made[lane], 1 << lane)),
        }
    }
}

/// The lanes for which a copy is complete, once these lanes have waited for all groups but the last `keep`.
fn completed(copy: &CopyInFlight, waiting: LaneMask, keep: u64, made: &[u64; WARP]) -> LaneMask {
    let of_group = |(number, group): &(u64, LaneMask)| {
        let is_complete = |lane: &usize| number.saturating_add(keep) < made[*lane];
        lanes(group & waiting).filter(is_complete).fold(0, |done, lane| done | 1 << lane)
    };
    copy.groups.iter().map(of_group).fold(0, |all, done| all | done)
}

impl CopyMeeting<'_> {
    /// The instructions and warps of the copy and of the access.
    pub(super) const fn sides(&self) -> [(Pc, WarpId); 2] {
        [(self.copy.pc, self.copy.warp), (self.access.pc, self.access.warp)]
    }

    /// Adds the pairs of threads that race on some of these bytes.
    pub(super) fn race(&self, cta: u32, watched: Bytes, pairs: &mut Pairs) {
        let [old, new] = self.rows;
        let bytes = self.bytes & watched;
        let mut threads = Threads::default();
        old.meet(new, bytes, |lane, others| threads.of[lane] = others);
        let Some((first, second)) = threads.first() else { return };
        let met = Met { space: self.access.space, page: self.page, bytes };
        let (first, second) = (
            RacingAccess::new(&self.copy.access(), cta, first),
            RacingAccess::new(self.access, cta, second),
        );
        pairs.add(met, &first, &second, &threads, self.conflict, || false);
    }
}
