//! The contents of a state space: bytes known, open or as before the launch.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::bytes::{self, Bytes, PAGE, places, span};
use super::origin::{Origin, Region};
use super::term::{Lane, Terms};

const PAGE_BYTES: usize = 128;

/// Pages of global memory whose contents are kept: 64 MiB.
const MAX_GLOBAL: usize = 1 << 19;
/// Pages of shared memory or of a thread's local memory: as much as hardware has, 512 KiB.
const MAX_OWN: usize = 1 << 12;

/// The place of an address in its page.
fn within(address: u64) -> usize {
    usize::try_from(address % PAGE).unwrap_or(0)
}

/// What was there before the launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// First byte.
    pub(super) start: u64,
    /// Bytes; accesses beyond it belong to no segment.
    pub(super) size: u64,
    /// Known contents from the first byte on.
    pub(super) contents: Arc<[u8]>,
    /// Whether zeros follow the known contents; otherwise what follows is open.
    pub(super) zeros_follow: bool,
    /// Where open contents come from.
    pub(super) origin: Origin,
}

impl Segment {
    fn byte(&self, address: u64) -> Option<u8> {
        let at = address.checked_sub(self.start).filter(|at| *at < self.size)?;
        let given = usize::try_from(at).ok().and_then(|at| self.contents.get(at)).copied();
        given.or(self.zeros_follow.then_some(0))
    }
}

/// The first and the last byte of a piece of memory.
pub(super) type Extent = (u64, u64);

/// All of a memory.
pub(super) const ALL: Extent = (0, u64::MAX);

/// A piece of memory that was written at an open address: nothing is known there but what was written since.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Forgotten {
    extent: Extent,
    /// Where the write came from.
    origin: Origin,
    /// Whether something was written there since.
    is_written: bool,
}

impl Forgotten {
    const fn holds(&self, (first, last): Extent) -> bool {
        self.extent.0 <= first && last <= self.extent.1
    }

