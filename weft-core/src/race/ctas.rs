//! The deciding pass between ctas: which bytes of global memory race. No barrier orders ctas, but signals might.
//!
//! What one cta accesses is recorded by itself, in a [`Footprint`]. When the cta has ended, its footprint is added to
//! those of the ctas before. Adjacent pages that were accessed alike form one run of pages, however many they are. So a
//! cta leaves as many runs as it accesses ranges, and what all ctas read in common is one run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::entry::{are_morally_strong, conflict};
use super::pages::Pages;
use super::rows::{KnownRows, rows};
use crate::emulate::memory::bytes::{Bytes, PAGE, places};
use crate::emulate::{Access, AccessKind, Nearness};
use crate::order::SignalTag;

/// For each kind of access of a cta to a page and each moment, the bytes; there are few kinds, and moments only where ctas
/// signal to each other.
type Own = SmallVec<[(AccessKind, usize, Bytes); 1]>;

/// What orders the accesses of a moment with those of other ctas.
pub(super) type Tag = Option<Arc<SignalTag>>;

/// The global memory that one cta accesses.
#[derive(Clone, Debug)]
pub struct Footprint {
    pages: Pages<Own>,
    /// For each moment, what orders it.
    tags: Vec<Tag>,
}

/// Bytes that one kind of access takes.
const WAY: usize = size_of::<(AccessKind, usize, Bytes)>();

impl Footprint {
    /// An empty footprint that can take `memory` bytes.
    pub fn within(memory: u64) -> Self {
        Self { pages: Pages::within(memory), tags: Vec::new() }
    }

    /// Whether the cta accessed more memory than can be kept.
    pub const fn is_full(&self) -> bool {
        self.pages.is_full
    }

    /// Records an access of a warp of the cta; `moment`: its number among the moments of the cta.
    pub fn access(&mut self, access: &Access<'_>, moment: usize, known: &mut KnownRows) {
        rows(access, known, |number, row| self.note(number, (access.kind, moment), row.bytes));
    }

    /// States what orders each moment with accesses of other ctas; without that, nothing does.
    pub fn set_tags(&mut self, tags: Vec<Tag>) {
        self.tags = tags;
    }

    fn note(&mut self, page: u64, key: (AccessKind, usize), bytes: Bytes) {
        let Some(page) = self.pages.page(page) else { return };
        let at = page.partition_point(|(kind, moment, _)| (*kind, *moment) < key);
        match page.get_mut(at) {
            Some((kind, moment, known)) if (*kind, *moment) == key => *known |= bytes,
            // Sorted by kind, so that pages that were accessed alike are equal.
            _ => {
                page.insert(at, (key.0, key.1, bytes));
                self.pages.grow(0, WAY);
            }
        }
    }
}

/// The ctas that accessed bytes in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Accessor {
    One(u32),
    Many,
}

/// The bytes that one cta or several accessed in one way, in each page of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PageAccess {
    kind: AccessKind,
    tag: Tag,
    by: Accessor,
    bytes: Bytes,
}

/// Pages that were accessed alike, up to `end`.
#[derive(Clone, Debug)]
struct PageRun {
    end: u64,
    accesses: SmallVec<[PageAccess; 1]>,
}

/// Bytes that a run takes in the map, whose nodes are at least half full.
const RUN: usize = 2 * size_of::<(u64, PageRun)>();

/// The shadow of global memory for all ctas.
#[derive(Clone, Debug)]
pub struct LaunchShadow {
    /// Runs by their first pages; they do not overlap.
    runs: BTreeMap<u64, PageRun>,
    racing: BTreeSet<u64>,
    /// Bytes of pages at which accesses of two ctas conflict, but do not race, since signals order them or both are made for
    /// shared memory: what is read there is not known.
    unsteady: BTreeMap<u64, Bytes>,
    /// Number of page accesses beyond the first one of each run, which is stored in the run itself.
    extra_accesses: usize,
    most: u64,
    is_full: bool,
}

/// Most racing bytes, and pages of unsteady ones, that are kept.
const MAX_RACING: usize = 1 << 18;

impl LaunchShadow {
    /// An empty shadow that can take `memory` bytes.
    pub fn within(memory: u64) -> Self {
        let (runs, racing, unsteady) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        Self { runs, racing, unsteady, extra_accesses: 0, most: memory, is_full: false }
    }

