//! The result of one check: findings, verdict, and what the verdict holds for.

use super::{Assumption, Check, Class, Code, Site};
use crate::launch::{Dim3, Dimensions, ExtentBound, Launch};
use crate::ptx::Span;

/// One statement of a report, with the instructions that it concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind of finding.
    pub code: Code,
    /// The check it belongs to; `None`: it concerns all checks.
    pub check: Option<Check>,
    /// One sentence, lower case, no full stop.
    pub message: String,
    /// The instructions that it concerns, the offending one first.
    pub sites: Vec<Site>,
    /// Further facts, one per line: the cycle of a deadlock, the number of pairs.
    pub notes: Vec<String>,
    /// What to do about it, such as the line of weft.toml that would settle it.
    pub help: Option<String>,
    /// The numbers of racing pairs of threads; `None` if the finding is not about pairs.
    pub pairs: Option<ThreadPairs>,
}

/// Numbers of pairs of threads, by where the two threads are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadPairs {
    /// Pairs within one warp.
    pub within_warps: u64,
    /// Pairs of different warps of a cta.
    pub between_warps: u64,
    /// Pairs of different ctas; a lower bound: threads of one cta that do the same at a location count as one.
    pub between_ctas: u64,
}

/// The answer for a kernel or for one of its checks. Ordered by severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Proved for the stated launch.
    Clean,
    /// Neither proved nor refuted.
    Open,
    /// Refuted.
    Defect,
}

impl Verdict {
    /// The word used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Open => "open",
            Self::Defect => "defect",
        }
    }
}

/// How many of the kernel's access and barrier instructions some thread reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Reached access and barrier sites.
    pub reached: usize,
    /// All access and barrier sites.
    pub sites: usize,
}

/// The cost of a check, counted in units of the machine and not in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Emulated ctas, the first ones of the grid; of a case split, the number of the case with the most.
    pub ctas: u64,
    /// Instructions executed, counted once per warp.
    pub warp_instructions: u64,
    /// Accesses and barrier commands, counted once per thread.
    pub thread_commands: u64,
    /// Completed barrier generations.
    pub generations: u64,
}

/// The launches that a clean verdict is proved for, if it is not only the one that was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProvedFor {
    /// The extents of the blocks, in each dimension.
    pub block: [ExtentBound; 3],
    /// The extents of the grids, in each dimension.
    pub grid: [ExtentBound; 3],
    /// Whether only blocks with a multiple of 32 threads in x are meant.
    pub of_whole_warps: bool,
}

impl ProvedFor {
    /// Returns what the proof holds for, such as "every block, every grid, every argument".
    pub fn sentence(self) -> String {
        let warps = if self.of_whole_warps { " of whole warps in x" } else { "" };
        let block = extents("block", self.block);
        format!("{block}{warps}{}, {}", up_to(self.block), self.beside_block())
    }

    /// Returns what the proof holds for beside its block, such as "every grid, every argument".
    pub(crate) fn beside_block(self) -> String {
        format!("{}, every argument", extents("grid", self.grid))
    }
}

fn extents(what: &str, extents: [ExtentBound; 3]) -> String {
    let [_, y, z] = extents;
    if extents.iter().all(|extent| matches!(extent, ExtentBound::Is(_))) {
        let [x, y, z] = extents.map(ExtentBound::most);
        return format!("{what} {}", Dim3 { x, y, z });
    }
    let one = ExtentBound::Is(1);
    match (y == one, z == one) {
        (true, true) => format!("every {what} of one dimension"),
        (_, true) => format!("every {what} of two dimensions"),
        _ => format!("every {what}"),
    }
}

/// Returns the largest block, such as " up to 256", if larger ones can be launched that the proof does not hold for.
fn up_to(block: [ExtentBound; 3]) -> String {
    let [x, y, z] = block.map(ExtentBound::most);
    let most = Dim3 { x, y, z };
    let is_open = block.iter().any(|extent| matches!(extent, ExtentBound::UpTo(_)));
    if is_open && most.count() < Dim3::MAX_THREADS {
        format!(" up to {most}")
    } else {
        String::new()
    }
}

