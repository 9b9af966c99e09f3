//! Pages of a state space, found by their number.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// Pages kept; accesses beyond are not followed.
const MAX_PAGES: usize = 1 << 18;

/// Something by page.
#[derive(Clone, Debug)]
pub(super) struct Pages<P> {
    all: Vec<P>,
    /// By page number: the index in `all`.
    index: HashMap<u64, usize, RandomState>,
    /// The page found last, with its number.
    last: Option<(u64, usize)>,
    /// Whether an access was not followed.
    pub(super) is_full: bool,
}

impl<P: Default> Pages<P> {
    pub(super) fn new() -> Self {
        Self { all: Vec::new(), index: HashMap::default(), last: None, is_full: false }
    }

    /// Forgets all pages.
    pub(super) fn clear(&mut self) {
        (self.all, self.index, self.last) = (Vec::new(), HashMap::default(), None);
    }

    /// All pages with their numbers, ascending.
    pub(super) fn into_all(mut self) -> impl Iterator<Item = (u64, P)> {
        let mut numbers: Vec<_> = self.index.into_iter().collect();
        numbers.sort_unstable();
        numbers.into_iter().map(move |(number, at)| (number, std::mem::take(&mut self.all[at])))
    }

    /// Whether there is no page.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// A page by its number, if there is one.
    pub(super) fn known(&mut self, number: u64) -> Option<&mut P> {
        let at = self.index.get(&number)?;
        self.all.get_mut(*at)
    }

    /// A page by its number; `None`: there are too many.
    pub(super) fn page(&mut self, number: u64) -> Option<&mut P> {
        let at = match self.last {
            Some((own, at)) if own == number => at,
            _ => {
                let next = self.all.len();
                if next >= MAX_PAGES && !self.index.contains_key(&number) {
                    self.is_full = true;
                    return None;
                }
                let at = *self.index.entry(number).or_insert(next);
                if at == next {
                    self.all.push(P::default());
                }
                self.last = Some((number, at));
                at
            }
        };
        self.all.get_mut(at)
    }
}
