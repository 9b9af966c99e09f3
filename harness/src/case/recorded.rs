//! The launches of a package's kernels that come from records.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use weft_core::launch::{Allocation, Launch};
use weft_core::ptx::{self, Module};

use crate::config::{Allow, NamedLaunch};
use crate::discover::PtxFile;
use crate::record::{
    CheckedLaunch, KernelLaunches, LaunchDoubts, LostLaunch, MostLaunches, Record, RecordError,
    RecordedLaunch, RefusedCall, module_name,
};

/// Which launches kernels are checked under.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LaunchSource {
    /// Those that the configuration states and those that are recorded. A kernel that has recorded launches is checked under
    /// what the configuration leaves open only if it has none.
    #[default]
    All,
    /// The recorded ones; a kernel that has none is skipped.
    Recorded,
    /// Those that the configuration states.
    Configured,
}

/// The records that a package's kernels have launches in.
#[derive(Clone, Debug, Default)]
pub struct PackageRecords {
    /// The records.
    pub records: Vec<Arc<Record>>,
    /// The names of the texts of PTX of other packages, of which the package's kernels have no launches.
    pub others: BTreeSet<String>,
    /// Which launches count.
    pub source: LaunchSource,
    /// How many of a kernel.
    pub most: MostLaunches,
    /// The kernels of modules of the records, by the name of the text and their own, that files have as they were built anew.
    pub moved: BTreeSet<(String, String)>,
}

/// What a record says about the launches of a kernel, beside them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordNote {
    /// How many launches are not checked, since others differ more.
    pub left_out: usize,
    /// Whether some are of another text of the PTX.
    pub is_rebuilt: bool,
    /// What of this launch is left open or in doubt.
    pub doubts: LaunchDoubts,
    /// Whether the configuration states another launch under its label, which takes its place.
    pub is_replaced: bool,
    /// What made the launch first, if that is known.
    pub origin: Option<String>,
}

impl RecordNote {
    /// The reason for which a kernel without recorded launches is skipped, if only these are checked.
    pub const NEVER: &str = "never launched while launches were recorded";
}

impl PackageRecords {
    /// Adds the record that a package keeps in its folder, if there is one.
    ///
    /// # Errors
    /// A record that cannot be read.
    pub(super) fn saved(dir: &Path) -> Result<Self, RecordError> {
        let record = Record::read(&dir.join(Record::SAVED))?;
        Ok(Self { records: record.map(Arc::new).into_iter().collect(), ..Self::default() })
    }

    /// Returns the files of those modules of the records whose launches are of no module among `files`, and keeps in mind which kernels of
    /// the records' modules are checked as they were built anew. `dir`: the folder of the package or workspace, in which their sources are.
    pub fn strangers(&mut self, files: &[PtxFile], dir: &Path) -> Vec<PtxFile> {
        if self.source == LaunchSource::Configured || self.records.is_empty() {
            return Vec::new();
        }
        let own: Vec<&PtxFile> = files.iter().filter(|file| !self.has(file)).collect();
        let present = self.present(own.iter().copied());
        let mut modules = FileModules::new(own);
        let mut found = Vec::new();
        for record in &self.records {
            for (module, launches) in record.absent(&present) {
                let (mut moved, mut is_left) = (BTreeSet::new(), false);
                for launch in launches {
                    let key = (module.clone(), launch.kernel.clone());
                    // As many files have to have the kernel as texts that it might have been in.
                    let texts = record.absent_texts(launch, &present);
                    if moved.contains(&key)
                        || record.is_superseded(launch, &present)
                        || modules.count(record, launch) >= texts
                    {
                        moved.insert(key);
                    } else {
                        is_left = true;
                    }
                }
                self.moved.extend(moved);
                let path = record.module_path(&module);
                if is_left && !files.iter().any(|file| file.path == path) {
                    found.push(stranger(record, &module, dir));
                }
            }
        }
        found
    }

    /// Returns the launches of the records that no kernel of `files`, those of the records among them, is checked under.
    pub fn lost(&self, files: &[PtxFile]) -> BTreeSet<LostLaunch> {
        if self.source == LaunchSource::Configured || self.records.is_empty() {
            return BTreeSet::new();
        }
        let present = self.present(files);
        let mut modules = FileModules::new(files.iter().collect());
        let all = self.records.iter();
        let lost =
            |record: &Arc<Record>| record.lost(&present, |own| modules.count(record, own) > 0);
        all.flat_map(lost).collect()
    }

