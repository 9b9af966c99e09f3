//! Wires the stages: one kernel under one launch to its report.

mod apart;
mod barriers;
mod ctas;
mod detector;
mod doubts;
mod faults;
mod find;
mod names;
mod passes;
mod races;
mod recorder;
mod request;
#[cfg(test)]
mod shared_functions;
mod ways;

use std::collections::BTreeSet;

use crate::emulate::{End, Inputs, MAX_INSTRUCTIONS};
use crate::finding::{Assumption, Check, Code, Coverage, Finding, Report, Role, Stats};
use crate::flow::{self, BlockId, Pc, Program};
use crate::launch::{BarrierDivergence, Dim3, Launch};
use crate::ptx::{Function, Module, Space, Span};
use crate::slice::{self, Slice};

use find::Found;
use names::Names;
pub(crate) use names::site_at;
use passes::{Decided, Decision};
pub use request::CheckError;

/// Checks `kernel` of `module` under `launch`. Deterministic.
///
/// # Errors
/// A launch that the kernel cannot have, or PTX that does not link.
pub fn check(module: &Module, kernel: &Function, launch: &Launch) -> Result<Report, CheckError> {
    check_within(module, kernel, launch, MAX_INSTRUCTIONS)
}

/// The same, given up after `most` instructions, of all ctas and passes together: for those who check many kernels that
/// need not end. At most 2^29.
///
/// # Errors
/// Likewise.
pub fn check_within(
    module: &Module,
    kernel: &Function,
    launch: &Launch,
    most: u64,
) -> Result<Report, CheckError> {
    let program = flow::build(module, kernel).map_err(|error| request::link(module, &error))?;
    check_program(module, kernel, &program, launch, most)
}

fn check_program(
    module: &Module,
    kernel: &Function,
    program: &Program,
    launch: &Launch,
    most: u64,
) -> Result<Report, CheckError> {
    request::arguments(program, launch)?;
    let grid = request::grid(launch)?;
    let mut report = Report {
        kernel: module.name(kernel.name).to_owned(),
        launch: launch.clone(),
        block: None,
        grid,
        findings: Vec::new(),
        assumptions: Vec::new(),
        coverage: Coverage { reached: 0, sites: observable(program).count() },
        unreached: spans(program, |_| false),
        stats: Stats::default(),
    };
    let (block, atomics) = (Dim3::line(1), launch.options.atomics);
    let dynamic_shared = launch.shared;
    let names = Names { module, kernel, program, grid, block, atomics, dynamic_shared };
    let Some((block, is_bound)) = request::block(kernel, launch)? else {
        if report.coverage.sites > 0 {
            report.findings.push(doubts::no_launch(&names));
        }
        return Ok(report);
    };
    report.block = Some(block);
    if is_bound {
        report.assumptions.push(Assumption::MaxBlock);
    }
    let mut inputs = Inputs::new(program, launch, block, grid).map_err(request::input)?;
    inputs.runs_all_ctas = launch.grid.is_some() && ctas::select(grid).len() as u64 == grid.count();
    request::shared(inputs.shared)?;
    let names = Names { block, ..names };
    run(&names, &inputs, launch, most, &mut report);
    Ok(report)
}

fn observable(program: &Program) -> impl Iterator<Item = Pc> {
    let count = u32::try_from(program.code.len()).unwrap_or(u32::MAX);
    (0..count).map(Pc).filter(|pc| slice::is_observable(program, *pc))
}

/// Where the access and barrier instructions stand that are reached in none of their copies.
fn spans(program: &Program, is_reached: impl Fn(Pc) -> bool) -> Vec<Span> {
    let of = |pc: Pc| program.place(pc).span;
    let reached: BTreeSet<Span> =
        observable(program).filter(|pc| is_reached(*pc)).map(of).collect();
    let all: BTreeSet<Span> = observable(program).map(of).collect();
    all.difference(&reached).copied().collect()
}

