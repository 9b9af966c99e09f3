//! Connects jobs to their kept reports.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::case::{Job, Outcome};
use blake3::{Hash, Hasher};

use super::folder::Folder;
use super::key;

/// The kept reports of a workspace.
#[derive(Debug)]
pub struct Cache {
    folder: Folder,
    checker: Hash,
}

/// Why reports could not be kept. The verdicts of this run are not affected.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The running program's own file cannot be read.
    #[error(
        "verdicts are neither kept nor taken from earlier runs: cannot read this program's own file"
    )]
    Checker(#[source] io::Error),
    /// Entries cannot be written.
    #[error("verdicts cannot be kept in {}, so that the next run has to check again", .folder.display())]
    Write {
        /// The folder of the entries.
        folder: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl Cache {
    /// Opens the cache in a target directory. Entries belong to the program that wrote them, which is identified by the
    /// hash of its executable file, and to the solver that it asked: no other build of cargo-weft uses them.
    /// `solver`: what tells one solver from others, if there is one.
    pub fn open(target: &Path, solver: Option<&str>) -> Result<Self, CacheError> {
        let own = own_hash().map_err(CacheError::Checker)?;
        let mut checker = Hasher::new();
        checker.update(own.as_bytes()).update(solver.unwrap_or_default().as_bytes());
        Ok(Self::of_checker(target, checker.finalize()))
    }

    /// Opens the cache in a target directory for the running test binary. It is identified by the path, the size and the
    /// time of its file: a test binary is large, often not optimised, and started once for each case.
    ///
    /// # Errors
    /// The binary's own file is not found.
    pub fn of_test_binary(target: &Path) -> Result<Self, CacheError> {
        let path = std::env::current_exe().map_err(CacheError::Checker)?;
        let file = std::fs::metadata(&path).map_err(CacheError::Checker)?;
        let time = file.modified().map_err(CacheError::Checker)?;
        let identity = format!("{} {} {time:?}", path.display(), file.len());
        Ok(Self::of_checker(target, blake3::hash(identity.as_bytes())))
    }

    /// Opens the cache in a target directory for the program with the hash `checker`.
    fn of_checker(target: &Path, checker: Hash) -> Self {
        Self { folder: Folder::within(target), checker }
    }

    /// Returns the jobs with the keys of their reports. The text of a file is hashed once for all its jobs.
    pub fn keyed<'j>(&self, jobs: &[&'j Job]) -> Vec<(&'j Job, Hash)> {
        let of_file = |jobs: &[&'j Job]| {
            let text = jobs.first().map(|job| blake3::hash(job.file.text.as_bytes()));
            let key = |job: &'j Job, text| {
                (job, key::of(&self.checker, &text, &job.kernel.mangled, &job.launch))
            };
            text.map(|text| jobs.iter().map(|job| key(job, text)).collect::<Vec<_>>())
        };
        jobs.chunk_by(|one, next| Arc::ptr_eq(&one.file, &next.file))
            .filter_map(of_file)
            .flatten()
            .collect()
    }

    /// Returns the result of a job: from the kept report if there is one, otherwise from a check, whose report is then
    /// kept.
    pub fn outcome<'j>(&self, job: &'j Job, key: &Hash) -> &'j Outcome {
        if job.is_left_out() {
            return job.outcome();
        }
        if let Some(report) = self.folder.read(key, &job.launch) {
            return job.recall(report);
        }
        let outcome = job.outcome();
        if let Ok(report) = &outcome.report {
            self.folder.write(key, report);
        }
        outcome
    }

    /// Removes old entries; returns an error if reports could not be kept.
    pub fn close(self) -> Result<(), CacheError> {
        let folder = self.folder.path().to_path_buf();
        match self.folder.close() {
            None => Ok(()),
            Some(source) => Err(CacheError::Write { folder, source }),
        }
    }
}

