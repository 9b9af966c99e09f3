//! A page of memory: its bytes, known, open or as before the launch, and which of them were surely written.

use super::bytes;
use super::bytes::{Bytes, PAGE, places, span};
use crate::emulate::value::lane::Lane;

pub(super) const PAGE_BYTES: usize = 128;

/// The place of an address in its page.
pub(super) fn within(address: u64) -> usize {
    usize::try_from(address % PAGE).unwrap_or(0)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Byte {
    /// As before the launch, or as something left it that may have written anywhere.
    Initial,
    Known(u8),
    /// Part of an open value.
    Open,
}

#[derive(Clone, Debug)]
pub(super) struct Page {
    /// Bytes that something was written to, since it was forgotten what they held.
    written: Bytes,
    /// Those of them that are part of an open value.
    open: Bytes,
    /// Those that are known; zero elsewhere.
    bytes: [u8; PAGE_BYTES],
    /// The first bytes of open values that are as they were stored.
    firsts: Bytes,
    /// Those of open values of which a part was written over.
    torn: Bytes,
    /// By first byte: the size of such a value, and the value. Empty if there never was one.
    values: Vec<(u32, Lane)>,
    /// Bytes that something surely wrote at some time.
    sure: Bytes,
    /// Bytes written to since, and never surely.
    unsure: Bytes,
}

/// Values that were overwritten do not count.
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

    /// Whether something surely wrote a byte, or might have.
    pub(super) const fn is_written(&self, at: usize) -> (bool, bool) {
        (self.sure >> at & 1 == 1, self.unsure >> at & 1 == 1)
    }

    /// Whether it has room for open values.
    pub(super) const fn has_values(&self) -> bool {
        !self.values.is_empty()
    }

    /// An open value that was stored whole and begins here.
    pub(super) fn value(&self, at: usize) -> Option<(u32, Lane)> {
        (self.firsts >> at & 1 == 1).then(|| self.values[at])
    }

    /// An open value that begins here and that some bytes are part of.
    pub(super) fn part(&self, at: usize) -> Option<Lane> {
        ((self.firsts | self.torn) >> at & 1 == 1).then(|| self.values[at].1)
    }

    /// All such values, with their places and sizes.
    pub(super) fn all_parts(&self) -> impl Iterator<Item = (u64, u32, Lane)> {
        places(self.firsts | self.torn).map(|at| {
            let (size, value) = self.values[within(at)];
            (at, size, value)
        })
    }

    pub(super) fn put(&mut self, at: usize, size: u32, value: Lane) {
        if self.values.is_empty() {
            self.values = vec![(0, Lane::known(0)); PAGE_BYTES];
        }
        self.firsts |= 1 << at;
        self.torn &= !(1 << at);
        self.values[at] = (size, value);
    }

    /// Values that overlap these bytes of the page are no longer whole.
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

    /// Takes bytes from a place on; of an open value they are nothing but part of it.
    pub(super) fn write(&mut self, at: usize, bytes: &[u8], is_open: bool, is_sure: bool) {
        let end = at + bytes.len();
        self.drop_values((at as u64).cast_signed(), (end as u64).cast_signed());
        let stored = bytes::first(u32::try_from(bytes.len()).unwrap_or(0)) << at;
        self.written |= stored;
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

    /// What these bytes hold is forgotten, but not that they were written.
    pub(super) fn forget(&mut self, from: i64, to: i64) {
        self.drop_values(from, to);
        let cleared = span(from, to);
        self.written &= !cleared;
        self.open &= !cleared;
        self.unsure &= !cleared;
        places(cleared).for_each(|at| self.bytes[within(at)] = 0);
    }

    /// Whether nothing is known of it but which bytes were written.
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

    /// What these bytes hold, if that is one value that was stored whole, or all of it is known.
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
