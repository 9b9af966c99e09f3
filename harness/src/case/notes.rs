//! What there is to say of recorded launches beside the verdicts on them.

use std::collections::{BTreeMap, BTreeSet};

use super::Job;
use crate::record::LaunchDoubts;

/// A note on recorded launches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchNote {
    /// The note.
    pub text: String,
    /// Whether a reader of the verdicts must know it, also where little is printed.
    pub is_vital: bool,
}

/// Returns what there is to say of the recorded launches of some jobs, which are all of a run.
pub fn launch_notes<'j>(jobs: impl IntoIterator<Item = &'j Job>) -> Vec<LaunchNote> {
    let jobs: Vec<&Job> = jobs.into_iter().filter(|job| job.recorded.is_some()).collect();
    let vital = |text| LaunchNote { text, is_vital: true };
    let plain = |text| LaunchNote { text, is_vital: false };
    let doubts = [
        after_read(&jobs).map(vital),
        maps(&jobs).map(plain),
        variables(&jobs).map(plain),
        rebuilt(&jobs).map(plain),
        replaced(&jobs).map(vital),
    ];
    doubts.into_iter().flatten().chain(left_out(&jobs).into_iter().map(plain)).collect()
}

/// Returns the names of the kernels of those jobs of whose launches something holds.
fn kernels(jobs: &[&Job], holds: fn(&LaunchDoubts) -> bool) -> BTreeSet<String> {
    let is_it = |job: &&&Job| job.recorded.as_ref().is_some_and(|note| holds(&note.doubts));
    jobs.iter().filter(is_it).map(|job| quoted(job)).collect()
}

fn after_read(jobs: &[&Job]) -> Option<String> {
    let count =
        jobs.iter().filter(|job| job.recorded.as_ref().is_some_and(|note| note.doubts.after_read));
    let count = count.count();
    (count > 0).then(|| {
        format!(
            "{count} of {} recorded launches might be others on a device: the thread had read memory before that a kernel might have \
             changed, or shares such memory with kernels, and kernels do not run while launches are recorded; of {}",
            jobs.len(),
            listed(&kernels(jobs, |own| own.after_read))
        )
    })
}

fn maps(jobs: &[&Job]) -> Option<String> {
    let found = kernels(jobs, |own| own.has_maps);
    let what =
        "of a tensor map, only the box is used: which memory copies access with one is open, of";
    (!found.is_empty()).then(|| format!("{what} {}", listed(&found)))
}

fn variables(jobs: &[&Job]) -> Option<String> {
    let found = kernels(jobs, |own| own.leads_to_variables);
    let what = "an argument that leads to a variable of the module is open, of";
    (!found.is_empty()).then(|| format!("{what} {}", listed(&found)))
}

fn rebuilt(jobs: &[&Job]) -> Option<String> {
    let is_it = |job: &&&Job| job.recorded.as_ref().is_some_and(|note| note.is_rebuilt);
    let found: BTreeSet<String> = jobs.iter().filter(is_it).map(|job| quoted(job)).collect();
    let what = "the PTX has changed since the record, whose launches are taken by name and sizes of parameters, for";
    (!found.is_empty()).then(|| format!("{what} {}", listed(&found)))
}

fn replaced(jobs: &[&Job]) -> Option<String> {
    let is_it = |job: &&&Job| job.recorded.as_ref().is_some_and(|note| note.is_replaced);
    let name = |job: &&Job| format!("`{}@{}`", job.title, job.label.as_deref().unwrap_or_default());
    let found: BTreeSet<String> = jobs.iter().filter(is_it).map(name).collect();
    let what = "the configuration states other launches than the record under the same labels, and those are checked in place of the \
                recorded ones:";
    (!found.is_empty()).then(|| format!("{what} {}", listed(&found)))
}

/// Returns a note for each kernel of which not all launches are checked.
fn left_out(jobs: &[&Job]) -> Vec<String> {
    let mut counts: BTreeMap<(&str, &str, &str), (usize, usize)> = BTreeMap::new();
    for job in jobs {
        let key = (&job.package[..], &job.file.display[..], &job.title[..]);
        let (checked, left_out) = counts.entry(key).or_default();
        *checked += 1;
        *left_out = job.recorded.as_ref().map_or(0, |note| note.left_out);
    }
    let few = counts.into_iter().filter(|(_, (_, left_out))| *left_out > 0);
    let note = |((_, _, title), (checked, left_out)): ((&str, &str, &str), (usize, usize))| {
        format!(
            "{checked} of {} distinct launches of `{title}` are checked: those with the smallest and largest sizes and numbers, and those \
             that differ most; `--most-launches all`, or WEFT_MOST_LAUNCHES=all, checks every one",
            checked + left_out
        )
    };
    few.map(note).collect()
}

fn quoted(job: &Job) -> String {
    format!("`{}`", job.title)
}

/// Lists names, or those of many that come first.
pub fn listed(names: &BTreeSet<String>) -> String {
    /// The most names that are listed.
    const MOST: usize = 12;
    let mut shown: Vec<String> = names.iter().take(MOST).cloned().collect();
    if names.len() > MOST {
        shown.push(format!("{} more", names.len() - MOST));
    }
    shown.join(", ")
}
