//! Saves a report as text that can be read back as the same report.
//!
//! The text is JSON, but its form is not stable: it mirrors the findings field by field and is read only by the version
//! that wrote it. It does not contain the launch, which the reader knows. Each conversion names every field and every
//! variant, so that a new one cannot be forgotten here.

use serde::{Deserialize, Serialize};

use crate::finding::{
    Assumption, Check, Code, Coverage, Finding, ProvedFor, Report, Role, Site, SourceLine, Stats,
    Thread, ThreadPairs,
};
use crate::launch::{Dim3, ExtentBound, Launch};
use crate::ptx::{Position, Span};

/// Returns the report without its launch, in one line.
pub fn write(report: &Report) -> String {
    serde_json::to_string(&SavedReport::from(report.clone()))
        .expect("the mirror structs hold nothing that JSON cannot")
}

/// Returns the report that was saved, with `launch` as its launch; `None` if `text` was not written by this version.
pub fn read(text: &str, launch: &Launch) -> Option<Report> {
    serde_json::from_str::<SavedReport>(text).ok()?.report(launch)
}

type SavedDim3 = [u32; 3];

/// The extents of blocks and grids, and whether only blocks of whole warps are meant.
type SavedProvedFor = ([[SavedBound; 3]; 2], bool);

/// A number, and whether every extent up to it is meant.
type SavedBound = (u32, bool);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedReport {
    kernel: String,
    block: Option<SavedDim3>,
    grid: SavedDim3,
    findings: Vec<SavedFinding>,
    proved: Option<SavedProvedFor>,
    assumptions: Vec<SavedAssumption>,
    reached: usize,
    sites: usize,
    unreached: Vec<SavedSpan>,
    ctas: u64,
    warp_instructions: u64,
    thread_commands: u64,
    generations: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedFinding {
    /// The code's stable name.
    code: String,
    check: Option<SavedCheck>,
    message: String,
    sites: Vec<SavedSite>,
    notes: Vec<String>,
    help: Option<String>,
    /// Numbers of pairs within warps, between warps and between ctas.
    pairs: Option<[u64; 3]>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedSite {
    #[serde(with = "RoleMirror")]
    role: Role,
    line: u32,
    column: u32,
    span: SavedSpan,
    source: Vec<SavedLine>,
    /// Coordinates of cta and thread.
    threads: Vec<[SavedDim3; 2]>,
    label: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedLine {
    file: String,
    line: u32,
    column: u32,
}

/// First byte, and one past the last.
type SavedSpan = [u32; 2];

#[derive(Serialize, Deserialize)]
struct SavedCheck(#[serde(with = "CheckMirror")] Check);

#[derive(Serialize, Deserialize)]
struct SavedAssumption(#[serde(with = "AssumptionMirror")] Assumption);

#[derive(Serialize, Deserialize)]
#[serde(remote = "Check")]
enum CheckMirror {
    Barriers,
    Shared,
    Global,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Role")]
enum RoleMirror {
    Read,
    Write,
    Atomic,
    Waits,
    Previous,
    Arrival,
    First,
    Branch,
    Here,
    Kernel,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Assumption")]
enum AssumptionMirror {
    DisjointBuffers,
    WithinBuffers,
    Pointers(Vec<String>),
    WithinVariables,
    Aligned(Vec<(String, u64, u64, u64)>),
    Places(Vec<String>),
    SharedFromZero,
    DynamicShared(u64),
    WarpSynchronous,
    UniqueCounters,
    OneCta,
    OrdinaryGrid([u32; 3]),
    InitialValues,
    UncountedLoops,
    NoDivergence,
    OpenAddresses,
    Written,
    Targets,
    Elected,
    Grouped,
    OneCtaClusters,
    ProxyFences,
    MbarrierScopes,
    ProductFences,
    TensorCores,
    Takeovers,
    ZeroCounters,
    TensorsUnwritten,
    TensorsApart,
    Boxes(Vec<(String, u64)>),
    UnwrappedIndices,
    LoopsEnd,
    AllLoopsEnd,
    NonzeroDivisors,
    PositiveDivisors,
    WaitsEnd,
    RegistersFree,
    TexturesUnwritten,
    NoTrap,
    GuessedBlock,
    WholeWarps,
    Required(Vec<String>),
    Solver(String),
}

impl From<Report> for SavedReport {
    fn from(report: Report) -> Self {
        let Report {
            kernel,
            launch: _,
            block,
            grid,
            findings,
            proved,
            assumptions,
            coverage,
            unreached,
            stats,
            shown_with: _,
        } = report;
        let Coverage { reached, sites } = coverage;
        let Stats { ctas, warp_instructions, thread_commands, generations } = stats;
        Self {
            kernel,
            block: block.map(extent),
            grid: extent(grid),
            findings: findings.into_iter().map(SavedFinding::from).collect(),
            proved: proved.map(|ProvedFor { block, grid, of_whole_warps }| {
                ([block, grid].map(|extents| extents.map(saved_bound)), of_whole_warps)
            }),
            assumptions: assumptions.into_iter().map(SavedAssumption).collect(),
            reached,
            sites,
            unreached: unreached.into_iter().map(saved_span).collect(),
            ctas,
            warp_instructions,
            thread_commands,
            generations,
        }
    }
}

impl SavedReport {
    fn report(self, launch: &Launch) -> Option<Report> {
        let findings = self.findings.into_iter().map(SavedFinding::finding);
        Some(Report {
            kernel: self.kernel,
            launch: launch.clone(),
            block: self.block.map(dim),
            grid: dim(self.grid),
            findings: findings.collect::<Option<_>>()?,
            proved: self.proved.map(|(extents, of_whole_warps)| {
                let [block, grid] = extents.map(|extents| extents.map(bound));
                ProvedFor { block, grid, of_whole_warps }
            }),
            assumptions: self.assumptions.into_iter().map(|assumption| assumption.0).collect(),
            coverage: Coverage { reached: self.reached, sites: self.sites },
            unreached: self.unreached.into_iter().map(span).collect(),
            stats: Stats {
                ctas: self.ctas,
                warp_instructions: self.warp_instructions,
                thread_commands: self.thread_commands,
                generations: self.generations,
            },
            shown_with: None,
        })
    }
}

fn saved_bound(bound: ExtentBound) -> SavedBound {
    match bound {
        ExtentBound::Is(extent) => (extent, false),
        ExtentBound::UpTo(extent) => (extent, true),
    }
}

fn bound((extent, is_most): SavedBound) -> ExtentBound {
    if is_most { ExtentBound::UpTo(extent) } else { ExtentBound::Is(extent) }
}

impl From<Finding> for SavedFinding {
    fn from(finding: Finding) -> Self {
        let Finding { code, check, message, sites, notes, help, pairs } = finding;
        let numbers = |ThreadPairs { within_warps, between_warps, between_ctas }| {
            [within_warps, between_warps, between_ctas]
        };
        Self {
            code: code.name().to_owned(),
            check: check.map(SavedCheck),
            message,
            sites: sites.into_iter().map(SavedSite::from).collect(),
            notes,
            help,
            pairs: pairs.map(numbers),
        }
    }
}

impl SavedFinding {
    fn finding(self) -> Option<Finding> {
        let pairs = |[within_warps, between_warps, between_ctas]: [u64; 3]| ThreadPairs {
            within_warps,
            between_warps,
            between_ctas,
        };
        Some(Finding {
            code: Code::from_name(&self.code)?,
            check: self.check.map(|saved| saved.0),
            message: self.message,
            sites: self.sites.into_iter().map(SavedSite::site).collect(),
            notes: self.notes,
            help: self.help,
            pairs: self.pairs.map(pairs),
        })
    }
}

impl From<Site> for SavedSite {
    fn from(site: Site) -> Self {
        let Site { role, ptx: Position { line, column }, span, source, threads, label } = site;
        let saved_line = |SourceLine { file, line, column }| SavedLine { file, line, column };
        Self {
            role,
            line,
            column,
            span: saved_span(span),
            source: source.into_iter().map(saved_line).collect(),
            threads: threads.into_iter().map(|Thread { cta, thread }| [cta, thread]).collect(),
            label,
        }
    }
}

impl SavedSite {
    fn site(self) -> Site {
        let source_line = |SavedLine { file, line, column }| SourceLine { file, line, column };
        let thread = |[cta, thread]: [SavedDim3; 2]| Thread { cta, thread };
        Site {
            role: self.role,
            ptx: Position { line: self.line, column: self.column },
            span: span(self.span),
            source: self.source.into_iter().map(source_line).collect(),
            threads: self.threads.into_iter().map(thread).collect(),
            label: self.label,
        }
    }
}

const fn extent(Dim3 { x, y, z }: Dim3) -> SavedDim3 {
    [x, y, z]
}

const fn dim([x, y, z]: SavedDim3) -> Dim3 {
    Dim3 { x, y, z }
}

const fn saved_span(Span { start, end }: Span) -> SavedSpan {
    [start, end]
}

const fn span([start, end]: SavedSpan) -> Span {
    Span { start, end }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fixtures show that the findings they contain are read back unchanged; this tests codes and fields that no
    /// fixture has.
    #[test]
    fn every_code_comes_back() {
        let launch = Launch { block: Some(Dim3::line(32).into()), ..Launch::default() };
        let finding = |(&code, check)| Finding {
            code,
            check,
            message: "\"quoted\"\n\u{1b} é".into(),
            sites: Vec::new(),
            notes: vec![String::new()],
            help: None,
            pairs: Some(ThreadPairs { within_warps: u64::MAX, between_warps: 0, between_ctas: 1 }),
        };
        let checks = Check::ALL.map(Some).into_iter().chain([None]).cycle();
        let report = Report {
            kernel: "k".into(),
            launch: launch.clone(),
            block: None,
            grid: Dim3 { x: 1, y: 2, z: 3 },
            findings: Code::ALL.iter().zip(checks).map(finding).collect(),
            proved: Some(ProvedFor {
                block: [ExtentBound::UpTo(1024), ExtentBound::Is(2), ExtentBound::Is(1)],
                grid: [ExtentBound::Is(3), ExtentBound::UpTo(5), ExtentBound::UpTo(7)],
                of_whole_warps: true,
            }),
            assumptions: vec![
                Assumption::Aligned(vec![("`x`".into(), 16, 4, 16)]),
                Assumption::Places(vec!["`x`".into()]),
                Assumption::NoTrap,
                Assumption::Required(vec!["n <= 4".into()]),
            ],
            coverage: Coverage { reached: 1, sites: 2 },
            unreached: vec![Span { start: 1, end: 2 }],
            stats: Stats { ctas: 1, warp_instructions: 2, thread_commands: 3, generations: 4 },
            shown_with: None,
        };
        assert_eq!(read(&write(&report), &launch), Some(report.clone()));
        let other = Launch { shared: Some(1), ..launch.clone() };
        assert_eq!(read(&write(&report), &other), Some(Report { launch: other, ..report }));
    }

    #[test]
    fn what_is_no_report_is_none() {
        for text in ["", "{}", "null", "{\"kernel\":\"k\"}"] {
            assert_eq!(read(text, &Launch::default()), None, "{text}");
        }
    }
}
