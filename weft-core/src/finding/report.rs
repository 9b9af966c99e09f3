//! The result of one check: findings, verdict, and what the verdict holds for.

use super::{Assumption, Check, Class, Code, Site};
use crate::launch::{Dim3, Launch};
use crate::ptx::Span;

/// Something the checker has to say, with the places it points at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind of finding.
    pub code: Code,
    /// The check it belongs to; `None`: it concerns all of them.
    pub check: Option<Check>,
    /// One sentence, lower case, no full stop.
    pub message: String,
    /// Where: the offending instruction first.
    pub sites: Vec<Site>,
    /// Further facts, one a line: the cycle of a deadlock, the number of pairs.
    pub notes: Vec<String>,
    /// What to do about it, such as the line of weft.toml that would settle it.
    pub help: Option<String>,
    /// The pairs of threads that it stands for; `None` where it is not about pairs.
    pub pairs: Option<ThreadPairs>,
}

/// Numbers of pairs of threads, by what the two have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadPairs {
    /// Of one warp.
    pub within_warps: u64,
    /// Of different warps of a cta.
    pub between_warps: u64,
    /// Of different ctas; a lower bound: of threads of one cta that do the same to a location, one counts.
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
    /// All of them.
    pub sites: usize,
}

/// What the check cost, in units of the machine; no times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Emulated ctas, the first ones of the grid; where open conditions were split, of the way with most of them.
    pub ctas: u64,
    /// Instructions executed, counted once a warp.
    pub warp_instructions: u64,
    /// Accesses and barrier commands, counted once a thread.
    pub thread_commands: u64,
    /// Completed barrier generations.
    pub generations: u64,
}

/// Everything known about one kernel under one launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The kernel's name as it stands in the PTX.
    pub kernel: String,
    /// The launch as given.
    pub launch: Launch,
    /// The block size used; `None` where nobody states one.
    pub block: Option<Dim3>,
    /// The grid used.
    pub grid: Dim3,
    /// All findings, in a deterministic order.
    pub findings: Vec<Finding>,
    /// What the verdict takes for granted.
    pub assumptions: Vec<Assumption>,
    /// What was reached.
    pub coverage: Coverage,
    /// The access and barrier instructions that no thread reached, as bytes of the PTX, ascending. One of a function that
    /// is linked in several times is here if no thread reached it in any of them.
    pub unreached: Vec<Span>,
    /// What it cost.
    pub stats: Stats,
}

impl Report {
    /// The verdict over all checks.
    pub fn verdict(&self) -> Verdict {
        worst(self.findings.iter())
    }

    /// The verdict of one check. Races are undecided while barriers are broken, since the proof of their absence
    /// presupposes well-synchronization (PLDI'15 §4).
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

    /// The findings that belong to a check, those that concern all checks included.
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
