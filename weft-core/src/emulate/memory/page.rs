//! A page of memory: for each byte whether it is known, open or as before the launch, and whether it was surely
//! written.

use super::bytes;
use super::bytes::{Bytes, PAGE, places, span};
use crate::emulate::value::lane::Lane;

pub(super) const PAGE_BYTES: usize = 128;

/// The position of an address in its page.
pub(super) fn within(address: u64) -> usize {
    usize::try_from(address % PAGE).expect("a page is small")
}

/// What one byte of memory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Byte {
    /// As before the launch or, where stores at open addresses might have written, as these left it.
    Initial,
    Known(u8),
    /// Part of an open value.
    Open,
}

/// What the bytes of a page hold, and which of them were written.
#[derive(Clone, Debug)]
pub(super) struct Page {
    /// Bytes that were written after their contents were last forgotten.
    written: Bytes,
    /// Those of `written` that are part of an open value.
    open: Bytes,
    /// The contents of bytes that are known; zero elsewhere.
    bytes: [u8; PAGE_BYTES],
    /// First bytes of what was stored, however much of it was overwritten since.
    starts: Bytes,
    /// First bytes of open values that are whole, as they were stored.
    firsts: Bytes,
    /// First bytes of open values that were partly overwritten or forgotten.
    torn: Bytes,
    /// For each first byte in `firsts` or `torn`: the size of the value and the value. Empty if the page never held an
    /// open value.
    values: Vec<(u32, Lane)>,
    /// Bytes that were surely written at some time.
    sure: Bytes,
    /// Bytes that were written after their contents were last forgotten, but never surely.
    unsure: Bytes,
}

/// Two pages are equal if they hold the same; entries of `values` that were overwritten do not count.
impl PartialEq for Page {
    fn eq(&self, other: &Self) -> bool {
        let masks =
            |page: &Self| (page.written, page.open, page.firsts, page.torn, page.sure, page.unsure);
        let mut kept = places(self.firsts | self.torn).map(within);
        masks(self) == masks(other)
            && self.bytes == other.bytes
            && kept.all(|at| self.values[at] == other.values[at])
    }
}

impl Eq for Page {}

impl Page {
    pub(super) const fn new() -> Self {
        Self {
            written: 0,
            open: 0,
            bytes: [0; PAGE_BYTES],
            starts: 0,
            firsts: 0,
            torn: 0,
            values: Vec::new(),
            sure: 0,
            unsure: 0,
        }
    }

    pub(super) fn byte(&self, at: usize) -> Byte {
        match (self.written >> at & 1, self.open >> at & 1) {
            (0, _) => Byte::Initial,
            (_, 0) => Byte::Known(self.bytes[at]),
            _ => Byte::Open,
        }
    }

    /// Notes that bytes were surely written, by what is not kept here.
    pub(super) const fn make_sure(&mut self, bytes: Bytes) {
        self.sure |= bytes;
        self.unsure &= !bytes;
    }

    /// Whether a byte was surely written, and whether it was written, but not surely.
    pub(super) const fn is_written(&self, at: usize) -> (bool, bool) {
        (self.sure >> at & 1 == 1, self.unsure >> at & 1 == 1)
    }

    /// Whether the page has a table of open values.
    pub(super) const fn has_values(&self) -> bool {
        !self.values.is_empty()
    }

    /// Cuts what two pages hold into words, each with its size in bytes: a word begins wherever something was stored, and
    /// where what was written begins or ends, in one of the pages.
    pub(super) fn words(&self, other: &Self) -> Vec<(usize, u32)> {
        let edges = |page: &Self| page.written ^ page.written << 1 | page.starts & page.written;
        let edges = edges(self) | edges(other);
        let mut words: Vec<(usize, u32)> = Vec::new();
        for at in places(self.written | other.written).map(within) {
            match words.last_mut() {
                Some((_, size)) if edges >> at & 1 == 0 => *size += 1,
                _ => words.push((at, 1)),
            }
        }
        words
    }

    /// Whether two pages hold the same in a word.
    pub(super) fn is_same_in(&self, other: &Self, (at, size): (usize, u32)) -> bool {
        let end = at + size as usize;
        (at..end).all(|at| self.byte(at) == other.byte(at) && self.part(at) == other.part(at))
            && self.read(at, size) == other.read(at, size)
    }

