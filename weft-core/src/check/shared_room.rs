//! The blocks that arrays in shared memory have room for. A proof for every block takes for granted that accesses stay within
//! their variables; where a run with a larger block leaves them, the verdict is about smaller blocks only.

use std::cmp::Reverse;

use super::find::Effort;
use super::{CheckRequest, applied, chosen_sizes, prove, witness};
use crate::explain::witness::{ChosenInput, finding};
use crate::finding::{Code, Finding, ProvedFor, Report, Verdict};
use crate::flow::{Program, Symbol};
use crate::launch::requires::{LaunchVariable, Requirement};
use crate::launch::{Dim3, Dimensions, ExtentBound, Launch, Limit};
use crate::ptx::{Space, Span};

/// The resources of a run, if those of the launch are not less.
const RUN: Limit = Limit { instructions: 1 << 18, memory: 1 << 28 };

/// A run with a chosen block.
struct SharedRun {
    input: ChosenInput,
    /// The first access that leaves shared memory, if one does.
    outside: Option<Finding>,
}

/// Narrows the blocks that a kernel is proved for to those up to the largest ordinary one with which its accesses stay within
/// shared memory. If they do so with none, a number that was chosen for the runs might be the reason, and nothing changes; but if
/// the launch requires something of the block, the report says with which one they do not.
pub(super) fn narrow(request: &CheckRequest<'_>, program: &Program, report: &mut Report) {
    let is_array = |own: &Symbol| own.space == Space::Shared;
    let Some(proved) = report.proved.filter(|_| program.symbols.iter().any(is_array)) else {
        return;
    };
    let is_open = |extent: &ExtentBound| matches!(extent, ExtentBound::UpTo(_));
    if report.verdict() != Verdict::Clean || !proved.block.iter().any(is_open) {
        return;
    }
    let mut larger: Option<SharedRun> = None;
    for block in blocks(request, program) {
        match run(request, program, block) {
            Some(leaving @ SharedRun { outside: Some(_), .. }) => larger = Some(leaving),
            Some(_) if larger.is_some() => {
                report.proved = Some(ProvedFor { block: up_to(proved.block, block), ..proved });
                return;
            }
            Some(_) => return,
            None => {}
        }
    }
    let requirements = request.launch.requires.iter();
    let is_of_block = |variable: &LaunchVariable| matches!(variable, LaunchVariable::Block(_));
    let is_required = requirements.flat_map(Requirement::variables).any(is_of_block);
    if let Some(SharedRun { input, outside: Some(defect) }) = larger.filter(|_| is_required) {
        let name = request.linked.module.name(request.linked.kernel.name);
        report.proved = None;
        report.findings.insert(0, finding(program, name, &input, &defect, (0, None)));
    }
}

/// The blocks to run with, the largest first: ordinary ones, and one that the requirements of the launch permit.
fn blocks(request: &CheckRequest<'_>, program: &Program) -> Vec<Dim3> {
    let kernel = request.linked.kernel;
    let mut blocks = chosen_sizes::ordinary_blocks(program, kernel);
    let permitted = applied(program, kernel, request.launch).ok();
    let permitted = permitted.and_then(|launch| witness::ordinary(program, kernel, &launch));
    blocks.extend(permitted.and_then(|input| input.block));
    blocks.sort_by_key(|block| Reverse(block.count()));
    blocks.dedup();
    blocks
}

/// These extents, with those that are open no greater than those of `block`.
fn up_to(extents: [ExtentBound; 3], block: Dim3) -> [ExtentBound; 3] {
    let most = [block.x, block.y, block.z];
    [0, 1, 2].map(|at| match extents[at] {
        ExtentBound::UpTo(own) => ExtentBound::UpTo(own.min(most[at])),
        stated @ ExtentBound::Is(_) => stated,
    })
}

/// Runs a kernel with a block and ordinary arguments. `None`: the launch does not permit the block, or there is no run.
fn run(request: &CheckRequest<'_>, program: &Program, block: Dim3) -> Option<SharedRun> {
    let kernel = request.linked.kernel;
    let launch = applied(program, kernel, request.launch).ok()?;
    let limit = launch.limit.at_most(RUN);
    let grid = launch.grid.or(Some(Dimensions::Is(Dim3::line(1))));
    let stated = Launch { block: Some(Dimensions::Is(block)), grid, limit, ..launch.into_owned() };
    let mut input = witness::ordinary(program, kernel, &stated)?;
    let launch = input.launch(program, &stated);
    input.block = Some(block);
    let run = CheckRequest { launch: &launch, effort: Effort::Trial, outside: None, ..*request };
    let findings = prove(&run).ok()?.report.findings;
    let outside = findings.into_iter().find(|own| {
        own.code == Code::OutOfBounds && own.sites.iter().any(|site| is_shared(program, site.span))
    });
    Some(SharedRun { input, outside })
}

/// Whether an instruction accesses shared memory.
fn is_shared(program: &Program, span: Span) -> bool {
    let mut all = program.code.iter().filter(|instr| instr.address.is_some());
    all.any(|instr| {
        instr.address.is_some_and(|address| address.space == Space::Shared)
            && program.places[instr.place.0 as usize].span == span
    })
}
