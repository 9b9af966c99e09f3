//! Renders reports as JSON, one object per line, like cargo's own messages.
//!
//! Besides a [`Report`], a line needs what the report does not know: the path of the PTX, the demangled name of the
//! kernel, and the findings that the user allows. There is a `weft-kernel` (`weft-mutants`, `weft-repair`, `weft-launch`)
//! line for each kernel and launch, and a `weft-summary` line at the end. `docs/json.md` documents the fields.
//!
//! The structs here mirror the findings, so that names in the output stay when a field is renamed; within one [`SCHEMA`],
//! fields can be added, but never renamed or removed.

mod launch;
mod mutants;
mod recorded;
mod repair;
mod unchecked;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use super::escape::escape_json;
use crate::finding::{
    Assumption, Check, Class, Finding, ProvedFor, Report, Site, ThreadPairs, Verdict,
};
use launch::{LaunchLine, launch_line};

pub use launch::launch;
pub use mutants::{Tally, mutants, mutants_summary};
pub use recorded::{InvalidCall, invalid_call, unlaunched};
pub use repair::{RepairCounts, RepairResult, repair, repair_summary};
pub use unchecked::unchecked;

/// Version of the format, stated by every line.
pub const SCHEMA: u32 = 1;

/// The program and its version, stated by every line.
const TOOL: &str = concat!("cargo-weft ", env!("CARGO_PKG_VERSION"));

/// What a line states besides the report.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The package the kernel belongs to; `None` for a file checked by itself.
    pub package: Option<&'a str>,
    /// Path of the PTX.
    pub file: &'a str,
    /// The kernel's name as its author wrote it; the name in the PTX if that is not mangled.
    pub demangled: &'a str,
    /// The launch's label, if the kernel has more than one launch.
    pub label: Option<&'a str>,
}

/// Counts over all kernels and launches of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Proved.
    pub clean: usize,
    /// Nothing remains but findings that are allowed.
    pub allowed: usize,
    /// Not checked, because the configuration says so.
    pub skipped: usize,
    /// Refuted.
    pub defect: usize,
    /// Undecided.
    pub open: usize,
    /// Kernels that could not be checked at all; a consumer that looks only at the other three must not take them for
    /// clean.
    pub unchecked: usize,
}

/// Returns the `weft-kernel` line, without the line break. `allowed[i]`: the reason for which finding `i` is allowed;
/// the verdicts leave allowed findings out.
pub fn kernel(report: &Report, subject: Subject<'_>, allowed: &[Option<&str>]) -> String {
    let reason = |index: usize| allowed.get(index).copied().flatten();
    let counted = |index: usize| reason(index).is_none();
    // What is allowed for one check makes that check `allowed`, and the kernel.
    let is_allowed = |check: Option<Check>| {
        let of_check = |own: &Finding| check.is_none() || own.check.is_none() || own.check == check;
        (0..).zip(&report.findings).any(|(index, finding)| {
            !counted(index) && finding.code.class() != Class::Warning && of_check(finding)
        })
    };
    let word = |verdict: Verdict, check| match verdict {
        Verdict::Clean if is_allowed(check) => "allowed",
        verdict => verdict.name(),
    };
    let judged = Report {
        findings: (0..)
            .zip(&report.findings)
            .filter(|(index, _)| counted(*index))
            .map(|(_, f)| f.clone())
            .collect(),
        ..report.clone()
    };
    line(&KernelLine {
        head: Head::of("weft-kernel"),
        package: subject.package,
        kernel: &report.kernel,
        demangled: subject.demangled,
        file: subject.file,
        launch: launch_line(report, subject.label),
        verdict: word(judged.verdict(), None),
        checks: Check::ALL
            .map(|check| (check.name(), word(judged.verdict_of(check), Some(check))))
            .into(),
        findings: (0..)
            .zip(&report.findings)
            .map(|(index, finding)| finding_line(finding, reason(index)))
            .collect(),
        proved_for: report.proved.map(ProvedFor::sentence),
        assumptions: report.assumptions.iter().map(Assumption::sentence).collect(),
        coverage: CoverageLine { reached: report.coverage.reached, sites: report.coverage.sites },
        stats: StatsLine {
            ctas: report.stats.ctas,
            warp_instructions: report.stats.warp_instructions,
            thread_commands: report.stats.thread_commands,
            generations: report.stats.generations,
        },
    })
}

/// Returns the `weft-summary` line, without the line break.
pub fn summary(counts: Counts) -> String {
    line(&SummaryLine { head: Head::of("weft-summary"), counts })
}

/// What every line begins with.
#[derive(Serialize)]
struct Head {
    reason: &'static str,
    schema: u32,
    tool: &'static str,
}

