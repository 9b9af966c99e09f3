//! Reads the folder of a record.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::earlier::{self, EarlierLists, ProcessKernels};
use super::launch::GivenBytes;
use super::line::{self, RecordLaunchLine, RecordLine, RefusedCall, RefusedLine, VERSION};
use super::lost::{self, LostLaunch};
use super::origin::RecordedProgram;
use super::recorded::RecordedLaunch;
use super::writers::Writers;
use crate::bounded;

/// The most bytes that a file of lines or of contents can have.
const MOST: u64 = 1 << 30;

/// The name of a kernel, and that of its module if that is kept.
pub(super) type KernelInModule = (String, Option<String>);

/// What a program and its processes launched.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The launches, each once, in an order that does not depend on the run.
    pub(super) launches: Vec<RecordedLaunch>,
    /// Those of them that were made only by threads which had read, or shared with kernels, memory that a kernel might have changed.
    pub(super) doubted: Vec<RecordedLaunch>,
    /// The names of the modules that are kept.
    pub(super) modules: BTreeSet<String>,
    /// The folder; modules are in `modules/NAME.ptx`.
    pub(super) folder: PathBuf,
    /// What the host put into memory, by name; `None`: a byte that it never gave.
    pub(super) contents: BTreeMap<String, GivenBytes>,
    /// Whether contents are not read.
    is_outline: bool,
    /// The kernels that were launched before others.
    pub(super) earlier: EarlierLists,
    /// What is known of the kernels of earlier launches; shared, since it takes long to find out.
    pub(super) writers: Arc<Mutex<Writers>>,
    /// What made launches first, of those of which that is known.
    pub(super) origins: BTreeMap<RecordedLaunch, String>,
    /// The number of processes that used the driver.
    pub processes: usize,
    /// The calls that the driver refused.
    pub refused: BTreeSet<RefusedCall>,
    /// The functions that the stand-in does not have.
    pub missing: BTreeSet<String>,
    /// Why modules are not kept.
    pub unkept: BTreeSet<String>,
    /// The launches whose lines cannot be read.
    pub(super) unread: BTreeSet<LostLaunch>,
    /// Why the modules of kernels are not kept, by the kernel.
    pub(super) opaque: BTreeMap<String, String>,
}

/// Why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A file or folder that cannot be read.
    #[error("cannot read the record {}", .path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A line or text that is not that of a record.
    #[error("{}:{line}: this is no record of launches: {said}; record anew by `cargo weft record`", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        said: String,
    },
    /// Another version of the format.
    #[error("{}: the record has version {version}, this program reads version {VERSION}; record anew by `cargo weft record`", .path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// The version of the record.
        version: u32,
    },
}

impl Record {
    /// The folder of the record that a package keeps, in the folder of the package.
    pub const SAVED: &str = "tests/launches";

    /// Reads a record; `None` if there is none in this folder.
    ///
    /// # Errors
    /// A file that cannot be read, or is not that of a record of this version.
    pub fn read(folder: &Path) -> Result<Option<Self>, RecordError> {
        Self::read_as(folder, false)
    }

    /// Reads a record without the contents of memory, which are most of it: what was launched can be told, and nothing checked.
    ///
    /// # Errors
    /// As those of [`Record::read`], but for contents.
    pub fn outline(folder: &Path) -> Result<Option<Self>, RecordError> {
        Self::read_as(folder, true)
    }

    fn read_as(folder: &Path, is_outline: bool) -> Result<Option<Self>, RecordError> {
        let lines = folder.join("launches");
        let entries = match fs::read_dir(&lines) {
            Ok(entries) => entries,
            // What a file in place of one of its folders means, others say.
            Err(_) if !folder.is_dir() => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(RecordError::Read { path: lines, source }),
        };
        let mut paths = Vec::new();
        for entry in entries {
            let read = |source| RecordError::Read { path: lines.clone(), source };
            paths.push(entry.map_err(read)?.path());
        }
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
        paths.sort();
        let mut record = Self { folder: folder.to_owned(), is_outline, ..Self::default() };
        for path in &paths {
            record.add(path)?;
        }
        // The same holds for calls: one without a doubt is there whatever others were.
        let plain = |own: &RefusedCall| RefusedCall {
            after_read: false,
            after_sharing: false,
            ..own.clone()
        };
        let refused = record.refused.clone();
        let is_certain = |own: &RefusedCall| {
            let own = plain(own);
            refused.iter().any(|other| other.is_same(&own))
        };
        record.refused.retain(|own| !own.is_doubtful() || !is_certain(own));
        record.launches.sort();
        record.doubted.sort();
        record.doubted.dedup();
        // A launch that was made before a read as well does not depend on it.
        let certain = &record.launches;
        record.doubted.retain(|own| certain.binary_search(own).is_err());
        record.launches.extend(record.doubted.iter().cloned());
        record.launches.sort();
        record.launches.dedup();
        Ok(Some(record))
    }

