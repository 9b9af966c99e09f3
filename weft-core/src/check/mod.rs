//! Drives the stages: checks one kernel under one launch and builds its report.
//!
//! [`request`] tests the launch, and [`requirements`] applies what it requires. [`find`] chooses what to try first,
//! [`case_split`] runs each case of a split condition, [`settle`] repeats passes until their facts are known from the
//! start, and [`passes`] is what the passes of a launch share. In a deciding pass a [`detector`] judges each cta
//! ([`ctas`]), several at once where they are [`independent`]; a [`decision`] is what the pass found. In an explaining
//! pass ([`racing`]) a [`recorder`] collects racing pairs. Then [`findings`] words the decision, [`given`] looks for
//! mistaken arguments, [`every_input`] proves what is still open, [`elsewhere`] compares a check with other addresses,
//! [`assumptions`] lists what was taken for granted, and [`witness`] tries an open verdict with concrete inputs.

mod assumptions;
mod case_split;
mod ctas;
mod decision;
mod detector;
mod elsewhere;
mod every_input;
mod find;
mod findings;
mod given;
mod independent;
mod passes;
mod racing;
mod recorder;
mod request;
mod requirements;
mod settle;
#[cfg(test)]
mod shared_functions;
mod witness;

use std::collections::BTreeSet;

use crate::emulate::{self, Inputs};
use crate::explain::{Names, doubts};
use crate::finding::{Assumption, Check, Code, Coverage, Finding, Report, Role, Stats, Verdict};
use crate::flow::{self, Growth, Pc, Placement, Program};
use crate::launch::{Dim3, Dimensions, Launch};
use crate::ptx::{Function, Module, Span};
use crate::slice::{self, Base, Dependences};
use crate::symbolic::{CandidateLaunch, SmtSolver};

use assumptions::CheckOutcome;
use decision::Decision;
pub use every_input::prove_every_input;
use find::SliceResult;
pub use request::CheckError;
pub use requirements::{RequirementMisfit, applied};

/// Checks `kernel` of `module` under `launch`. The report is deterministic.
///
/// # Errors
/// A launch that the kernel cannot have, or PTX that does not link.
pub fn check(module: &Module, kernel: &Function, launch: &Launch) -> Result<Report, CheckError> {
    check_placed(module, kernel, launch, &Placement::default())
}

/// Checks a kernel, and asks `solver` what the solver of this library leaves open. What a verdict owes to the answers of
/// `solver` is among its assumptions. The report is as deterministic as `solver` is.
///
/// # Errors
/// As of [`check`].
pub fn check_with(
    module: &Module,
    kernel: &Function,
    launch: &Launch,
    solver: &dyn SmtSolver,
) -> Result<Report, CheckError> {
    let outside = Some(solver);
    let request = CheckRequest { module, kernel, launch, proves_every_input: true, outside };
    complete(&request, &Placement::default())
}

/// Checks a kernel with variables and buffers at the addresses of `placement`. The findings are the same under every
/// placement that the report's assumptions allow.
///
/// # Errors
/// As of [`check`].
pub fn check_placed(
    module: &Module,
    kernel: &Function,
    launch: &Launch,
    placement: &Placement,
) -> Result<Report, CheckError> {
    let request = CheckRequest { module, kernel, launch, proves_every_input: true, outside: None };
    complete(&request, placement)
}

/// Checks a kernel, and looks for a witness if its verdict is open.
fn complete(request: &CheckRequest<'_>, placement: &Placement) -> Result<Report, CheckError> {
    let (mut report, candidates) = prove(request, placement)?;
    if request.launch.options.witness > 0
        && report.verdict() == Verdict::Open
        && let Some(finding) = witness::search(request, &candidates)?
    {
        report.findings.insert(0, finding);
    }
    Ok(report)
}

/// What a check is asked for.
#[derive(Clone, Copy)]
struct CheckRequest<'a> {
    module: &'a Module,
    kernel: &'a Function,
    launch: &'a Launch,
    /// Whether what a run leaves open is to be proved for every input.
    proves_every_input: bool,
    /// A solver outside of the library.
    outside: Option<&'a dyn SmtSolver>,
}

/// What a check of one program found.
struct CheckedProgram {
    report: Report,
    /// The variables and buffers whose addresses decide something.
    decides: BTreeSet<Base>,
    /// Launches with which the kernel might have a race.
    candidates: Vec<CandidateLaunch>,
}