impl Head {
    const fn of(reason: &'static str) -> Self {
        Self { reason, schema: SCHEMA, tool: TOOL }
    }
}

#[derive(Serialize)]
struct KernelLine<'a> {
    #[serde(flatten)]
    head: Head,
    package: Option<&'a str>,
    kernel: &'a str,
    demangled: &'a str,
    file: &'a str,
    launch: LaunchLine<'a>,
    verdict: &'static str,
    checks: BTreeMap<&'static str, &'static str>,
    findings: Vec<FindingLine<'a>>,
    proved_for: Option<String>,
    assumptions: Vec<Cow<'static, str>>,
    coverage: CoverageLine,
    stats: StatsLine,
}

#[derive(Serialize)]
struct SummaryLine {
    #[serde(flatten)]
    head: Head,
    #[serde(flatten)]
    counts: Counts,
}

#[derive(Serialize)]
struct FindingLine<'a> {
    code: &'static str,
    class: &'static str,
    check: Option<&'static str>,
    message: &'a str,
    sites: Vec<SiteLine<'a>>,
    notes: &'a [String],
    help: Option<&'a str>,
    /// Null if the finding is not about pairs of threads.
    pairs: Option<PairsLine>,
    /// The reason for which it is allowed; null if it is not allowed.
    allowed: Option<&'a str>,
}

#[derive(Serialize)]
struct PairsLine {
    within_warps: u64,
    between_warps: u64,
    between_ctas: u64,
}

#[derive(Serialize)]
struct SiteLine<'a> {
    role: &'static str,
    /// Null without `.loc`, as are `line` and `column`.
    file: Option<&'a str>,
    line: Option<u32>,
    /// Null also if the compiler states none.
    column: Option<u32>,
    ptx_line: u32,
    ptx_column: u32,
    threads: Vec<ThreadLine>,
    label: &'a str,
}

#[derive(Serialize)]
struct ThreadLine {
    cta: [u32; 3],
    thread: [u32; 3],
}

#[derive(Serialize)]
struct CoverageLine {
    reached: usize,
    sites: usize,
}

#[derive(Serialize)]
struct StatsLine {
    ctas: u64,
    warp_instructions: u64,
    thread_commands: u64,
    generations: u64,
}

fn line(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value);
    escape_json(&text.expect("the mirror structs hold nothing that JSON cannot"))
}

fn pairs_line(pairs: ThreadPairs) -> PairsLine {
    let ThreadPairs { within_warps, between_warps, between_ctas } = pairs;
    PairsLine { within_warps, between_warps, between_ctas }
}

fn finding_line<'a>(finding: &'a Finding, allowed: Option<&'a str>) -> FindingLine<'a> {
    FindingLine {
        code: finding.code.name(),
        class: match finding.code.class() {
            Class::Defect => "defect",
            Class::Open => "open",
            Class::Warning => "warning",
        },
        check: finding.check.map(Check::name),
        message: &finding.message,
        sites: finding.sites.iter().map(site_line).collect(),
        notes: &finding.notes,
        help: finding.help.as_deref(),
        pairs: finding.pairs.map(pairs_line),
        allowed,
    }
}

