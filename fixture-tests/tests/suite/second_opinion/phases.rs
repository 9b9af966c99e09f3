//! The arrivals at an mbarrier object, phase by phase.

use super::relation::Point;

/// The points of the arrivals of the current phase of an object, and of the phase before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Phases {
    current: Vec<Point>,
    last: Vec<Point>,
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

    /// Completes the current phase.
    pub(crate) fn complete(&mut self) {
        self.last = std::mem::take(&mut self.current);
    }

    /// What a wait learns that sees the phase before complete.
    pub(crate) fn last(&self) -> &[Point] {
        &self.last
    }
}
