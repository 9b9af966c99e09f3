//! Renders the lines of `cargo weft mutate`: `weft-mutants` for each kernel and launch, and the summary.

use std::borrow::Cow;

use serde::Serialize;

use super::launch::{LaunchLine, launch_line};
use super::{Counts, Head, SiteLine, Subject, line, site_line};
use crate::finding::{Advice, Assumption, Report, Verdict};

/// The outcome for the mutants of one kernel, or of all kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// All mutants: the sum of the next four.
    pub mutants: usize,
    /// Refuted.
    pub defect: usize,
    /// Undecided.
    pub open: usize,
    /// Clean, as the kernel is.
    pub survived: usize,
    /// The check itself failed.
    pub unchecked: usize,
    /// Instructions that were not changed, because no thread reaches them.
    pub unreached: usize,
}

/// Returns the `weft-mutants` line, without the line break. `verdict`: that of the unchanged kernel, which is mutated
/// only if it is clean. `advice`: what surviving mutants suggest, at most one for each instruction that can be deleted.
pub fn mutants(
    report: &Report,
    subject: Subject<'_>,
    verdict: Verdict,
    tally: Tally,
    advice: &[Advice],
) -> String {
    line(&MutantsLine {
        head: Head::of("weft-mutants"),
        package: subject.package,
        kernel: &report.kernel,
        demangled: subject.demangled,
        file: subject.file,
        launch: launch_line(report, subject.label),
        verdict: verdict.name(),
        mutants: tally,
        advice: advice.iter().map(advice_line).collect(),
        assumptions: report.assumptions.iter().map(Assumption::sentence).collect(),
    })
}

/// Returns the `weft-summary` line of mutants, without the line break: the counts of kernels, and `mutants` for all of
/// them.
pub fn mutants_summary(counts: Counts, tally: Tally) -> String {
    line(&MutantSummaryLine { head: Head::of("weft-summary"), counts, mutants: tally })
}

#[derive(Serialize)]
struct MutantsLine<'a> {
    #[serde(flatten)]
    head: Head,
    package: Option<&'a str>,
    kernel: &'a str,
    demangled: &'a str,
    file: &'a str,
    launch: LaunchLine<'a>,
    verdict: &'static str,
    mutants: Tally,
    advice: Vec<AdviceLine<'a>>,
    assumptions: Vec<Cow<'static, str>>,
}

#[derive(Serialize)]
struct MutantSummaryLine {
    #[serde(flatten)]
    head: Head,
    #[serde(flatten)]
    counts: Counts,
    mutants: Tally,
}

#[derive(Serialize)]
pub(super) struct AdviceLine<'a> {
    change: &'static str,
    message: &'a str,
    sites: Vec<SiteLine<'a>>,
    replacement: &'a str,
    notes: &'a [String],
}

pub(super) fn advice_line(advice: &Advice) -> AdviceLine<'_> {
    AdviceLine {
        change: advice.change,
        message: &advice.message,
        sites: advice.sites.iter().map(site_line).collect(),
        replacement: &advice.replacement,
        notes: &advice.notes,
    }
}
