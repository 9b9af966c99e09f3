//! The place in the source that an insertion has.

use crate::finding::SourceLine;

/// Where a change of the PTX is made in the source. The lines that a compiler states are those of statements from which it
/// moved, shared and merged instructions: a line counts only if the place beside it separates the racing accesses as the
/// place in the PTX does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourcePlace {
    /// Beside the first line of the change's site.
    Beside,
    /// Somewhere between the lines of two accesses.
    Between(BetweenLines),
    /// In doubt: the instruction has a line, but none that is known to be the place.
    Doubtful,
    /// Unknown: the compiler states no line.
    Unstated,
}

/// The part of a source between two accesses, outside of the loops and conditions that contain only one of them. Both lines
/// are of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BetweenLines {
    /// The line of the access in front of the place.
    pub from: SourceLine,
    /// The line of the access behind it, in the same file.
    pub to: SourceLine,
    /// For accesses of different iterations of a loop around both, where in the loop the place is.
    pub iteration: Option<IterationPlace>,
    /// Whether a barrier there was checked wherever it will be in the PTX: the lines are of the kernel's own body, rather than of
    /// a function that it calls, and all copies of the two accesses lie around the barrier as they do.
    pub is_certain: bool,
}

/// A place in a loop's body, besides all accesses in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IterationPlace {
    /// In front of them.
    Start,
    /// Behind them.
    End,
}

impl BetweenLines {
    /// Whether the place is within one statement, between the accesses that it makes.
    pub fn is_within_line(&self) -> bool {
        self.iteration.is_none() && self.from.line == self.to.line
    }

    /// Returns the place in words. `name`: how to call a line.
    pub fn words(&self, name: impl Fn(&SourceLine) -> String) -> String {
        let (from, to) = (name(&self.from), name(&self.to));
        match (self.iteration, from == to) {
            (None, true) => format!("within {from}"),
            (None, false) => format!("between {from} and {to}"),
            (Some(_), true) => format!("between {from} and the same line of the next iteration"),
            (Some(_), false) => format!("between {from} and {to} of the next iteration"),
        }
    }
}
