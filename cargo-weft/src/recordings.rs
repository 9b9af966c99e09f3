//! The record of a workspace's launches, and what there is to say of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use weft_harness::case::{
    Job, LaunchNote, LaunchSource, Package, PackageRecords, RecordNote, launch_notes, listed,
    module_names,
};
use weft_harness::config::Config;
use weft_harness::record::{MostLaunches, Record, RecordError};
use weft_harness::render::openable;

use crate::arguments::Selection;
use crate::coverage::RunRecords;
use crate::exit::Failure;

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
    most: MostLaunches,
    /// The folders that launches are read from.
    folders: BTreeSet<PathBuf>,
    /// The kernels that packages keep launches of, but are checked under those of the workspace's record.
    replaced: BTreeSet<String>,
}

/// What the note begins with that names the folders of records.
pub(crate) const SOURCES: &str = "recorded launches are those in";

/// Returns the folder of the record of a workspace, below its target directory.
pub(crate) fn folder(target: &Path) -> PathBuf {
    target.join("weft").join("launches")
}

impl Recordings {
    /// Reads the record of the workspace, if there is one.
    pub(crate) fn open(target: &Path, selection: &Selection) -> Result<Self, RecordError> {
        let source = LaunchSource::from(selection.launches);
        let most = selection.most.most_launches.unwrap_or_default();
        let own = match source {
            LaunchSource::Configured => None,
            _ => Record::read(&folder(target))?.map(Arc::new),
        };
        Ok(Self { own, source, most, folders: BTreeSet::new(), replaced: BTreeSet::new() })
    }

    /// Gives the packages the record, and the modules that are in no file of theirs: to the only package, otherwise to one
    /// without a name, which is returned. It is newer than those that packages keep: what it has of a kernel replaces what they have.
    pub(crate) fn add_to<'p>(
        &mut self,
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
            package.records.most = self.most;
        }
        if self.own.is_none() && packages.iter().all(|own| own.records.records.is_empty()) {
            return None;
        }
        let files: Vec<_> = packages.iter().flat_map(|own| own.files.iter().cloned()).collect();
        let all: BTreeSet<String> = module_names(&files).collect();
        for package in &mut packages {
            let own: BTreeSet<String> = module_names(&package.files).collect();
            package.records.others = &all - &own;
            self.add_own(package, root);
        }
        let mut records = PackageRecords {
            records: self.own.iter().cloned().collect(),
            source: self.source,
            most: self.most,
            ..PackageRecords::default()
        };
        let files: Vec<_> = packages.iter().flat_map(|own| own.files.iter().cloned()).collect();
        let strangers = records.strangers(&files, root);
        match &mut packages[..] {
            _ if strangers.is_empty() => None,
            [only] => {
                only.files.extend(strangers);
                only.records.moved.extend(records.moved);
                None
            }
            _ => {
                let others = Package::new("", root.to_owned(), Config::default(), strangers);
                let records = PackageRecords { others: all, ..records };
                Some(Package { records, ..others })
            }
        }
    }

    /// Fails if only recorded launches are asked for, and there is no record. `target`: the target directory of the workspace.
    pub(crate) fn required(&self, target: &Path) -> Result<(), Failure> {
        if self.source != LaunchSource::Recorded || !self.folders.is_empty() {
            return Ok(());
        }
        Err(Failure::NoRecord { folder: folder(target), option: "--launches recorded" })
    }

    /// Gives a package the record of the workspace, in place of what it keeps of the same kernels.
    fn add_own(&mut self, package: &mut Package, root: &Path) {
        let folders = package.records.records.iter().filter(|record| !record.is_empty());
        let folders: Vec<PathBuf> = folders.map(|record| record.folder().to_owned()).collect();
        if let Some(own) = &self.own {
            let replaced = package.records.add_newer(own, &package.files);
            if !replaced.is_empty() {
                // Modules without launches of their own are no files of the package any more.
                let mut saved = PackageRecords {
                    records: package
                        .records
                        .records
                        .iter()
                        .filter(|record| !Arc::ptr_eq(record, own))
                        .cloned()
                        .collect(),
                    ..package.records.clone()
                };
                package.files.retain(|file| !saved.has(file));
                let strangers = saved.strangers(&package.files, root);
                package.files.extend(strangers);
                package.records.moved = saved.moved;
            }
            self.replaced.extend(replaced);
            self.folders.extend(Some(own.folder().to_owned()).filter(|_| !own.is_empty()));
        }
        self.folders.extend(folders);
    }

    /// Returns where the launches of some jobs are from.
    fn sources<'j>(&self, jobs: impl Iterator<Item = &'j Job>) -> Vec<String> {
        let folders: Vec<String> = self.folders.iter().map(|own| openable(own)).collect();
        if folders.is_empty() {
            return Vec::new();
        }
        let mut notes = vec![format!("{SOURCES} {}", folders.join(" and "))];
        let own = jobs.filter(|job| self.replaced.contains(&job.kernel.mangled));
        let replaced: BTreeSet<String> = own.map(|job| format!("`{}`", job.title)).collect();
        if let Some(own) = self.own.as_ref().filter(|_| !replaced.is_empty()) {
            let folder = openable(own.folder());
            notes.push(format!(
                "two records have launches of {}: those in {folder} are checked, which `cargo test` does not read; without this folder, \
                 those that the package keeps are",
                listed(&replaced)
            ));
        }
        notes
    }

    /// Returns what there is to say of the launches of some jobs.
    pub(crate) fn notes(&self, packages: &[Vec<Job>], records: &RunRecords) -> Vec<LaunchNote> {
        let plain = |text| LaunchNote { text, is_vital: false };
        let jobs = || packages.iter().flatten().filter(|job| !job.is_unread());
        if jobs().all(|job| job.recorded.is_none()) {
            // Of modules that could not be read, their error says more.
            if packages.iter().flatten().any(Job::is_unread) {
                return Vec::new();
            }
            let record = self.own.as_ref().filter(|record| !record.is_empty());
            let none = "the record has no launch of these kernels";
            return record.map(|_| plain(none.to_owned())).into_iter().collect();
        }
        let mut notes = self.sources(packages.iter().flatten());
        let all: Vec<&Job> = jobs().collect();
        let never = records.unlaunched(&all);
        let never: BTreeSet<String> = never.iter().map(|job| format!("`{}`", job.title)).collect();
        if !never.is_empty() {
            notes.push(format!("{}: {}", RecordNote::NEVER, listed(&never)));
        }
        notes.into_iter().map(plain).chain(launch_notes(jobs())).collect()
    }
}
