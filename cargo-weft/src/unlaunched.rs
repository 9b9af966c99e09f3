//! Prints in one place the kernels that are open only because no block size is stated, with what to add to `weft.toml`.

use std::collections::BTreeMap;
use std::io;

use weft_core::finding::{Code, Finding, Report};
use weft_harness::case::Job;

use crate::print::Printer;

/// The most kernels that are listed.
const LISTED: usize = 20;
/// The most kernels whose names the proposed table selects; for more, it is for all kernels.
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
    let mut kernels: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (_, report) in &all {
        let block = clean_block(&report.findings[0]).unwrap_or(ORDINARY);
        kernels.entry(block).or_default().push(&report.kernel);
    }
    let table = |(block, kernels): (&str, Vec<&str>)| {
        Some(format!("\n    {}\n    {block}", selector(kernels, block == ORDINARY)?))
    };
    let tables: String = kernels.into_iter().filter_map(table).collect();
    printer.line(&format!("  = help: a run decides them; state in weft.toml what the host launches, such as{tables}\n    grid = 4       # in two dimensions [4, 4]\n  or for files alone: --block 256 --grid 4"))
}

/// The line of weft.toml that states a block, where none is known to be clean.
const ORDINARY: &str = "block = 256    # in two dimensions [32, 8]";

/// Returns the line of weft.toml that states the block with which a kernel is clean, if the finding proposes one.
fn clean_block(finding: &Finding) -> Option<&str> {
    finding.help.as_deref()?.lines().last().filter(|line| line.starts_with("block = "))
}

/// Returns with which block the kernel is clean, or else why it is not proved for every launch.
fn reason(finding: &Finding) -> &str {
    if clean_block(finding).is_some() {
        let help = finding.help.as_deref().unwrap_or_default();
        return help.split(": ").next().unwrap_or_default();
    }
    let note = finding.notes.first().map_or("", String::as_str);
    note.strip_prefix("not proved for every launch: ").unwrap_or(note)
}

/// Returns the head of a table for these kernels; `None` if there are too many of them. `is_default`: of many, it is one for
/// all kernels.
fn selector(mut kernels: Vec<&str>, is_default: bool) -> Option<String> {
    kernels.sort_unstable();
    kernels.dedup();
    match kernels[..] {
        [only] => Some(format!("[[kernel]]\n    name = '^{}$'", only.replace('$', r"\$"))),
        _ if kernels.len() <= SELECTED => {
            let names = kernels.join("|").replace('$', r"\$");
            Some(format!("[[kernel]]\n    name = '^({names})$'"))
        }
        _ => is_default.then(|| "[default]".to_owned()),
    }
}
