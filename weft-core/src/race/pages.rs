//! A table of pages of a state space by their numbers, which finds pages next to the last one quickly and limits their
//! memory.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// A table with one `P` for each page.
#[derive(Clone, Debug)]
pub(super) struct Pages<P> {
    /// Pages with their numbers.
    all: Vec<(u64, P)>,
    /// For each page number: the index in `all`.
    index: HashMap<u64, usize, RandomState>,
    /// The index in `all` of the page found last.
    last: usize,
    /// Number of bytes that the pages take, and the limit.
    held: u64,
    most: u64,
    /// Whether a page was left out because of the limit.
    pub(super) is_full: bool,
}

impl<P: Default> Pages<P> {
    /// Bytes that a page takes without what it holds: itself with its number, and its entry in the index.
    const HELD: u64 = (size_of::<(u64, P)>() + 4 * size_of::<u64>()) as u64;

    /// An empty table for pages that together take at most `most` bytes.
    pub(super) fn within(most: u64) -> Self {
        let index = HashMap::default();
        Self { all: Vec::new(), index, last: 0, held: 0, most, is_full: false }
    }

    /// Whether the pages take more than the limit.
    pub(super) const fn is_over(&self) -> bool {
        self.held > self.most
    }

    /// Records that what the page found last holds grew from `from` to `to` bytes.
    pub(super) const fn grow(&mut self, from: usize, to: usize) {
        self.held = (self.held + to as u64).saturating_sub(from as u64);
    }

    /// All pages with their numbers, in ascending order.
    pub(super) fn into_all(mut self) -> impl Iterator<Item = (u64, P)> {
        self.all.sort_unstable_by_key(|(number, _)| *number);
        self.all.into_iter()
    }

    /// All pages with their numbers.
    pub(super) fn all(&self) -> impl Iterator<Item = &(u64, P)> {
        self.all.iter()
    }

    /// Whether there are no pages.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The page with this number, if it is in the table.
    pub(super) fn known(&mut self, number: u64) -> Option<&mut P> {
        let at = self.near(number).or_else(|| self.index.get(&number).copied())?;
        self.last = at;
        self.all.get_mut(at).map(|(_, page)| page)
    }

    /// The page with this number, which is added if it is new; `None` if the pages take more than the limit.
    pub(super) fn page(&mut self, number: u64) -> Option<&mut P> {
        if self.is_over() {
            self.is_full = true;
            return None;
        }
        let next = self.all.len();
        self.last = match self.near(number) {
            Some(at) => at,
            None => *self.index.entry(number).or_insert(next),
        };
        if self.last == next {
            self.held += Self::HELD;
            self.all.push((number, P::default()));
        }
        self.all.get_mut(self.last).map(|(_, page)| page)
    }

    /// The index of a page if it is the one found last or next to it in `all`: neighbours are often accessed together.
    fn near(&self, number: u64) -> Option<usize> {
        let is_it = |at: &usize| self.all.get(*at).is_some_and(|(known, _)| *known == number);
        [self.last, self.last.wrapping_add(1), self.last.wrapping_sub(1)].into_iter().find(is_it)
    }
}