    /// Adds the lines of a file.
    fn add(&mut self, path: &Path) -> Result<(), RecordError> {
        let text = text(path)?;
        let place = |at: usize| format!("{}:{}", path.display(), at + 1);
        let (mut kernels, mut program) = (ProcessKernels::default(), RecordedProgram::default());
        for (at, line) in text.split_inclusive('\n').enumerate() {
            // A process that ends while it writes, on a full disk for example, leaves a part of a line.
            let Some(line) = line.strip_suffix('\n') else { break };
            let malformed =
                |said| RecordError::Malformed { path: path.to_owned(), line: at + 1, said };
            let parsed = match serde_json::from_str(line) {
                Ok(parsed) => parsed,
                Err(error) => {
                    let lost = LostLaunch::of_line(line, &place(at), &error);
                    self.unread.insert(lost.ok_or_else(|| malformed(error.to_string()))?);
                    kernels.add(earlier::unknown(&place(at)), &mut self.earlier);
                    continue;
                }
            };
            match parsed {
                RecordLine::Process { version, .. } if version != VERSION => {
                    return Err(RecordError::Version { path: path.to_owned(), version });
                }
                RecordLine::Process { command, .. } => {
                    program = RecordedProgram::of(&command);
                    self.processes += 1;
                }
                // Nothing else says how the lines are meant.
                _ if at == 0 => {
                    return Err(malformed("the first line states no version".to_owned()));
                }
                RecordLine::Module { hash: Some(name), .. } if !is_name(&name) => {
                    return Err(malformed("modules are named by 32 hexadecimal digits".to_owned()));
                }
                RecordLine::Module { hash: Some(name), .. } => drop(self.modules.insert(name)),
                RecordLine::Module { reason, .. } => self.unkept.extend(reason),
                RecordLine::Launch(line) => {
                    self.launch(line, &place(at), &mut kernels, &program);
                }
                RecordLine::Invalid(RefusedLine { call, thread }) => {
                    if !self.refused.iter().any(|own| own.is_same(&call)) {
                        let origin = program.in_words(thread.as_deref());
                        self.refused.insert(RefusedCall { origin, ..call });
                    }
                }
                RecordLine::Missing { function } => drop(self.missing.insert(function)),
                RecordLine::Other => {}
            }
        }
        Ok(())
    }

    /// Adds the launch of a line, which stands at `place`. One that cannot be read is noted: the others are
    /// still good. `kernels`: those that were launched before, to which its own comes; `program`: what made it.
    fn launch(
        &mut self,
        line: RecordLaunchLine,
        place: &str,
        kernels: &mut ProcessKernels,
        program: &RecordedProgram,
    ) {
        let origin = program.in_words(line.thread.as_deref());
        let (kernel, is_doubted) = (line.kernel.clone(), line.after_read || line.after_sharing);
        if let (None, Some(reason)) = (&line.module, &line.reason) {
            self.opaque.insert(kernel.clone(), reason.clone());
        }
        let module = line.module.clone();
        let launch = RecordedLaunch::of(line, kernels, &mut |name| self.given(name));
        match module {
            Some(module) if is_name(&module) => {
                kernels.add((module, kernel.clone()), &mut self.earlier);
            }
            Some(_) => kernels.add(earlier::unknown(place), &mut self.earlier),
            None => {}
        }
        match launch
            .map_err(|error| lost::message(&error))
            .and_then(|own| own.map_err(str::to_owned))
        {
            Ok(launch) => {
                if let Some(origin) = origin {
                    self.origins.entry(launch.clone()).or_insert(origin);
                }
                let all = if is_doubted { &mut self.doubted } else { &mut self.launches };
                all.push(launch);
            }
            Err(said) => drop(self.unread.insert(LostLaunch::unread(Some(kernel), place, &said))),
        }
    }

