//! What loops that are proved by induction pass through memory from one iteration to later ones.
//!
//! The general state of a loop stands for any later iteration, but memory still holds what the first iteration left, or
//! what it held before the loop. A read in the general state can use these contents only if a warp in the same general
//! state wrote the bytes, or if no iteration writes them. Which words iterations write is known once they have run: if
//! a word that was read as if no iteration writes it turns out to be written, the pass is run again.

use std::collections::{BTreeSet, HashMap, HashSet};

use foldhash::fast::RandomState;

use crate::emulate::memory::word::Word;
use crate::flow::BlockId;

/// A general state: the loop's header, and how often the cta has entered the loop.
pub(crate) type General = (BlockId, u32);

/// Words that iterations write, in all ctas together, and words that the running pass read as if no iteration writes
/// them.
#[derive(Debug, Default)]
pub(crate) struct Inherited {
    words: BTreeSet<Word>,
    /// State spaces in which iterations write at open addresses; true is global memory.
    spaces: BTreeSet<bool>,
    reads: HashSet<Word, RandomState>,
    changed: bool,
}

impl Inherited {
    /// Whether no iteration wrote anything, and none read what an iteration could write.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.spaces.is_empty() && self.reads.is_empty()
    }

    /// Prepares for a new pass.
    pub(crate) fn begin(&mut self) {
        self.reads.clear();
        self.changed = false;
    }

    /// Whether the pass that has ended read no word that iterations turned out to write.
    pub(crate) fn settle(&mut self) -> bool {
        !std::mem::take(&mut self.changed)
    }

    /// Records a read in the general state of bytes that were not written in it. Returns whether iterations write
    /// there.
    pub(crate) fn read(&mut self, is_global: bool, address: u64, bytes: u32) -> bool {
        let is_carried = self.spaces.contains(&is_global)
            || Word::all(is_global, address, bytes).any(|word| self.words.contains(&word));
        if !is_carried {
            self.reads.extend(Word::all(is_global, address, bytes));
        }
        is_carried
    }

    /// Records a write of an iteration.
    pub(crate) fn write(&mut self, is_global: bool, address: u64, bytes: u32) {
        for word in Word::all(is_global, address, bytes) {
            if self.words.insert(word) {
                self.changed |= self.reads.contains(&word);
            }
        }
    }

    /// Records a write of an iteration to an unknown address of a state space.
    pub(crate) fn write_somewhere(&mut self, is_global: bool) {
        if self.spaces.insert(is_global) {
            self.changed |= self.reads.iter().any(|word| word.is_global == is_global);
        }
    }
}

/// For each byte that was last written in a general state: which state that was.
#[derive(Debug, Default)]
pub(crate) struct GeneralWrites(HashMap<(bool, u64), General, RandomState>);

impl GeneralWrites {
    /// Records a write in the general state `state`, or in none.
    pub(crate) fn write(
        &mut self,
        is_global: bool,
        address: u64,
        bytes: u32,
        state: Option<General>,
    ) {
        if state.is_none() && self.0.is_empty() {
            return;
        }
        for at in 0..u64::from(bytes) {
            let byte = (is_global, address.saturating_add(at));
            match state {
                Some(state) => self.0.insert(byte, state),
                None => self.0.remove(&byte),
            };
        }
    }

    /// Whether all of these bytes were last written in the general state `state`.
    pub(crate) fn holds(&self, is_global: bool, address: u64, bytes: u32, state: General) -> bool {
        let is_own =
            |at| self.0.get(&(is_global, address.saturating_add(u64::from(at)))) == Some(&state);
        (0..bytes).all(is_own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_that_read_what_an_iteration_writes_is_run_again() {
        let mut inherited = Inherited::default();
        inherited.begin();
        assert!(!inherited.read(false, 8, 4) && !inherited.read(true, 64, 8));
        inherited.write(false, 12, 4);
        assert!(inherited.settle());
        inherited.write(false, 11, 1);
        assert!(!inherited.settle());
        inherited.begin();
        assert!(inherited.read(false, 4, 8) && !inherited.read(true, 8, 4) && inherited.settle());
        assert!(!inherited.read(false, 64, 4));
        inherited.write_somewhere(true);
        assert!(!inherited.settle());
        inherited.begin();
        assert!(inherited.read(true, 4096, 4) && !inherited.read(false, 4096, 4));
    }

    #[test]
    fn a_byte_is_of_the_state_that_wrote_it_last() {
        let (mut written, here, other) =
            (GeneralWrites::default(), (BlockId(1), 1), (BlockId(1), 2));
        written.write(false, 8, 8, Some(here));
        assert!(written.holds(false, 8, 8, here) && !written.holds(true, 8, 8, here));
        assert!(!written.holds(false, 8, 8, other));
        written.write(false, 12, 1, Some(other));
        assert!(written.holds(false, 8, 4, here) && !written.holds(false, 8, 8, here));
        written.write(false, 15, 1, Some(other));
        assert!(written.holds(false, 13, 2, here) && !written.holds(false, 13, 3, here));
        written.write(false, 15, 1, Some(here));
        written.write(false, 8, 4, None);
        assert!(!written.holds(false, 8, 4, here) && written.holds(false, 13, 3, here));
        // Another state wrote the first byte.
        assert!(!written.holds(false, 12, 4, here));
    }
}
