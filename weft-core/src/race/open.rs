//! Accesses at open addresses: which of them might conflict with others.
//!
//! Accesses of one alias class are compared by the shadows, at their representative addresses. For the others, a first
//! analysis ignores order: an open access is *doubtful* if anything else that its region might overlap conflicts with
//! it. If there are doubtful accesses or unsettled regions, the ctas are run again for a second analysis that knows the order: each region
//! has a cell, which compares all accesses to it.
//!
//! A load at a known address whose value decides something sees what depends on the schedule if nothing orders it with
//! a store at an open address in its region. The region of the store is then *unsettled*, even where shadows compare
//! the two.

mod cell;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use foldhash::fast::RandomState;
use smallvec::{SmallVec, smallvec};

use super::entry::{Conflict, RegionEntry, conflict};
use crate::emulate::{
    Access, AccessKind, AliasClass, CounterIndex, LaneMask, MemoryRegion, Nearness, OpenAccess,
    WarpId, lanes,
};
use crate::flow::argument_of;
use crate::order::Order;
use crate::ptx::Space;
use cell::{NotedAccess, RegionCell};

/// What decides whether an access at known addresses conflicts with others: region, kind, alias class; and whether the
/// value that it reads decides something.
type Known = (MemoryRegion, AccessKind, Option<AliasClass>, bool);

/// Most accesses in one cell.
const MAX_NOTED: usize = 1024;

/// Accesses of a launch at open addresses, and those that they might conflict with.
#[derive(Clone, Debug, Default)]
pub struct OpenAccesses {
    open: BTreeSet<OpenAccess>,
    known: HashSet<Known, RandomState>,
    latest: Option<Known>,
    /// The cells of the second analysis; `None` in the first one.
    cells: Option<BTreeMap<MemoryRegion, RegionCell>>,
    doubtful: BTreeSet<OpenAccess>,
    /// Unsettled regions that the second analysis found within a cta.
    unsettled: BTreeSet<MemoryRegion>,
    /// Counter indices whose accesses are disjoint.
    disjoint: BTreeSet<CounterIndex>,
    /// Whether a cell held more than can be compared, so that the second analysis cannot be used.
    is_full: bool,
}

/// What accesses are compared by: two of one region with the same alias class are compared by shadows.
type Compared = (MemoryRegion, Option<AliasClass>, Option<CounterIndex>);

const fn compared(open: &OpenAccess) -> Compared {
    (open.region, open.class, open.index)
}

impl OpenAccesses {
    /// Starts the second analysis. It keeps the disjoint counter indices and all accesses that the first analysis saw,
    /// because ctas might have taken other paths there.
    #[must_use]
    pub fn ordered(&self) -> Self {
        Self {
            cells: Some(BTreeMap::new()),
            doubtful: BTreeSet::new(),
            latest: None,
            ..self.clone()
        }
    }

    /// Whether this is the second analysis, which takes the order of accesses into account.
    pub const fn knows_order(&self) -> bool {
        self.cells.is_some()
    }

    /// Whether shadows compare two accesses, or their counter indices keep them disjoint.
    fn is_compared(&self, a: Compared, b: Compared) -> bool {
        let is_apart = a.2.is_some_and(|index| self.disjoint.contains(&index)) && a.2 == b.2;
        a.0 == b.0 && (is_apart || a.1.is_some() && a.1 == b.1)
    }

    /// Whether there was no access at an open address.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Adds the accesses of other ctas.
    pub fn take_in(&mut self, ctas: Self) {
        self.known.extend(ctas.known);
        self.open.extend(ctas.open);
    }

    /// Prepares for the next cta: its accesses are compared with one another only.
    pub fn next_cta(&mut self) {
        if let Some(cells) = &mut self.cells {
            cells.clear();
        }
    }

    /// Records an access at known addresses.
    pub fn known(&mut self, access: &Access<'_>, order: &Order) {
        for (base, mask) in buffers(access) {
            let region = MemoryRegion { is_global: access.space == Space::Global, base };
            let known = Some((region, access.kind, access.class, access.decides));
            // Most accesses equal the last one here.
            if self.latest != known {
                self.known.extend(known);
                self.latest = known;
            }
            if self.cells.is_some() {
                let entry = RegionEntry::new(access.warp, mask, access.kind, order);
                let (compared, decides) = ((region, access.class, None), access.decides);
                self.note(region, NotedAccess { compared, open: None, decides }, entry, order);
            }
        }
    }