/// Returns the hash of the running program's executable file.
fn own_hash() -> io::Result<Hash> {
    let mut hasher = Hasher::new();
    hasher.update_reader(File::open(std::env::current_exe()?)?)?;
    Ok(hasher.finalize())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use crate::case::{Checker, Package, plan_with};
    use crate::config::Config;
    use crate::discover::PtxFile;
    use weft_core::finding::Report;
    use weft_core::launch::{Dim3, Launch};
    use weft_core::ptx::{Function, Module};

    use super::*;

    /// Two kernels, of which one races.
    const PTX: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.shared .align 4 .b8 slot[4];\n\
                       .entry one() { ret; }\n.entry two() { st.shared.u32 [slot], %tid.x; ret; }\n";

    type CheckFunction = fn(&Module, &Function, &Launch) -> Result<Report, weft_core::CheckError>;

    /// Defines a checker that counts its calls, one for each test.
    macro_rules! counter {
        ($checks:ident, $checker:ident) => {
            static $checks: AtomicUsize = AtomicUsize::new(0);
            fn $checker(
                module: &Module,
                kernel: &Function,
                launch: &Launch,
            ) -> Result<Report, weft_core::CheckError> {
                $checks.fetch_add(1, Ordering::Relaxed);
                weft_core::check(module, kernel, launch)
            }
        };
    }

    fn jobs(text: &str, checker: CheckFunction) -> Vec<Job> {
        let (path, display) = (PathBuf::from("k.ptx"), "k.ptx".to_owned());
        let files = vec![PtxFile { path, display, text: text.into(), unread: None, saved: None }];
        let package = Package::new("p", PathBuf::new(), Config::default(), files);
        let mut jobs = plan_with(&package, &Checker::new(checker)).expect("there are kernels");
        for job in &mut jobs {
            job.launch.block = Some(Dim3::line(64).into());
        }
        jobs
    }

    fn reports(cache: &Cache, jobs: &[Job]) -> Vec<Report> {
        let jobs: Vec<&Job> = jobs.iter().collect();
        let outcomes = cache.keyed(&jobs).into_iter().map(|(job, key)| cache.outcome(job, &key));
        outcomes.map(|outcome| outcome.report.clone().expect("the launch fits")).collect()
    }

    fn cache(target: &Path) -> Cache {
        Cache::of_checker(target, blake3::hash(b"this checker"))
    }

    #[test]
    fn only_what_has_changed_is_checked() {
        counter!(CHECKS, checker);
        let target = tempfile::tempdir().expect("a folder can be made");
        let run = |text: &str, change: fn(&mut Job), cache: &Cache| {
            let mut jobs = jobs(text, checker);
            jobs.iter_mut().for_each(change);
            let before = CHECKS.load(Ordering::Relaxed);
            let reports = reports(cache, &jobs);
            (reports, CHECKS.load(Ordering::Relaxed) - before)
        };
        let unchanged: fn(&mut Job) = |_| ();
        let own = cache(target.path());
        let (first, checks) = run(PTX, unchanged, &own);
        assert_eq!((checks, first[0].findings.len(), first[1].findings.len()), (2, 0, 1));
        assert_eq!(run(PTX, unchanged, &own), (first.clone(), 0));
        assert_eq!(run(PTX, unchanged, &cache(target.path())), (first.clone(), 0));
        assert_eq!(run(&PTX.replace("sm_80", "sm_81"), unchanged, &own).1, 2);
        assert_eq!(run(PTX, |job| job.launch.shared = Some(4), &own).1, 2);
        assert_eq!(run(PTX, |job| job.launch.options.warp_synchronous = true, &own).1, 2);
        let other = Cache::of_checker(target.path(), blake3::hash(b"another checker"));
        assert_eq!(run(PTX, unchanged, &other), (first.clone(), 2));
        assert_eq!(run(PTX, unchanged, &own), (first, 0));
        assert!(own.close().is_ok());
    }

    #[test]
    fn a_test_binary_finds_what_it_kept() {
        counter!(CHECKS, checker);
        let target = tempfile::tempdir().expect("a folder can be made");
        for _ in 0..2 {
            let own = Cache::of_test_binary(target.path()).expect("the binary is there");
            assert_eq!(reports(&own, &jobs(PTX, checker)).len(), 2);
            assert_eq!(CHECKS.load(Ordering::Relaxed), 2);
        }
    }

    #[test]
    fn an_entry_that_is_not_as_it_was_written_is_written_again() {
        counter!(CHECKS, checker);
        let target = tempfile::tempdir().expect("a folder can be made");
        let own = cache(target.path());
        let good = reports(&own, &jobs(PTX, checker));
        let kept = jobs(PTX, checker);
        let paths: Vec<PathBuf> = own
            .keyed(&kept.iter().collect::<Vec<_>>())
            .iter()
            .map(|(_, key)| own.folder.path().join(key.to_string()))
            .collect();
        let whole = paths.iter().map(|path| fs::read(path).expect("it is kept"));
        let whole: Vec<Vec<u8>> = whole.collect();
        let cut = whole[1].len() / 2;
        for bad in [&[], &whole[1][..cut], &whole[0], b"\xff\xfe", &[&whole[1][..], b" "].concat()]
        {
            fs::write(&paths[1], bad).expect("the folder can be written");
            let before = CHECKS.load(Ordering::Relaxed);
            assert_eq!(reports(&own, &jobs(PTX, checker)), good);
            assert_eq!(CHECKS.load(Ordering::Relaxed) - before, 1, "{bad:?}");
            assert_eq!(fs::read(&paths[1]).expect("it is kept"), whole[1]);
        }
    }

    #[test]
    fn where_nothing_can_be_kept_everything_is_checked() {
        counter!(CHECKS, checker);
        let target = tempfile::NamedTempFile::new().expect("a file can be made");
        for checks in [2, 4] {
            let own = cache(target.path());
            assert_eq!(reports(&own, &jobs(PTX, checker)).len(), 2);
            assert_eq!(CHECKS.load(Ordering::Relaxed), checks);
            let error = own.close().expect_err("a file is no folder").to_string();
            assert!(error.starts_with("verdicts cannot be kept in "), "{error}");
        }
    }

    #[test]
    fn a_kernel_that_could_not_be_checked_is_checked_again() {
        counter!(CHECKS, checker);
        let target = tempfile::tempdir().expect("a folder can be made");
        let own = cache(target.path());
        for checks in [1, 2] {
            let mut jobs = jobs(PTX, checker);
            jobs.truncate(1);
            jobs[0].launch.block = Some(Dim3::line(2048).into());
            let keyed = own.keyed(&[&jobs[0]]);
            assert!(own.outcome(&jobs[0], &keyed[0].1).report.is_err());
            assert_eq!(CHECKS.load(Ordering::Relaxed), checks);
        }
        assert!(!own.folder.path().exists());
    }
}
