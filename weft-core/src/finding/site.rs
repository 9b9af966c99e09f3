//! Where a finding points: an instruction in the PTX, the source line it came from, and the threads concerned.

use std::fmt;

use crate::ptx::{Position, Span};

/// What the instruction at a site does in the finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Reads the memory in question.
    Read,
    /// Writes it.
    Write,
    /// Accesses it atomically.
    Atomic,
    /// Waits at a barrier.
    Waits,
    /// Completes the previous generation of a barrier.
    Previous,
    /// Arrives at a barrier.
    Arrival,
    /// Configured the generation: its first arrival.
    First,
    /// Decides which threads reach a barrier.
    Branch,
    /// Where an open finding arises, or what threads do that should be elsewhere.
    Here,
    /// The kernel as a whole.
    Kernel,
}

impl Role {
    /// The word used in reports and fixtures.
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

    /// What to call the instruction in a sentence.
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

/// A line of source code, by the compiler's `.loc`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceLine {
    /// The path as the compiler wrote it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 where the compiler gives none.
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
        let point = |p: [u32; 3]| match p {
            [x, 0, 0] => x.to_string(),
            [x, y, z] => format!("({x},{y},{z})"),
        };
        write!(f, "thread {} of cta {}", point(self.thread), point(self.cta))
    }
}

/// An instruction as it appears in a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// What it does in the finding.
    pub role: Role,
    /// Line and column in the PTX.
    pub ptx: Position,
    /// Its bytes in the PTX.
    pub span: Span,
    /// The source lines it came from, innermost first: inlined functions before their callers. Empty without `.loc`.
    pub source: Vec<SourceLine>,
    /// The threads concerned: of a race one; of a barrier the first of each waiting warp.
    pub threads: Vec<Thread>,
    /// What to print beside the site, such as `4-byte write of buf+128`.
    pub label: String,
}
