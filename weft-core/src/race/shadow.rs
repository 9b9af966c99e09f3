//! The pass that decides, within one cta: which bytes race.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::{Conflict, Entry};
use super::pages::Pages;
use crate::emulate::{Access, LaneMask, lanes};
use crate::flow::Pc;
use crate::order::Order;

/// The accesses of a cell that later ones may race with. Most cells hold a write and a read.
#[derive(Clone, Debug, Default)]
struct Cell {
    entries: [Option<Entry>; 2],
    more: Vec<Entry>,
}

/// The shadow of one state space.
#[derive(Clone, Debug)]
pub struct Shadow {
    cells: Pages<Cell>,
    racing: BTreeMap<u64, Conflict>,
    /// Reads of what nothing wrote, by instruction and first byte.
    unwritten: BTreeMap<(Pc, u64), Unwritten>,
}

/// A read of memory that nothing wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unwritten {
    /// The warp.
    pub warp: usize,
    /// One of its lanes.
    pub lane: usize,
    /// First byte.
    pub address: u64,
    /// Bytes.
    pub bytes: u32,
}

/// Reads of what nothing wrote that are kept.
const MAX_UNWRITTEN: usize = 1 << 16;

/// Racing bytes kept for the pass that explains.
const MAX_RACING: usize = 1 << 18;

impl Default for Shadow {
    fn default() -> Self {
        Self::new()
    }
}

impl Shadow {
    /// Nothing was accessed.
    pub fn new() -> Self {
        Self { cells: Pages::new(), racing: BTreeMap::new(), unwritten: BTreeMap::new() }
    }

    /// The run is over: what was accessed is no longer needed, what was found is.
    pub fn close(&mut self) {
        self.cells.clear();
    }

    /// The bytes that race, and how; at most 262144 of them.
    pub fn racing(&self) -> &BTreeMap<u64, Conflict> {
        &self.racing
    }

    /// Reads of what nothing wrote, and nothing may write at the same time: the first of each instruction all of whose
    /// reads of what nothing wrote are such.
    pub fn unwritten(&self) -> BTreeMap<Pc, Unwritten> {
        let races = |read: &Unwritten| {
            let end = read.address.saturating_add(u64::from(read.bytes));
            self.racing.range(read.address..end).next().is_some()
        };
        let racing: BTreeSet<Pc> =
            self.unwritten.iter().filter(|(_, read)| races(read)).map(|((pc, _), _)| *pc).collect();
        let mut first = BTreeMap::new();
        for ((pc, _), read) in self.unwritten.iter().filter(|((pc, _), _)| !racing.contains(pc)) {
            first.entry(*pc).or_insert(*read);
        }
        first
    }

    /// Whether more memory was accessed, or raced on, than is followed.
    pub fn is_full(&self) -> bool {
        self.cells.is_full || self.racing.len() >= MAX_RACING
    }

    /// A warp accesses.
    pub fn access(&mut self, access: &Access<'_>, order: &Order) {
        match access.addresses.as_uniform() {
            // One cell for all lanes; lanes that write race with each other there.
            Some(address) if !access.kind.writes => {
                self.touch(access, address, access.lanes, order);
            }
            _ => {
                for lane in lanes(access.lanes) {
                    self.touch(access, access.addresses.lane(lane), 1 << lane, order);
                }
            }
        }
    }

    fn touch(&mut self, access: &Access<'_>, address: u64, mask: LaneMask, order: &Order) {
        let entry = Entry::new(access.warp, mask, access.kind, order);
        let (racing, unwritten) = (&mut self.racing, &mut self.unwritten);
        let is_certain = access.reads && !access.kind.is_maybe && !access.is_anchored;
        self.cells.for_each(address, access.bytes, |at, size, cell| {
            if is_certain && unwritten.len() < MAX_UNWRITTEN && !cell.is_written() {
                let lane = mask.trailing_zeros() as usize;
                let (warp, bytes) = (access.warp, access.bytes);
                unwritten.entry((access.pc, address)).or_insert(Unwritten {
                    warp,
                    lane,
                    address,
                    bytes,
                });
            }
            if let Some(conflict) = cell.add(entry, order)
                && racing.len() < MAX_RACING
            {
                for byte in at..at + size {
                    let known = racing.entry(byte).or_insert(conflict);
                    *known = (*known).max(conflict);
                }
            }
        });
    }
}

impl Cell {
    fn is_written(&self) -> bool {
        self.entries.iter().flatten().chain(&self.more).any(|entry| entry.kind.writes)
    }

    /// Adds an access, forgets those that it covers, and tells the worst conflict with those that were there.
    fn add(&mut self, new: Entry, order: &Order) -> Option<Conflict> {
        let mut conflict = None;
        let mut check = |old: &Entry| {
            conflict = conflict.max(old.conflict(&new, order));
            !old.is_covered(&new, order)
        };
        for slot in &mut self.entries {
            if slot.as_ref().is_some_and(|old| !check(old)) {
                *slot = None;
            }
        }
        if !self.more.is_empty() {
            self.more.retain(check);
        }
        self.put(new);
        conflict
    }

    fn put(&mut self, new: Entry) {
        let known =
            self.entries.iter_mut().flatten().chain(&mut self.more).find(|old| old.is_alike(&new));
        if let Some(known) = known {
            known.lanes |= new.lanes;
            return;
        }
        match self.entries.iter_mut().find(|slot| slot.is_none()) {
            Some(slot) => *slot = Some(new),
            None => self.more.push(new),
        }
    }
}
