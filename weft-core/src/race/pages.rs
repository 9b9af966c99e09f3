//! Cells for the bytes of a state space: one for four bytes until a narrower access splits its page.

use std::collections::HashMap;

/// Bytes of a page.
const PAGE: u64 = 128;
/// Pages kept; accesses beyond are not followed.
const MAX_PAGES: usize = 1 << 18;
/// Bytes of a cell that is not split.
const WORD: u64 = 4;

#[derive(Clone, Debug)]
struct Page<C> {
    /// Bytes of a cell: 4 or 1.
    grain: u64,
    cells: Vec<C>,
}

/// Cells by address.
#[derive(Clone, Debug)]
pub(super) struct Pages<C> {
    all: Vec<Page<C>>,
    /// By page number: the index in `all`.
    index: HashMap<u64, usize>,
    /// The page found last, with its number.
    last: Option<(u64, usize)>,
    /// Whether an access was not followed.
    pub(super) is_full: bool,
}

impl<C: Clone + Default> Pages<C> {
    pub(super) fn new() -> Self {
        Self { all: Vec::new(), index: HashMap::new(), last: None, is_full: false }
    }

    /// Forgets all cells.
    pub(super) fn clear(&mut self) {
        (self.all, self.index, self.last) = (Vec::new(), HashMap::new(), None);
    }

    fn page(&mut self, number: u64) -> Option<&mut Page<C>> {
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
                    let cells = vec![C::default(); usize::try_from(PAGE / WORD).unwrap_or(0)];
                    self.all.push(Page { grain: WORD, cells });
                }
                self.last = Some((number, at));
                at
            }
        };
        self.all.get_mut(at)
    }

    /// Every cell that `bytes` bytes from `address` on touch, with its address and its size.
    pub(super) fn for_each(
        &mut self,
        address: u64,
        bytes: u32,
        mut visit: impl FnMut(u64, u64, &mut C),
    ) {
        let end = address.saturating_add(u64::from(bytes));
        let mut here = address;
        while here < end {
            let number = here / PAGE;
            let stop = end.min((number + 1).saturating_mul(PAGE));
            let Some(page) = self.page(number) else {
                here = stop;
                continue;
            };
            if page.grain == WORD && !(here.is_multiple_of(WORD) && stop.is_multiple_of(WORD)) {
                page.split();
            }
            let grain = page.grain;
            while here < stop {
                let at = usize::try_from(here % PAGE / grain).unwrap_or(0);
                visit(here, grain, &mut page.cells[at]);
                here += grain;
            }
        }
    }
}

impl<C: Clone> Page<C> {
    /// One cell a byte from now on.
    fn split(&mut self) {
        let each = |cell: &C| std::iter::repeat_n(cell.clone(), usize::try_from(WORD).unwrap_or(0));
        self.cells = self.cells.iter().flat_map(each).collect();
        self.grain = 1;
    }
}
