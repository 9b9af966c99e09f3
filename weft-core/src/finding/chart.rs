//! A chart of the synchronization of one run of one or two ctas: their warps as lanes from left to right, and what the
//! warps do as rows from top to bottom, in an order in which it happened.
//!
//! Only barriers order the rows of different lanes. What two lanes do between the same barriers might happen in any order.

use super::Verdict;

/// The synchronization of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chart {
    /// The kernel's name as its author wrote it.
    pub kernel: String,
    /// The launch in words.
    pub launch: String,
    /// The verdict over all checks.
    pub verdict: Verdict,
    /// The finding that is shown, as its code and its message; `None` if there is none to show.
    pub finding: Option<(&'static str, String)>,
    /// What a reader has to know of the run: values that were chosen for it, what is not shown.
    pub notes: Vec<String>,
    /// From left to right; those of one cta are neighbours.
    pub lanes: Vec<ChartLane>,
    /// From top to bottom.
    pub rows: Vec<ChartRow>,
    /// What to say of the order of the two marks; `None` if there are not two.
    pub disorder: Option<Disorder>,
}

/// A lane of a chart: a warp, or several neighbouring warps that do the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartLane {
    /// Coordinates of the cta in the grid.
    pub cta: [u32; 3],
    /// The first warp, by its place in the cta.
    pub first: usize,
    /// The last warp.
    pub last: usize,
}

/// What happens in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChartRow {
    /// The warp of a lane arrives at a barrier and goes on without waiting.
    Arrival {
        /// The lane.
        lane: usize,
    },
    /// The generation of a barrier completes, or never does.
    Generation(ChartGeneration),
    /// An access, or another instruction, that the finding is about.
    Mark(ChartMark),
    /// Generations that are left out.
    Fold(ChartFold),
    /// Threads cannot go on, or it is not known how they do.
    Stop(ChartStop),
    /// All threads of a lane's warp end.
    End {
        /// The lane.
        lane: usize,
    },
}

/// A generation of a barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartGeneration {
    /// The barrier's number, from 0 to 15.
    pub barrier: u8,
    /// The number of the generation among those of the barrier in this cta, from 0.
    pub number: u64,
    /// The lanes that take part, from left to right; one that arrives twice is there twice.
    pub participants: Vec<Participant>,
    /// How it ends.
    pub fate: GenerationFate,
}

/// How a generation ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GenerationFate {
    /// It completes.
    Complete,
    /// It never completes, and nobody waits for it.
    Unused,
    /// It never completes, and threads wait for it for ever. What it lacks, as a part of a sentence.
    Stuck(String),
    /// The run stops before it completes.
    Unknown,
}

/// A lane that takes part in a generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Participant {
    /// The lane.
    pub lane: usize,
    /// Whether its warp waits for the generation, or goes on.
    pub waits: bool,
    /// The row of an arrival that does not wait; `None` if the warp waits, or if the row is left out.
    pub arrival: Option<usize>,
    /// The line of the instruction, such as `reduce.cu:12`.
    pub line: String,
}

/// A marked access or instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartMark {
    /// The lane.
    pub lane: usize,
    /// What happens, such as `4-byte write of buf + 128`.
    pub label: String,
    /// The thread and the line, such as `thread 32, reduce.cu:12`.
    pub place: String,
    /// Whether the thread ends before others of its warp go on to a barrier, which then orders nothing that it did.
    pub ends_early: bool,
}

/// Generations that are left out, with the arrivals at them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartFold {
    /// The first and the last lane of the cta.
    pub lanes: (usize, usize),
    /// How many generations they are.
    pub generations: u64,
    /// Whether they repeat the rows before: the same barriers, with the same warps at the same lines.
    pub are_alike: bool,
}

/// Where threads cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartStop {
    /// The lanes whose threads they are, from left to right.
    pub lanes: Vec<usize>,
    /// Why.
    pub label: String,
    /// The line.
    pub place: String,
    /// Whether that is a defect, and not a limit of the check or a value that it does not know.
    pub is_defect: bool,
}

/// What is to be said of the order of two marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disorder {
    /// No barrier orders the two accesses.
    Unordered,
    /// They are in different ctas, which no barrier orders.
    BetweenCtas,
    /// No barrier orders the two accesses, which might race.
    MaybeRacing,
    /// No barrier orders the two accesses, which does no harm by itself.
    Tolerated,
    /// The second use of a barrier might begin before the first one is complete.
    Recycled,
    /// The run did not show them out of order.
    NotSeen,
}

impl Disorder {
    /// Returns what is said of the two marks.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Unordered => "no order: a barrier is missing",
            Self::BetweenCtas => "no order: no barrier orders ctas",
            Self::MaybeRacing => "no barrier orders the two: they might race",
            Self::Tolerated => "no barrier orders the two",
            Self::Recycled => "no order: the two uses of the barrier might mix",
            Self::NotSeen => "whether the two are ordered was not seen in this run",
        }
    }
}
