//! The files in which reports are kept: one for each report, named by its key, with a checksum in front.
//!
//! An entry is created by renaming a complete file, so that it is either whole or absent, even if other runs write at
//! the same time or a run is interrupted. Nothing here fails: an entry that cannot be read counts as absent, and the
//! first write error is kept for [`Folder::close`].

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use blake3::Hash;
use weft_core::finding::Report;
use weft_core::launch::Launch;
use weft_core::report::saved;

/// Maximum number of entries.
const MOST: usize = 10_000;
const HOUR: Duration = Duration::from_secs(60 * 60);
/// The time of an entry is updated when it is used, but at most once in this duration.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// How long an unused entry is kept.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Prefix of the names of files that are not complete yet.
const UNFINISHED: &str = ".unfinished-";
/// Excludes cargo's folder from backups, as cargo does for the folders that it creates
/// (<https://bford.info/cachedir/>).
const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n";

/// The folder that holds the entries.
#[derive(Debug)]
pub(super) struct Folder {
    target: PathBuf,
    path: PathBuf,
    has_grown: AtomicBool,
    failure: OnceLock<io::Error>,
}

impl Folder {
    /// Returns the folder within a target directory. Neither needs to exist.
    pub(super) fn within(target: &Path) -> Self {
        let (target, path) = (target.to_path_buf(), target.join("weft").join("verdicts"));
        Self { target, path, has_grown: AtomicBool::new(false), failure: OnceLock::new() }
    }

    /// Returns the path of the folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the report that was kept under `key`, with `launch` as its launch; `None` if there is no entry or its
    /// checksum does not match.
    pub(super) fn read(&self, key: &Hash, launch: &Launch) -> Option<Report> {
        let path = self.path.join(name(key));
        let text = fs::read_to_string(&path).ok()?;
        let (sum, body) = text.split_once('\n')?;
        if Hash::from_hex(sum).ok()? != checksum(key, body) {
            return None;
        }
        let report = saved::read(body, launch)?;
        mark_used(&path);
        Some(report)
    }

    /// Keeps a report under `key`.
    pub(super) fn write(&self, key: &Hash, report: &Report) {
        match self.try_write(key, &saved::write(report)) {
            Ok(()) => self.has_grown.store(true, Ordering::Relaxed),
            Err(error) => {
                // Of several write errors, one is enough.
                let _ = self.failure.set(error);
            }
        }
    }

    fn try_write(&self, key: &Hash, body: &str) -> io::Result<()> {
        self.prepare()?;
        let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.path)?;
        write!(file, "{}\n{body}", checksum(key, body))?;
        file.persist(self.path.join(name(key)))?;
        Ok(())
    }

    fn prepare(&self) -> io::Result<()> {
        if !self.target.exists() {
            fs::create_dir_all(&self.target)?;
            fs::write(self.target.join("CACHEDIR.TAG"), TAG)?;
        }
        fs::create_dir_all(&self.path)
    }

    /// Removes old entries if this run has added any. Returns the first write error.
    pub(super) fn close(self) -> Option<io::Error> {
        if self.has_grown.load(Ordering::Relaxed) {
            self.tidy(SystemTime::now(), MOST);
        }
        self.failure.into_inner()
    }

    /// Removes entries that were not used for [`KEPT`], of the others all but the `most` last used, and unfinished
    /// files of interrupted runs.
    fn tidy(&self, now: SystemTime, most: usize) {
        let age = |time: SystemTime| now.duration_since(time).unwrap_or_default();
        let mut entries: Vec<(Duration, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.path).into_iter().flatten().filter_map(Result::ok) {
            let Ok(used) = entry.metadata().and_then(|meta| meta.modified()) else { continue };
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(UNFINISHED) && age(used) > HOUR {
                remove(&entry.path());
            } else if Hash::from_hex(&name).is_ok() {
                entries.push((age(used), entry.path()));
            }
        }
        entries.sort();
        let is_kept = |at: usize, age: Duration| at < most && age <= KEPT;
        for (at, (age, path)) in entries.iter().enumerate() {
            if !is_kept(at, *age) {
                remove(path);
            }
        }
    }
}

fn name(key: &Hash) -> String {
    key.to_string()
}

/// Returns the checksum of an entry. The key is part of it, so that a text does not match under another key.
fn checksum(key: &Hash, body: &str) -> Hash {
    blake3::keyed_hash(key.as_bytes(), body.as_bytes())
}