    /// Records an access of the lanes of `mask` at an open address.
    pub fn open(&mut self, access: OpenAccess, warp: WarpId, mask: LaneMask, order: &Order) {
        self.open.insert(access);
        if self.cells.is_some() {
            let kind = access.kind;
            let compared = compared(&access);
            let is_one = self.is_compared(compared, compared);
            match conflict(kind, kind, Nearness::Cta) {
                Some(_) if is_one || mask.is_power_of_two() => {}
                Some(conflict) if conflict.is_race() => {
                    self.doubtful.insert(access);
                }
                Some(_) => {
                    self.unsettled.insert(access.region);
                }
                None => {}
            }
            let entry = RegionEntry::new(warp, mask, kind, order);
            let noted = NotedAccess { compared, open: Some(access), decides: false };
            self.note(access.region, noted, entry, order);
        }
    }

    /// Compares an access with those to regions that might overlap its own, and adds it to its cell.
    fn note(&mut self, region: MemoryRegion, new: NotedAccess, entry: RegionEntry, order: &Order) {
        let Some(cells) = self.cells.as_ref().filter(|_| !self.is_full) else { return };
        let (mut doubtful, mut unsettled) = (BTreeSet::new(), BTreeSet::new());
        let met: SmallVec<[_; 2]> = match region.base {
            Some(_) => {
                let own = [region, region.whole()].into_iter();
                own.filter_map(|own| Some((own, cells.get(&own)?))).collect()
            }
            None => cells
                .range(region..)
                .take_while(|(own, _)| own.is_global == region.is_global)
                .map(|(own, cell)| (*own, cell))
                .collect(),
        };
        let is_doubtful = new.open.is_some_and(|open| self.doubtful.contains(&open));
        let stores = new.open.filter(|open| open.kind.writes);
        let is_strong_store = entry.kind.writes && entry.kind.is_strong();
        let might_unsettle = |own: MemoryRegion| !self.unsettled.contains(&own);
        for (own, cell) in met {
            // What is known already needs no other access that shows it.
            let are_all = new.open.is_some() && !is_doubtful
                || (new.decides || is_strong_store) && might_unsettle(own)
                || stores.is_some_and(|store| might_unsettle(store.region));
            for (old, entries) in cell.accesses(are_all) {
                let is_compared = self.is_compared(old.compared, new.compared);
                let both = || old.open.into_iter().chain(new.open).filter(|_| !is_compared);
                let place = old.unsettles(&new).or(new.unsettles(old));
                let says_more = place.is_some() || both().next().is_some();
                if !says_more {
                    continue;
                }
                let worst = entries.iter().filter_map(|old| old.conflict(&entry, order)).max();
                unsettled.extend(place.filter(|_| worst.is_some()));
                // Which of two stores comes last decides what their bytes hold behind both.
                let are_mixed = entries.iter().any(|old| old.mixes_with(&entry, order));
                let stores = both().filter(|open| are_mixed && open.kind.writes);
                unsettled.extend(stores.map(|open| open.region));
                doubtful.extend(both().filter(|_| worst.is_some_and(Conflict::is_race)));
            }
        }
        self.unsettled.extend(unsettled);
        let Some(cells) = &mut self.cells else { return };
        for open in doubtful {
            if self.doubtful.insert(open)
                && let Some(cell) = cells.get_mut(&open.region)
            {
                cell.doubt(&open);
            }
        }
        let is_doubtful = new.open.is_some_and(|open| self.doubtful.contains(&open));
        let cell = cells.entry(region).or_default();
        cell.add(new, entry, is_doubtful, order);
        self.is_full = cell.len() > MAX_NOTED;
    }

    /// Whether some write at an open address might have gone to a variable of shared memory; `None`: to any of it.
    pub fn may_be_written(&self, variable: Option<usize>) -> bool {
        let region = MemoryRegion { is_global: false, base: variable };
        let mut writes = self.open.iter().filter(|access| access.kind.writes);
        writes.any(|access| access.region.may_overlap(region))
    }

    /// Whether some open access was assumed to stay within the variable in shared memory that its address starts from.
    pub fn stays_in_variables(&self) -> bool {
        let is_placed = |open: &OpenAccess| open.region.base.is_some() || open.class.is_some();
        self.open.iter().any(|open| !open.region.is_global && is_placed(open))
    }

