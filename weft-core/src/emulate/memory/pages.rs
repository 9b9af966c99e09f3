//! The contents of a state space, page by page: bytes that are known, open, or as before the launch.

mod joined;
mod reader;

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::bytes::{PAGE, span};
use super::page::{Byte, PAGE_BYTES, Page, within};
use super::segment::Segment;
use crate::emulate::value::guard::{Guards, Occurrences};
use crate::emulate::value::lane::Lane;
use crate::emulate::value::origin::{Origin, Region, perhaps_unwritten};
use crate::emulate::value::symbolics::Symbolics;
use reader::MemoryReader;

/// Most pages of global memory that are kept: 64 MiB.
const MAX_GLOBAL: usize = 1 << 19;
/// Most pages of shared memory or of a thread's local memory: 512 KiB, as much as hardware has.
const MAX_OWN: usize = 1 << 12;

/// The first and the last byte of a piece of memory.
pub(crate) type Extent = (u64, u64);

/// The extent of a whole state space.
pub(crate) const ALL: Extent = (0, u64::MAX);

/// A piece of memory that was written at an open address: nothing is known of its contents but what was written later.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Forgotten {
    extent: Extent,
    /// The origin of values that are read there later.
    origin: Origin,
    /// Whether something was written there afterwards.
    is_written: bool,
}

impl Forgotten {
    const fn holds(&self, (first, last): Extent) -> bool {
        self.extent.0 <= first && last <= self.extent.1
    }

    const fn overlaps(&self, (first, last): Extent) -> bool {
        self.extent.0 <= last && first <= self.extent.1
    }
}

/// A state space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    pages: HashMap<u64, Box<Page>, RandomState>,
    segments: Vec<Segment>,
    /// Pieces that were written at open addresses, in the order of these writes.
    forgotten: Vec<Forgotten>,
    /// Whether memory is undefined before it is written, as shared memory is; then it records which bytes were surely
    /// written.
    starts_unwritten: bool,
    /// Pieces of which every byte was surely written.
    filled: Vec<Extent>,
    /// For each byte, the guards under which it was written.
    written_under: HashMap<u64, Occurrences, RandomState>,
    /// Most pages that are kept.
    limit: usize,
    /// Number of pages with open values.
    tables: usize,
}

/// What is known about a lane that reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    /// Origin of contents that nothing wrote and the launch does not give.
    pub(crate) unwritten: Origin,
    /// The guards that hold where the lane reads.
    pub(crate) guards: Option<&'a Guards>,
}

/// Whether bytes were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writes {
    All,
    /// Some of them might not have been.
    Perhaps,
    None,
}

/// What a read can reach whose address is anywhere in a piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReachedBytes {
    /// Nothing was written in the piece.
    Nothing,
    /// Some of the piece was written, surely or perhaps.
    Some,
    /// All of the piece was surely written.
    All,
    /// What was written in the piece might depend on memory that nothing wrote.
    Unwritten(Origin),
}

/// How much a memory stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MemoryUse {
    pub(crate) pages: usize,
    tables: usize,
}

impl MemoryUse {
    /// Bytes of the checker's own memory: pages with their numbers, and tables of open values.
    pub(crate) const fn bytes(self) -> u64 {
        const WITH_NUMBER: usize = size_of::<Page>() + 4 * size_of::<u64>();
        (self.pages * WITH_NUMBER + self.tables * PAGE_BYTES * size_of::<(u32, Lane)>()) as u64
    }

    /// By how much this exceeds `other`.
    pub(crate) const fn more_than(self, other: Self) -> Self {
        let pages = self.pages.saturating_sub(other.pages);
        Self { pages, tables: self.tables.saturating_sub(other.tables) }
    }
}

impl std::iter::Sum for MemoryUse {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        let plus =
            |a: Self, b: Self| Self { pages: a.pages + b.pages, tables: a.tables + b.tables };
        all.fold(Self::default(), plus)
    }
}

impl Default for Memory {
    /// The local memory of a thread, empty.
    fn default() -> Self {
        Self { limit: MAX_OWN, ..Self::new(Vec::new()) }
    }
}

impl Memory {
    /// Global or constant memory, or the parameter bank, with these contents; segments must not overlap.
    pub(crate) fn new(mut segments: Vec<Segment>) -> Self {
        segments.sort_by_key(|segment| segment.start);
        Self {
            pages: HashMap::default(),
            segments,
            forgotten: Vec::new(),
            starts_unwritten: false,
            filled: Vec::new(),
            written_under: HashMap::default(),
            limit: MAX_GLOBAL,
            tables: 0,
        }
    }

