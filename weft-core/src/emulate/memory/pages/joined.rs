//! The contents of a thread's local memory after one of two runs, not known which.

use super::{Memory, View};
use crate::emulate::memory::bytes::PAGE;
use crate::emulate::memory::page::Page;
use crate::emulate::value::lane::Lane;
use crate::emulate::value::symbolics::Symbolics;

impl Memory {
    /// Sets this memory, which is that after one run, to what is known after either of two: `other` is that after the other run.
    /// For each word in which they differ, `one_of` takes both values and gives what is known of the word.
    pub(crate) fn join(
        &mut self,
        other: &Self,
        view: View<'_>,
        symbolics: &mut Symbolics,
        mut one_of: impl FnMut(&mut Symbolics, Lane, Lane) -> Lane,
    ) {
        let nothing = Page::new();
        let mut differing = Vec::new();
        for number in self.pages.keys().chain(other.pages.keys()).copied() {
            let [own, its] = [&*self, other]
                .map(|memory| memory.pages.get(&number).map_or(&nothing, AsRef::as_ref));
            if own != its {
                let words = own.words(its).into_iter().filter(|word| !own.is_same_in(its, *word));
                differing.extend(words.map(|(at, size)| (number * PAGE + at as u64, size)));
            }
        }
        differing.sort_unstable();
        differing.dedup();
        let parts = differing.into_iter().flat_map(|(first, bytes)| parts(first, bytes));
        let both: Vec<_> = parts
            .map(|(at, size)| {
                let [a, b] = [&*self, other].map(|memory| memory.load(at, size, view, symbolics));
                (at, size, one_of(symbolics, a, b))
            })
            .collect();
        for piece in &other.forgotten {
            if !self.forgotten.contains(piece) {
                self.forgotten.push(piece.clone());
            }
        }
        for (at, size, value) in both {
            self.store(at, size, value);
        }
    }
}

/// Cuts bytes into parts of at most eight.
fn parts(first: u64, bytes: u32) -> impl Iterator<Item = (u64, u32)> {
    (0..bytes).step_by(8).map(move |at| (first + u64::from(at), (bytes - at).min(8)))
}
