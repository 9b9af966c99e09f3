//! Pages of a state space, found by their number.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// Something by page.
#[derive(Clone, Debug)]
pub(super) struct Pages<P> {
    /// With their numbers.
    all: Vec<(u64, P)>,
    /// By page number: the index in `all`.
    index: HashMap<u64, usize, RandomState>,
    /// The index of the page found last.
    last: usize,
    /// Bytes that the pages take, and may take.
    held: u64,
    most: u64,
    /// Whether an access was not followed.
    pub(super) is_full: bool,
}

impl<P: Default> Pages<P> {
    /// What one takes by itself: the page with its number, and its place in the index.
    const HELD: u64 = (size_of::<(u64, P)>() + 4 * size_of::<u64>()) as u64;

    /// For so many bytes of memory.
    pub(super) fn within(most: u64) -> Self {
        let index = HashMap::default();
        Self { all: Vec::new(), index, last: 0, held: 0, most, is_full: false }
    }

    /// Whether they take more than they may.
    pub(super) const fn is_over(&self) -> bool {
        self.held > self.most
    }

    /// What the page found last holds grew to so many bytes from so many.
    pub(super) const fn grow(&mut self, from: usize, to: usize) {
        self.held = (self.held + to as u64).saturating_sub(from as u64);
    }

    /// All pages with their numbers, ascending.
    pub(super) fn into_all(mut self) -> impl Iterator<Item = (u64, P)> {
        self.all.sort_unstable_by_key(|(number, _)| *number);
        self.all.into_iter()
    }

    /// Whether there is no page.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// A page by its number, if there is one.
    pub(super) fn known(&mut self, number: u64) -> Option<&mut P> {
        let at = self.near(number).or_else(|| self.index.get(&number).copied())?;
        self.last = at;
        self.all.get_mut(at).map(|(_, page)| page)
    }

    /// A page by its number; `None`: they take too much.
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

    /// The index of a page, if it is the one found last or was made just before or after that: neighbours mostly are
    /// accessed together.
    fn near(&self, number: u64) -> Option<usize> {
        let is_it = |at: &usize| self.all.get(*at).is_some_and(|(known, _)| *known == number);
        [self.last, self.last.wrapping_add(1), self.last.wrapping_sub(1)].into_iter().find(is_it)
    }
}