    /// Returns the names of the texts of some files, and of those of other packages.
    fn present<'f>(&self, files: impl IntoIterator<Item = &'f PtxFile>) -> BTreeSet<String> {
        names(files).chain(self.others.iter().cloned()).collect()
    }

    /// Takes from these records the launches of kernels that `newer` has launches of too, and adds it. `files`: those of the package. Returns the names of
    /// these kernels.
    pub fn add_newer(&mut self, newer: &Arc<Record>, files: &[PtxFile]) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        let present: BTreeSet<String> =
            names(files.iter().filter(|file| !self.has(file))).collect();
        for record in &mut self.records {
            let shared = record.shared_kernels(newer, &self.others, &present);
            if !shared.is_empty() {
                *record = Arc::new(record.without(&shared));
            }
            all.extend(shared.into_iter().map(|(kernel, _)| kernel));
        }
        self.records.push(Arc::clone(newer));
        all
    }

    /// Returns the calls that CUDA refuses, but that might be others on a device.
    pub fn doubtful_calls(&self) -> BTreeSet<&RefusedCall> {
        let calls = self.records.iter().flat_map(|record| &record.refused);
        calls.filter(|call| call.is_doubtful()).collect()
    }

    /// Whether a file is a module of these records.
    pub fn has(&self, file: &PtxFile) -> bool {
        self.records.iter().any(|record| record.is_module(&file.path))
    }

    /// Returns the launches of a kernel, each with what the records say of it if it is recorded. `stated`: what the configuration
    /// states; `kernel`: by its module and name; `file`: that of the module, with the name of its text; `present`: the names of the
    /// texts of the package's files that are none of the records'. A kernel of a module that is in a record alone, which was never launched and
    /// of which nothing states a launch, is skipped; one that a file has as it was built anew has no launches here.
    pub(super) fn over(
        &self,
        stated: Vec<NamedLaunch>,
        kernel: (&Module, &str),
        (file, text): (&PtxFile, &str),
        present: &BTreeSet<String>,
    ) -> Vec<(NamedLaunch, Option<RecordNote>)> {
        let plain = |stated: Vec<NamedLaunch>| stated.into_iter().map(|own| (own, None)).collect();
        let Some(first) = stated.first().filter(|_| self.source != LaunchSource::Configured) else {
            return plain(stated);
        };
        if self.moved.contains(&(text.to_owned(), kernel.1.to_owned())) {
            return Vec::new();
        }
        let present = present | &self.others;
        let mut recorded: Vec<(NamedLaunch, Option<RecordNote>)> = Vec::new();
        for record in &self.records {
            let found = record.of_kernel(kernel, text, &present, &first.launch, self.most);
            let KernelLaunches { launches, left_out, is_rebuilt } = found;
            for CheckedLaunch { label, launch, doubts, origin } in launches {
                let is_known = recorded
                    .iter()
                    .any(|(own, _)| own.label.as_ref() == Some(&label) && own.launch == launch);
                if !is_known {
                    let note =
                        RecordNote { left_out, is_rebuilt, doubts, is_replaced: false, origin };
                    recorded.push((labelled(label, launch, &stated), Some(note)));
                }
            }
        }
        let is_stated = |own: &NamedLaunch| {
            own.label.is_some() || own.launch.block.is_some() && !own.has_default_block
        };
        let has_stated = stated.iter().any(is_stated);
        match self.source {
            _ if recorded.is_empty() && self.has(file) && !has_stated => plain(vec![never(first)]),
            LaunchSource::Recorded if recorded.is_empty() => plain(vec![never(first)]),
            LaunchSource::Recorded => recorded,
            _ if recorded.is_empty() => plain(stated),
            _ => {
                let stated = stated.into_iter().filter(is_stated);
                // `cargo weft init --from-record` writes recorded launches under their labels: these are the same.
                let stated = stated.map(|own| {
                    let same = recorded.iter().position(|(other, _)| other.label == own.label);
                    let same = same.map(|at| recorded.remove(at));
                    let note = same.and_then(|(other, note)| {
                        let is_replaced = !is_same(&own.launch, &other.launch);
                        note.map(|note| RecordNote { is_replaced, ..note })
                    });
                    (own, note)
                });
                let stated: Vec<_> = stated.collect();
                stated.into_iter().chain(recorded).collect()
            }
        }
    }
}