    /// The bytes that race; at most 262144 of them.
    pub const fn racing(&self) -> &BTreeSet<u64> {
        &self.racing
    }

    /// The bytes at which accesses of two ctas conflict and do not race: what is read there is up to the schedule.
    pub fn unsteady(&self) -> impl Iterator<Item = u64> {
        let of = |(page, bytes): (&u64, &Bytes)| {
            let first = page * PAGE;
            places(*bytes).map(move |at| first + at)
        };
        self.unsteady.iter().flat_map(of)
    }

    /// Whether more memory was accessed, or more bytes race, than can be kept.
    pub fn is_full(&self) -> bool {
        self.is_full || self.racing.len().max(self.unsteady.len()) >= MAX_RACING
    }

    /// Adds the footprint of one cta, and compares it with those before.
    pub fn add(&mut self, cta: u32, footprint: Footprint) {
        self.is_full |= footprint.is_full();
        let Footprint { pages, tags } = footprint;
        let mut pages = pages.into_all().peekable();
        while let Some((first, accesses)) = pages.next() {
            let mut end = first + 1;
            while pages.next_if(|(next, other)| *next == end && *other == accesses).is_some() {
                end += 1;
            }
            if !self.is_full {
                self.add_run((first, end), (&accesses, &tags), cta);
            }
            self.is_full |= (self.runs.len() * RUN + self.extra_accesses * size_of::<PageAccess>())
                as u64
                > self.most;
        }
    }

    /// Whether what these ctas did conflicts with what other ctas do in another case (`others`), at bytes that are not
    /// known to race.
    pub fn may_meet(&self, others: &Self) -> bool {
        let is_other = |page_access: &PageAccess, their: &PageAccess| {
            page_access.by != their.by || page_access.by == Accessor::Many
        };
        let is_new = |byte: &u64| !self.racing.contains(byte) && !others.racing.contains(byte);
        self.runs.iter().any(|(first, run)| {
            others.over(*first, run.end).any(|(start, their)| {
                let pairs = their
                    .accesses
                    .iter()
                    .flat_map(|their| run.accesses.iter().map(move |ours| (ours, their)));
                let racing = pairs
                    .filter(|(ours, their)| is_other(ours, their))
                    .filter(|(ours, their)| {
                        conflict(ours.kind, their.kind, Nearness::Grid).is_some()
                            && !are_ordered((ours.kind, &ours.tag), (their.kind, &their.tag))
                    })
                    .fold(0, |racing, (ours, their)| racing | ours.bytes & their.bytes);
                let pages = start.max(*first)..if racing == 0 { 0 } else { their.end.min(run.end) };
                let mut bytes =
                    pages.flat_map(|page| places(racing).map(move |at| page * PAGE + at));
                bytes.any(|byte| is_new(&byte))
            })
        })
    }

    /// The runs that contain some of the pages `first..end`.
    fn over(&self, first: u64, end: u64) -> impl Iterator<Item = (u64, &PageRun)> {
        let before = self.runs.range(..first).next_back().filter(move |(_, run)| run.end > first);
        before.into_iter().chain(self.runs.range(first..end)).map(|(start, run)| (*start, run))
    }

    /// Adds what a cta did to each of the pages `first..end`.
    fn add_run(&mut self, (first, end): (u64, u64), accesses: (&Own, &[Tag]), cta: u32) {
        self.split(first);
        self.split(end);
        let known = self.runs.range(first..end).map(|(start, run)| (*start, run.end));
        let mut starts: SmallVec<[u64; 4]> = smallvec![];
        let mut gaps: SmallVec<[(u64, u64); 4]> = smallvec![];
        let mut at = first;
        for (start, known_end) in known.chain([(end, end)]) {
            if at < start {
                gaps.push((at, start));
                starts.push(at);
            }
            starts.push(start);
            at = known_end;
        }
        for (start, end) in gaps {
            self.runs.insert(start, PageRun { end, accesses: smallvec![] });
        }
        let (last, others) = starts.split_last().unwrap_or((&end, &[]));
        for start in others {
            self.compare(*start, accesses, cta);
        }
        for start in others {
            self.join(*start);
        }
        self.join(*last);
    }

