//! The cell of a region: the accesses to it in the second analysis, by what they are apart from time and lanes.

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use indexmap::map::Entry;

use super::super::entry::RegionEntry;
use super::Compared;
use crate::emulate::{MemoryRegion, OpenAccess};
use crate::order::Order;

/// What an access is, apart from its time and lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct NotedAccess {
    pub(super) compared: Compared,
    pub(super) open: Option<OpenAccess>,
    /// Whether the value that it reads decides something.
    pub(super) decides: bool,
}

impl NotedAccess {
    /// The region of the store, if this is a store at an open address and the other access reads a value that decides
    /// something.
    pub(super) fn unsettles(&self, other: &Self) -> Option<MemoryRegion> {
        let store = self.open.filter(|open| open.kind.writes && other.decides)?;
        Some(store.region)
    }
}

/// Accesses to one region.
#[derive(Clone, Debug, Default)]
pub(super) struct RegionCell {
    accesses: IndexMap<NotedAccess, Vec<RegionEntry>, RandomState>,
    /// The places of the accesses at open addresses that are not known to be doubtful.
    settled: Vec<usize>,
}

impl RegionCell {
    /// Returns the accesses, or only those at open addresses that are not known to be doubtful.
    pub(super) fn accesses(
        &self,
        are_all: bool,
    ) -> impl Iterator<Item = (&NotedAccess, &[RegionEntry])> {
        let all = if are_all { self.accesses.len() } else { 0 };
        let some: &[usize] = if are_all { &[] } else { &self.settled };
        let places = (0..all).chain(some.iter().copied());
        let access = |place: usize| self.accesses.get_index(place);
        places.filter_map(access).map(|(noted, entries)| (noted, entries.as_slice()))
    }

    /// Notes that an access at an open address is doubtful.
    pub(super) fn doubt(&mut self, open: &OpenAccess) {
        let Self { accesses, settled } = self;
        settled.retain(|place| {
            accesses.get_index(*place).is_some_and(|(noted, _)| noted.open.as_ref() != Some(open))
        });
    }

    /// Adds an access. Earlier ones of its kind are dropped that it can stand for. `is_doubtful`: it is known to be.
    pub(super) fn add(
        &mut self,
        noted: NotedAccess,
        new: RegionEntry,
        is_doubtful: bool,
        order: &Order,
    ) {
        let entry = self.accesses.entry(noted);
        if noted.open.is_some() && !is_doubtful && matches!(entry, Entry::Vacant(_)) {
            self.settled.push(entry.index());
        }
        let entries = entry.or_default();
        entries.retain(|old| !old.is_covered(&new, order));
        match entries.iter_mut().find(|old| old.is_alike(&new)) {
            Some(old) => old.lanes |= new.lanes,
            None => entries.push(new),
        }
    }

    /// Returns how many accesses the cell holds.
    pub(super) fn len(&self) -> usize {
        self.accesses.values().map(Vec::len).sum()
    }
}