    const fn meets(&self, (first, last): Extent) -> bool {
        self.extent.0 <= last && first <= self.extent.1
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Byte {
    Initial,
    Known(u8),
    /// Part of an open value.
    Open,
}

#[derive(Clone, Debug)]
struct Page {
    /// Bytes that something was written to.
    written: Bytes,
    /// Those of them that are part of an open value.
    open: Bytes,
    /// Those that are known; zero elsewhere.
    bytes: [u8; PAGE_BYTES],
    /// The first bytes of open values that are as they were stored.
    firsts: Bytes,
    /// By first byte: the size of such a value, and the value. Empty if there never was one.
    values: Vec<(u32, Lane)>,
}

/// Values that were overwritten do not count.
impl PartialEq for Page {
    fn eq(&self, other: &Self) -> bool {
        (self.written, self.open, self.firsts) == (other.written, other.open, other.firsts)
            && self.bytes == other.bytes
            && places(self.firsts).all(|at| self.values[within(at)] == other.values[within(at)])
    }
}

impl Eq for Page {}

impl Page {
    const fn new() -> Self {
        Self { written: 0, open: 0, bytes: [0; PAGE_BYTES], firsts: 0, values: Vec::new() }
    }

    fn byte(&self, at: usize) -> Byte {
        match (self.written >> at & 1, self.open >> at & 1) {
            (0, _) => Byte::Initial,
            (_, 0) => Byte::Known(self.bytes[at]),
            _ => Byte::Open,
        }
    }

    /// An open value that was stored whole and begins here.
    fn value(&self, at: usize) -> Option<(u32, Lane)> {
        (self.firsts >> at & 1 == 1).then(|| self.values[at])
    }

    fn put(&mut self, at: usize, size: u32, value: Lane) {
        if self.values.is_empty() {
            self.values = vec![(0, Lane::known(0)); PAGE_BYTES];
        }
        self.firsts |= 1 << at;
        self.values[at] = (size, value);
    }

    /// Values that overlap these bytes of the page are no longer whole.
    fn drop_values(&mut self, from: i64, to: i64) {
        for at in places(self.firsts & span(from - 7, to)) {
            let first = within(at);
            if at.cast_signed() + i64::from(self.values[first].0) > from {
                self.firsts &= !(1 << at);
            }
        }
    }

    /// Takes bytes from a place on; of an open value they are nothing but part of it.
    fn write(&mut self, at: usize, bytes: &[u8], is_open: bool) {
        let end = at + bytes.len();
        self.drop_values((at as u64).cast_signed(), (end as u64).cast_signed());
        let own = bytes::first(u32::try_from(bytes.len()).unwrap_or(0)) << at;
        self.written |= own;
        if is_open {
            self.open |= own;
            self.bytes[at..end].fill(0);
        } else {
            self.open &= !own;
            self.bytes[at..end].copy_from_slice(bytes);
        }
    }

    /// These bytes are as if nothing was written; whether no others are left.
    fn forget(&mut self, from: i64, to: i64) -> bool {
        self.drop_values(from, to);
        let own = span(from, to);
        self.written &= !own;
        self.open &= !own;
        places(own).for_each(|at| self.bytes[within(at)] = 0);
        self.written == 0
    }

    /// What these bytes hold, if that is one value that was stored whole, or all of it is known.
    fn read(&self, at: usize, size: u32) -> Option<Lane> {
        let count = size as usize;
        let own = bytes::first(size) << at;
        if at + count > PAGE_BYTES || self.written & own != own {
            return None;
        }
        match self.open & own {
            0 => {
                let mut bits = [0; 8];
                bits.get_mut(..count)?.copy_from_slice(&self.bytes[at..at + count]);
                Some(Lane::known(u64::from_le_bytes(bits)))
            }
            _ => self.value(at).filter(|(stored, _)| *stored == size).map(|(_, value)| value),
        }
    }
}

/// A state space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Memory {
    pages: HashMap<u64, Box<Page>, RandomState>,
    segments: Vec<Segment>,
    /// Where writes went that may have gone elsewhere.
    forgotten: Vec<Forgotten>,
    /// Pages that are kept.
    limit: usize,
    /// Pages with open values.
    tables: usize,
}

/// What a memory holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) pages: usize,
    tables: usize,
}

impl Held {
    /// Bytes that it takes: of a page with its number, and of the values of one.
    pub(super) const fn bytes(self) -> u64 {
        const WITH_NUMBER: usize = size_of::<Page>() + 4 * size_of::<u64>();
        (self.pages * WITH_NUMBER + self.tables * PAGE_BYTES * size_of::<(u32, Lane)>()) as u64
    }

    /// What this is more than another.
    pub(super) const fn more_than(self, other: Self) -> Self {
        let pages = self.pages.saturating_sub(other.pages);
        Self { pages, tables: self.tables.saturating_sub(other.tables) }
    }
}

impl std::iter::Sum for Held {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        let plus =
            |a: Self, b: Self| Self { pages: a.pages + b.pages, tables: a.tables + b.tables };
        all.fold(Self::default(), plus)
    }
}

impl Default for Memory {
    /// Shared memory, or the local memory of a thread.
    fn default() -> Self {
        Self { limit: MAX_OWN, ..Self::new(Vec::new()) }
    }
}

impl Memory {
    /// Global memory with these contents; segments do not overlap.
    pub(super) fn new(mut segments: Vec<Segment>) -> Self {
        segments.sort_by_key(|segment| segment.start);
        let (pages, limit) = (HashMap::default(), MAX_GLOBAL);
        Self { pages, segments, forgotten: Vec::new(), limit, tables: 0 }
    }

    /// What is kept of what was written.
    pub(super) fn held(&self) -> Held {
        Held { pages: self.pages.len(), tables: self.tables }
    }