/// Returns what stands for a kernel that was never launched.
fn never(stated: &NamedLaunch) -> NamedLaunch {
    NamedLaunch { label: None, skip: Some(RecordNote::NEVER.to_owned()), ..stated.clone() }
}

/// Whether two launches state the same of what is recorded. What is behind the last known byte of a buffer, or in place of a pointer, and buffers
/// that no argument leads to are not looked at: a configuration does not have them. Nor has it contents that decide nothing.
fn is_same(stated: &Launch, recorded: &Launch) -> bool {
    let buffers = |launch: &Launch| -> BTreeMap<String, Allocation> {
        let unused = launch.unused_buffers();
        let used = launch.buffers.iter().filter(|(name, _)| !unused.contains(&name.as_str()));
        used.map(|(name, own)| (name.clone(), known(own))).collect()
    };
    let sizes = |launch: &Launch| (launch.block, launch.grid, launch.cluster, launch.shared);
    let plain = |launch: &Launch| (sizes(launch), launch.args.clone());
    let is_alike = |(one, other): (&Allocation, &Allocation)| {
        let contents = if one.contents.is_empty() { &one.contents } else { &other.contents };
        *one == Allocation { contents: contents.clone(), ..other.clone() }
    };
    let (own, others) = (buffers(stated), buffers(recorded));
    plain(stated) == plain(recorded)
        && own.keys().eq(others.keys())
        && own.values().zip(others.values()).all(is_alike)
}

/// Returns an allocation without bytes that say nothing.
fn known(own: &Allocation) -> Allocation {
    let mut own = own.clone();
    for at in own.pointers.keys() {
        let first = usize::try_from(*at).unwrap_or(usize::MAX);
        own.contents.iter_mut().skip(first).take(8).for_each(|byte| *byte = None);
    }
    let count = own.contents.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    own.contents.truncate(count);
    own
}

/// The modules of some files, each read when it is needed.
struct FileModules<'f> {
    files: Vec<&'f PtxFile>,
    modules: BTreeMap<usize, (Module, String)>,
}

impl<'f> FileModules<'f> {
    fn new(files: Vec<&'f PtxFile>) -> Self {
        Self { files, modules: BTreeMap::new() }
    }

    /// Returns how many files have the kernel of a launch, built anew since the record.
    fn count(&mut self, record: &Record, launch: &RecordedLaunch) -> usize {
        let has = |(at, file): &(usize, &&PtxFile)| {
            // Few files have the name at all, and only those are read.
            file.text.contains(&launch.kernel) && {
                let read = || (ptx::parse_shared(&file.text), module_name(&file.text));
                let (module, text) = self.modules.entry(*at).or_insert_with(read);
                record.is_earlier(launch, module, text)
            }
        };
        self.files.iter().enumerate().filter(has).count()
    }
}

/// Returns a recorded launch with what the configuration says of all launches of its kernel.
fn labelled(label: String, launch: Launch, stated: &[NamedLaunch]) -> NamedLaunch {
    let of_all = |allow: &&Allow| stated.iter().all(|own| own.allow.contains(allow));
    let first = stated.first();
    NamedLaunch {
        label: Some(label),
        launch,
        allow: first.into_iter().flat_map(|own| &own.allow).filter(of_all).cloned().collect(),
        skip: first
            .and_then(|own| own.skip.clone())
            .filter(|_| stated.iter().all(|own| own.skip.is_some())),
        places: BTreeMap::new(),
        has_default_block: false,
    }
}

/// Returns the names of the texts of some files.
pub fn names<'f>(files: impl IntoIterator<Item = &'f PtxFile>) -> impl Iterator<Item = String> {
    files.into_iter().map(|file| module_name(&file.text))
}

fn stranger(record: &Record, name: &str, dir: &Path) -> PtxFile {
    let path = record.module_path(name);
    let display = format!("recorded/{}.ptx", &name[..8]);
    let unread = |error: &dyn std::fmt::Display| PtxFile {
        path: path.clone(),
        display: display.clone(),
        text: Arc::default(),
        unread: Some(error.to_string()),
        saved: None,
    };
    let saved = Some(record.provenance(name, dir));
    let file = PtxFile::read(&path, &display).map(|own| PtxFile { saved, ..own });
    file.unwrap_or_else(|error| unread(&error))
}
