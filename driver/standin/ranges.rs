//! A set of byte offsets as disjoint ranges: which bytes of an allocation are known.

use std::collections::BTreeMap;

/// Disjoint, not adjacent, non-empty ranges: start to end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// The one range from 0 to `end`.
    pub(crate) fn all(end: u64) -> Self {
        let mut all = Ranges::default();
        all.insert(0, end);
        all
    }

    /// Adds the offsets from `start` up to `end`.
    pub(crate) fn insert(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let (mut low, mut high) = (start, end);
        let touching: Vec<u64> = self
            .0
            .range(..=end)
            .rev()
            .take_while(|(_, other)| **other >= start)
            .map(|(other, _)| *other)
            .collect();
        for other in touching {
            if let Some(last) = self.0.remove(&other) {
                low = low.min(other);
                high = high.max(last);
            }
        }
        self.0.insert(low, high);
    }

    /// Removes the offsets from `start` up to `end`.
    pub(crate) fn remove(&mut self, start: u64, end: u64) {
        for (first, last) in self.within(start, end) {
            let whole = self.0.range(..=first).next_back().map(|(first, last)| (*first, *last));
            let Some((low, high)) = whole else { continue };
            self.0.remove(&low);
            if low < first {
                self.0.insert(low, first);
            }
            if last < high {
                self.0.insert(last, high);
            }
        }
    }

    /// Returns the parts of the set between `start` and `end`, in order.
    pub(crate) fn within(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let before = self.0.range(..start).next_back();
        before
            .into_iter()
            .chain(self.0.range(start..end.max(start)))
            .map(|(low, high)| ((*low).max(start), (*high).min(end)))
            .filter(|(low, high)| low < high)
            .collect()
    }

    /// Returns whether the set is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;

    /// Every operation against a plain list of booleans, for a few thousand random steps.
    #[test]
    fn ranges_behave_like_a_list_of_booleans() {
        const SIZE: usize = 24;
        let mut random = 12345_u64;
        let mut next = |bound: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(random >> 33).unwrap() % bound
        };
        let (mut ranges, mut plain) = (Ranges::default(), [false; SIZE]);
        for _ in 0..5000 {
            let (a, b) = (next(SIZE + 1), next(SIZE + 1));
            let (start, end) = (a.min(b), a.max(b));
            let value = next(2) == 0;
            plain[start..end].fill(value);
            let (low, high) = (start as u64, end as u64);
            let change = if value { Ranges::insert } else { Ranges::remove };
            change(&mut ranges, low, high);
            let own = (0..SIZE as u64).map(|at| ranges.within(at, at + 1) == [(at, at + 1)]);
            assert!(own.eq(plain.iter().copied()), "{ranges:?} is not {plain:?}");
            let (a, b) = (next(SIZE + 1), next(SIZE + 1));
            let (start, end) = (a.min(b), a.max(b));
            let count: u64 =
                ranges.within(start as u64, end as u64).iter().map(|(low, high)| high - low).sum();
            let known = plain[start..end].iter().filter(|known| **known).count();
            assert_eq!(count, known as u64);
            // Adjacent ranges are one.
            let all = ranges.within(0, SIZE as u64);
            assert!(all.windows(2).all(|pair| pair[0].1 < pair[1].0), "{all:?}");
        }
    }
}