    fn page(&self, address: u64) -> Option<&Page> {
        self.pages.get(&(address / PAGE)).map(AsRef::as_ref)
    }

    /// The segment that holds an address.
    pub(super) fn segment(&self, address: u64) -> Option<&Segment> {
        let at = self.segments.partition_point(|segment| segment.start <= address);
        let segment = self.segments.get(at.checked_sub(1)?)?;
        (address - segment.start < segment.size).then_some(segment)
    }

    /// Something was written nobody knows where in these bytes: what they hold is open. How many pages were looked at.
    pub(super) fn forget(&mut self, extent: Extent, origin: Origin) -> usize {
        let is_as_before = |own: &Forgotten| own.holds(extent) && !own.is_written;
        if self.forgotten.iter().any(is_as_before) {
            return 0;
        }
        let looked_at = self.pages.len();
        let (first, last) = extent;
        self.drop_values_into(first);
        self.pages.retain(|number, page| {
            let (start, end) = (number * PAGE, number * PAGE + (PAGE - 1));
            if last < start || end < first {
                return true;
            }
            let place = |at: u64| (at - start).cast_signed();
            let is_empty = page.forget(place(first.max(start)), place(last.min(end)) + 1);
            self.tables -= usize::from(is_empty && !page.values.is_empty());
            !is_empty
        });
        let new = Forgotten { extent, origin, is_written: false };
        self.forgotten.retain(|old| !new.holds(old.extent));
        self.forgotten.push(new);
        looked_at
    }

    /// A value that begins on the page before and reaches up to this address is no longer whole.
    fn drop_values_into(&mut self, address: u64) {
        let before = (address / PAGE).checked_sub(1).filter(|_| address % PAGE < 7);
        if let Some(page) = before.and_then(|before| self.pages.get_mut(&before)) {
            page.drop_values(PAGE.cast_signed(), PAGE.cast_signed());
        }
    }

    /// Where the write came from that may have gone to some of these bytes, last.
    fn forgotten(&self, extent: Extent) -> Option<Origin> {
        self.forgotten.iter().rev().find(|own| own.meets(extent)).map(|own| own.origin)
    }