fn site_line(site: &Site) -> SiteLine<'_> {
    let source = site.source.first();
    SiteLine {
        role: site.role.name(),
        file: source.map(|source| source.file.as_str()),
        line: source.map(|source| source.line),
        column: source.map(|source| source.column).filter(|column| *column > 0),
        ptx_line: site.ptx.line,
        ptx_column: site.ptx.column,
        threads: site.threads.iter().map(|t| ThreadLine { cta: t.cta, thread: t.thread }).collect(),
        label: &site.label,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::finding::{Assumption, Code, Coverage, Role, SourceLine, Stats, Thread};
    use crate::launch::{Allocation, Arg, Buffer, Dim3, Fields, Launch, Within};
    use crate::ptx::{Position, Span};

    fn race() -> Finding {
        let site = |role, source: Vec<SourceLine>| Site {
            role,
            ptx: Position { line: 41, column: 5 },
            span: Span { start: 900, end: 930 },
            source,
            threads: vec![Thread { cta: [0, 0, 0], thread: [33, 0, 0] }],
            label: "4-byte access of buf+128".into(),
        };
        Finding {
            code: Code::SharedRace,
            check: Some(Check::Shared),
            message: "a read and a write are not ordered".into(),
            sites: vec![
                site(Role::Read, vec![SourceLine { file: "a.cu".into(), line: 12, column: 3 }]),
                site(Role::Write, vec![]),
            ],
            notes: vec!["between warps".into()],
            help: None,
            pairs: Some(ThreadPairs { within_warps: 31, between_warps: 992, between_ctas: 0 }),
        }
    }

    fn report() -> Report {
        let args = BTreeMap::from([
            (0, Arg::Integer(-1)),
            (1, Arg::Integer(i128::from(u64::MAX))),
            (2, Arg::Float(1.5)),
            (3, Arg::Buffer(Buffer { contents: Some(vec![0; 16]) })),
            (4, Arg::Buffer(Buffer::default())),
            (6, Arg::Within(Within { buffer: "a".to_owned(), offset: 16 })),
            (
                5,
                Arg::Fields(Fields {
                    bytes: None,
                    fields: BTreeMap::from([
                        (16, Arg::Buffer(Buffer::default())),
                        (24, Arg::Integer(7)),
                    ]),
                }),
            ),
        ]);
        let contents = vec![None, Some(1), Some(2)];
        let known = Allocation { size: Some(64), contents, ..Allocation::default() };
        let buffers = BTreeMap::from([("a".into(), known), ("b".into(), Allocation::default())]);
        Report {
            kernel: "_Z1kv".into(),
            launch: Launch { shared: Some(64), args, buffers, ..Launch::default() },
            block: Some(Dim3::line(64)),
            grid: Dim3::line(2),
            findings: vec![race()],
            proved: None,
            assumptions: vec![Assumption::DisjointBuffers],
            coverage: Coverage { reached: 2, sites: 3 },
            unreached: Vec::new(),
            stats: Stats { ctas: 2, ..Stats::default() },
            shown_with: None,
        }
    }

    fn parsed(allowed: &[Option<&str>]) -> Value {
        let subject =
            Subject { package: Some("p"), file: "a.ptx", demangled: "k()", label: Some("small") };
        let text = kernel(&report(), subject, allowed);
        assert!(!text.contains('\n'));
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_kernel_line_has_the_documented_fields() {
        let line = parsed(&[]);
        assert_eq!(line["reason"], "weft-kernel");
        assert_eq!((&line["kernel"], &line["demangled"]), (&json!("_Z1kv"), &json!("k()")));
        assert_eq!((&line["package"], &line["file"]), (&json!("p"), &json!("a.ptx")));
        assert_eq!(line["verdict"], "defect");
        assert_eq!(
            line["checks"],
            json!({"barriers": "clean", "shared": "defect", "global": "clean"})
        );
        assert_eq!(line["coverage"], json!({"reached": 2, "sites": 3}));
        assert_eq!(line["stats"]["ctas"], 2);
        assert_eq!(
            line["launch"],
            json!({
                "label": "small", "grid": [2, 1, 1], "block": [64, 1, 1], "cluster": null, "shared": 64,
                "args": {"0": -1, "1": u64::MAX, "2": 1.5, "3": {"buffer": {"bytes": 16}}, "4": {"buffer": {"bytes": null}},
                    "5": {"structure": {"bytes": null, "fields": {"16": {"buffer": {"bytes": null}}, "24": 7}}},
                    "6": {"within": {"buffer": "a", "offset": 16}}},
                "buffers": {"a": {"bytes": 64, "given": 2}, "b": {"bytes": null, "given": 0}},
                "requires": [],
                "options": {"warp-synchronous": false, "atomics": "auto", "barrier-divergence": "warp"},
            })
        );
        let finding = &line["findings"][0];
        assert_eq!(
            (&finding["code"], &finding["class"]),
            (&json!("shared-race"), &json!("defect"))
        );
        let pairs = json!({"within_warps": 31, "between_warps": 992, "between_ctas": 0});
        assert_eq!((&finding["pairs"], &finding["allowed"]), (&pairs, &Value::Null));
        assert_eq!(
            finding["sites"][0],
            json!({
                "role": "read", "file": "a.cu", "line": 12, "column": 3, "ptx_line": 41, "ptx_column": 5, "label": "4-byte access of buf+128",
                "threads": [{"cta": [0, 0, 0], "thread": [33, 0, 0]}],
            })
        );
        assert_eq!(
            (&finding["sites"][1]["file"], &finding["sites"][1]["line"]),
            (&Value::Null, &Value::Null)
        );
    }

    #[test]
    fn an_allowed_finding_is_told_but_not_counted() {
        let line = parsed(&[Some("the halo is meant")]);
        assert_eq!(line["verdict"], "allowed");
        assert_eq!(line["checks"]["shared"], "allowed");
        assert_eq!(line["findings"][0]["allowed"], "the halo is meant");
    }

    #[test]
    fn the_summary_states_the_schema() {
        let text = summary(Counts { clean: 4, allowed: 2, defect: 1, ..Counts::default() });
        let counts = r#""clean":4,"allowed":2,"skipped":0,"defect":1,"open":0,"unchecked":0"#;
        let head = format!(r#""reason":"weft-summary","schema":1,"tool":"{TOOL}""#);
        assert_eq!(text, format!("{{{head},{counts}}}"));
    }
}