    /// Whether some open access was assumed to stay within the buffer that its address starts from.
    pub fn stays_in_buffers(&self) -> bool {
        self.open.iter().any(|open| open.region.is_global && open.region.base.is_some())
    }

    /// Sets the counter indices whose accesses are disjoint as long as their counter values differ.
    pub fn set_disjoint(&mut self, distance: BTreeSet<CounterIndex>) {
        self.disjoint = distance;
    }

    /// The open accesses that might conflict with another access, one for each instruction. `has_others`: several ctas
    /// ran.
    pub fn doubtful(&self, has_others: bool) -> Vec<OpenAccess> {
        let classes = self.classes();
        let mut known = BTreeMap::new();
        let mut may_conflict = |access: &OpenAccess, nearness| {
            let key = (compared(access), access.kind);
            *known.entry(key).or_insert_with(|| self.may_conflict(key, nearness, &classes))
        };
        let nearness = if has_others { Nearness::Grid } else { Nearness::Cta };
        let is_doubtful = |access: &&OpenAccess| match self.cells {
            Some(_) if !self.is_full => {
                let is_between = access.region.is_global && has_others;
                let between = is_between && may_conflict(access, nearness);
                self.doubtful.contains(access) || between
            }
            _ => may_conflict(access, nearness),
        };
        let mut doubtful: Vec<_> = self.open.iter().filter(is_doubtful).copied().collect();
        doubtful.dedup_by_key(|access| access.pc);
        doubtful
    }

    /// The regions of stores at open addresses that nothing orders with a load at a known address whose value decides
    /// something, if the load might overlap the region. `has_others`: several ctas ran.
    pub fn unsettled(&self, has_others: bool) -> BTreeSet<MemoryRegion> {
        let knows_order = self.cells.is_some() && !self.is_full;
        let loads: BTreeSet<MemoryRegion> =
            self.known.iter().filter(|entry| entry.3).map(|own| own.0).collect();
        let stores = self.open.iter().filter(|open| open.kind.writes);
        let regions: BTreeSet<MemoryRegion> = stores.map(|open| open.region).collect();
        let is_unsettled = |region: &MemoryRegion| {
            (!knows_order || region.is_global && has_others)
                && loads.iter().any(|load| load.may_overlap(*region))
        };
        let unordered = regions.into_iter().filter(is_unsettled);
        self.unsettled.iter().copied().chain(unordered).collect()
    }

    /// All accesses, reduced to what decides whether they conflict: many instructions have few different ones.
    fn classes(&self) -> BTreeSet<(Compared, AccessKind)> {
        let known = self.known.iter().map(|&(place, kind, class, _)| ((place, class, None), kind));
        known.chain(self.open.iter().map(|open| (compared(open), open.kind))).collect()
    }

    /// Whether, without regard to order, anything that might overlap the region conflicts.
    fn may_conflict(
        &self,
        (compared, kind): (Compared, AccessKind),
        nearness: Nearness,
        classes: &BTreeSet<(Compared, AccessKind)>,
    ) -> bool {
        classes.iter().any(|&(other, with)| {
            other.0.may_overlap(compared.0)
                && !self.is_compared(other, compared)
                && conflict(with, kind, nearness).is_some_and(Conflict::is_race)
        })
    }
}

/// The lanes of an access, by the buffer that they access.
fn buffers(access: &Access<'_>) -> SmallVec<[(Option<usize>, LaneMask); 1]> {
    if access.space != Space::Global {
        return smallvec![(access.variable, access.lanes)];
    }
    let buffer = |lane: usize| argument_of(access.addresses.bits_of(lane));
    let ends = [access.lanes.trailing_zeros(), access.lanes.checked_ilog2().unwrap_or(0)];
    let [first, last] = ends.map(|lane| buffer(lane as usize));
    // Lanes that grow by a constant step lie between the two ends.
    if access.addresses.as_affine().is_some() && first == last {
        return smallvec![(first, access.lanes)];
    }
    let mut found: BTreeMap<Option<usize>, LaneMask> = BTreeMap::new();
    for lane in lanes(access.lanes) {
        *found.entry(buffer(lane)).or_default() |= 1 << lane;
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests;
