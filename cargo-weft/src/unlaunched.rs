//! Prints in one place the kernels that are open only because no block size is stated, with what to add to `weft.toml`.

use std::collections::BTreeMap;
use std::io;

use weft_core::finding::{Code, Finding, Report};
use weft_harness::case::Job;

use crate::body;
use crate::print::Printer;

/// The most kernels that are listed.
const LISTED: usize = 20;
/// The most kernels whose names a proposed table selects.
const SELECTED: usize = 6;

/// Whether a report says only that the block size is not stated.
pub(crate) fn is_unlaunched(report: &Report) -> bool {
    let is_it = |only: &Finding| only.code == Code::NoLaunch && !only.notes.is_empty();
    matches!(&report.findings[..], [only] if is_it(only))
        && report.block.is_none()
        && report.launch.block.is_none()
        && report.launch.requires.is_empty()
}

/// Prints the kernels of these jobs that are open only because no block size is stated.
pub(crate) fn summary(jobs: &[&Job], printer: &mut Printer) -> io::Result<()> {
    let reports = jobs.iter().filter_map(|job| Some((*job, job.outcome().remaining()?)));
    let all: Vec<(&Job, &Report)> = reports.filter(|(_, report)| is_unlaunched(report)).collect();
    let heading = match all.len() {
        0 => return Ok(()),
        1 => "a kernel is not proved for every launch, and its block size is not stated".to_owned(),
        count => format!(
            "{count} kernels are not proved for every launch, and their block sizes are not stated"
        ),
    };
    printer.line(&format!("\nopen[{}]: {heading}", Code::NoLaunch))?;
    for (job, report) in all.iter().take(LISTED) {
        let reason = reason(&report.findings[0]);
        printer.line(&format!("  {}: {reason}", job.short_name()))?;
    }
    if all.len() > LISTED {
        printer.line(&format!("  and {} more", all.len() - LISTED))?;
    }
    let mut kernels: BTreeMap<Proposal, Vec<&str>> = BTreeMap::new();
    for (job, report) in &all {
        kernels.entry(Proposal::of(job, report)).or_default().push(&report.kernel);
    }
    let tables: String = kernels.into_iter().map(|(own, kernels)| own.table(kernels)).collect();
    printer.line(&format!(
        "  = help: a run decides them; state in weft.toml what the host launches, such as{tables}"
    ))
}

/// Lines of weft.toml that state what a host launches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Proposal(Vec<String>);

impl Proposal {
    /// Returns the setting with which the kernel is clean, else an ordinary block with the dimensions that the kernel reads;
    /// a grid is stated beside a block.
    fn of(job: &Job, report: &Report) -> Self {
        // Functions that it calls are not looked at.
        let span = job.module.kernel(&report.kernel).and_then(body::span);
        let text = span.map_or("", |span| job.module.name(span));
        let reads = |names: [&str; 2]| names.iter().any(|name| text.contains(name));
        let ordinary = match (reads(["%tid.z", "%ntid.z"]), reads(["%tid.y", "%ntid.y"])) {
            (true, _) => "block = [8, 8, 4]",
            (_, true) => "block = [32, 8]",
            _ => "block = 256",
        };
        let grid = match (text.contains("%ctaid.z"), text.contains("%ctaid.y")) {
            (true, _) => "grid = [2, 2, 2]",
            (_, true) => "grid = [4, 4]",
            _ => "grid = 4",
        };
        let setting = clean_setting(&report.findings[0]).unwrap_or(ordinary);
        let grid = setting.starts_with(BLOCK).then_some(grid);
        Self([Some(setting), grid].into_iter().flatten().map(str::to_owned).collect())
    }

    /// Returns the table of weft.toml for these kernels.
    fn table(&self, kernels: Vec<&str>) -> String {
        format!("\n    {}\n    {}", selector(kernels), self.0.join("\n    "))
    }
}

/// The beginning of a line of weft.toml that states a block.
const BLOCK: &str = "block = ";
/// The beginning of a line of weft.toml that states what the host keeps to.
const REQUIRES: &str = "requires = ";

/// Returns the line of weft.toml with which a kernel is clean, if the finding proposes one.
fn clean_setting(finding: &Finding) -> Option<&str> {
    let last = finding.help.as_deref()?.lines().last();
    last.filter(|line| line.starts_with(BLOCK) || line.starts_with(REQUIRES))
}

/// Returns with which setting the kernel is clean, or else why it is not proved for every launch.
fn reason(finding: &Finding) -> &str {
    if clean_setting(finding).is_some() {
        let help = finding.help.as_deref().unwrap_or_default();
        return help.split(": ").next().unwrap_or_default();
    }
    let note = finding.notes.first().map_or("", String::as_str);
    note.strip_prefix("not proved for every launch: ").unwrap_or(note)
}

/// Returns the head of a table for these kernels, or for the first of them if they are many.
fn selector(mut kernels: Vec<&str>) -> String {
    kernels.sort_unstable();
    kernels.dedup();
    let names = |kernels: &[&str]| kernels.join("|").replace('$', r"\$");
    match &kernels[..] {
        [only] => format!("[[kernel]]\n    name = '^{}$'", names(&[only])),
        few if few.len() <= SELECTED => format!("[[kernel]]\n    name = '^({})$'", names(few)),
        many => format!(
            "[[kernel]]    # and {} more\n    name = '^({})$'",
            many.len() - SELECTED,
            names(&many[..SELECTED])
        ),
    }
}

/// Returns the lines of weft.toml, of a block and of what the host keeps to, with which a kernel is clean, if its findings say so.
pub(crate) fn clean_settings_of(report: &Report) -> [Option<&str>; 2] {
    let told = || report.findings.iter().flat_map(|own| own.notes.iter().chain(&own.help));
    [BLOCK, REQUIRES]
        .map(|of| told().filter_map(|text| setting(text)).find(|line| line.starts_with(of)))
}

fn setting(text: &str) -> Option<&str> {
    text.strip_prefix("clean with `")?.split('`').next()
}