/// Updates the time by which [`Folder::tidy`] orders the entries. If the system does not permit that, the entry is
/// merely removed earlier.
fn mark_used(path: &Path) {
    let is_recent = || -> io::Result<bool> {
        Ok(fs::metadata(path)?.modified()?.elapsed().unwrap_or_default() < DAY)
    };
    if !is_recent().unwrap_or(true) {
        let file = File::options().write(true).open(path);
        let _ = file.and_then(|file| file.set_modified(SystemTime::now()));
    }
}

/// Removes a file; another run might have removed it already.
fn remove(path: &Path) {
    let _ = fs::remove_file(path);
}

#[cfg(test)]
mod tests {
    use std::thread;

    use weft_core::ptx;

    use super::*;

    const PTX: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }\n";

    fn report() -> Report {
        let module = ptx::parse(PTX);
        let kernel = module.kernel("k").expect("it is there");
        weft_core::check(&module, kernel, &Launch::default()).expect("the launch fits")
    }

    fn key(number: u32) -> Hash {
        blake3::hash(&number.to_le_bytes())
    }

    #[test]
    fn no_byte_of_an_entry_may_differ() {
        let target = tempfile::tempdir().expect("a folder can be made");
        let (folder, report) = (Folder::within(target.path()), report());
        folder.write(&key(0), &report);
        let path = folder.path().join(name(&key(0)));
        let whole = fs::read(&path).expect("it is kept");
        let launch = Launch::default();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 5);
            fs::write(&path, bytes).expect("the folder can be written");
            assert_eq!(folder.read(&key(0), &launch), None, "byte {at}");
        }
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).expect("the folder can be written");
            assert_eq!(folder.read(&key(0), &launch), None, "{length} bytes");
        }
        fs::write(folder.path().join(name(&key(1))), &whole).expect("the folder can be written");
        assert_eq!(folder.read(&key(1), &launch), None);
    }

    #[test]
    fn who_reads_while_others_write_gets_all_or_nothing() {
        let target = tempfile::tempdir().expect("a folder can be made");
        let report = report();
        let is_right = |folder: &Folder, number| {
            folder.write(&key(number), &report);
            folder.read(&key(number), &Launch::default()).as_ref() == Some(&report)
        };
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let folder = Folder::within(target.path());
                    for round in 0..50 {
                        assert!(is_right(&folder, round % 3));
                    }
                    assert!(folder.close().is_none());
                });
            }
        });
        let path = Folder::within(target.path()).path;
        assert_eq!(fs::read_dir(path).expect("it is there").count(), 3);
    }

    #[test]
    fn what_is_not_used_goes() {
        let target = tempfile::tempdir().expect("a folder can be made");
        let (folder, report, now) = (Folder::within(target.path()), report(), SystemTime::now());
        let set = |name: &str, age: Duration| {
            let file = File::options().write(true).open(folder.path().join(name));
            file.and_then(|file| file.set_modified(now - age)).expect("its time can be set");
        };
        for number in 0..5_u32 {
            folder.write(&key(number), &report);
            set(&name(&key(number)), DAY * 9 * number);
        }
        for (name, age) in
            [(".unfinished-old", HOUR * 2), (".unfinished-new", HOUR / 2), ("note", KEPT * 2)]
        {
            fs::write(folder.path().join(name), "").expect("the folder can be written");
            set(name, age);
        }
        let has = |number| folder.path().join(name(&key(number))).exists();
        folder.tidy(now, MOST);
        assert_eq!([0, 1, 2, 3, 4].map(has), [true, true, true, true, false]);
        let others = [".unfinished-old", ".unfinished-new", "note"]
            .map(|name| folder.path().join(name).exists());
        assert_eq!(others, [false, true, true]);
        // Uses the entry whose last use is the oldest.
        assert_eq!(folder.read(&key(3), &Launch::default()), Some(report));
        folder.tidy(SystemTime::now(), 2);
        assert_eq!([0, 1, 2, 3].map(has), [true, false, false, true]);
    }

    #[test]
    fn a_target_directory_that_is_made_is_marked_as_cargo_marks_it() {
        let parent = tempfile::tempdir().expect("a folder can be made");
        let target = parent.path().join("target");
        Folder::within(&target).write(&key(0), &report());
        let tag = fs::read_to_string(target.join("CACHEDIR.TAG")).expect("it is there");
        assert!(tag.starts_with("Signature: 8a477f597d28d172789f06886806bc55"));
    }
}
