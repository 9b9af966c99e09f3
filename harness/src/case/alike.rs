//! Puts findings with the same cause together: one missing barrier in an unrolled loop of a template is one finding to a
//! reader, however many pairs of instructions race for want of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use weft_core::finding::{Cause, Finding, Report};

use super::Job;
use super::remedy::remedy;

/// The findings of some jobs, put together by their causes.
#[derive(Debug, Default)]
pub struct Causes {
    /// For each cause, the jobs that have it, with the number of their findings, in the order of the jobs. The folder
    /// tells causes of files apart that have one name.
    jobs: BTreeMap<(PathBuf, Cause), Vec<(usize, usize)>>,
}

/// The findings of a job that stand for all with their causes.
#[derive(Debug, Default)]
pub struct FirstFindings {
    /// One finding of each cause that no job before has, those with the most alike first. A note counts the others. The
    /// help of the first says which barriers make the kernel clean, if that was found quickly.
    pub findings: Vec<Finding>,
    /// The number of findings whose causes a job before has.
    pub told_before: usize,
    /// Whether the help of the first finding says which barriers make the kernel clean.
    pub has_remedy: bool,
}

impl Causes {
    /// Puts together the findings that a reader is told of the jobs. Runs jobs that have not run yet.
    pub fn of(jobs: &[&Job]) -> Self {
        let mut causes = Self::default();
        for (index, job) in jobs.iter().enumerate() {
            for finding in job.outcome().remaining().into_iter().flat_map(Report::told) {
                causes.add(index, key(job, finding));
            }
        }
        causes
    }

    fn add(&mut self, job: usize, cause: (PathBuf, Cause)) {
        let known = self.jobs.entry(cause).or_default();
        match known.last_mut() {
            Some((last, count)) if *last == job => *count += 1,
            _ => known.push((job, 1)),
        }
    }

    /// Returns for each of `jobs`, which are those of [`Causes::of`], the findings that it is the first to have.
    pub fn first(&self, jobs: &[&Job]) -> Vec<FirstFindings> {
        (0..jobs.len()).into_par_iter().map(|index| self.first_of(jobs, index)).collect()
    }

    fn first_of(&self, jobs: &[&Job], index: usize) -> FirstFindings {
        let job = jobs[index];
        let told = job.outcome().remaining().into_iter().flat_map(Report::told);
        let mut first = FirstFindings::default();
        let mut counted: Vec<(usize, Finding)> = Vec::new();
        let mut seen = BTreeSet::new();
        for finding in told {
            let cause = key(job, finding);
            let having = self.jobs.get(&cause).map(Vec::as_slice).unwrap_or_default();
            if having.first().is_none_or(|(first, _)| *first != index) {
                first.told_before += 1;
            } else if seen.insert(cause) {
                let all: usize = having.iter().map(|(_, count)| count).sum();
                counted.push((all, noted(finding, having, jobs)));
            }
        }
        counted.sort_by_key(|(all, _)| std::cmp::Reverse(*all));
        first.findings = counted.into_iter().map(|(_, finding)| finding).collect();
        if let Some(finding) = first.findings.first_mut() {
            let remedy = remedy(&launches(jobs, job));
            first.has_remedy = remedy.is_some();
            finding.help = remedy.or_else(|| finding.help.take());
        }
        first
    }
}

/// Returns the jobs of the same kernel.
fn launches<'j>(jobs: &[&'j Job], job: &Job) -> Vec<&'j Job> {
    let is_same = |own: &&&Job| Arc::ptr_eq(&own.module, &job.module) && own.kernel == job.kernel;
    jobs.iter().filter(is_same).copied().collect()
}

/// Returns the cause of a finding, with the folder in which the names of its files are meant: that of the package, or, if
/// one is relative or the PTX was named on the command line, that of the PTX file.
fn key(job: &Job, finding: &Finding) -> (PathBuf, Cause) {
    let mut files = finding.sites.iter().flat_map(|site| &site.source).map(|line| &line.file);
    let is_of_package = !job.package.is_empty() && files.all(|file| Path::new(file).is_absolute());
    let folder = if is_of_package { Some(&*job.dir) } else { job.file.path.parent() };
    (folder.unwrap_or(Path::new("")).to_path_buf(), Cause::of(finding, &job.file.display))
}

/// Returns the finding with a note on those alike, if there are any: the jobs that have them, and how many.
fn noted(finding: &Finding, having: &[(usize, usize)], jobs: &[&Job]) -> Finding {
    /// The most kernels that are named.
    const NAMED: usize = 4;
    let mut finding = finding.clone();
    let others: usize = having.iter().map(|(_, count)| count).sum::<usize>() - 1;
    if others == 0 {
        return finding;
    }
    let mut told: Vec<String> = Vec::new();
    let own = having.first().map_or(0, |(_, count)| count - 1);
    if own > 0 {
        told.push(format!("{own} in this kernel"));
    }
    let rest = having.get(1..).unwrap_or_default();
    for (job, count) in rest.iter().take(NAMED) {
        told.push(format!("{count} in {}", jobs[*job].short_name()));
    }
    if rest.len() > NAMED {
        let count: usize = rest[NAMED..].iter().map(|(_, count)| count).sum();
        told.push(format!("{count} in {} other kernels and launches", rest.len() - NAMED));
    }
    finding.notes.push(format!("{others} more alike: {}", told.join(", ")));
    finding
}

/// Returns one finding of each cause in one kernel, with the number of the others, those with the most alike first.
pub fn alike<'f>(findings: impl Iterator<Item = &'f Finding>) -> Vec<(&'f Finding, usize)> {
    let mut places: BTreeMap<Cause, usize> = BTreeMap::new();
    let mut causes: Vec<(&Finding, usize)> = Vec::new();
    for finding in findings {
        let place = *places.entry(Cause::of(finding, "")).or_insert(causes.len());
        match causes.get_mut(place) {
            Some((_, others)) => *others += 1,
            None => causes.push((finding, 0)),
        }
    }
    causes.sort_by_key(|(_, others)| std::cmp::Reverse(*others));
    causes
}
