//! `cargo weft repair`: the cheapest barriers that make racing kernels clean, as advice, as a diff of the source, and as
//! PTX.

mod source;
mod told;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use similar::TextDiff;
use weft_core::finding::{Finding, Report, SourceLine, Verdict};
use weft_core::ptx::{Module, Span};
use weft_core::repair::{
    self, Aim, Costs, Edit, Mend, Obstacle, RepairOutcome, SourceCopies, SourcePlace, edited,
};
use weft_core::report::json::{self, RepairCounts};
use weft_harness::case::{self, Job, JobError, Surroundings};
use weft_harness::render::{SourceFiles as _, openable};

use crate::arguments;
use crate::body;
use crate::exit::{Exit, Failure};
use crate::options::Format;
use crate::parallel::{Turn, in_order};
use crate::print::Printer;
use crate::targets;
use source::{SourceCode, SourceEdit};
pub(crate) use write::WriteError;

/// All launches of one kernel.
type Launches<'j> = Vec<&'j Job>;

/// What came of a kernel.
pub(super) struct Repaired {
    /// The repair, or why there is none.
    pub(super) result: Result<repair::KernelRepair, JobError>,
    /// Changes of the sources; empty if the place of one of the changes is in doubt.
    edits: Vec<SourceEdit>,
    /// The changes of the sources, as unified diffs.
    pub(super) diff: String,
    /// Further facts, one per line.
    pub(super) notes: Vec<String>,
}

impl Repaired {
    pub(super) fn mend(&self) -> Option<&Mend> {
        match &self.result {
            Ok(repair::KernelRepair { outcome: RepairOutcome::Mended(mend), .. }) => Some(mend),
            _ => None,
        }
    }

    /// The findings that stand in the way.
    pub(super) fn obstacles(&self) -> &[Finding] {
        match &self.result {
            Ok(repair::KernelRepair {
                outcome: RepairOutcome::Refused(Obstacle::Findings(all)),
                ..
            }) => all,
            _ => &[],
        }
    }
}

/// Repairs all selected kernels.
pub(crate) fn run(arguments: &arguments::Repair, printer: &mut Printer) -> Result<Exit, Failure> {
    let (jobs, failed) = targets::jobs(&arguments.targets, printer)?;
    let kernels = kernels(&jobs);
    if arguments.write && !arguments.allow_dirty && !arguments.minimize {
        refuse_early(&jobs)?;
    }
    let indices: Vec<usize> = (0..kernels.len()).collect();
    let mut all = Vec::with_capacity(kernels.len());
    in_order(
        &indices,
        |at| repaired(&kernels[at], arguments),
        |at, turn| {
            match turn {
                Turn::Done(one) => {
                    told::line(&kernels[at], &one, arguments.message_format, printer)?;
                    all.push(one);
                }
                Turn::Waiting(wait) => {
                    let name = kernels[at].first().map(|job| job.short_name());
                    printer.waiting("repairing", &name.unwrap_or_default(), wait);
                }
            }
            Ok(())
        },
    )?;
    keep_whole_edits(&kernels, &mut all);
    let conflicts = conflicts(&kernels, &all, arguments);
    let changed = if arguments.write { changed(&kernels, &all) } else { ChangedFiles::new() };
    let is_clean = |path: &PathBuf| write::clean_tree(path);
    let permitted =
        if arguments.allow_dirty { Ok(()) } else { changed.keys().try_for_each(is_clean) };
    let is_written = permitted.is_ok() && conflicts.is_empty();
    let counts = counts(&all, failed, arguments.write && !is_written);
    match arguments.message_format {
        Format::Json => {
            for (launches, one) in kernels.iter().zip(&all) {
                told::json(launches, one, printer)?;
            }
            printer.line(&json::repair_summary(counts))?;
        }
        Format::Short => printer.line(&told::sentence(counts))?,
        Format::Human => {
            let mut diffs = BTreeSet::new();
            for (launches, one) in kernels.iter().zip(&all) {
                told::detail(launches, one, diffs.insert(&one.diff), printer)?;
            }
            conflicts.iter().try_for_each(|text| printer.line(&format!("\n{text}")))?;
            printer.line(&format!("\n{}", told::sentence(counts)))?;
        }
    }
    permitted?;
    if conflicts.is_empty() {
        written(&kernels, &all, (arguments, &changed), printer)?;
        return Ok(exit(&kernels, &all, counts, arguments.write));
    }
    Ok(Exit::Unchecked)
}

