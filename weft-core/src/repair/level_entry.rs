//! What a level of nesting consists of: points and accesses.

use std::collections::BTreeSet;

use super::points::PointId;
use crate::finding::SourceLine;
use crate::ptx::Span;

/// An access, or what a loop or a condition contains.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LevelElement {
    /// The lines of the accesses.
    pub(super) lines: BTreeSet<SourceLine>,
    /// The first word of an access; `None` for a loop or a condition.
    pub(super) word: Option<String>,
    /// Most loops that are around an access of it, but not around the point.
    pub(super) loops: usize,
    /// The number of elements with the same lines and loops that it is a part of.
    pub(super) wholes: usize,
    /// The calls that the accesses are inlined in, each with those around it; empty next to a point in the same call.
    pub(super) calls: BTreeSet<Vec<SourceLine>>,
}

/// What is next to a point, in one direction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Neighbour {
    pub(super) element: LevelElement,
    /// The number of points in between.
    pub(super) distance: usize,
    pub(super) accesses: BTreeSet<Span>,
}

/// Something at a level.
#[derive(Clone)]
pub(super) enum LevelEntry {
    Point(PointId),
    Accesses(LevelAccesses),
}

/// An access, or all those of a loop or a condition.
#[derive(Clone)]
pub(super) struct LevelAccesses {
    /// `None` if the line of one of them is not known.
    pub(super) element: Option<LevelElement>,
    pub(super) accesses: BTreeSet<Span>,
    /// Whether it is a barrier of the cta that stays, by itself.
    pub(super) is_barrier: bool,
}

impl LevelAccesses {
    /// A loop or a condition, still without accesses.
    pub(super) fn none() -> Self {
        let (lines, accesses) = (BTreeSet::new(), BTreeSet::new());
        let element =
            Some(LevelElement { lines, word: None, loops: 0, wholes: 0, calls: BTreeSet::new() });
        Self { element, accesses, is_barrier: false }
    }

    /// Adds an access in some loops.
    pub(super) fn add(&mut self, access: &Self, loops: usize) {
        self.accesses.extend(&access.accesses);
        match (&mut self.element, &access.element) {
            (Some(own), Some(other)) => {
                own.lines.extend(other.lines.iter().cloned());
                own.calls.extend(other.calls.iter().cloned());
                own.loops = own.loops.max(loops);
            }
            _ => self.element = None,
        }
    }

    /// Returns the element, without calls if all is of the kernel itself.
    pub(super) fn own_element(&self) -> Option<LevelElement> {
        let mut element = self.element.clone()?;
        if element.calls.iter().all(Vec::is_empty) {
            element.calls.clear();
        }
        Some(element)
    }

    /// Returns the accesses as what is next to a point.
    pub(super) fn neighbour(&self) -> Option<Neighbour> {
        let element = self.own_element()?;
        Some(Neighbour { element, distance: 0, accesses: self.accesses.clone() })
    }
}

impl LevelEntry {
    /// Returns the accesses, if it is no point.
    pub(super) const fn accesses(&self) -> Option<&LevelAccesses> {
        match self {
            Self::Accesses(own) => Some(own),
            Self::Point(_) => None,
        }
    }
}