/// Checks a kernel without a search for witnesses. Returns launches with which it might have a race beside the report.
fn prove(
    request: &CheckRequest<'_>,
    placement: &Placement,
) -> Result<(Report, Vec<CandidateLaunch>), CheckError> {
    let CheckRequest { module, kernel, launch, .. } = *request;
    let program = link(module, kernel, launch, placement)?;
    let given = launch;
    let launch = requirements::applied(&program, kernel, given)?;
    let applied = CheckRequest { launch: &launch, ..*request };
    let CheckedProgram { mut report, decides, candidates } = check_program(&applied, &program)?;
    report.launch = given.clone();
    report.assumptions.splice(0..0, Assumption::required(&given.requires));
    let placement = elsewhere::placement(&program, &decides);
    if placement == program.placement {
        return Ok((report, candidates));
    }
    let elsewhere = build(module, kernel, &placement)?;
    let other = check_program(&applied, &elsewhere)?.report;
    Ok((elsewhere::compared(report, other), candidates))
}

/// Builds the program of a kernel as it is checked: shared variables are packed if the kernel accesses shared memory by
/// numbers.
///
/// # Errors
/// PTX that does not link.
pub fn link(
    module: &Module,
    kernel: &Function,
    launch: &Launch,
    placement: &Placement,
) -> Result<Program, CheckError> {
    let program = build(module, kernel, placement)?;
    let pointers = emulate::pointers(&program, launch);
    if Dependences::of(&program, &pointers).accesses_shared_by_number() {
        return build(module, kernel, &Placement { is_packed: true, ..placement.clone() });
    }
    Ok(program)
}

fn build(module: &Module, kernel: &Function, placement: &Placement) -> Result<Program, CheckError> {
    flow::build_within(module, kernel, Growth::DEFAULT, placement)
        .map_err(|error| request::link(module, &error))
}

/// Returns the report on a program, and the variables and buffers whose addresses decide something. Requirements are
/// applied to the launch.
fn check_program(
    request: &CheckRequest<'_>,
    program: &Program,
) -> Result<CheckedProgram, CheckError> {
    let CheckRequest { module, kernel, launch, proves_every_input, outside } = *request;
    request::arguments(program, launch)?;
    let grid = request::grid(launch)?;
    let kernel_name = module.name(kernel.name).to_owned();
    let mut report = unrun(kernel_name, program, launch, grid);
    let (block, atomics) = (Dim3::line(1), launch.options.atomics);
    let dynamic_shared = launch.shared;
    let (args, limit) = (&launch.args, launch.limit);
    let past_findings = launch.options.past_findings;
    let names = Names {
        module,
        kernel,
        program,
        grid,
        block,
        atomics,
        dynamic_shared,
        args,
        limit,
        past_findings,
    };
    let RunFacts { decides, reads_unwritten } = run(&names, kernel, launch, &mut report)?;
    let mut candidates = Vec::new();
    // A run also finds reads of shared memory that nothing wrote, which a proof takes for granted that there are none.
    if proves_every_input && !reads_unwritten {
        candidates = every_input::settle(&names, kernel, launch, outside, &mut report);
    }
    Ok(CheckedProgram { report, decides, candidates })
}

/// What a run says beside its report.
#[derive(Debug, Default)]
struct RunFacts {
    /// The variables and buffers whose addresses decide something.
    decides: BTreeSet<Base>,
    /// Whether it read, or might have read, shared memory that nothing wrote.
    reads_unwritten: bool,
}

/// Runs a kernel, if its block is known.
fn run(
    names: &Names<'_>,
    kernel: &Function,
    launch: &Launch,
    report: &mut Report,
) -> Result<RunFacts, CheckError> {
    let program = names.program;
    let Some((block, is_bound)) = request::block(kernel, launch)? else {
        if report.coverage.sites > 0 {
            report.findings.push(doubts::no_launch(names, launch.block.is_some()));
        }
        return Ok(RunFacts::default());
    };
    report.block = Some(block);
    if is_bound {
        report.assumptions.push(Assumption::MaxBlock);
    }
    let is_any_grid = launch.grid == Some(Dimensions::Any) && report.coverage.sites > 0;
    if is_any_grid && !requirements::permit_one_cta(program, launch, block) {
        report.findings.push(doubts::any_grid(names, 0));
        return Ok(RunFacts::default());
    }
    let dependences = Dependences::of(program, &emulate::pointers(program, launch));
    let mut inputs =
        Inputs::new(program, launch, block, names.grid, &dependences).map_err(request::input)?;
    // True even if only the first ctas are run in the end: their run is then the beginning of a run of the launch, and
    // the report is open about the other ctas.
    inputs.runs_all_ctas = launch.grid.is_some_and(|grid| grid.known().is_some());
    request::shared(inputs.shared)?;
    let names = Names { block, ..*names };
    let facts = run_with(&names, &inputs, launch, &dependences, report)?;
    if is_any_grid {
        report.findings.push(doubts::any_grid(&names, 1));
    }
    Ok(facts)
}