    /// Adds what a cta did to each page of the run that begins at `start`, and records the bytes that race.
    fn compare(&mut self, start: u64, (accesses, tags): (&Own, &[Tag]), cta: u32) {
        let Some(run) = self.runs.get_mut(&start) else { return };
        let before = run.accesses.len();
        let (mut racing, mut unsteady) = (0, 0);
        for (kind, moment, bytes) in accesses {
            let tag = tags.get(*moment).cloned().flatten();
            let met = add(&mut run.accesses, (*kind, tag), cta, *bytes);
            (racing, unsteady) = (racing | met.0, unsteady | met.1);
        }
        self.extra_accesses =
            self.extra_accesses + run.accesses.len().saturating_sub(1) - before.saturating_sub(1);
        let end = run.end;
        for page in start..if racing == 0 { start } else { end } {
            for at in places(racing) {
                if self.racing.len() < MAX_RACING {
                    self.racing.insert(page * PAGE + at);
                }
            }
        }
        for page in start..if unsteady == 0 { start } else { end } {
            if self.unsteady.len() < MAX_RACING {
                *self.unsteady.entry(page).or_default() |= unsteady;
            }
        }
    }

    /// Splits the run that contains the pages on both sides of the start of page `at`, if there is one.
    fn split(&mut self, at: u64) {
        let Some((_, run)) = self.runs.range_mut(..at).next_back() else { return };
        if run.end > at {
            let rest = run.clone();
            run.end = at;
            self.extra_accesses += rest.accesses.len().saturating_sub(1);
            self.runs.insert(at, rest);
        }
    }

    /// Merges the run that begins at `at` into the one before, if the two are adjacent and equal.
    fn join(&mut self, at: u64) {
        let Some(run) = self.runs.get(&at) else { return };
        let before = self.runs.range(..at).next_back();
        let before =
            before.filter(|(_, previous)| previous.end == at && previous.accesses == run.accesses);
        let Some((&start, _)) = before else { return };
        let Some(PageRun { end, accesses: cases }) = self.runs.remove(&at) else { return };
        self.extra_accesses -= cases.len().saturating_sub(1);
        if let Some(before) = self.runs.get_mut(&start) {
            before.end = end;
        }
    }
}

/// Whether signals order accesses of two ctas, or only one of the two happens.
pub(super) fn are_ordered(one: (AccessKind, &Tag), other: (AccessKind, &Tag)) -> bool {
    let (Some(own), Some(others)) = (one.1, other.1) else { return false };
    // How long an asynchronous copy takes is not followed here.
    let is_in_flight = one.0.is_asynchronous() || other.0.is_asynchronous();
    !is_in_flight && own.excludes(others, are_morally_strong(one.0, other.0, Nearness::Grid))
}

/// Adds an access to a page. Returns the bytes at which it conflicts with one of another cta: those where the two race, and
/// those where they do not.
fn add(
    page: &mut SmallVec<[PageAccess; 1]>,
    (kind, tag): (AccessKind, Tag),
    cta: u32,
    bytes: Bytes,
) -> (Bytes, Bytes) {
    let (mut racing, mut unsteady) = (0, 0);
    for way in page.iter().filter(|way| way.by != Accessor::One(cta)) {
        if let Some(conflict) = conflict(way.kind, kind, Nearness::Grid) {
            let is_ordered = || are_ordered((way.kind, &way.tag), (kind, &tag));
            let met = if conflict.is_race() && !is_ordered() { &mut racing } else { &mut unsteady };
            *met |= way.bytes & bytes;
        }
    }
    let is_alike = |way: &PageAccess| way.kind == kind && way.tag == tag;
    let mut shared = 0;
    for way in page.iter_mut().filter(|way| is_alike(way) && way.by != Accessor::One(cta)) {
        shared |= way.bytes & bytes;
        if way.by != Accessor::Many {
            way.bytes &= !bytes;
        }
    }
    page.retain(|way| way.bytes != 0);
    note(page, (kind, &tag), Accessor::Many, shared);
    note(page, (kind, &tag), Accessor::One(cta), bytes & !shared);
    (racing, unsteady)
}

fn note(
    page: &mut SmallVec<[PageAccess; 1]>,
    (kind, tag): (AccessKind, &Tag),
    by: Accessor,
    bytes: Bytes,
) {
    match page.iter_mut().find(|way| (way.kind, &way.tag, way.by) == (kind, tag, by)) {
        Some(way) => way.bytes |= bytes,
        None if bytes != 0 => page.push(PageAccess { kind, tag: tag.clone(), by, bytes }),
        None => {}
    }
}

#[cfg(test)]
mod tests;