    /// Shared memory, which nothing wrote yet.
    pub(crate) fn shared() -> Self {
        Self { starts_unwritten: true, ..Self::default() }
    }

    /// How much is stored of what was written.
    pub(crate) fn held(&self) -> MemoryUse {
        MemoryUse { pages: self.pages.len(), tables: self.tables }
    }

    fn page(&self, address: u64) -> Option<&Page> {
        self.pages.get(&(address / PAGE)).map(AsRef::as_ref)
    }

    /// The segment that contains an address.
    pub(crate) fn segment(&self, address: u64) -> Option<&Segment> {
        let at = self.segments.partition_point(|segment| segment.start <= address);
        let segment = self.segments.get(at.checked_sub(1)?)?;
        (address - segment.start < segment.size).then_some(segment)
    }

    /// Forgets the contents of a piece of memory, after a store to an unknown address in it. `origin`: that of
    /// values that are read there later. Returns the number of pages that it went through.
    pub(crate) fn forget(
        &mut self,
        extent: Extent,
        origin: Origin,
        symbolics: &Symbolics,
    ) -> usize {
        let before =
            symbolics.reads_unwritten.then(|| self.unwritten_in(extent, symbolics)).flatten();
        self.drop(extent, before.unwrap_or(origin))
    }

    /// Overwrites a piece of memory: of what it holds then, nothing is known but its origin. Where memory starts unwritten, the
    /// piece has to lie in it, because each of its pages is made.
    pub(crate) fn overwrite(&mut self, (first, last): Extent, origin: Origin) {
        self.drop((first, last), origin);
        if !self.starts_unwritten {
            return;
        }
        for number in first / PAGE..=last / PAGE {
            let start = number * PAGE;
            let place = |at: u64| (at - start).cast_signed();
            let bytes = span(place(first.max(start)), place(last.min(start + (PAGE - 1))) + 1);
            self.pages.entry(number).or_insert_with(|| Box::new(Page::new())).make_sure(bytes);
        }
    }

    fn drop(&mut self, extent: Extent, origin: Origin) -> usize {
        let says_no_more = |of_piece: Origin| of_piece == origin || origin.unwritten().is_none();
        let is_as_before = |forgotten: &Forgotten| {
            forgotten.holds(extent) && !forgotten.is_written && says_no_more(forgotten.origin)
        };
        if self.forgotten.iter().any(is_as_before) {
            return 0;
        }
        let looked_at = self.pages.len();
        let ((first, last), is_told) = (extent, self.starts_unwritten && origin != Origin::Unkept);
        self.drop_values_into(first);
        self.pages.retain(|number, page| {
            let (start, end) = (number * PAGE, number * PAGE + (PAGE - 1));
            if last < start || end < first {
                return true;
            }
            let place = |at: u64| (at - start).cast_signed();
            page.forget(place(first.max(start)), place(last.min(end)) + 1);
            let is_kept = !page.is_forgotten() || is_told && page.is_sure();
            self.tables -= usize::from(!is_kept && page.has_values());
            is_kept
        });
        let new = Forgotten { extent, origin, is_written: false };
        self.forgotten.retain(|old| !new.holds(old.extent));
        self.forgotten.push(new);
        looked_at
    }

    /// The origin of values in this piece of memory, if one of them depends on memory that nothing wrote.
    pub(crate) fn unwritten_in(&self, extent: Extent, symbolics: &Symbolics) -> Option<Origin> {
        let (first, last) = extent;
        let in_page = |number: u64, page: &Page| {
            let start = number * PAGE;
            let meets = |at: u64, size: u32| {
                let end = (start + at).saturating_add(u64::from(size).saturating_sub(1));
                start + at <= last && first <= end
            };
            let overlapping = page.all_parts().filter(|(at, size, _)| meets(*at, *size));
            let origins = overlapping.filter_map(|(.., value)| symbolics.origin(value.symbol?));
            Some((number, perhaps_unwritten(origins)?))
        };
        // The first page, not the first one of the map: a report must not differ from run to run.
        let in_pages = self.pages.iter().filter_map(|(number, page)| in_page(*number, page));
        let in_pages = in_pages.min_by_key(|(number, _)| *number);
        let in_pieces = self.forgotten.iter().filter(|forgotten| forgotten.overlaps(extent));
        in_pages
            .map(|(_, origin)| origin)
            .or_else(|| perhaps_unwritten(in_pieces.map(|piece| piece.origin)))
    }

