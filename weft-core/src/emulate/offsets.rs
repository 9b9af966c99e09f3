//! What the lanes of a value are apart from its first lane, where they follow no rule. Values that differ by a number
//! share it, and with it what was found out about all of them: addresses in a loop, or in a row of instructions, do.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use super::rows::{Pattern, Row};
use super::value::WARP;

/// Rows with their pages.
type Rows = Rc<[(u64, Row)]>;

/// By lane: how far it is from the first, in 64-bit wrapping arithmetic.
#[derive(Clone, Debug)]
pub(super) struct Offsets {
    by_lane: [u64; WARP],
    extent: OnceCell<Extent>,
    /// The rows of accesses, by what they depend on: see [`Pattern`].
    rows: RefCell<Vec<(Pattern, Rows)>>,
}

#[derive(Clone, Copy, Debug)]
struct Extent {
    least: i64,
    most: i64,
    /// Bits that some lane has.
    ones: u64,
}

/// Accesses whose rows are kept.
const MAX_ROWS: usize = 32;

impl PartialEq for Offsets {
    fn eq(&self, other: &Self) -> bool {
        self.by_lane == other.by_lane
    }
}

impl Eq for Offsets {}

impl Offsets {
    pub(super) fn new(by_lane: [u64; WARP]) -> Self {
        Self { by_lane, extent: OnceCell::new(), rows: RefCell::default() }
    }

    pub(super) fn of(&self, lane: usize) -> u64 {
        self.by_lane[lane]
    }

    fn extent(&self) -> Extent {
        *self.extent.get_or_init(|| {
            let start = Extent { least: 0, most: 0, ones: 0 };
            self.by_lane.iter().fold(start, |all, &own| Extent {
                least: all.least.min(own.cast_signed()),
                most: all.most.max(own.cast_signed()),
                ones: all.ones | own,
            })
        })
    }

    /// Bits that some offset has.
    pub(super) fn ones(&self) -> u64 {
        self.extent().ones
    }

    /// The least and the greatest lane, if the first is this number and none wraps around.
    pub(super) fn ends_from(&self, first: u64) -> Option<(u64, u64)> {
        let Extent { least, most, .. } = self.extent();
        Some((first.checked_add_signed(least)?, first.checked_add_signed(most)?))
    }

    /// Whether no lane wraps around within so many bits, if the first is this number.
    pub(super) fn fit(&self, first: u64, bits: u32) -> bool {
        bits >= 64 || self.ends_from(first).is_some_and(|(_, most)| most >> bits == 0)
    }

    /// The rows of an access, by the distance of their pages from that of the first lane.
    pub(super) fn rows(&self, pattern: Pattern, find: impl FnOnce() -> Vec<(u64, Row)>) -> Rows {
        let known = self
            .rows
            .borrow()
            .iter()
            .find(|(own, _)| *own == pattern)
            .map(|(_, rows)| rows.clone());
        known.unwrap_or_else(|| {
            let rows: Rows = find().into();
            let mut all = self.rows.borrow_mut();
            if all.len() == MAX_ROWS {
                all.clear();
            }
            all.push((pattern, rows.clone()));
            rows
        })
    }
}
