//! Runs the check under test on a small kernel, with its inputs open or given, and translates the report for the
//! reference.

use std::collections::BTreeMap;

use weft_core::finding::{Assumption, Check, Class, Code, Finding, Report, Site, Verdict};
use weft_core::launch::{Arg, Buffer, Dim3, Launch, Options};
use weft_core::ptx::{self, Module};

use crate::clocks::Race;
use crate::code::Op;
use crate::kernel::{Atomics, Kernel};
use crate::machine::Inputs;
use crate::print::{self, Printed};

/// Which inputs the launch leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    pub(crate) number: bool,
    pub(crate) data: bool,
    pub(crate) out: bool,
}

impl Open {
    pub(crate) const NOTHING: Self = Self { number: false, data: false, out: false };
}

/// The reasons for an open finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// No access was reached.
    Vacuous,
    /// The kernel read memory that nothing wrote.
    Unset,
    /// Lanes executed a branch around an aligned barrier at different times.
    Apart,
    /// Lanes exchange values at two different instructions.
    Meeting,
    /// A load races with a store.
    Racing,
    Other,
}

/// The words by which a finding names such memory.
const UNSET: &str = "memory that nothing wrote";
const APART: &str = "at different times";
const MEETING: &str = "whether they meet is not modelled";
const RACING: &str = "whose value depends on the schedule";
pub(crate) const IN_TURN: &str = "in one order of what is drawn from counters";

fn why(finding: &Finding) -> Why {
    match finding.code {
        Code::Vacuous => Why::Vacuous,
        Code::Limit if finding.message.contains(APART) => Why::Apart,
        _ if finding.message.contains(UNSET) => Why::Unset,
        _ if finding.help.as_ref().is_some_and(|help| help.contains(UNSET)) => Why::Unset,
        _ if finding.message.contains(MEETING) => Why::Meeting,
        _ if finding.message.contains(RACING) => Why::Racing,
        _ if finding.help.as_ref().is_some_and(|help| help.contains(RACING)) => Why::Racing,
        _ => Why::Other,
    }
}

/// A parsed kernel.
pub(crate) struct Checked {
    printed: Printed,
    module: Module,
    launch: Launch,
}

/// The report of the check, in the terms of the reference.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "independent things to say")]
pub(crate) struct Said {
    /// The verdict without `uninitialized`, which the reference derives from what decisions depend on.
    pub(crate) verdict: Verdict,
    pub(crate) uninitialized: bool,
    pub(crate) barriers: Verdict,
    /// Races that are defects, and whether each is benign.
    pub(crate) races: BTreeMap<Race, bool>,
    pub(crate) misaligned: Vec<usize>,
    pub(crate) outside: Vec<usize>,
    /// The reasons of the open findings, also if there is a defect.
    pub(crate) open: Vec<Why>,
    /// Whether the report assumes that accesses at open addresses are within memory and aligned.
    pub(crate) assumes_addresses: bool,
    /// Whether the report assumes that loads of shared memory at open addresses read memory that was written.
    pub(crate) assumes_written: bool,
    /// Whether the report assumes that accesses stay within the buffers that pointer arguments point to.
    pub(crate) assumes_buffers: bool,
    /// Whether the report assumes that accesses stay within the array that they start from.
    pub(crate) assumes_arrays: bool,
    /// Whether the report assumes that counters and indices do not wrap around.
    pub(crate) assumes_counters: bool,
    /// Whether a finding is stated only for one order of the atomics.
    pub(crate) is_of_some_order: bool,
    pub(crate) text: String,
}

impl Checked {
    pub(crate) fn new(kernel: &Kernel, code: &[Op]) -> Self {
        Self::of(kernel, print::print_either(code))
    }

