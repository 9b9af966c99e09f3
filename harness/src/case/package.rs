//! A package with its name, its configuration and its PTX files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::notes::{LaunchNote, listed};
use super::{PackageRecords, PlanError};
use crate::config::{Config, ConfigError, Problem};
use crate::discover::{self, DiscoverError, PtxFile};
use crate::saved::SourceState;

/// The unit of checking: case names, file patterns and `[[kernel]]` tables refer to one package.
#[derive(Clone, Debug)]
pub struct Package {
    /// The name of the package, which is the first part of its cases' names; empty for files without a package.
    pub name: String,
    /// The directory of the package, in which source files are looked up.
    pub dir: PathBuf,
    /// The configuration of its launches.
    pub config: Config,
    /// The PTX files.
    pub files: Vec<PtxFile>,
    /// The launches that a program was recorded to make.
    pub records: PackageRecords,
    /// The day, in UTC, for which it is decided which `allow` entries have ended.
    pub today: Date,
}

impl Package {
    /// Makes a package of its parts, for today.
    pub fn new(name: &str, dir: PathBuf, config: Config, files: Vec<PtxFile>) -> Self {
        let (name, records) = (name.to_owned(), PackageRecords::default());
        Self { name, dir, config, files, records, today: today() }
    }

    /// Opens the package in `dir` with the PTX files that its configuration names and those that its build script left
    /// in `out_dirs`, and with the record of launches that it keeps in [`Record::SAVED`](crate::record::Record::SAVED).
    pub fn open<'d>(
        name: &str,
        dir: &Path,
        out_dirs: impl IntoIterator<Item = &'d Path>,
    ) -> Result<Self, PlanError> {
        Self::open_with(name, dir, None, out_dirs)
    }

    /// Opens a package as [`Package::open`] does, with the configuration in the file `config` instead of its own.
    pub fn open_with<'d>(
        name: &str,
        dir: &Path,
        config: Option<&Path>,
        out_dirs: impl IntoIterator<Item = &'d Path>,
    ) -> Result<Self, PlanError> {
        let config = match config {
            Some(path) => Config::read_for(path, dir)?,
            None => Config::find(dir)?,
        };
        let mut files = named(dir, &config)?;
        files.extend(out_dirs.into_iter().flat_map(discover::in_dir));
        let mut records = PackageRecords::saved(dir)?;
        files.extend(records.strangers(&files, dir));
        let package = Self::new(name, dir.to_path_buf(), config, discover::unique(files));
        Ok(Self { records, ..package })
    }

    /// Returns what a reader of verdicts must know of the PTX files that were saved, and not compiled in this build: of each its case
    /// name, `PACKAGE::FILE`, and the note.
    pub fn notes(&self) -> Vec<(String, String)> {
        let note = |file: &PtxFile| {
            let name = self.case_name(file);
            let note = file.saved.as_ref().filter(|own| !own.is_recorded)?.note(&name)?;
            Some((name, note))
        };
        self.files.iter().filter_map(note).collect()
    }

    /// Returns what a reader of verdicts must know of the PTX files that are those of a record: a note for all of which the same is known.
    pub fn recorded_notes(&self) -> Vec<LaunchNote> {
        let mut all: BTreeMap<(String, bool), BTreeSet<String>> = BTreeMap::new();
        for file in &self.files {
            let saved = file.saved.as_ref();
            if let Some((own, what)) = saved.and_then(|own| Some((own, own.recorded()?))) {
                let key = (what, own.state != SourceState::Current);
                all.entry(key).or_default().insert(self.case_name(file));
            }
        }
        let note = |((what, is_vital), files): ((String, bool), BTreeSet<String>)| {
            let verb = if files.len() == 1 { "is" } else { "are each" };
            LaunchNote { text: format!("{} {verb} {what}", listed(&files)), is_vital }
        };
        all.into_iter().map(note).collect()
    }

    fn case_name(&self, file: &PtxFile) -> String {
        let package = if self.name.is_empty() { String::new() } else { format!("{}::", self.name) };
        format!("{package}{}", file.display)
    }
}

/// Returns today's date in UTC.
fn today() -> Date {
    Timestamp::now().to_zoned(TimeZone::UTC).date()
}

/// Returns the PTX files that the configuration names.
fn named(dir: &Path, config: &Config) -> Result<Vec<PtxFile>, PlanError> {
    let patterns: Vec<String> = config.ptx.iter().map(|(pattern, _)| pattern.clone()).collect();
    discover::globs(dir, &patterns).map_err(|error| match error {
        DiscoverError::NoMatch { pattern, dir } => {
            let place = config.ptx.iter().find(|(own, _)| *own == pattern).map(|own| &own.1);
            match place.cloned() {
                Some(place) => {
                    let problem = Box::new(Problem::NoFile { pattern, dir });
                    ConfigError::At { place, problem }.into()
                }
                None => DiscoverError::NoMatch { pattern, dir }.into(),
            }
        }
        other => other.into(),
    })
}
