//! The happens-before relation of the Weft paper (PLDI 2015, Fig. 4) for the threads of one cta, in full: for each
//! point of a thread, all points that happen before it.
//!
//! A point is a section of a thread between two synchronizations, a thread's command at a barrier, or the completion of
//! a generation. In every run a point comes after its predecessors, so its closure is the union of theirs.

/// The number of a point, in the order of creation.
pub(crate) type Point = usize;

/// For each point, all points that happen before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relation {
    before: Vec<Vec<u64>>,
}

impl Relation {
    /// Adds a point that directly follows `others`.
    pub(crate) fn behind(&mut self, others: &[Point]) -> Point {
        let point = self.before.len();
        let mut before = vec![0; point.div_ceil(64)];
        for &other in others {
            before[other / 64] |= 1 << (other % 64);
            for (own, bits) in before.iter_mut().zip(&self.before[other]) {
                *own |= bits;
            }
        }
        self.before.push(before);
        point
    }

    /// Whether `before` happens before `after`.
    pub(crate) fn holds(&self, before: Point, after: Point) -> bool {
        self.before[after].get(before / 64).is_some_and(|bits| bits >> (before % 64) & 1 == 1)
    }

    pub(crate) fn len(&self) -> usize {
        self.before.len()
    }
}