    /// What a read reaches whose address is anywhere in this piece of a memory that is undefined before it is written.
    pub(crate) fn written_in(&mut self, extent: Extent, symbolics: &Symbolics) -> ReachedBytes {
        let before =
            symbolics.reads_unwritten.then(|| self.unwritten_in(extent, symbolics)).flatten();
        if let Some(origin) = before {
            return ReachedBytes::Unwritten(origin.perhaps());
        }
        if self.filled.contains(&extent) {
            return ReachedBytes::All;
        }
        let (first, last) = extent;
        let numbers = first / PAGE..=last / PAGE;
        let is_met = |number: &u64| numbers.contains(number);
        if self.forgotten(extent).is_none() && !self.pages.keys().any(is_met) {
            return ReachedBytes::Nothing;
        }
        let bytes_of = |number: u64| {
            let start = number * PAGE;
            let from = first.max(start) - start;
            span(from.cast_signed(), (last.min(start + (PAGE - 1)) - start).cast_signed() + 1)
        };
        let is_full = |number: u64| {
            self.pages.get(&number).is_some_and(|page| page.is_all_sure(bytes_of(number)))
        };
        if last == u64::MAX || !numbers.clone().all(is_full) {
            return ReachedBytes::Some;
        }
        self.filled.push(extent);
        ReachedBytes::All
    }

    /// Marks an open value as torn that begins on the page before and reaches up to `address`.
    fn drop_values_into(&mut self, address: u64) {
        let before = (address / PAGE).checked_sub(1).filter(|_| address % PAGE < 7);
        if let Some(page) = before.and_then(|before| self.pages.get_mut(&before)) {
            page.drop_values(PAGE.cast_signed(), PAGE.cast_signed());
        }
    }

    /// The origin of the last store to an open address that might have gone to some of these bytes, or of an earlier
    /// one if that depends on memory that nothing wrote.
    fn forgotten(&self, extent: Extent) -> Option<Origin> {
        let mut overlapping =
            self.forgotten.iter().rev().filter(|forgotten| forgotten.overlaps(extent)).peekable();
        let last = overlapping.peek().map(|piece| piece.origin);
        perhaps_unwritten(overlapping.map(|piece| piece.origin)).or(last)
    }