/// Returns an error if a source in which a kernel races could not be changed, before repairs are looked for.
fn refuse_early(jobs: &[Job]) -> Result<(), WriteError> {
    use rayon::prelude::*;
    let files = |job: &Job| -> BTreeSet<PathBuf> {
        let sources = Surroundings::of(job).sources;
        let findings = job.outcome().remaining().into_iter().flat_map(Report::told);
        let races = findings.filter(|own| own.pairs.is_some());
        let lines = races.flat_map(|own| &own.sites).flat_map(|site| &site.source);
        lines.filter_map(|line| sources.path(&line.file)).collect()
    };
    let all: BTreeSet<PathBuf> = jobs.par_iter().flat_map_iter(files).collect();
    all.iter().try_for_each(|path| write::clean_tree(path))
}

/// Returns the jobs of each kernel, in the order of the jobs.
fn kernels(jobs: &[Job]) -> Vec<Launches<'_>> {
    let mut kernels: Vec<Launches<'_>> = Vec::new();
    for job in jobs {
        let is_same = |other: &Launches<'_>| {
            Arc::ptr_eq(&other[0].module, &job.module) && other[0].kernel == job.kernel
        };
        match kernels.iter_mut().rev().find(|other| is_same(other)) {
            Some(known) if !job.is_unread() => known.push(job),
            _ => kernels.push(vec![job]),
        }
    }
    kernels
}

/// Repairs one kernel. Without `--minimize`, a kernel that is clean is left alone; with it, one that is not.
fn repaired(launches: &Launches<'_>, arguments: &arguments::Repair) -> Repaired {
    let is_clean = launches.iter().all(|job| job.outcome().verdict == Verdict::Clean);
    let aim = if arguments.minimize { Aim::Minimize } else { Aim::Insert };
    let mut notes = Vec::new();
    let has_reports = launches.iter().all(|job| job.outcome().report.is_ok());
    let result = if has_reports && is_clean != arguments.minimize {
        if arguments.minimize {
            notes.push(
                "only the barriers of clean kernels are minimized: repair it first".to_owned(),
            );
        }
        let outcome = if is_clean {
            RepairOutcome::Unchanged { is_least: true }
        } else {
            RepairOutcome::Refused(Obstacle::Findings(findings(launches)))
        };
        Ok(repair::KernelRepair { outcome, superfluous: Vec::new(), checks: 0 })
    } else {
        let costs = Costs { per_loop: arguments.loop_cost, per_condition: arguments.if_cost };
        let sources = Surroundings::of(launches[0]).sources;
        let is_source = |file: &str| sources.path(file).is_some();
        case::repaired(launches, (aim, costs), arguments.checks.get(), &is_source)
    };
    let mut one = Repaired { result, edits: Vec::new(), diff: String::new(), notes };
    if let Some(mend) = one.mend() {
        let edits = source_edits(launches[0], mend, false);
        let has_lines = mend.changes.iter().any(|change| {
            !change.site.source.is_empty() || matches!(change.place, SourcePlace::Between(_))
        });
        if edits.is_none() && (has_lines || arguments.write) {
            let has_files = !launches[0].module.files.is_empty();
            one.notes.push(if has_files { IN_DOUBT } else { NO_LINES }.to_owned());
        }
        one.edits = edits.unwrap_or_default();
        if let Some(newer) = newer_source(launches[0], &one.edits) {
            one.notes.push(newer);
            one.edits.clear();
        }
    }
    one
}

