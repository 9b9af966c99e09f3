//! Which memory *strong* loads (volatile, relaxed, acquire: PTX ISA §8.4) may see change under their feet.
//!
//! A strong load reads what memory holds, as a plain one does, while nothing that is not ordered with it writes there: then
//! every schedule gives it this value. Who conflicts with it is known once the pass has run. Bytes that an unordered
//! access was found to touch are *contended* from then on, so are places that are written at open addresses, and the pass
//! is run again if a load of it read there. What a strong load of contended bytes sees is up to the schedule: open.
//!
//! A loop that polls may wait for what the schedule of the machine never lets happen. Memory that is read too often, and
//! all of it once a cta has run for long, is taken to be contended: that is always sound.

use std::collections::{BTreeSet, HashMap};

use foldhash::fast::RandomState;

use super::inputs::argument_of;

/// A word of memory: global or not, its address by the size of a word.
type Word = (bool, u64);

/// Bytes of a word.
const WORD: u64 = 4;

/// Instructions of a cta that read a word before it is taken to be polled.
const POLLED: u32 = 4096;

/// Instructions of one cta, counted once a warp, before all memory is taken to be contended: half of those that it may
/// run unless more is stated.
const LONG: u64 = 1 << 25;

/// Passes that find contended memory before all of it is taken to be.
const MAX_CHANGES: u32 = 4;

/// What is contended, in all ctas together, and what the running pass took not to be.
#[derive(Debug, Default)]
pub(super) struct Contention {
    words: BTreeSet<Word>,
    /// Global memory or shared memory; the argument whose buffer is meant; `None`: all of it.
    places: BTreeSet<(bool, Option<usize>)>,
    is_everything: bool,
    /// Words that the pass read as memory held them: the last cta that did, and how many of its instructions.
    reads: HashMap<Word, (u32, u32), RandomState>,
    /// Whether the pass read something that turned out to be contended.
    changed: bool,
    changes: u32,
}

fn words(is_global: bool, address: u64, bytes: u32) -> impl Iterator<Item = Word> {
    let last = address.saturating_add(u64::from(bytes).saturating_sub(1));
    (address / WORD..=last / WORD).map(move |word| (is_global, word))
}

impl Contention {
    /// Whether nothing is contended, and nothing was read that could be.
    pub(super) fn is_empty(&self) -> bool {
        let has_none = self.words.is_empty() && self.places.is_empty() && self.reads.is_empty();
        has_none && !self.is_everything
    }

    /// A pass begins.
    pub(super) fn begin(&mut self) {
        self.reads.clear();
        self.changed = false;
    }

    /// Whether the pass that has ended read nothing that is contended.
    pub(super) fn settle(&mut self) -> bool {
        if !std::mem::take(&mut self.changed) {
            return true;
        }
        self.changes += 1;
        self.is_everything |= self.changes >= MAX_CHANGES;
        false
    }

    /// How often a pass found what it had read to be contended.
    pub(super) const fn changes(&self) -> u32 {
        self.changes
    }

    /// A cta that has executed so many instructions reads by a strong load: whether it sees what memory holds.
    pub(super) fn read(
        &mut self,
        cta: u32,
        ran: u64,
        is_global: bool,
        at: u64,
        bytes: u32,
    ) -> bool {
        if ran > LONG && !self.is_everything {
            self.is_everything = true;
            self.changed |= !self.reads.is_empty();
        }
        if self.is_everything || self.is_contended(is_global, at, bytes) {
            return false;
        }
        let mut is_polled = false;
        for word in words(is_global, at, bytes) {
            let (last, count) = self.reads.entry(word).or_default();
            *count = if *last == cta { *count + 1 } else { 1 };
            *last = cta;
            is_polled |= *count > POLLED;
        }
        if is_polled {
            self.words.extend(words(is_global, at, bytes));
            self.changed = true;
        }
        !is_polled
    }

    fn is_contended(&self, is_global: bool, at: u64, bytes: u32) -> bool {
        let in_place = |place| !self.places.is_empty() && self.places.contains(&(is_global, place));
        in_place(None)
            || is_global && in_place(argument_of(at))
            || words(is_global, at, bytes).any(|word| self.words.contains(&word))
    }

    /// Something writes there, and nothing orders it with something else.
    pub(super) fn contend(&mut self, is_global: bool, byte: u64) {
        let word = (is_global, byte / WORD);
        if self.words.insert(word) {
            self.changed |= self.reads.contains_key(&word);
        }
    }

    /// A write at an open address of a buffer; `None`: anywhere. Shared memory is one place.
    pub(super) fn write_somewhere(&mut self, is_global: bool, buffer: Option<usize>) {
        if self.places.insert((is_global, buffer.filter(|_| is_global))) {
            self.changed |= !self.reads.is_empty();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_that_read_contended_bytes_is_run_again() {
        let mut contention = Contention::default();
        contention.begin();
        assert!(contention.read(0, 0, false, 8, 4));
        contention.contend(false, 12);
        assert!(contention.settle());
        contention.contend(false, 11);
        assert!(!contention.settle());
        contention.begin();
        assert!(!contention.read(0, 0, false, 4, 8));
        assert!(contention.read(0, 0, false, 4, 4) && contention.read(0, 0, true, 8, 4));
        assert!(contention.settle());
    }

    #[test]
    fn a_write_at_an_open_address_concerns_its_buffer() {
        let mut contention = Contention::default();
        contention.begin();
        contention.write_somewhere(true, Some(0));
        assert!(contention.read(0, 0, true, 8, 4) && contention.settle());
        contention.write_somewhere(true, None);
        assert!(!contention.settle());
        assert!(!contention.read(0, 0, true, 8, 4) && contention.read(0, 0, false, 8, 4));
    }

    #[test]
    fn polling_ends() {
        let mut contention = Contention::default();
        contention.begin();
        let polls = (0..2 * POLLED).take_while(|_| contention.read(0, 0, false, 8, 4)).count();
        assert_eq!(polls, POLLED as usize);
        assert!(contention.read(0, 0, false, 16, 4) && !contention.read(0, LONG + 1, false, 16, 4));
        assert!(!contention.settle());
    }
}