/// Returns the report of a check that has not run anything yet.
fn unrun(kernel: String, program: &Program, launch: &Launch, grid: Dim3) -> Report {
    Report {
        kernel,
        launch: launch.clone(),
        block: None,
        grid,
        findings: Vec::new(),
        proved: None,
        assumptions: Vec::new(),
        coverage: Coverage { reached: 0, sites: observable(program).count() },
        unreached: spans(program, |_| false),
        stats: Stats::default(),
    }
}

fn observable(program: &Program) -> impl Iterator<Item = Pc> {
    (0..program.code.len()).map(Pc::at).filter(|pc| slice::is_observable(program, *pc))
}

/// Returns the text of the access and barrier instructions that were reached in none of their copies.
fn spans(program: &Program, is_reached: impl Fn(Pc) -> bool) -> Vec<Span> {
    let of = |pc: Pc| program.place(pc).span;
    let reached: BTreeSet<Span> =
        observable(program).filter(|pc| is_reached(*pc)).map(of).collect();
    let all: BTreeSet<Span> = observable(program).map(of).collect();
    all.difference(&reached).copied().collect()
}

/// Runs a kernel with the inputs of its launch.
fn run_with(
    names: &Names<'_>,
    inputs: &Inputs,
    launch: &Launch,
    dependences: &Dependences<'_>,
    report: &mut Report,
) -> Result<RunFacts, CheckError> {
    let found = find::find(names, inputs);
    let is_too_open = found.is_too_open();
    let SliceResult { slice, outcome, assumed, distinguishes_counters, ctas, .. } = found;
    given::mistaken(names, &outcome.decisions)?;
    for decision in &outcome.decisions {
        report.stats.ctas = report.stats.ctas.max(decision.stats.ctas);
        report.stats.warp_instructions += decision.stats.warp_instructions;
        report.stats.thread_commands += decision.stats.thread_commands;
        report.stats.generations += decision.stats.generations;
    }
    let mut reached = vec![false; names.program.code.len()];
    for decision in &outcome.decisions {
        reached.iter_mut().zip(&decision.reached).for_each(|(all, other)| *all |= *other);
    }
    report.coverage.reached = observable(names.program).filter(|pc| reached[pc.index()]).count();
    report.unreached = spans(names.program, |pc| reached[pc.index()]);
    let mut findings = outcome.findings;
    if is_too_open {
        findings.push(doubts::too_many_values(names));
    }
    if report.stats.ctas == ctas && ctas < names.grid.count() {
        findings.push(doubts::first_ctas(names, ctas));
    }
    if is_vacuous(&outcome.decisions, report.coverage) {
        findings.push(doubts::vacuous(names));
    }
    // Findings that no setting of the launch can settle come before those that one can.
    findings.sort_by_key(|finding| finding.code == Code::DependsOnInput);
    report.findings = distinct(findings);
    let decisions = &outcome.decisions;
    let taken = CheckOutcome {
        slice: &slice,
        decisions,
        reached: &reached,
        assumed,
        dependences,
        distinguishes_counters,
    };
    // If nothing was settled, nothing is known of the reads either.
    let reads = decisions.is_empty() || decisions.iter().any(|decision| decision.reads_unwritten);
    Ok(RunFacts { decides: taken.list(names, launch, report), reads_unwritten: reads })
}

/// Whether all threads ended without an access or a barrier, though the kernel has some.
fn is_vacuous(decisions: &[Decision], coverage: Coverage) -> bool {
    let is_finished = !decisions.is_empty() && decisions.iter().all(Decision::is_finished);
    is_finished && coverage.reached == 0 && coverage.sites > 0
}

/// Removes repeated findings: many ctas find the same.
fn distinct(findings: Vec<Finding>) -> Vec<Finding> {
    let mut said = BTreeSet::new();
    findings.into_iter().filter(|finding| said.insert(key(finding))).collect()
}

/// What makes two findings the same: code, check, and the text and role of each site.
type FindingKey = (Code, Option<Check>, Vec<(Span, Role)>);

fn key(finding: &Finding) -> FindingKey {
    let sites = finding.sites.iter().map(|site| (site.span, site.role)).collect();
    (finding.code, finding.check, sites)
}
