//! Renders the lines of `cargo weft repair`: `weft-repair` for each kernel, and the summary.

use serde::Serialize;

use super::mutants::{AdviceLine, advice_line};
use super::{FindingLine, Head, Subject, finding_line, line};
use crate::finding::{Advice, Finding};

/// What came of the repair of a kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RepairResult<'a> {
    /// `clean`: nothing has to change; `mended`: clean with the changes; `refused`: barriers do not help; `unchecked`: the
    /// check failed.
    pub outcome: &'static str,
    /// The changes.
    pub changes: &'a [Advice],
    /// The cost of the barriers that can change, before and after.
    pub costs: Option<[f64; 2]>,
    /// Whether no cheaper placement is clean, if that is known.
    pub is_least: Option<bool>,
    /// The number of placements that were checked.
    pub checks: usize,
    /// The labels of the launches that were checked together; null for a launch without a label.
    pub launches: Vec<Option<&'a str>>,
    /// The findings that stand in the way.
    pub obstacles: &'a [Finding],
    /// The change of the source, as a unified diff.
    pub diff: Option<&'a str>,
    /// Further facts.
    pub notes: &'a [String],
}

/// The outcomes of all kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RepairCounts {
    /// Kernels that are clean as they are.
    pub clean: usize,
    /// Kernels that are clean with changes.
    pub mended: usize,
    /// Kernels that barriers do not make clean.
    pub refused: usize,
    /// Kernels that could not be checked.
    pub unchecked: usize,
}

/// Returns the `weft-repair` line, without the line break. `kernel`: the name in the PTX.
pub fn repair(kernel: &str, subject: Subject<'_>, result: &RepairResult<'_>) -> String {
    line(&RepairLine {
        head: Head::of("weft-repair"),
        package: subject.package,
        kernel,
        demangled: subject.demangled,
        file: subject.file,
        launches: &result.launches,
        outcome: result.outcome,
        changes: result.changes.iter().map(advice_line).collect(),
        cost_before: result.costs.map(|[before, _]| before),
        cost: result.costs.map(|[_, after]| after),
        is_least: result.is_least,
        checks: result.checks,
        obstacles: result.obstacles.iter().map(|finding| finding_line(finding, None)).collect(),
        diff: result.diff,
        notes: result.notes,
    })
}

/// Returns the `weft-summary` line of repairs, without the line break.
pub fn repair_summary(counts: RepairCounts) -> String {
    line(&RepairSummaryLine { head: Head::of("weft-summary"), repairs: counts })
}

#[derive(Serialize)]
struct RepairLine<'a> {
    #[serde(flatten)]
    head: Head,
    package: Option<&'a str>,
    kernel: &'a str,
    demangled: &'a str,
    file: &'a str,
    launches: &'a [Option<&'a str>],
    outcome: &'static str,
    changes: Vec<AdviceLine<'a>>,
    cost_before: Option<f64>,
    cost: Option<f64>,
    is_least: Option<bool>,
    checks: usize,
    obstacles: Vec<FindingLine<'a>>,
    diff: Option<&'a str>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct RepairSummaryLine {
    #[serde(flatten)]
    head: Head,
    repairs: RepairCounts,
}