    /// For reads that follow each other.
    pub(super) const fn reader(&self) -> Reader<'_> {
        Reader { memory: self, page: None }
    }

    /// Whether these bytes are of a buffer whose contents are open, as they were before the launch.
    pub(super) fn is_initial(&self, from: u64, to: u64) -> bool {
        let is_open = |own: &Segment| {
            let is_given = own.zeros_follow || !own.contents.is_empty();
            let is_buffer = matches!(own.origin, Origin::Contents(_));
            is_buffer && !is_given && to - own.start <= own.size
        };
        let is_page_as_before = |number| !self.pages.contains_key(&number);
        self.forgotten((from, to)).is_none()
            && self.segment(from).is_some_and(is_open)
            && (from / PAGE..to.div_ceil(PAGE)).all(is_page_as_before)
    }

    /// Reads `size` bytes, at most 8. `unwritten` is the origin of contents that nobody gives.
    pub(super) fn load(
        &self,
        address: u64,
        size: u32,
        unwritten: Origin,
        terms: &mut Terms,
    ) -> Lane {
        self.reader().load(address, size, unwritten, terms)
    }

    /// The same of bytes that are no value that was stored whole, nor all known.
    fn load_parts(
        &self,
        page: Option<&Page>,
        address: u64,
        size: u32,
        unwritten: Origin,
        terms: &mut Terms,
    ) -> Lane {
        let last = address.saturating_add(u64::from(size).saturating_sub(1));
        let forgotten = self.forgotten((address, last));
        let segment = self.segment(address).filter(|_| forgotten.is_none());
        let unwritten = forgotten.unwrap_or(unwritten);
        let mut bits = 0;
        let mut initial = 0;
        for at in 0..size {
            let here = address.wrapping_add(u64::from(at));
            let given = segment.and_then(|segment| segment.byte(here));
            let here_page = if here / PAGE == address / PAGE { page } else { self.page(here) };
            let written = here_page.map_or(Byte::Initial, |page| page.byte(within(here)));
            let byte = match (written, given) {
                (Byte::Known(byte), _) | (Byte::Initial, Some(byte)) => byte,
                (Byte::Initial, None) => {
                    initial += 1;
                    continue;
                }
                (Byte::Open, _) => return self.load_open(address, size, terms, unwritten),
            };
            bits |= u64::from(byte) << (8 * at);
        }
        match initial {
            0 => Lane::known(bits),
            all => {
                let origin = segment.map_or(unwritten, |segment| segment.origin);
                Lane::open(match (all == size, segment) {
                    (true, Some(_)) => terms.initial(origin, address, size),
                    (true, None) => terms.anything(origin, Region::Unclear),
                    _ => terms.unclear(origin),
                })
            }
        }
    }

    /// The stored value if it is read as it was written, something open otherwise.
    fn load_open(&self, address: u64, size: u32, terms: &mut Terms, unwritten: Origin) -> Lane {
        let term_at =
            |at: u64| self.pages.get(&(at / PAGE)).and_then(|page| page.value(within(at)));
        if let Some((stored, value)) = term_at(address)
            && stored == size
        {
            return value;
        }
        // Some value that overlaps tells at least where it comes from.
        let before = (0..16).find_map(|back| term_at(address.wrapping_sub(back)));
        let within = (0..u64::from(size)).find_map(|at| term_at(address.wrapping_add(at)));
        let term = before.or(within).and_then(|(_, value)| value.term);
        let origin = term.and_then(|term| terms.origin(term)).unwrap_or(unwritten);
        Lane::open(terms.unclear(origin))
    }

    /// Writes `size` bytes, at most 8.
    pub(super) fn store(&mut self, address: u64, size: u32, value: Lane) {
        // The address space has an end.
        let last = address.saturating_add(u64::from(size).saturating_sub(1));
        let (own, end) = (address / PAGE, last / PAGE);
        // A store touches two pages at most.
        if self.pages.len() + 2 > self.limit && !self.pages.contains_key(&own) {
            self.forget(ALL, Origin::Unkept);
        }
        for own in self.forgotten.iter_mut().filter(|own| own.meets((address, last))) {
            own.is_written = true;
        }
        self.drop_values_into(address);
        let bits = value.bits.to_le_bytes();
        for number in own..=end {
            let page = self.pages.entry(number).or_insert_with(|| Box::new(Page::new()));
            let first = address.max(number * PAGE);
            let count = last.min(number * PAGE + (PAGE - 1)) - first + 1;
            let from = within(first - address);
            let bytes = &bits[from..from + usize::try_from(count).unwrap_or(0)];
            page.write(within(first), bytes, value.term.is_some());
            if number == own && value.term.is_some() {
                self.tables += usize::from(page.values.is_empty());
                page.put(within(address), size, value);
            }
        }
    }
}

/// Reads of a memory: lanes often read one page.
pub(super) struct Reader<'a> {
    memory: &'a Memory,
    /// The page that was read last, by number.
    page: Option<(u64, Option<&'a Page>)>,
}

impl Reader<'_> {
    /// As [`Memory::load`].
    pub(super) fn load(
        &mut self,
        address: u64,
        size: u32,
        unwritten: Origin,
        terms: &mut Terms,
    ) -> Lane {
        let number = address / PAGE;
        let page = match self.page {
            Some((own, page)) if own == number => page,
            _ => self.memory.page(address),
        };
        self.page = Some((number, page));
        let whole = page.and_then(|page| page.read(within(address), size));
        whole.unwrap_or_else(|| self.memory.load_parts(page, address, size, unwritten, terms))
    }
}

#[cfg(test)]
mod tests;