/// Everything known about one kernel under one launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The kernel's name as it stands in the PTX.
    pub kernel: String,
    /// The launch as given.
    pub launch: Launch,
    /// The block size used; `None` if neither launch nor kernel states one.
    pub block: Option<Dim3>,
    /// The grid used.
    pub grid: Dim3,
    /// All findings, in a deterministic order.
    pub findings: Vec<Finding>,
    /// The launches that the kernel is proved for, with every argument that the launch does not give; `None`: it was
    /// run, and the verdict holds for the launch alone.
    pub proved: Option<ProvedFor>,
    /// The assumptions that the verdict rests on.
    pub assumptions: Vec<Assumption>,
    /// How much of the kernel was reached.
    pub coverage: Coverage,
    /// The access and barrier instructions that no thread reached, as bytes of the PTX, ascending. An instruction of a
    /// function that is linked in several times is listed only if no thread reached any copy of it.
    pub unreached: Vec<Span>,
    /// What the check cost.
    pub stats: Stats,
    /// The launch with a chosen input with which the first finding occurs, if that is about such an input. Saved reports
    /// do not have it.
    pub shown_with: Option<Launch>,
}

/// Findings after which a run with a chosen input does not count: the kernel might not be meant for that input.
const SPOILING: [Code; 4] = [Code::OutOfBounds, Code::Misaligned, Code::Uninitialized, Code::Trap];

impl Report {
    /// Whether a run has a finding which says that its input, block or grid might not be one that the kernel is meant for.
    pub fn is_unfit(&self) -> bool {
        self.findings.iter().any(|finding| SPOILING.contains(&finding.code))
    }

    /// Returns the block in words: the size used, and whether it is a guess; `any`; or `unknown` if neither launch nor
    /// kernel states one.
    pub fn block_in_words(&self) -> String {
        let stated = self.block.map(Dimensions::Is).or(self.launch.block);
        let guess = if self.has_guessed_block() { " (a guess)" } else { "" };
        stated.map_or_else(|| "unknown".to_owned(), |block| format!("{block}{guess}"))
    }

    /// Whether the verdict holds for a block that is a guess.
    pub fn has_guessed_block(&self) -> bool {
        self.assumptions.contains(&Assumption::GuessedBlock)
    }

    /// Returns what the proof holds for, and whether the block is a guess; `None` if there is no proof for every input.
    pub fn proved_in_words(&self) -> Option<String> {
        let guess = if self.has_guessed_block() { "; the block is a guess" } else { "" };
        self.proved.map(|proved| proved.sentence() + guess)
    }

    /// Returns the grid in words: as the launch states it, else the size used, or `unknown` if nothing was run.
    pub fn grid_in_words(&self) -> String {
        let used = (self.stats.ctas > 0).then_some(Dimensions::Is(self.grid));
        self.launch.grid.or(used).map_or_else(|| "unknown".to_owned(), |grid| grid.to_string())
    }

    /// Returns the findings that a reader is told: all of them, but not that the launch is missing (`no-launch`) beside
    /// an input with which the kernel is defective, since that input includes a launch.
    pub fn told(&self) -> impl Iterator<Item = &Finding> {
        let is_input = |finding: &Finding| {
            finding.code == Code::RaceForInput || finding.code.class() == Class::Defect
        };
        let has_input = self.findings.iter().any(is_input);
        self.findings.iter().filter(move |own| !has_input || own.code != Code::NoLaunch)
    }

    /// Returns the verdict over all checks.
    pub fn verdict(&self) -> Verdict {
        worst(self.findings.iter())
    }

    /// Returns the verdict of one check. Races are undecided while barriers have defects, because a proof that there
    /// are none presupposes well-synchronization (PLDI'15 §4).
    pub fn verdict_of(&self, check: Check) -> Verdict {
        let verdict = worst(self.findings_of(check));
        if check != Check::Barriers
            && verdict == Verdict::Clean
            && self.verdict_of(Check::Barriers) == Verdict::Defect
        {
            return Verdict::Open;
        }
        verdict
    }

    /// Returns the findings that belong to a check, including those that concern all checks.
    pub fn findings_of(&self, check: Check) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(move |finding| finding.check.is_none_or(|of_check| of_check == check))
    }
}

fn worst<'a>(findings: impl Iterator<Item = &'a Finding>) -> Verdict {
    findings
        .map(|finding| match finding.code.class() {
            Class::Defect => Verdict::Defect,
            Class::Open => Verdict::Open,
            Class::Warning => Verdict::Clean,
        })
        .max()
        .unwrap_or(Verdict::Clean)
}