    /// A reader for several reads in a row.
    pub(crate) const fn reader(&self) -> MemoryReader<'_> {
        MemoryReader::of(self)
    }

    /// Whether the bytes `from..to` lie in a buffer whose contents the launch leaves open, and are as they were before
    /// the launch.
    pub(crate) fn is_initial(&self, from: u64, to: u64) -> bool {
        let is_open = |segment: &Segment| {
            let is_buffer = matches!(segment.origin, Origin::Contents(_));
            let is_inside = to - segment.start <= segment.size;
            is_buffer && is_inside && segment.is_open(from, to)
        };
        let is_page_as_before = |number| !self.pages.contains_key(&number);
        self.forgotten((from, to)).is_none()
            && self.segment(from).is_some_and(is_open)
            && (from / PAGE..to.div_ceil(PAGE)).all(is_page_as_before)
    }

    /// Reads `size` bytes, at most 8, and returns what they hold.
    pub(crate) fn load(
        &self,
        address: u64,
        size: u32,
        view: View<'_>,
        symbolics: &mut Symbolics,
    ) -> Lane {
        self.reader().load(address, size, view, symbolics)
    }

    /// As `load`, for bytes that are neither one whole open value nor all known, or that might not have been written.
    fn load_parts(
        &self,
        page: Option<&Page>,
        address: u64,
        size: u32,
        view: View<'_>,
        symbolics: &mut Symbolics,
    ) -> Lane {
        let View { unwritten, guards } = view;
        match self.writes(address, size, guards) {
            Writes::All => {}
            Writes::None => return Lane::open(symbolics.anything(unwritten, Region::Unclear)),
            Writes::Perhaps => return Lane::open(symbolics.unclear(unwritten.perhaps())),
        }
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
                (Byte::Open, _) => return self.load_open(address, size, symbolics, unwritten),
            };
            bits |= u64::from(byte) << (8 * at);
        }
        match initial {
            0 => Lane::known(bits),
            all => {
                let origin = segment.map_or(unwritten, |segment| segment.origin);
                Lane::open(match (all == size, segment) {
                    (true, Some(_)) => symbolics.initial(origin, address, size),
                    (true, None) => symbolics.anything(origin, Region::Unclear),
                    _ => symbolics.unclear(origin),
                })
            }
        }
    }

    /// Whether these bytes were written, under the guards that hold for the reader. Always `All` where memory is
    /// defined from the start.
    fn writes(&self, address: u64, size: u32, guards: Option<&Guards>) -> Writes {
        if !self.starts_unwritten {
            return Writes::All;
        }
        let first = address % PAGE;
        let bytes = span(first.cast_signed(), (first + u64::from(size)).cast_signed());
        let is_in_page = first + u64::from(size) <= PAGE;
        if is_in_page && self.page(address).is_some_and(|page| page.is_all_sure(bytes)) {
            return Writes::All;
        }
        let of_byte = |at: u32| {
            let here = address.wrapping_add(u64::from(at));
            let here_is =
                self.page(here).map_or((false, false), |page| page.is_written(within(here)));
            match here_is {
                (true, _) => Writes::All,
                _ if self
                    .written_under
                    .get(&here)
                    .is_some_and(|occurrences| occurrences.is_implied_by(guards)) =>
                {
                    Writes::All
                }
                (_, true) => Writes::Perhaps,
                _ if self.forgotten((here, here)).is_some() => Writes::Perhaps,
                _ => Writes::None,
            }
        };
        let first = of_byte(0);
        if (1..size).all(|at| of_byte(at) == first) { first } else { Writes::Perhaps }
    }

    /// Whether these bytes were surely written; always true in a memory that is defined from the start.
    pub(crate) fn is_surely_written(
        &self,
        address: u64,
        size: u32,
        guards: Option<&Guards>,
    ) -> bool {
        self.writes(address, size, guards) == Writes::All
    }

    /// The open value that was stored at `address`, if it is read whole; otherwise an open value of which only the
    /// origin is known.
    fn load_open(
        &self,
        address: u64,
        size: u32,
        symbolics: &mut Symbolics,
        unwritten: Origin,
    ) -> Lane {
        let term_at =
            |at: u64| self.pages.get(&(at / PAGE)).and_then(|page| page.value(within(at)));
        if let Some((stored, value)) = term_at(address)
            && stored == size
        {
            return value;
        }
        // Open values that overlap the bytes still give their origin.
        let before = (1..8).map(|back| address.wrapping_sub(back));
        let covered = (0..u64::from(size)).map(|at| address.wrapping_add(at));
        let part_at = |at: u64| self.pages.get(&(at / PAGE)).and_then(|page| page.part(within(at)));
        let terms_there = before.chain(covered).filter_map(|at| part_at(at)?.symbol);
        let origins: Vec<_> = terms_there.filter_map(|symbol| symbolics.origin(symbol)).collect();
        let origin = perhaps_unwritten(origins.iter().copied()).or(origins.first().copied());
        Lane::open(symbolics.unclear(origin.unwrap_or(unwritten)))
    }

    /// Writes the low `size` bytes of `value`, at most 8.
    pub(crate) fn store(&mut self, address: u64, size: u32, value: Lane) {
        self.write((address, size), value, true);
    }

    /// As `store`, in shared memory, for a store that happens only under some guards: `value` is what memory holds
    /// whether it happens or not.
    pub(crate) fn store_under(&mut self, guards: &Guards, address: u64, size: u32, value: Lane) {
        self.write((address, size), value, false);
        for at in 0..u64::from(size) {
            self.written_under.entry(address.wrapping_add(at)).or_default().insert(guards);
        }
    }

    fn write(&mut self, (address, size): (u64, u32), value: Lane, is_sure: bool) {
        // Addresses do not wrap around at the end of the address space.
        let last = address.saturating_add(u64::from(size).saturating_sub(1));
        let (first_page, end) = (address / PAGE, last / PAGE);
        // A store writes to at most two pages.
        if self.pages.len() + 2 > self.limit && !self.pages.contains_key(&first_page) {
            self.drop(ALL, Origin::Unkept);
        }
        for forgotten in self.forgotten.iter_mut().filter(|piece| piece.overlaps((address, last))) {
            forgotten.is_written = true;
        }
        self.drop_values_into(address);
        let bits = value.bits.to_le_bytes();
        for number in first_page..=end {
            let page = self.pages.entry(number).or_insert_with(|| Box::new(Page::new()));
            let first = address.max(number * PAGE);
            let count = last.min(number * PAGE + (PAGE - 1)) - first + 1;
            let from = within(first - address);
            let bytes = &bits[from..from + usize::try_from(count).expect("a page is small")];
            page.write(within(first), bytes, value.symbol.is_some(), is_sure);
            if number == first_page && value.symbol.is_some() {
                self.tables += usize::from(!page.has_values());
                page.put(within(address), size, value);
            }
        }
    }
}

#[cfg(test)]
mod tests;
