//! Pages of a state space, found by their number.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// Bytes of a page.
pub(super) const PAGE: u64 = 128;
/// Pages kept; accesses beyond are not followed.
const MAX_PAGES: usize = 1 << 18;

/// Bytes of a page, a bit for each.
pub(super) type Bytes = u128;

/// The bytes `from..to` of a page; what lies outside is left out.
pub(super) fn span(from: i64, to: i64) -> Bytes {
    const LAST: i64 = PAGE.cast_signed();
    let (from, to) = (from.clamp(0, LAST), to.clamp(0, LAST));
    let below = |end: i64| if end == LAST { Bytes::MAX } else { (1 << end) - 1 };
    if from < to { below(to) & !below(from) } else { 0 }
}

/// The places of these bytes in their page, ascending.
pub(super) fn places(bytes: Bytes) -> impl Iterator<Item = u64> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let at = u64::from(rest.trailing_zeros());
        rest &= rest.wrapping_sub(1);
        (at < PAGE).then_some(at)
    })
}

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
