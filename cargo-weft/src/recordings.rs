//! The record of a workspace's launches, and what there is to say of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use weft_harness::case::{Job, LaunchSource, Package, PackageRecords, RecordNote, module_names};
use weft_harness::config::Config;
use weft_harness::record::{LaunchDoubts, Record, RecordError};

use crate::coverage::RunRecords;

/// Which launches kernels are checked under, on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LaunchesWord {
    /// Those that the configuration states and those that are recorded
    #[default]
    All,
    /// Only recorded ones
    Recorded,
    /// Only those that the configuration states
    Configured,
}

impl From<LaunchesWord> for LaunchSource {
    fn from(word: LaunchesWord) -> Self {
        match word {
            LaunchesWord::All => Self::All,
            LaunchesWord::Recorded => Self::Recorded,
            LaunchesWord::Configured => Self::Configured,
        }
    }
}

/// The records of a run.
#[derive(Debug)]
pub(crate) struct Recordings {
    /// That of the workspace.
    own: Option<Arc<Record>>,
    source: LaunchSource,
}

/// Returns the folder of the record of a workspace, below its target directory.
pub(crate) fn folder(target: &Path) -> PathBuf {
    target.join("weft").join("launches")
}

impl Recordings {
    /// Reads the record of the workspace, if there is one.
    pub(crate) fn open(target: &Path, launches: LaunchesWord) -> Result<Self, RecordError> {
        let source = LaunchSource::from(launches);
        let own = match source {
            LaunchSource::Configured => None,
            _ => Record::read(&folder(target))?.map(Arc::new),
        };
        Ok(Self { own, source })
    }

    /// Gives the packages the record, and the modules that are in no file of theirs: to the only package, otherwise to one
    /// without a name, which is returned.
    pub(crate) fn add_to<'p>(
        &self,
        packages: impl Iterator<Item = &'p mut Package>,
        root: &Path,
    ) -> Option<Package> {
        let mut packages: Vec<&mut Package> = packages.collect();
        if self.source == LaunchSource::Configured {
            for package in &mut packages {
                let Package { files, records, .. } = &mut **package;
                files.retain(|file| !records.has(file));
                *records = PackageRecords { source: self.source, ..PackageRecords::default() };
            }
            return None;
        }
        for package in &mut packages {
            package.records.source = self.source;
        }
        if self.own.is_none() && packages.iter().all(|own| own.records.records.is_empty()) {
            return None;
        }
        let files: Vec<_> = packages.iter().flat_map(|own| own.files.iter().cloned()).collect();
        let all: BTreeSet<String> = module_names(&files).collect();
        for package in &mut packages {
            let own: BTreeSet<String> = module_names(&package.files).collect();
            package.records.records.extend(self.own.clone());
            package.records.others = &all - &own;
        }
        let records = PackageRecords {
            records: self.own.iter().cloned().collect(),
            others: BTreeSet::new(),
            source: self.source,
        };
        let strangers = records.strangers(&files);
        match &mut packages[..] {
            _ if strangers.is_empty() => None,
            [only] => {
                only.files.extend(strangers);
                None
            }
            _ => {
                let others = Package::new("", root.to_owned(), Config::default(), strangers);
                let records = PackageRecords { others: all, ..records };
                Some(Package { records, ..others })
            }
        }
    }

    /// Returns what there is to say of the launches of some jobs.
    pub(crate) fn notes(&self, packages: &[Vec<Job>], records: &RunRecords) -> Vec<String> {
        let jobs = || packages.iter().flatten().filter(|job| !job.is_unread());
        if jobs().all(|job| job.recorded.is_none()) {
            let record = self.own.as_ref().filter(|record| !record.is_empty());
            let none = "the record has no launch of these kernels";
            return record.map(|_| none.to_owned()).into_iter().collect();
        }
        let mut notes = Vec::new();
        let all: Vec<&Job> = jobs().collect();
        let never = records.unlaunched(&all);
        let never: BTreeSet<String> = never.iter().map(|job| format!("`{}`", job.title)).collect();
        if !never.is_empty() {
            notes.push(format!("{}: {}", RecordNote::NEVER, listed(&never)));
        }
        notes.extend(doubts(jobs()));
        let titles = |holds: fn(&Job) -> bool| -> BTreeSet<String> {
            jobs().filter(|job| holds(job)).map(|job| format!("`{}`", job.title)).collect()
        };
        let rebuilt = titles(|job| job.recorded.is_some_and(|note| note.is_rebuilt));
        if !rebuilt.is_empty() {
            notes.push(format!(
                "the PTX has changed since the record, whose launches are taken by name and sizes of parameters, for {}",
                listed(&rebuilt)
            ));
        }
        let partly = titles(|job| job.recorded.is_some_and(|note| note.left_out > 0));
        if !partly.is_empty() {
            notes.push(format!(
                "the launches that differ most are checked, not all, of {}",
                listed(&partly)
            ));
        }
        notes
    }
}

/// Returns what of the launches of some jobs is left open, or might have been another one on a device.
fn doubts<'j>(jobs: impl Iterator<Item = &'j Job>) -> Vec<String> {
    let recorded: Vec<(&Job, LaunchDoubts)> =
        jobs.filter_map(|job| Some((job, job.recorded?.doubts))).collect();
    let of = |holds: fn(&LaunchDoubts) -> bool| {
        let found = recorded.iter().filter(|(_, doubts)| holds(doubts));
        let titles: Vec<String> = found.map(|(job, _)| format!("`{}`", job.title)).collect();
        (titles.len(), titles.into_iter().collect::<BTreeSet<String>>())
    };
    let mut notes = Vec::new();
    let (count, kernels) = of(|doubts| doubts.after_read);
    if count > 0 {
        notes.push(format!(
            "{count} of {} recorded launches might be others on a device: the program had read memory before that a kernel might have \
             changed, and kernels do not run while launches are recorded; of {}",
            recorded.len(),
            listed(&kernels)
        ));
    }
    let (_, kernels) = of(|doubts| doubts.has_maps);
    if !kernels.is_empty() {
        let kernels = listed(&kernels);
        notes.push(format!(
            "what a tensor map says is recorded, but not used: an argument with one is open, of {kernels}"
        ));
    }
    let (_, kernels) = of(|doubts| doubts.leads_to_variables);
    if !kernels.is_empty() {
        let kernels = listed(&kernels);
        notes.push(format!(
            "an argument that leads to a variable of the module is open, of {kernels}"
        ));
    }
    notes
}

fn listed(names: &BTreeSet<String>) -> String {
    /// The most names that are listed.
    const MOST: usize = 12;
    let mut shown: Vec<String> = names.iter().take(MOST).cloned().collect();
    if names.len() > MOST {
        shown.push(format!("{} more", names.len() - MOST));
    }
    shown.join(", ")
}
