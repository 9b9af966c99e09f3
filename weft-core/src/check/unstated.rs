//! What nobody states about a launch: a block within the kernel's bound, and a grid. The sizes that are chosen are nobody's
//! word, so that no defect rests on them.

use super::find::Effort;
use super::request::{self, BlockSource, KnownBlock};
use super::{
    CheckError, CheckRequest, CheckedProgram, attempt, chosen_sizes, shared_room, witness,
};
use crate::explain::witness::{ChosenInput, finding};
use crate::finding::{Assumption, Class, Code, Finding, Verdict};
use crate::flow::Program;
use crate::launch::{Dim3, Dimensions, Launch};

/// Checks a kernel. What nobody states about its block and its grid is chosen.
pub(super) fn check(
    request: &CheckRequest<'_>,
    program: &Program,
) -> Result<CheckedProgram, CheckError> {
    match request::block(program, request.linked.kernel, request.launch)? {
        None => any_block(request, program),
        Some(KnownBlock { size, source: BlockSource::Guessed }) => guessed(request, program, size),
        Some(KnownBlock { size, .. }) => {
            let (mut checked, grid) = with_block(request, program, size)?;
            if grid.is_some() {
                let input = ChosenInput { grid, ..ChosenInput::default() };
                show(request, program, &input, &mut checked);
                let is_clean = checked.report.verdict() == Verdict::Clean;
                if let Some(first) = checked.report.findings.first_mut().filter(|_| !is_clean) {
                    first.notes.push(ONE_CTA_IS_CLEAN.to_owned());
                }
            }
            Ok(checked)
        }
    }
}

/// Checks a kernel for every block.
fn any_block(request: &CheckRequest<'_>, program: &Program) -> Result<CheckedProgram, CheckError> {
    let mut any = attempt(request, program, None)?;
    if request.effort != Effort::Trial {
        shared_room::narrow(request, program, &mut any.report);
    }
    Ok(any)
}

/// Checks a kernel with a guessed block, unless it is proved for every block. If the guess does not fit the kernel, or
/// leaves something open, it says nothing but that it reached a limit.
fn guessed(
    request: &CheckRequest<'_>,
    program: &Program,
    block: Dim3,
) -> Result<CheckedProgram, CheckError> {
    let mut any = any_block(request, program)?;
    if any.report.verdict() == Verdict::Clean {
        return Ok(any);
    }
    let launch = Launch { block: Some(Dimensions::Is(block)), ..request.launch.clone() };
    let (mut one, grid) =
        with_block(&CheckRequest { launch: &launch, ..*request }, program, block)?;
    // A guess that makes threads trap is not what the kernel is meant for.
    if one.report.verdict() == Verdict::Clean && !one.report.is_unfit() {
        one.report.assumptions.insert(0, Assumption::GuessedBlock);
        return Ok(one);
    }
    if let Some((defect, others)) = witness::shown(&one.report) {
        let input = ChosenInput { block: Some(block), grid, ..ChosenInput::default() };
        any.decides = one.decides;
        any.report.findings.insert(0, worded(request, program, &input, (&defect, others)));
        any.shown = Some((defect.code, input));
        return Ok(any);
    }
    let findings = one.report.findings.into_iter();
    any.report.findings.extend(findings.filter(|own| own.code == Code::Limit).map(|mut own| {
        own.notes.push(format!("with block = {block}, a guess within the kernel's bound"));
        own
    }));
    Ok(any)
}

/// Checks a kernel with its block. Without a grid, it is run with one cta; if that is clean, it is proved for every grid, or
/// run with an ordinary one, which is returned.
fn with_block(
    request: &CheckRequest<'_>,
    program: &Program,
    block: Dim3,
) -> Result<(CheckedProgram, Option<Dim3>), CheckError> {
    let one = attempt(request, program, Some(block))?;
    let is_settled = one.report.verdict() != Verdict::Clean || one.report.proved.is_some();
    if is_settled || request.launch.grid.is_some() || request.effort == Effort::Trial {
        return Ok((one, None));
    }
    let grid = chosen_sizes::grid(program);
    if grid.count() > 1 && one.report.coverage.sites > 0 {
        let launch = Launch { grid: Some(Dimensions::Is(grid)), ..request.launch.clone() };
        let stated = CheckRequest { launch: &launch, ..*request };
        let mut all = attempt(&stated, program, Some(block))?;
        // What does not fit a larger grid is meant for one cta.
        if !all.report.is_unfit() {
            let Dim3 { x, y, z } = grid;
            all.report.assumptions.insert(0, Assumption::OrdinaryGrid([x, y, z]));
            return Ok((all, Some(grid)));
        }
    }
    Ok((one, None))
}

const ONE_CTA_IS_CLEAN: &str =
    "no grid is stated; with `grid = 1` in weft.toml the kernel is clean";

/// Turns the defects of a run with chosen sizes into a finding that names these.
fn show(
    request: &CheckRequest<'_>,
    program: &Program,
    input: &ChosenInput,
    checked: &mut CheckedProgram,
) {
    let Some((defect, others)) = witness::shown(&checked.report) else { return };
    checked.shown = Some((defect.code, input.clone()));
    let findings = &mut checked.report.findings;
    findings.retain(|own| own.code.class() != Class::Defect);
    findings.insert(0, worded(request, program, input, (&defect, others)));
}

fn worded(
    request: &CheckRequest<'_>,
    program: &Program,
    input: &ChosenInput,
    (defect, others): (&Finding, usize),
) -> Finding {
    let name = request.linked.module.name(request.linked.kernel.name);
    finding(program, name, input, defect, (others, None))
}
