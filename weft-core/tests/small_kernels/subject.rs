//! A small kernel and its findings, for comparison with the same kernel checked in another way, or with one derived
//! from it.

use std::collections::{BTreeMap, BTreeSet};

use weft_core::finding::{Check, Class, Code, Report, Role, Verdict};
use weft_core::launch::{Launch, Schedule};
use weft_core::slice::{Floats, Keep};
use weft_core::{flow, ptx, slice};

use crate::cases::case;
use crate::checked::{Checked, IN_TURN, Open};
use crate::code::{Op, lower};
use crate::generate::Theme;
use crate::judge::Case;
use crate::print::{self, Printed};

/// Identifies a finding: its code, its check, and its sites as indices in the code.
pub(crate) type Key = (Code, Option<Check>, BTreeSet<(usize, Role)>);

/// Races without their codes.
pub(crate) type Races = BTreeSet<(Check, BTreeSet<usize>)>;

/// The findings of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) verdict: Verdict,
    /// For each finding, the number of racing pairs of threads within ctas.
    pub(crate) findings: BTreeMap<Key, u64>,
    /// Whether a finding is stated for one order of the atomics only; the threads' numbers decide that order.
    pub(crate) is_of_one_order: bool,
}

impl Found {
    /// Whether there is a barrier finding. If so, the schedule decides how far threads get and which of them
    /// participate in a barrier.
    pub(crate) fn is_broken(&self) -> bool {
        self.findings.keys().any(|(_, check, _)| *check == Some(Check::Barriers))
    }

    /// Whether there is an open finding.
    pub(crate) fn is_open(&self) -> bool {
        self.findings.keys().any(|(code, ..)| code.class() == Class::Open)
    }

    /// Whether some thread stopped at an open value that the check cannot follow.
    pub(crate) fn is_cut_short(&self) -> bool {
        let is_doubt = |(code, check, _): &Key| check.is_none() && code.class() == Class::Open;
        self.findings.keys().any(is_doubt)
    }

    pub(crate) fn is_misaligned(&self) -> bool {
        self.findings.keys().any(|(code, ..)| *code == Code::Misaligned)
    }

    pub(crate) fn races(&self) -> Races {
        let races = self.findings.keys().filter(|(code, ..)| is_race(*code));
        let places =
            |sites: &BTreeSet<(usize, Role)>| sites.iter().map(|(place, _)| *place).collect();
        races.filter_map(|(_, check, sites)| Some(((*check)?, places(sites)))).collect()
    }

    /// Whether accesses race or might race.
    pub(crate) fn has_conflicts(&self) -> bool {
        let is_memory = |check: Option<Check>| check.is_some_and(|check| check != Check::Barriers);
        let may_race = |(code, check, _): &Key| {
            is_race(*code) || is_memory(*check) && code.class() == Class::Open
        };
        self.findings.keys().any(may_race)
    }

    /// Returns the verdict without the races.
    pub(crate) fn verdict_beside_races(&self) -> Verdict {
        let others = self.findings.keys().map(|(code, ..)| *code).filter(|code| !is_race(*code));
        let classes: Vec<Class> = others.map(Code::class).collect();
        match (classes.contains(&Class::Defect), classes.contains(&Class::Open)) {
            (true, _) => Verdict::Defect,
            (_, true) => Verdict::Open,
            _ => Verdict::Clean,
        }
    }

    /// Removes loads of uninitialized memory: of several atomics, the schedule decides which is the first and loads it.
    pub(crate) fn without_first_reads(mut self) -> Self {
        self.findings.retain(|(code, ..), _| *code != Code::UninitializedValue);
        self
    }

    /// Removes possible races of accesses that are reported as open themselves: only a limited number of accesses at
    /// open addresses is compared with each other, the first ones.
    pub(crate) fn without_races_said_to_be_open(mut self) -> Self {
        let is_open = |(code, check, _): &&Key| *code == Code::DependsOnInput && check.is_some();
        let open: BTreeSet<usize> = self
            .findings
            .keys()
            .filter(is_open)
            .flat_map(|(.., sites)| sites)
            .filter(|(_, role)| *role == Role::Here)
            .map(|(place, _)| *place)
            .collect();
        let is_said =
            |sites: &BTreeSet<(usize, Role)>| sites.iter().any(|(at, _)| open.contains(at));
        self.findings.retain(|(code, _, sites), _| *code != Code::PossibleRace || !is_said(sites));
        self
    }