fn run(names: &Names<'_>, inputs: &Inputs, launch: &Launch, most: u64, report: &mut Report) {
    let ctas = ctas::select(report.grid);
    let Found { slice, outcome, assumes_indices, assumes_unique, .. } =
        find::find(names, inputs, &ctas, most);
    for Decided { run, .. } in outcome.decisions.iter().flat_map(|decision| &decision.ctas) {
        report.stats.warp_instructions += run.warp_instructions;
        report.stats.thread_commands += run.thread_commands;
        report.stats.generations += run.generations;
    }
    let ran = outcome.decisions.iter().map(|decision| decision.ctas.len() as u64);
    report.stats.ctas = ran.max().unwrap_or(0);
    let is_reached =
        |pc: &Pc| outcome.decisions.iter().any(|decision| decision.reached[pc.index()]);
    report.coverage.reached = observable(names.program).filter(is_reached).count();
    report.unreached = spans(names.program, |pc| is_reached(&pc));
    let mut findings = outcome.findings;
    if is_vacuous(&outcome.decisions, report.coverage) {
        findings.push(doubts::vacuous(names));
    }
    report.findings = distinct(findings);
    if outcome.decisions.iter().any(|decision| decision.open.stays_in_variables()) {
        report.assumptions.push(Assumption::WithinVariables);
    }
    if outcome.decisions.iter().any(|decision| !decision.open.is_empty()) {
        report.assumptions.push(Assumption::OpenAddresses);
    }
    if assumes_indices {
        report.assumptions.push(Assumption::NarrowIndices);
    }
    assume(&slice, names, launch, (ctas.len(), assumes_unique), report);
}

/// Whether all threads ended without an access or a barrier, though the kernel has some.
fn is_vacuous(decisions: &[Decision], coverage: Coverage) -> bool {
    let mut runs = decisions.iter().flat_map(|decision| &decision.ctas);
    let is_finished = !decisions.is_empty() && runs.all(|own| own.run.end == End::Finished);
    is_finished && coverage.reached == 0 && coverage.sites > 0
}

/// Ctas often have the same things to say: each is said once.
fn distinct(findings: Vec<Finding>) -> Vec<Finding> {
    let mut said = BTreeSet::new();
    findings.into_iter().filter(|finding| said.insert(key(finding))).collect()
}

/// What makes two findings one.
type Key = (Code, Option<Check>, Vec<(Span, Role)>);

fn key(finding: &Finding) -> Key {
    let sites = finding.sites.iter().map(|site| (site.span, site.role)).collect();
    (finding.code, finding.check, sites)
}

fn assume(
    slice: &Slice,
    names: &Names<'_>,
    launch: &Launch,
    (ctas, assumes_unique): (usize, bool),
    report: &mut Report,
) {
    let mut assume = |holds: bool, assumption| {
        if holds {
            report.assumptions.push(assumption);
        }
    };
    let pointers = names.program.pointers();
    let is_global = |symbol: &&flow::Symbol| symbol.space == Space::Global;
    let variables = names.program.symbols.iter().filter(is_global).count();
    assume(pointers > 0 && pointers + variables > 1, Assumption::DisjointBuffers);
    assume(slice::reads_pointer_bits(names.program, slice), Assumption::PointerValues);
    assume(
        names.program.symbols.iter().any(|symbol| symbol.init.is_some()),
        Assumption::InitialValues,
    );
    assume(launch.options.warp_synchronous, Assumption::WarpSynchronous);
    assume(assumes_unique, Assumption::UniqueCounters);
    assume(launch.grid.is_none(), Assumption::OneCta);
    assume((ctas as u64) < names.grid.count(), Assumption::SomeCtas);
    let counts = launch.options.barrier_divergence == BarrierDivergence::Cta;
    assume(counts && names.program.is_irreducible, Assumption::UncountedLoops);
    let leaves_out = |block: &flow::Block| block.merge != block.post_dominator;
    assume(names.program.blocks.iter().any(leaves_out), Assumption::NoTrap);
    assume(drops_a_loop(slice, names.program), Assumption::LoopsEnd);
}

/// A loop is dropped if none of its branches is decided: nothing from its header to its latch, but for blocks between
/// them that lead only to the thread's end.
fn drops_a_loop(slice: &Slice, program: &Program) -> bool {
    let is_decided = |header: BlockId, latch: BlockId| {
        let is_loop = program.spans.contains_key(&header);
        let is_in = |at: &BlockId| program.blocks[at.index()].loops.contains(&header) || !is_loop;
        let blocks = (header.0..=latch.0).map(BlockId).filter(is_in);
        blocks.into_iter().any(|at| slice.branches[at.index()])
    };
    program.blocks.iter().zip(0..).any(|(block, latch)| {
        let back = |header: &BlockId| header.0 <= latch;
        let mut headers = block.terminator.successors().into_iter().filter(back);
        headers.any(|header| !is_decided(header, BlockId(latch)))
    })
}
