//! Sites: the instruction in the PTX that a finding points at, its source line, and the threads concerned.

use std::fmt;

use crate::ptx::{Position, Span};

/// The role of a site's instruction in the finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Reads the memory in question.
    Read,
    /// Writes the memory in question.
    Write,
    /// Accesses the memory in question atomically.
    Atomic,
    /// Waits at a barrier.
    Waits,
    /// Completes the previous generation of a barrier.
    Previous,
    /// Arrives at a barrier.
    Arrival,
    /// Configured the generation of a barrier as its first arrival.
    First,
    /// Decides which threads reach a barrier.
    Branch,
    /// Where an open finding arises, or what threads execute that should be elsewhere.
    Here,
    /// The kernel as a whole.
    Kernel,
}

impl Role {
    /// Returns the word used in reports and fixtures.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Atomic => "atomic",
            Self::Waits => "waits",
            Self::Previous => "previous",
            Self::Arrival => "arrival",
            Self::First => "first",
            Self::Branch => "branch",
            Self::Here => "here",
            Self::Kernel => "kernel",
        }
    }

    /// Returns the word for the instruction in a sentence.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Waits => "wait",
            Self::Previous => "previous use",
            Self::First => "first arrival",
            Self::Here => "instruction",
            Self::Read
            | Self::Write
            | Self::Atomic
            | Self::Arrival
            | Self::Branch
            | Self::Kernel => self.name(),
        }
    }
}

/// A line of source code, as given by the compiler's `.loc`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceLine {
    /// The path as the compiler wrote it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if the compiler gives none.
    pub column: u32,
}

/// A thread of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Thread {
    /// Coordinates of the cta in the grid.
    pub cta: [u32; 3],
    /// Coordinates of the thread in the cta.
    pub thread: [u32; 3],
}

impl fmt::Display for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread {} of cta {}", point(self.thread), point(self.cta))
    }
}

/// Returns coordinates as findings show them: the first one alone if the others are zero.
pub(crate) fn point(at: [u32; 3]) -> String {
    match at {
        [x, 0, 0] => x.to_string(),
        [x, y, z] => format!("({x},{y},{z})"),
    }
}

/// An instruction as it appears in a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Its role in the finding.
    pub role: Role,
    /// Line and column in the PTX.
    pub ptx: Position,
    /// Its text in the PTX, as bytes.
    pub span: Span,
    /// The source lines it came from, innermost first: inlined functions before their callers. Empty without `.loc`.
    pub source: Vec<SourceLine>,
    /// The threads concerned: for a race, the one that accesses; for a barrier, the first of each waiting warp.
    pub threads: Vec<Thread>,
    /// The text to print beside the site, such as `4-byte write of buf+128`.
    pub label: String,
}
