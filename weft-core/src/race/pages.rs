//! Pages of a state space, found by their number.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// Pages kept; accesses beyond are not followed.
const MAX_PAGES: usize = 1 << 18;

/// Something by page.
#[derive(Clone, Debug)]
pub(super) struct Pages<P> {
    /// With their numbers.
    all: Vec<(u64, P)>,
    /// By page number: the index in `all`.
    index: HashMap<u64, usize, RandomState>,
    /// The index of the page found last.
    last: usize,
    /// Whether an access was not followed.
    pub(super) is_full: bool,
}

impl<P: Default> Pages<P> {
    pub(super) fn new() -> Self {
        Self { all: Vec::new(), index: HashMap::default(), last: 0, is_full: false }
    }

    /// Forgets all pages.
    pub(super) fn clear(&mut self) {
        (self.all, self.index, self.last) = (Vec::new(), HashMap::default(), 0);
    }

    /// All pages with their numbers, ascending.
    pub(super) fn into_all(mut self) -> impl Iterator<Item = (u64, P)> {
        self.all.sort_unstable_by_key(|(number, _)| *number);
        self.all.into_iter()
    }

    /// A page by its number, if there is one.
    pub(super) fn get(&self, number: u64) -> Option<&P> {
        let at = *self.index.get(&number)?;
        self.all.get(at).map(|(_, page)| page)
    }

    /// All pages with their numbers.
    pub(super) fn all(&self) -> impl Iterator<Item = (u64, &P)> {
        self.all.iter().map(|(number, page)| (*number, page))
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

    /// A page by its number; `None`: there are too many.
    pub(super) fn page(&mut self, number: u64) -> Option<&mut P> {
        let next = self.all.len();
        self.last = match self.near(number) {
            Some(at) => at,
            None if next < MAX_PAGES || self.index.contains_key(&number) => {
                *self.index.entry(number).or_insert(next)
            }
            None => {
                self.is_full = true;
                return None;
            }
        };
        if self.last == next {
            self.all.push((number, P::default()));
        }
        self.all.get_mut(self.last).map(|(_, page)| page)
    }

    /// The index of a page, if it is the one found last or was made just before or after that: neighbours mostly are
    /// accessed together.
    fn near(&self, number: u64) -> Option<usize> {
        let is_it = |at: &usize| self.all.get(*at).is_some_and(|(own, _)| *own == number);
        [self.last, self.last.wrapping_add(1), self.last.wrapping_sub(1)].into_iter().find(is_it)
    }
}
