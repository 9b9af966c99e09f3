//! Which bytes of memory stores might change while loads read them, in another schedule.
//!
//! A load reads what memory holds if every store to the bytes is ordered with it: then it reads this value in every
//! schedule. Which accesses are ordered is known once the pass has run. Bytes that were found to race are *interfering*
//! from then on, and so is what a store at an open address can reach if nothing orders it with a load there. If a load
//! read such bytes and its value decides something, the pass is run again. What a load of interfering bytes sees
//! depends on the schedule, so it is open. Races of stores that provably store the same value do not count.
//!
//! A loop that polls by *strong* loads (volatile, relaxed, acquire: PTX ISA §8.4) might wait for something that never
//! happens in the machine's own schedule. Memory that is polled too often, and all memory once a cta has run for long,
//! is assumed to be interfering: that is always sound.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;

use crate::emulate::memory::bytes::{Bytes, PAGE, span};
use crate::emulate::memory::pages::Extent;
use crate::emulate::memory::word::Word;

/// Number of strong loads of a word by one cta above which the word counts as polled.
const POLLED: u32 = 4096;

/// Number of instructions of one cta, each counted once per warp, above which all memory counts as interfering: half of
/// what one cta can run under the default limit.
const LONG: u64 = 1 << 25;

/// Number of passes that found new interfering bytes after which all memory counts as interfering.
const MAX_CHANGES: u32 = 8;

/// Bytes that were loaded as memory held them, by state space (whether it is global) and page.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    pages: HashMap<(bool, u64), Bytes, RandomState>,
    /// The page that was loaded from last, which might not be in `pages` yet.
    last: Option<((bool, u64), Bytes)>,
}

impl Loaded {
    fn add(&mut self, is_global: bool, address: u64, bytes: u32) {
        let end = address.saturating_add(u64::from(bytes));
        for page in address / PAGE..end.div_ceil(PAGE) {
            let place = |at: u64| at.wrapping_sub(page * PAGE).cast_signed();
            let bytes_here = span(place(address), place(end));
            match &mut self.last {
                Some((last, known)) if *last == (is_global, page) => *known |= bytes_here,
                _ => {
                    self.keep_last();
                    self.last = Some(((is_global, page), bytes_here));
                }
            }
        }
    }

    fn keep_last(&mut self) {
        if let Some((page, bytes)) = self.last.take() {
            *self.pages.entry(page).or_default() |= bytes;
        }
    }

    fn has(&self, word: Word) -> bool {
        let address = word.start();
        let place = (address % PAGE).cast_signed();
        let bytes = span(place, place + Word::SIZE.cast_signed());
        self.pages.get(&(word.is_global, address / PAGE)).is_some_and(|known| known & bytes != 0)
    }

    /// Whether some byte was loaded of the word that contains this byte of global or shared memory.
    pub fn reads(&self, is_global: bool, byte: u64) -> bool {
        self.has(Word::of(is_global, byte))
    }

    /// Whether something was loaded from a page that overlaps these bytes.
    fn overlaps(&self, is_global: bool, (first, last): Extent) -> bool {
        let is_in = |page: u64| (first / PAGE..=last / PAGE).contains(&page);
        self.pages.keys().any(|(of_global, page)| *of_global == is_global && is_in(*page))
    }

    /// Joins what another cta loaded.
    fn join(&mut self, mut other: Self) {
        other.keep_last();
        #[allow(clippy::iter_over_hash_type, reason = "a union does not depend on the order")]
        for (page, bytes) in other.pages {
            *self.pages.entry(page).or_default() |= bytes;
        }
    }
}

/// The interfering bytes of all ctas together, and the bytes that the running pass loaded as not interfering.
#[derive(Debug, Default)]
pub(crate) struct Interference {
    words: HashSet<Word, RandomState>,
    extents: Vec<(bool, Extent)>,
    is_everything: bool,
    loaded: Loaded,
    /// For each word that strong loads read: the last cta that read it, and how often that cta did.
    polls: HashMap<Word, (u32, u32), RandomState>,
    /// Whether the running pass loaded something that turned out to be polled.
    changed: bool,
    changes: u32,
}

impl Interference {
    /// Whether there are no interfering bytes, and no loads that might poll.
    pub(crate) fn is_empty(&self) -> bool {
        let has_none = self.words.is_empty() && self.extents.is_empty() && self.polls.is_empty();
        has_none && !self.is_everything
    }

    /// Joins what an independent cta loaded.
    pub(crate) fn join(&mut self, loaded: Loaded) {
        self.loaded.join(loaded);
    }

    /// Prepares for a new pass.
    pub(crate) fn begin(&mut self) {
        self.polls.clear();
        self.loaded = Loaded::default();
        self.changed = false;
    }

    /// Whether the pass that has ended loaded nothing that turned out to be polled.
    pub(crate) fn settle(&mut self) -> bool {
        let changed = std::mem::take(&mut self.changed);
        self.count(changed);
        !changed
    }

    fn count(&mut self, changed: bool) {
        self.changes += u32::from(changed);
        self.is_everything |= self.changes >= MAX_CHANGES;
    }