    /// The open value that begins at `at` and is whole, with its size.
    pub(super) fn value(&self, at: usize) -> Option<(u32, Lane)> {
        (self.firsts >> at & 1 == 1).then(|| self.values[at])
    }

    /// The open value that begins at `at` and that some bytes are part of.
    pub(super) fn part(&self, at: usize) -> Option<Lane> {
        ((self.firsts | self.torn) >> at & 1 == 1).then(|| self.values[at].1)
    }

    /// All open values that some bytes are part of, with their positions and sizes.
    pub(super) fn all_parts(&self) -> impl Iterator<Item = (u64, u32, Lane)> {
        places(self.firsts | self.torn).map(|at| {
            let (size, value) = self.values[within(at)];
            (at, size, value)
        })
    }

    /// Stores an open value of `size` bytes at `at`, whole; its bytes have been written by `write`.
    pub(super) fn put(&mut self, at: usize, size: u32, value: Lane) {
        if self.values.is_empty() {
            self.values = vec![(0, Lane::known(0)); PAGE_BYTES];
        }
        self.firsts |= 1 << at;
        self.torn &= !(1 << at);
        self.values[at] = (size, value);
    }

    /// Marks open values that overlap the bytes `from..to` as torn, and removes those that lie within.
    pub(super) fn drop_values(&mut self, from: i64, to: i64) {
        for at in places((self.firsts | self.torn) & span(from - 7, to)) {
            let first = at.cast_signed();
            let end = first + i64::from(self.values[within(at)].0);
            if end <= from {
                continue;
            }
            self.firsts &= !(1 << at);
            if from <= first && end <= to {
                self.torn &= !(1 << at);
            } else {
                self.torn |= 1 << at;
            }
        }
    }

    /// Writes bytes from `at` on. `is_open`: the bytes are part of an open value. `is_sure`: the write surely happens.
    pub(super) fn write(&mut self, at: usize, bytes: &[u8], is_open: bool, is_sure: bool) {
        let end = at + bytes.len();
        self.drop_values((at as u64).cast_signed(), (end as u64).cast_signed());
        let stored = bytes::first(u32::try_from(bytes.len()).expect("a page is small")) << at;
        self.written |= stored;
        self.starts = self.starts & !stored | 1 << at;
        if is_sure {
            self.sure |= stored;
        }
        self.unsure = (self.unsure | stored) & !self.sure;
        if is_open {
            self.open |= stored;
            self.bytes[at..end].fill(0);
        } else {
            self.open &= !stored;
            self.bytes[at..end].copy_from_slice(bytes);
        }
    }

    /// Forgets the contents of the bytes `from..to`, but not that they were surely written.
    pub(super) fn forget(&mut self, from: i64, to: i64) {
        self.drop_values(from, to);
        let cleared = span(from, to);
        self.written &= !cleared;
        self.open &= !cleared;
        self.unsure &= !cleared;
        places(cleared).for_each(|at| self.bytes[within(at)] = 0);
    }

    /// Whether nothing is known of the page but which bytes were surely written.
    pub(super) const fn is_forgotten(&self) -> bool {
        self.written == 0
    }

    /// Whether all of these bytes were surely written.
    pub(super) const fn is_all_sure(&self, bytes: Bytes) -> bool {
        self.sure & bytes == bytes
    }

    /// Whether some bytes were surely written.
    pub(super) const fn is_sure(&self) -> bool {
        self.sure != 0
    }

    /// The value of these bytes, if they are one open value that was stored whole, or are all known. `None` also if a
    /// byte was not written, or not surely.
    pub(super) fn read(&self, at: usize, size: u32) -> Option<Lane> {
        let count = size as usize;
        let wanted = bytes::first(size) << at;
        if at + count > PAGE_BYTES || self.written & wanted != wanted || self.unsure & wanted != 0 {
            return None;
        }
        match self.open & wanted {
            0 => {
                let mut bits = [0; 8];
                bits.get_mut(..count)?.copy_from_slice(&self.bytes[at..at + count]);
                Some(Lane::known(u64::from_le_bytes(bits)))
            }
            _ => self.value(at).filter(|(stored, _)| *stored == size).map(|(_, value)| value),
        }
    }
}
