//! Looks for what the host might keep to, so that an open kernel is clean: whether it does is then all that is open.
//!
//! [`requirements`] looks for conditions, among [`candidates`], with which the kernel is proved; if there are none,
//! [`block`] looks for one block with which it is clean.

mod block;
mod candidates;
mod requirements;

use super::find::Effort;
use super::linked::LinkedKernel;
use super::{CheckError, CheckRequest, CheckedProgram, applied, prove};
use crate::explain::doubts;
use crate::explain::witness::ChosenInput;
use crate::finding::{Class, Code, Finding, Report, Verdict};
use crate::launch::{Launch, Limit};
use crate::symbolic::{Gap, Unproved};

/// The resources of the check with a setting, if those of the launch are not less.
const CONFIRMATION: Limit = Limit { instructions: 1 << 18, memory: 1 << 28 };

/// A setting of weft.toml with which a kernel is clean, and the report that says so.
struct CleanSetting {
    /// The line of weft.toml.
    line: String,
    report: Report,
}

/// Says in an open report what the host might keep to, so that the kernel is clean. `unproved`: where the proof for every
/// input ended. `defective`: an input with which the kernel has a defect.
pub(super) fn suggest(
    request: &CheckRequest<'_>,
    unproved: &Unproved,
    defective: Option<&ChosenInput>,
    report: &mut Report,
) -> Result<(), CheckError> {
    let depends_on_launch = |gap: &Gap| matches!(gap, Gap::Divergence(_) | Gap::Pair(..));
    let is_open = |own: &&mut Finding| matches!(own.code, Code::NoLaunch | Code::RaceForInput);
    let gaps = &unproved.gaps;
    let Some(first) = gaps.first().filter(|_| gaps.iter().all(depends_on_launch)) else {
        return Ok(());
    };
    let is_block_stated = report.block.is_some();
    let Some(finding) = report.findings.iter_mut().find(is_open) else { return Ok(()) };
    let LinkedKernel { module, kernel, .. } = *request.linked;
    let program = request.linked.program(request.launch)?;
    let launch = &*applied(program, kernel, request.launch)?;
    let limit = launch.limit.at_most(CONFIRMATION);
    let launch = Launch { limit, ..launch.clone() };
    let limited = CheckRequest { launch: &launch, ..*request };
    let found = requirements::find(&limited, program, defective).or_else(|| {
        let is_any = launch.block.is_none() && !is_block_stated;
        is_any.then(|| block::find(&limited, program, *first, defective)).flatten()
    });
    if let Some(CleanSetting { line, report }) = found {
        doubts::clean_with(finding, module.name(kernel.name), &line, &report);
    }
    Ok(())
}

/// Returns the report of a check under a launch, if it is clean.
fn clean(request: &CheckRequest<'_>, launch: &Launch) -> Option<Report> {
    let stated = CheckRequest { launch, effort: Effort::Verdict, outside: None, ..*request };
    let CheckedProgram { report, .. } = prove(&stated).ok()?;
    (report.verdict() == Verdict::Clean && !report.is_unfit()).then_some(report)
}

/// Whether a run of a launch reaches accesses or barriers and has no defect and no warning.
fn is_flawless(request: &CheckRequest<'_>, launch: &Launch) -> bool {
    let is_flaw = |own: &Finding| matches!(own.code.class(), Class::Defect | Class::Warning);
    run(request, launch).is_some_and(|report| {
        !report.is_unfit() && !report.findings.iter().any(is_flaw) && report.coverage.reached > 0
    })
}

/// Whether a run of a launch finds a defect.
fn is_defective(request: &CheckRequest<'_>, launch: &Launch) -> bool {
    run(request, launch).is_some_and(|report| report.verdict() == Verdict::Defect)
}

fn run(request: &CheckRequest<'_>, launch: &Launch) -> Option<Report> {
    let trial = CheckRequest { launch, effort: Effort::Trial, outside: None, ..*request };
    Some(prove(&trial).ok()?.report)
}