    /// Records a load whose value decides something. Returns whether the load sees what memory holds.
    pub(crate) fn load(&mut self, is_global: bool, at: u64, bytes: u32) -> bool {
        if self.is_everything || self.interferes_at(is_global, at, bytes) {
            return false;
        }
        self.loaded.add(is_global, at, bytes);
        true
    }

    /// As `load`, for a strong load by a cta that has run `ran` instructions.
    pub(crate) fn poll(
        &mut self,
        cta: u32,
        ran: u64,
        is_global: bool,
        at: u64,
        bytes: u32,
    ) -> bool {
        if ran > LONG && !self.is_everything {
            self.is_everything = true;
            self.changed |= !self.polls.is_empty();
        }
        if !self.load(is_global, at, bytes) {
            return false;
        }
        let mut is_polled = false;
        for word in Word::all(is_global, at, bytes) {
            let (last, count) = self.polls.entry(word).or_default();
            *count = if *last == cta { *count + 1 } else { 1 };
            *last = cta;
            is_polled |= *count > POLLED;
        }
        if is_polled {
            self.words.extend(Word::all(is_global, at, bytes));
            self.changed = true;
        }
        !is_polled
    }

    fn interferes_at(&self, is_global: bool, at: u64, bytes: u32) -> bool {
        let last = at.saturating_add(u64::from(bytes).saturating_sub(1));
        let is_in = |(of_global, extent): &(bool, Extent)| {
            *of_global == is_global && extent.0 <= last && at <= extent.1
        };
        self.extents.iter().any(is_in)
            || !self.words.is_empty()
                && Word::all(is_global, at, bytes).any(|word| self.words.contains(&word))
    }

    /// Takes what the running pass loaded as memory held it.
    pub(crate) fn take_loaded(&mut self) -> Loaded {
        self.loaded.keep_last();
        std::mem::take(&mut self.loaded)
    }

    /// Records that `bytes` race, and that the bytes of `extents` might. Returns whether that is new, and `loaded` has
    /// some of these bytes.
    pub(crate) fn interfere(
        &mut self,
        loaded: &Loaded,
        bytes: impl IntoIterator<Item = (bool, u64)>,
        extents: impl IntoIterator<Item = (bool, Extent)>,
    ) -> bool {
        let mut changed = false;
        for (is_global, byte) in bytes {
            let word = Word::of(is_global, byte);
            changed |= self.words.insert(word) && loaded.has(word);
        }
        for extent in extents {
            if !self.extents.contains(&extent) {
                self.extents.push(extent);
                changed |= loaded.overlaps(extent.0, extent.1);
            }
        }
        self.count(changed);
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn race(interference: &mut Interference, bytes: &[(bool, u64)]) -> bool {
        let loaded = interference.take_loaded();
        interference.interfere(&loaded, bytes.iter().copied(), [])
    }

    #[test]
    fn a_pass_that_read_interfering_bytes_is_run_again() {
        let mut interference = Interference::default();
        interference.begin();
        assert!(interference.load(false, 8, 4) && interference.load(false, 126, 4));
        assert!(!race(&mut interference, &[(false, 12), (true, 8)]));
        interference.begin();
        assert!(interference.load(false, 8, 4));
        assert!(race(&mut interference, &[(false, 11)]));
        interference.begin();
        assert!(!interference.load(false, 4, 8));
        assert!(interference.load(false, 4, 4) && interference.load(true, 0, 8));
        assert!(interference.settle() && !race(&mut interference, &[(false, 11)]));
    }

    #[test]
    fn bytes_on_both_sides_of_the_end_of_a_page_are_read() {
        for byte in [126, 127, 128, 129] {
            let mut interference = Interference::default();
            interference.begin();
            assert!(interference.load(true, 126, 4) && interference.load(true, 0, 4));
            assert!(race(&mut interference, &[(true, byte)]), "{byte}");
        }
    }

    #[test]
    fn a_write_at_an_open_address_concerns_what_it_may_reach() {
        let mut interference = Interference::default();
        interference.begin();
        assert!(interference.load(true, 512, 4));
        let loaded = interference.take_loaded();
        assert!(!interference.interfere(
            &loaded,
            [],
            [(true, (1024, 2047)), (false, (0, u64::MAX))]
        ));
        assert!(interference.interfere(&loaded, [], [(true, (256, 515))]));
        interference.begin();
        assert!(!interference.load(true, 515, 1) && interference.load(true, 516, 4));
        assert!(!interference.load(true, 1020, 8) && !interference.load(false, 4, 4));
    }

    #[test]
    fn polling_ends() {
        let mut interference = Interference::default();
        interference.begin();
        let polls = (0..2 * POLLED).take_while(|_| interference.poll(0, 0, false, 8, 4)).count();
        assert_eq!(polls, POLLED as usize);
        assert!(
            interference.poll(0, 0, false, 16, 4) && !interference.poll(0, LONG + 1, false, 16, 4)
        );
        assert!(!interference.settle());
    }

    #[test]
    fn a_pass_that_polls_for_long_is_run_again() {
        let mut interference = Interference::default();
        interference.begin();
        assert!(
            interference.poll(0, 0, false, 8, 4) && !interference.poll(0, LONG + 1, false, 64, 4)
        );
        assert!(!interference.settle());
        interference.begin();
        assert!(!interference.poll(0, 0, false, 8, 4) && interference.settle());
    }
}
