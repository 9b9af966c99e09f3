//! The contents of a thread's local memory after one of two runs, not known which.

use std::collections::BTreeSet;

use super::{Memory, View};
use crate::emulate::memory::bytes::PAGE;
use crate::emulate::memory::page::Page;
use crate::emulate::value::lane::Lane;
use crate::emulate::value::symbolics::Symbolics;

impl Memory {
    /// Joins what a thread's memory holds after one of two runs. Of each word in which they differ, `one_of` gives the
    /// value that is one of two, not known which.
    pub(crate) fn joined(
        &self,
        other: &Self,
        view: View<'_>,
        symbolics: &mut Symbolics,
        mut one_of: impl FnMut(&mut Symbolics, Lane, Lane) -> Lane,
    ) -> Self {
        let mut joined = self.clone();
        for piece in &other.forgotten {
            if !joined.forgotten.contains(piece) {
                joined.forgotten.push(piece.clone());
            }
        }
        let nothing = Page::new();
        let numbers: BTreeSet<u64> = self.pages.keys().chain(other.pages.keys()).copied().collect();
        for number in numbers {
            let [own, its] =
                [self, other].map(|memory| memory.pages.get(&number).map_or(&nothing, |page| page));
            for word in own.words(its) {
                if own.is_same_in(its, word) {
                    continue;
                }
                let first = number * PAGE + word.0 as u64;
                for (at, size) in parts(first, word.1) {
                    let [a, b] = [self, other].map(|memory| memory.load(at, size, view, symbolics));
                    let value = one_of(symbolics, a, b);
                    joined.store(at, size, value);
                }
            }
        }
        joined
    }
}

/// Cuts bytes into parts of at most eight.
fn parts(first: u64, bytes: u32) -> impl Iterator<Item = (u64, u32)> {
    (0..bytes).step_by(8).map(move |at| (first + u64::from(at), (bytes - at).min(8)))
}
