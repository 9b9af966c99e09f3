//! What the check finds in a small kernel, such that two kernels can be compared.

use std::collections::{BTreeMap, BTreeSet};

use weft_core::finding::{Check, Class, Code, Report, Role, Verdict};

use crate::checked::Checked;

/// What a finding is about: its code, and its sites by place in the code.
pub(crate) type Key = (Code, Option<Check>, BTreeSet<(Option<usize>, Role)>);

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) verdict: Verdict,
    /// By finding: how many pairs of threads race.
    pub(crate) findings: BTreeMap<Key, u64>,
}

impl Found {
    /// `place`: the place that counts for one in the code.
    pub(crate) fn new(checked: &Checked, report: &Report, place: impl Fn(usize) -> usize) -> Self {
        let mut findings = BTreeMap::new();
        for finding in &report.findings {
            let is_placed = finding.code != Code::Vacuous;
            let site = |site| (is_placed.then(|| place(checked.place(site))), site.role);
            let sites = finding.sites.iter().map(site).collect();
            *findings.entry((finding.code, finding.check, sites)).or_default() += finding.pairs;
        }
        Self { verdict: report.verdict(), findings }
    }

    /// Whether barriers are defective: how far threads come, and which of them take part in what, is up to the schedule.
    pub(crate) fn is_broken(&self) -> bool {
        let is_it = |(code, check, _): &Key| {
            *check == Some(Check::Barriers) && code.class() == Class::Defect
        };
        self.findings.keys().any(is_it)
    }

    /// Races, whatever they are called.
    pub(crate) fn races(&self) -> BTreeSet<(Check, BTreeSet<usize>)> {
        const RACES: [Code; 5] = [
            Code::SharedRace,
            Code::GlobalRace,
            Code::BenignRace,
            Code::UnorderedStrong,
            Code::PossibleRace,
        ];
        let races = self.findings.keys().filter(|(code, ..)| RACES.contains(code));
        let sites = |sites: &BTreeSet<(Option<usize>, Role)>| {
            sites.iter().filter_map(|(place, _)| *place).collect()
        };
        races.filter_map(|(_, check, own)| Some(((*check)?, sites(own)))).collect()
    }
}