/// Returns why changes of sources are not shown if one was changed after the PTX was made: its lines might be others by now.
fn newer_source(job: &Job, edits: &[SourceEdit]) -> Option<String> {
    /// The time within which a checkout writes both files in any order.
    const CHECKOUT: Duration = Duration::from_secs(10);
    let sources = Surroundings::of(job).sources;
    let changed = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
    let made = changed(&job.file.path)?;
    let is_newer = |path: &PathBuf| {
        changed(path).and_then(|at| at.duration_since(made).ok()).is_some_and(|by| by > CHECKOUT)
    };
    let path = edits.iter().filter_map(|edit| sources.path(&edit.file)).find(is_newer)?;
    Some(format!(
        "no change of the source is shown: {} is newer than {}, so that lines might have moved; compile it first",
        openable(&path),
        job.file.display
    ))
}

/// Keeps the changes of a source only if they are what was checked: every instruction of a changed line, in every kernel of
/// the module, has the barrier. Then writes the diffs.
fn keep_whole_edits(kernels: &[Launches<'_>], all: &mut [Repaired]) {
    let mut indices: BTreeMap<_, SourceCopies> = BTreeMap::new();
    let mut is_apart = vec![false; all.len()];
    loop {
        let copies = made(kernels, all);
        let mut is_done = true;
        for (at, (launches, one)) in kernels.iter().zip(all.iter_mut()).enumerate() {
            let module = &launches[0].module;
            let index =
                indices.entry(Arc::as_ptr(module)).or_insert_with(|| SourceCopies::of(module));
            let is_whole = |edit: &SourceEdit| {
                let made = copies.get(&(Arc::as_ptr(module), edit_key(edit)));
                made.is_some_and(|made| *made == edit.scope.all(index))
            };
            if one.edits.iter().all(is_whole) {
                continue;
            }
            // Between two lines of the kernel the change might be for this kernel alone.
            let apart = one.mend().and_then(|mend| source_edits(launches[0], mend, true));
            one.edits = apart.filter(|_| !is_apart[at]).unwrap_or_default();
            if one.edits.is_empty() {
                one.notes.push(IN_DOUBT.to_owned());
            }
            (is_apart[at], is_done) = (true, false);
        }
        if is_done {
            break;
        }
    }
    for (launches, one) in kernels.iter().zip(all) {
        one.diff = diff(launches[0], &one.edits);
    }
}

/// What changes of several kernels have in common if they are one change.
type EditKey = (String, usize, usize, String, (SourceLine, Option<String>));

fn edit_key(edit: &SourceEdit) -> EditKey {
    (edit.file.clone(), edit.line, edit.removed, edit.text.clone(), edit.scope.key())
}

/// Returns for how many instructions or kernels of each module the changes are made.
fn made(kernels: &[Launches<'_>], all: &[Repaired]) -> BTreeMap<(*const Module, EditKey), usize> {
    let mut copies = BTreeMap::new();
    for (launches, one) in kernels.iter().zip(all.iter()) {
        for edit in &one.edits {
            let module = Arc::as_ptr(&launches[0].module);
            *copies.entry((module, edit_key(edit))).or_insert(0) += edit.scope.made();
        }
    }
    copies
}

/// Why no source is changed.
const IN_DOUBT: &str = "no change of the source is shown: the file is not at hand, where the statement begins or ends is in doubt, or the line \
                        has further copies in the PTX (a loop is unrolled, a function inlined) that need no barrier";

/// The same for PTX that names no source file.
const NO_LINES: &str = "no change of the source is shown: the PTX does not say which lines it comes from; compile it with line numbers \
                        (`-lineinfo`), or let `-o` write the PTX";

fn findings(launches: &Launches<'_>) -> Vec<Finding> {
    let reports = launches.iter().filter_map(|job| job.outcome().remaining());
    reports.flat_map(|report| report.told().cloned()).collect()
}

/// Returns the changes of the sources, if all changes have a place there.
fn source_edits(job: &Job, mend: &Mend, is_apart: bool) -> Option<Vec<SourceEdit>> {
    /// Most kernels of a file in which an example of a barrier is looked for.
    const MOST: usize = 64;
    let sources = Surroundings::of(job).sources;
    let text = |name: &str| Some(sources.text(name)?.as_str().to_owned());
    let examples = || {
        let own = job.module.kernel(&job.kernel.mangled);
        let kernels = own.into_iter().chain(job.module.kernels().take(MOST));
        kernels.flat_map(|kernel| repair::barriers(&job.module, kernel)).collect()
    };
    let code = SourceCode { module: &job.module, text: &text, examples: &examples };
    let mut edits: Vec<SourceEdit> = Vec::new();
    for change in &mend.changes {
        let edit = code.edit(change, is_apart)?;
        // Two barriers of the PTX at one place of the source: one of them belongs elsewhere.
        let is_there = |own: &SourceEdit| {
            own.file == edit.file && own.line == edit.line && own.text == edit.text
        };
        if edit.removed == 0 && edits.iter().any(is_there) {
            return None;
        }
        edits.push(edit);
    }
    Some(edits)
}

/// Returns the changes of the sources as unified diffs.
fn diff(job: &Job, edits: &[SourceEdit]) -> String {
    let sources = Surroundings::of(job).sources;
    let of_file = |(file, edits): (&str, Vec<&SourceEdit>)| {
        let old = sources.text(file)?;
        let old = old.as_str();
        let new = source::edited(old, &edits);
        let diff = TextDiff::from_lines(old, &new);
        let path = sources.path(file).map(|path| openable(&path));
        let shown = path.as_deref().unwrap_or(file);
        let shown = weft_core::report::escape(shown);
        Some(diff.unified_diff().header(&shown, &shown).to_string())
    };
    by_file(edits).into_iter().filter_map(of_file).collect()
}

fn by_file(edits: &[SourceEdit]) -> BTreeMap<&str, Vec<&SourceEdit>> {
    let mut files: BTreeMap<&str, Vec<&SourceEdit>> = BTreeMap::new();
    for edit in edits {
        let own = files.entry(&edit.file).or_default();
        if !own.contains(&edit) {
            own.push(edit);
        }
    }
    files
}

/// Checks every kernel of a file again with the changes of all its kernels, if they change a function that several of them
/// might call. Returns a sentence for each kernel that is worse then.
fn conflicts(
    kernels: &[Launches<'_>],
    all: &[Repaired],
    arguments: &arguments::Repair,
) -> Vec<String> {
    let mut found = Vec::new();
    if arguments.minimize {
        return found;
    }
    for (at, (launches, _)) in kernels.iter().zip(all).enumerate() {
        let job = launches[0];
        let edits = edits_of(kernels, all, job);
        if edits.is_empty() {
            continue;
        }
        let bodies: Vec<Span> = job.module.kernels().filter_map(body::span).collect();
        let is_inside = |edit: &Edit| {
            let at = edit.range.0;
            bodies.iter().any(|body| (body.start as usize..=body.end as usize).contains(&at))
        };
        if edits.iter().all(is_inside) {
            continue;
        }
        let selected =
            kernels.iter().filter(|own| Arc::ptr_eq(&own[0].module, &job.module)).count();
        if selected < job.module.kernels().count() && all[at].mend().is_some() {
            found.push(format!(
                "{}: a function changes that kernels might call which are not selected; select all kernels of the file",
                job.short_name()
            ));
            continue;
        }
        let changed = weft_core::ptx::parse(&edited(job.module.text(), &edits));
        let before = launches.iter().map(|job| job.outcome().verdict).max();
        let wanted = if all[at].mend().is_some() { Some(Verdict::Clean) } else { before };
        for job in launches {
            let after = job.changed(&changed, &job.launch).map(|report| report.verdict());
            if after.is_ok_and(|after| Some(after) > wanted) {
                found.push(format!(
                    "{}: not clean any more with the changes of other kernels, which change a function that both call; \
                     nothing is written",
                    job.short_name()
                ));
            }
        }
    }
    found
}

/// Returns the changes of all kernels in the file of a job.
fn edits_of(kernels: &[Launches<'_>], all: &[Repaired], job: &Job) -> Vec<Edit> {
    let same = kernels.iter().zip(all).filter(|(own, _)| Arc::ptr_eq(&own[0].module, &job.module));
    same.filter_map(|(_, one)| one.mend()).flat_map(|mend| mend.edits.clone()).collect()
}

/// The sources that change: their texts as they are, and the changes.
type ChangedFiles<'r> = BTreeMap<PathBuf, (String, Vec<&'r SourceEdit>)>;

/// Returns the sources that the repairs change.
fn changed<'r>(kernels: &[Launches<'_>], all: &'r [Repaired]) -> ChangedFiles<'r> {
    let mut files = ChangedFiles::new();
    for (launches, one) in kernels.iter().zip(all) {
        let sources = Surroundings::of(launches[0]).sources;
        for edit in &one.edits {
            let Some((path, text)) = sources.path(&edit.file).zip(sources.text(&edit.file)) else {
                continue;
            };
            let (_, edits) =
                files.entry(path).or_insert_with(|| (text.as_str().to_owned(), Vec::new()));
            let is_known = |known: &&SourceEdit| {
                (known.line, known.removed, &known.text) == (edit.line, edit.removed, &edit.text)
            };
            if !edits.iter().any(is_known) {
                edits.push(edit);
            }
        }
    }
    files
}

/// Writes the sources and the PTX that are asked for.
fn written(
    kernels: &[Launches<'_>],
    all: &[Repaired],
    (arguments, changed): (&arguments::Repair, &ChangedFiles<'_>),
    printer: &mut Printer,
) -> Result<(), Failure> {
    if let Some(output) = &arguments.output {
        let mended = kernels.iter().zip(all).filter(|(_, one)| one.mend().is_some());
        let mut files: Vec<&Job> = mended.map(|(launches, _)| launches[0]).collect();
        files.dedup_by(|one, other| Arc::ptr_eq(&one.module, &other.module));
        match files.as_slice() {
            [] => {
                printer.note(&format!("{} is not written: nothing changes", output.display()));
            }
            [job] => {
                let text = edited(job.module.text(), &edits_of(kernels, all, job));
                write::write(output, None, &text)?;
                printer.note(&format!("wrote {}", output.display()));
            }
            several => return Err(WriteError::SeveralFiles(several.len()).into()),
        }
    }
    for (path, (old, edits)) in changed {
        write::write(path, Some(old), &source::edited(old, edits))?;
        printer.note(&format!("changed {}: compile it and check again", openable(path)));
    }
    Ok(())
}

/// Counts the outcomes. `is_refused`: whether repairs that were to be written are not.
fn counts(all: &[Repaired], failed: usize, is_refused: bool) -> RepairCounts {
    let mut counts = RepairCounts { unchecked: failed, ..RepairCounts::default() };
    for one in all {
        *match &one.result {
            Err(_) => &mut counts.unchecked,
            Ok(repair) => match repair.outcome {
                RepairOutcome::Unchanged { .. } => &mut counts.clean,
                RepairOutcome::Mended(_) if !is_refused => &mut counts.mended,
                RepairOutcome::Mended(_) | RepairOutcome::Refused(_) => &mut counts.refused,
            },
        } += 1;
    }
    counts
}

/// The worst verdict among the kernels that barriers do not mend; if sources are written, also among those whose source stays
/// as it is.
fn exit(
    kernels: &[Launches<'_>],
    all: &[Repaired],
    counts: RepairCounts,
    is_written: bool,
) -> Exit {
    if counts.unchecked > 0 {
        return Exit::Unchecked;
    }
    let refused = kernels.iter().zip(all).filter(|(_, one)| match &one.result {
        Ok(repair) => match repair.outcome {
            RepairOutcome::Refused(_) => true,
            RepairOutcome::Mended(_) => is_written && one.edits.is_empty(),
            RepairOutcome::Unchanged { .. } => false,
        },
        Err(_) => false,
    });
    let verdict =
        |(launches, _): (&Launches<'_>, _)| launches.iter().map(|job| job.outcome().verdict).max();
    match refused.filter_map(verdict).max() {
        Some(Verdict::Defect) => Exit::Defect,
        Some(Verdict::Open) => Exit::Open,
        Some(Verdict::Clean) | None => Exit::Clean,
    }
}
