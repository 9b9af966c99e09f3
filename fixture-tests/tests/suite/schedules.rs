//! Checks every fixture under three of five other schedules of its warps, in turn: verdict, findings, numbers of racing
//! pairs and amounts of executed work must be the same.
//!
//! Findings are allowed to differ only if a barrier is defective, because such a defect ends the run: the schedule then
//! decides which of several defects comes first, and which of two warps is first at a barrier that they use in
//! different ways. If a barrier is possibly recycled unsafely, another schedule can have other generations, or
//! deadlock.

use std::collections::BTreeSet;
use std::fs;

use weft_core::finding::{Check, Class, Code, Report, Role, Verdict};
use weft_core::launch::Schedule;
use weft_core::ptx::{self, Module};
use weft_fixture_tests::files;
use weft_fixture_tests::language::Fixture;

const OTHERS: [Schedule; 5] = [
    Schedule::Reverse,
    Schedule::InTurn,
    Schedule::Latest,
    Schedule::Random(1),
    Schedule::Random(2),
];

/// A finding: code, sites, the numbers of racing pairs of threads within warps and between warps, and whether there are
/// pairs between ctas (which are counted only up to a bound).
type Finding = (Code, BTreeSet<(u32, Role)>, Option<(u64, u64, bool)>);

fn reports(module: &Module, fixture: &Fixture, schedule: Schedule) -> Vec<Report> {
    let mut launch = fixture.launch();
    launch.options.schedule = schedule;
    // A trial has a schedule of its own.
    launch.options.witness = 0;
    let check = |kernel| weft_core::check(module, kernel, &launch).expect("the launch fits");
    let is_run = |report: &Report| report.block.is_some();
    module.kernels().map(check).filter(is_run).collect()
}

fn findings(report: &Report) -> BTreeSet<Finding> {
    let told = |finding: &weft_core::finding::Finding| {
        let sites = finding.sites.iter().map(|site| (site.ptx.line, site.role)).collect();
        let pairs = finding.pairs;
        let pairs = pairs.map(|own| (own.within_warps, own.between_warps, own.between_ctas > 0));
        (finding.code, sites, pairs)
    };
    report.findings.iter().map(told).collect()
}

fn is_broken(report: &Report) -> bool {
    let is_it = |finding: &weft_core::finding::Finding| {
        finding.check == Some(Check::Barriers) && finding.code.class() == Class::Defect
    };
    report.findings.iter().any(is_it)
}

/// Returns the amounts of executed work; `None` if the verdict is open, because a doubt ends a warp wherever it is.
fn done(report: &Report) -> Option<[u64; 4]> {
    let stats = &report.stats;
    let counts = [stats.ctas, stats.warp_instructions, stats.thread_commands, stats.generations];
    (report.verdict() != Verdict::Open).then_some(counts)
}

/// Whether a schedule shows a defect where another leaves open what follows from a value that depends on the schedule.
fn shows_more(one: &Report, other: &Report) -> bool {
    let depends = |finding: &weft_core::finding::Finding| {
        let help = finding.help.as_deref().unwrap_or_default();
        help.contains("whose value depends on the schedule") || help.contains("may see any store")
    };
    let verdicts = (one.verdict(), other.verdict());
    verdicts == (Verdict::Open, Verdict::Defect) && one.findings.iter().any(depends)
}

#[test]
fn fixtures_do_not_depend_on_the_schedule() {
    let (mut kernels, mut broken) = (0, 0);
    for (number, path) in (0..).zip(files::fixtures().expect("the folder is part of the checkout"))
    {
        let text = fs::read_to_string(&path).expect("fixtures are text");
        let fixture = Fixture::parse(&text, &path).expect("the header is right");
        let module = ptx::parse(&text);
        let in_order = reports(&module, &fixture, Schedule::InOrder);
        kernels += in_order.len();
        broken += in_order.iter().filter(|report| is_broken(report)).count();
        for schedule in OTHERS.into_iter().cycle().skip(number % OTHERS.len()).take(3) {
            let others = reports(&module, &fixture, schedule);
            for (report, other) in in_order.iter().zip(&others) {
                let name = format!("{} in {} under {schedule:?}", report.kernel, path.display());
                if shows_more(report, other) || shows_more(other, report) {
                    continue;
                }
                assert_eq!(report.verdict(), other.verdict(), "{name}");
                assert_eq!(is_broken(report), is_broken(other), "{name}");
                if !is_broken(report) {
                    assert_eq!(findings(report), findings(other), "{name}");
                    assert_eq!(done(report), done(other), "{name}");
                }
            }
        }
    }
    assert!(kernels > 200 && broken < kernels / 5, "{broken} of {kernels} have broken barriers");
}