    /// Parses a kernel whose code is printed as `printed`.
    pub(crate) fn of(kernel: &Kernel, printed: Printed) -> Self {
        let module = ptx::parse(&printed.text);
        assert!(module.errors.is_empty(), "{:?} in\n{}", module.errors, printed.text);
        let dim = |threads| Some(Dim3::line(u32::try_from(threads).expect("few threads")).into());
        let atomics = match kernel.atomics {
            Atomics::Auto => weft_core::launch::Atomics::Auto,
            Atomics::Abstract => weft_core::launch::Atomics::Abstract,
            Atomics::Unique => weft_core::launch::Atomics::Unique,
            Atomics::Off => weft_core::launch::Atomics::Off,
        };
        let options = Options { atomics, ..Options::default() };
        let (block, grid) = (dim(kernel.block), dim(kernel.grid));
        let launch = Launch { block, grid, options, ..Launch::default() };
        Self { printed, module, launch }
    }

    pub(crate) fn text(&self) -> &str {
        &self.printed.text
    }

    /// Returns the launch with these inputs, of which some are left open.
    pub(crate) fn launch(&self, inputs: &Inputs, open: Open) -> Launch {
        let mut launch = self.launch.clone();
        let buffer = |contents| Arg::Buffer(Buffer { contents: Some(contents) });
        let given = [
            (open.number, Arg::Integer(inputs.number.into())),
            (open.data, buffer(inputs.data())),
            (open.out, buffer(inputs.bytes())),
        ];
        let given = given.into_iter().enumerate();
        launch.args.extend(given.filter(|(_, (open, _))| !open).map(|(at, (_, arg))| (at, arg)));
        launch
    }

    pub(crate) fn report(&self, launch: &Launch) -> Report {
        let kernel = self.module.kernels().next().expect("there is one");
        weft_core::check(&self.module, kernel, launch)
            .unwrap_or_else(|error| unreachable!("{error} in\n{}", self.printed.text))
    }

    pub(crate) fn check(&self, inputs: &Inputs, open: Open) -> Said {
        self.said(&self.report(&self.launch(inputs, open)))
    }

    /// Returns the index in the code of a site.
    pub(crate) fn place(&self, site: &Site) -> usize {
        self.printed.places[site.ptx.line as usize].expect("sites are instructions")
    }

    fn said(&self, report: &Report) -> Said {
        let place = |finding: &Finding, at: usize| self.place(&finding.sites[at]);
        let of = |code| report.findings.iter().filter(move |finding| finding.code == code);
        let mut races = BTreeMap::new();
        for code in [Code::SharedRace, Code::GlobalRace, Code::AsyncRace, Code::BenignRace] {
            for finding in of(code) {
                let (first, last) = (place(finding, 0), place(finding, finding.sites.len() - 1));
                let is_global = finding.check == Some(Check::Global);
                let race = Race { is_global, sites: (first.min(last), first.max(last)) };
                races.insert(race, code == Code::BenignRace);
            }
        }
        let has = |class| {
            let others = report.findings.iter().map(|finding| finding.code);
            others.filter(|code| *code != Code::Uninitialized).any(|code| code.class() == class)
        };
        let verdict = match (has(Class::Defect), has(Class::Open)) {
            (true, _) => Verdict::Defect,
            (_, true) => Verdict::Open,
            _ => Verdict::Clean,
        };
        let open = report.findings.iter().filter(|finding| finding.code.class() == Class::Open);
        Said {
            verdict,
            uninitialized: of(Code::Uninitialized).next().is_some(),
            barriers: report.verdict_of(Check::Barriers),
            races,
            misaligned: of(Code::Misaligned).map(|finding| place(finding, 0)).collect(),
            outside: of(Code::OutOfBounds).map(|finding| place(finding, 0)).collect(),
            open: open.map(why).collect(),
            assumes_buffers: report.assumptions.contains(&Assumption::WithinBuffers),
            assumes_arrays: report.assumptions.contains(&Assumption::WithinVariables),
            assumes_counters: report.assumptions.contains(&Assumption::UniqueCounters),
            assumes_addresses: report.assumptions.contains(&Assumption::OpenAddresses),
            assumes_written: report.assumptions.contains(&Assumption::Written),
            is_of_some_order: report
                .findings
                .iter()
                .any(|finding| finding.notes.iter().any(|note| note.contains(IN_TURN))),
            text: report
                .told()
                .map(|own| own.code.name().to_owned() + ": " + &own.message + "\n")
                .collect(),
        }
    }
}