    /// Replaces benign races by races: whether a race is benign can depend on values that are read.
    pub(crate) fn without_benign(self) -> Self {
        let name = |(code, check, sites): Key| match (code, check) {
            (Code::BenignRace, Some(Check::Shared)) => (Code::SharedRace, check, sites),
            (Code::BenignRace, _) => (Code::GlobalRace, check, sites),
            _ => (code, check, sites),
        };
        let findings = self.findings.into_iter().map(|(key, pairs)| (name(key), pairs)).collect();
        Self { findings, ..self }
    }
}

const fn is_race(code: Code) -> bool {
    matches!(
        code,
        Code::SharedRace
            | Code::GlobalRace
            | Code::AsyncRace
            | Code::BenignRace
            | Code::UnorderedStrong
            | Code::PossibleRace
    )
}

/// A parsed kernel and its launch.
pub(crate) struct Subject {
    checked: Checked,
    pub(crate) launch: Launch,
}

impl Subject {
    pub(crate) fn new(case: &Case, code: &[Op]) -> Self {
        Self::of(case, print::print(code))
    }

    /// Parses a kernel whose code is printed as `printed`.
    pub(crate) fn of(case: &Case, printed: Printed) -> Self {
        let checked = Checked::of(&case.kernel, printed);
        let launch = checked.launch(&case.inputs[0], case.open);
        Self { checked, launch }
    }

    pub(crate) fn text(&self) -> &str {
        self.checked.text()
    }

    pub(crate) fn found(&self) -> Found {
        self.found_at(|place| place)
    }

    /// Checks the kernel and returns its findings. `origin` maps an index in the code to that of the original code.
    pub(crate) fn found_at(&self, origin: impl Fn(usize) -> usize) -> Found {
        self.told(&self.checked.report(&self.launch), origin)
    }

    pub(crate) fn found_under(&self, schedule: Schedule) -> Found {
        let mut launch = self.launch.clone();
        launch.options.schedule = schedule;
        self.told(&self.checked.report(&launch), |place| place)
    }

    fn told(&self, report: &Report, origin: impl Fn(usize) -> usize) -> Found {
        let mut findings = BTreeMap::new();
        for finding in &report.findings {
            // Findings about the whole kernel, such as that nothing was reached, have no other site.
            let sites = finding.sites.iter().filter(|site| site.role != Role::Kernel);
            let sites = sites.map(|site| (origin(self.checked.place(site)), site.role)).collect();
            // Pairs between ctas are counted only up to a bound.
            let pairs = finding.pairs.map_or(0, |own| own.within_warps + own.between_warps);
            *findings.entry((finding.code, finding.check, sites)).or_default() += pairs;
        }
        let is_of_one_order =
            report.findings.iter().any(|own| own.notes.iter().any(|note| note.contains(IN_TURN)));
        Found { verdict: report.verdict(), findings, is_of_one_order }
    }

    /// Whether values that threads read from shared or global memory decide something.
    pub(crate) fn reads_decide(&self) -> bool {
        let module = ptx::parse(self.text());
        let kernel = module.kernels().next().expect("there is one");
        let program = flow::build(&module, kernel).expect("the text links");
        let slice = slice::mark(&program, &BTreeSet::new(), Floats::Computed);
        (0_u32..).zip(&slice.keep).any(|(at, keep)| {
            *keep == Keep::Value && slice::is_observable(&program, flow::Pc(at)) && {
                let effect = program.code[at as usize].effect();
                matches!(effect, ptx::isa::Effect::Load | ptx::isa::Effect::Atomic)
            }
        })
    }
}

/// Returns the case of a number with this many threads; every other case has all its inputs given.
pub(crate) fn case_of(theme: Theme, number: u64, threads: usize) -> (Case, Vec<Op>) {
    let mut case = case(theme, number, 1);
    case.kernel.block = threads;
    if number % 2 == 1 {
        case.open = Open::NOTHING;
    }
    let code = lower(&case.kernel);
    (case, code)
}
