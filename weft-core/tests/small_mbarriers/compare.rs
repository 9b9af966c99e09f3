//! Compares the check with the reference.

use std::collections::BTreeSet;

use weft_core::finding::{Class, Code, Finding, Report, Verdict};
use weft_core::launch::{Arg, Buffer, Dim3, Launch, Options, Schedule};
use weft_core::ptx;

use crate::kernel::{Kernel, Place};
use crate::print::Printed;
use crate::reference::{Expected, Opinion};

/// What the check says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) verdict: Verdict,
    /// Pairs of racing commands.
    races: BTreeSet<(Place, Place)>,
    /// Whether there is a defect other than a race.
    has_others: bool,
    /// Whether something is open.
    has_open: bool,
    /// The findings as text.
    pub(crate) text: String,
}

const RACES: [Code; 4] =
    [Code::SharedRace, Code::AsyncRace, Code::BenignRace, Code::UnorderedStrong];

/// Checks a printed kernel under a schedule.
pub(crate) fn check(printed: &Printed, schedule: Schedule) -> Said {
    let module = ptx::parse(&printed.text);
    assert!(module.errors.is_empty(), "{:?} in\n{}", module.errors, printed.text);
    let line = |threads| Some(Dim3::line(threads).into());
    let options = Options { schedule, ..Options::default() };
    let args = [(0, Arg::Buffer(Buffer::default()))].into();
    let launch =
        Launch { block: line(Kernel::BLOCK), grid: line(1), args, options, ..Launch::default() };
    let kernel = module.kernels().next().expect("there is one");
    let report = weft_core::check(&module, kernel, &launch)
        .unwrap_or_else(|error| unreachable!("{error} in\n{}", printed.text));
    said(printed, &report)
}

fn said(printed: &Printed, report: &Report) -> Said {
    let is_race = |finding: &&Finding| RACES.contains(&finding.code);
    let place = |finding: &Finding, at: usize| {
        let line = finding.sites[at].ptx.line as usize;
        printed.places[line].expect("only commands race")
    };
    let pair = |finding: &Finding| {
        let (first, last) = (place(finding, 0), place(finding, finding.sites.len() - 1));
        (first.min(last), first.max(last))
    };
    let is_defect = |finding: &&Finding| finding.code.class() == Class::Defect;
    let line = |own: &Finding| {
        let lines: Vec<u32> = own.sites.iter().map(|site| site.ptx.line).collect();
        format!("{}: {} (lines {lines:?})\n", own.code.name(), own.message)
    };
    Said {
        verdict: report.verdict(),
        races: report.findings.iter().filter(is_race).map(pair).collect(),
        has_open: report.findings.iter().any(|own| own.code.class() == Class::Open),
        has_others: report.findings.iter().filter(is_defect).any(|own| !is_race(&own)),
        text: report.findings.iter().map(line).collect(),
    }
}

/// Compares what the check says with what it must say. An open verdict is allowed and must be counted.
pub(crate) fn compare(kernel: &Kernel, opinion: &Opinion, said: &Said) -> Result<(), String> {
    let is = |verdict| said.verdict == verdict;
    match opinion.expected {
        Expected::Clean if is(Verdict::Defect) => Err("a defect in a sound kernel".to_owned()),
        Expected::Races | Expected::Broken | Expected::Uncertain if is(Verdict::Clean) => {
            Err("an unsound kernel is clean".to_owned())
        }
        Expected::Races if is(Verdict::Defect) => {
            let agents = kernel.agents();
            let place = |(agent, at): (usize, usize)| (agents[agent].group, at);
            let pairs = opinion.judgement.races.iter().map(|pair| (place(pair.0), place(pair.1)));
            let races: BTreeSet<_> = pairs.map(|(x, y)| (x.min(y), x.max(y))).collect();
            // A wait that a peek for another phase decides is open, and what comes behind it is not examined.
            let is_part = said.has_open && kernel.has_peeks() && said.races.is_subset(&races);
            if races != said.races && !is_part {
                return Err(format!("the races are {races:?}, not {:?}", said.races));
            }
            if said.has_others {
                return Err("defects other than its races".to_owned());
            }
            Ok(())
        }
        _ => Ok(()),
    }
}