    /// Reads the contents that are kept under a name, once, and returns their number of bytes.
    fn given(&mut self, name: &str) -> Result<usize, RecordError> {
        if self.is_outline {
            return Ok(0);
        }
        if let Some(bytes) = self.contents.get(name) {
            return Ok(bytes.len());
        }
        let path = self.folder.join("contents").join(name).with_extension("hex");
        let malformed = || RecordError::Malformed {
            path: path.clone(),
            line: 1,
            said: "contents are pairs of hexadecimal digits".to_owned(),
        };
        let bytes = line::bytes(&text(&path)?).ok_or_else(malformed)?;
        let count = bytes.len();
        self.contents.insert(name.to_owned(), bytes);
        Ok(count)
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the kernels of this record that `newer` has launches of too, each by its name and that of its module: in the same text, or with
    /// parameters of the same sizes in a text that took the place of one which is not in `present`. `others`: the names of the texts of modules
    /// of other packages, of which the launches in `newer` do not count.
    pub fn shared_kernels(
        &self,
        newer: &Self,
        others: &BTreeSet<String>,
        present: &BTreeSet<String>,
    ) -> BTreeSet<KernelInModule> {
        let is_of_others =
            |own: &RecordedLaunch| own.module.as_ref().is_some_and(|name| others.contains(name));
        let is_gone =
            |own: &RecordedLaunch| own.module.as_ref().is_none_or(|name| !present.contains(name));
        let replaces = |newer: &RecordedLaunch, own: &RecordedLaunch| {
            let is_same = newer.kernel == own.kernel && newer.module == own.module;
            is_same || is_gone(own) && newer.is_alike(own)
        };
        let newer = || newer.launches.iter().filter(|own| !is_of_others(own));
        let shared = self.launches.iter().filter(|own| newer().any(|newer| replaces(newer, own)));
        shared.map(|own| (own.kernel.clone(), own.module.clone())).collect()
    }

    /// Returns the record without the launches of some kernels, and without the refused calls about them or about none.
    #[must_use]
    pub fn without(&self, kernels: &BTreeSet<KernelInModule>) -> Self {
        let is_left =
            |own: &RecordedLaunch| !kernels.contains(&(own.kernel.clone(), own.module.clone()));
        let is_named = |name: &String| kernels.iter().any(|(kernel, _)| kernel == name);
        let mut rest = self.clone();
        rest.launches.retain(is_left);
        rest.doubted.retain(is_left);
        rest.refused.retain(|own| own.kernel.as_ref().is_some_and(|name| !is_named(name)));
        rest
    }

    /// Returns the path of a module that is kept.
    pub fn module_path(&self, name: &str) -> PathBuf {
        self.folder.join("modules").join(name).with_extension("ptx")
    }

    /// Returns the number of modules that were loaded, those that are not kept among them.
    pub fn module_count(&self) -> usize {
        self.modules.len() + self.unkept.len()
    }

    /// Whether a file is in the folder of the modules.
    pub fn is_module(&self, path: &Path) -> bool {
        path.parent() == Some(&self.folder.join("modules"))
    }

    /// Whether nothing was launched, and no call was refused.
    pub fn is_empty(&self) -> bool {
        self.launches.is_empty() && self.unread.is_empty() && self.refused.is_empty()
    }

    /// Returns the launches.
    pub fn launches(&self) -> &[RecordedLaunch] {
        &self.launches
    }

    /// Returns the launches that might rest on results which were never computed: the program had read memory before that a kernel
    /// might have changed.
    pub fn doubted(&self) -> &[RecordedLaunch] {
        &self.doubted
    }
}

fn text(path: &Path) -> Result<String, RecordError> {
    let read = |source| RecordError::Read { path: path.to_owned(), source };
    let bytes = bounded::read_regular(path, MOST).map_err(read)?;
    String::from_utf8(bytes).map_err(|error| read(io::Error::other(error)))
}

/// Returns whether a file name is one that hashes have.
pub(super) fn is_name(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|c| c.is_ascii_hexdigit())
}
