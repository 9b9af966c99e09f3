//! Prints in one place the kernels that are open only because no block size is stated, with what to add to `weft.toml`.

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
        let note = report.findings.first().and_then(|finding| finding.notes.first());
        let reason = note
            .map_or("", |note| note.strip_prefix("not proved for every launch: ").unwrap_or(note));
        printer.line(&format!("  {}: {reason}", job.short_name()))?;
    }
    if all.len() > LISTED {
        printer.line(&format!("  and {} more", all.len() - LISTED))?;
    }
    let mut kernels: Vec<&str> = all.iter().map(|(_, report)| report.kernel.as_str()).collect();
    kernels.sort_unstable();
    kernels.dedup();
    let selector = match kernels[..] {
        [only] => format!("[[kernel]]\n    name = '^{}$'", only.replace('$', r"\$")),
        _ if kernels.len() <= SELECTED => {
            format!("[[kernel]]\n    name = '^({})$'", kernels.join("|").replace('$', r"\$"))
        }
        _ => "[default]".to_owned(),
    };
    printer.line(&format!("  = help: a run decides them; state in weft.toml what the host launches, such as\n    {selector}\n    block = 256    # in two dimensions [32, 8]\n    grid = 4       # in two dimensions [4, 4]\n  or for files alone: --block 256 --grid 4"))
}
