//! The arrivals at an mbarrier object, phase by phase.

use super::relation::Point;

/// The points of the arrivals of the current phase of an object, and of the phase before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Phases {
    current: Vec<Point>,
    last: Vec<Point>,
    /// All that has counted in the two phases, and what saw the last one complete.
    counted: [Vec<Point>; 2],
    /// Whether something counts in the two phases of which only a wait tells when it happens.
    is_followed: [bool; 2],
    waits: Vec<Point>,
}

impl Phases {
    /// Adds an arrival that releases what its thread knows.
    pub(crate) fn arrive(&mut self, point: Point) {
        self.current.push(point);
    }

    /// Adds a copy whose bytes are counted in the current phase.
    pub(crate) fn copy(&mut self, copy: Point) {
        self.current.push(copy);
    }

    /// Adds something that counts in the current phase.
    pub(crate) fn count(&mut self, point: Point) {
        self.counted[0].push(point);
    }

    /// Records that an arrival that follows copies counts in the current phase.
    pub(crate) fn follow(&mut self) {
        self.is_followed[0] = true;
    }

    /// Adds a wait that has seen the last phase complete.
    pub(crate) fn wait(&mut self, point: Point) {
        self.waits.push(point);
    }

    /// Completes the current phase.
    pub(crate) fn complete(&mut self) {
        self.last = std::mem::take(&mut self.current);
        self.counted = [Vec::new(), std::mem::take(&mut self.counted[0])];
        self.is_followed = [false, self.is_followed[0]];
        self.waits.clear();
    }

    /// Whether what is ordered before a thread shows that the last phase is complete.
    pub(crate) fn is_last_known(&self, is_before: impl Fn(Point) -> bool) -> bool {
        let [_, last] = &self.counted;
        let are_all = !self.is_followed[1] && last.iter().all(|own| is_before(*own));
        self.waits.iter().any(|own| is_before(*own)) || are_all
    }

    /// What a wait learns that sees the phase before complete.
    pub(crate) fn last(&self) -> &[Point] {
        &self.last
    }
}
