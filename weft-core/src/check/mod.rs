//! Drives the stages: checks one kernel under one launch and builds its report.
//!
//! [`linked`] links the kernel, [`request`] tests the launch, [`requirements`] applies what it requires, and
//! [`unstated`] runs a kernel with [`chosen_sizes`] if nobody states its block or its grid. [`find`] chooses what to
//! try first, [`case_split`] runs each case of a split condition, [`settle`] repeats passes until their facts are known
//! from the start, and [`passes`] is what the passes of a launch share. In a deciding pass a [`detector`] judges each
//! cta ([`ctas`]), several at once where they are [`independent`]; a [`decision`] is what the pass found. In an
//! explaining pass ([`racing`]) a [`recorder`] collects racing pairs. Then [`findings`] words the decision, [`given`]
//! looks for mistaken arguments, [`every_input`] proves what is still open, [`elsewhere`] compares a check with other
//! addresses, [`assumptions`] lists what was taken for granted, [`witness`] tries an open verdict with concrete inputs,
//! and [`clean_with`] looks for what the host might keep to, so that the kernel is clean. After a check, [`replay`] runs some of its ctas
//! once more for other observers.

mod assumptions;
mod case_split;
mod chosen_sizes;
mod clean_with;
mod ctas;
mod decision;
mod detector;
mod elsewhere;
mod every_input;
mod find;
mod findings;
mod given;
mod independent;
mod linked;
mod passes;
mod racing;
mod recorder;
mod replay;
mod request;
mod requirements;
mod settle;
#[cfg(test)]
mod shared_functions;
mod shared_room;
mod stores;
mod unstated;
mod witness;

use std::collections::BTreeSet;

use crate::emulate::{self, Inputs, Origin};
use crate::explain::witness::ChosenInput;
use crate::explain::{Names, doubts};
use crate::finding::{Assumption, Check, Code, Coverage, Finding, Report, Role, Stats, Verdict};
use crate::flow::{Pc, Placement, Program};
use crate::launch::{Dim3, Dimensions, Launch};
use crate::ptx::isa::Effect;
use crate::ptx::{Function, Module, Span};
use crate::slice::{self, Base, Dependences};
use crate::symbolic::{SmtSolver, Unproved};

use assumptions::CheckOutcome;
use decision::Decision;
pub(crate) use detector::full_warps;
pub use every_input::prove_every_input;
use find::{Effort, SliceResult};
use linked::LinkedKernel;
pub(crate) use replay::{Replay, ReplayedCta, ReplayedLaunch};
pub use request::{BlockSource, CheckError, KnownBlock};
pub use requirements::{RequirementMisfit, applied};
pub use stores::{watches_memory, written_parameters};

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
    let linked = LinkedKernel::new(module, kernel, launch, &Placement::default())?;
    let (effort, outside) = (Effort::Verdict, Some(solver));
    complete(&CheckRequest { linked: &linked, launch, effort, outside })
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
    let linked = LinkedKernel::new(module, kernel, launch, placement)?;
    complete(&CheckRequest { linked: &linked, launch, effort: Effort::Verdict, outside: None })
}

/// Checks a kernel, and looks for a witness if its verdict is open.
fn complete(request: &CheckRequest<'_>) -> Result<Report, CheckError> {
    let (mut report, input) = examine(request)?;
    if let Some(input) = input.filter(|input| !input.is_empty()) {
        let program = request.linked.program(request.launch)?;
        report.shown_with = Some(input.launch(program, request.launch));
    }
    Ok(report)
}

/// Does the same, and returns the chosen input with which the first finding occurs, if it is about such an input.
fn examine(request: &CheckRequest<'_>) -> Result<(Report, Option<ChosenInput>), CheckError> {
    let CheckedProgram { mut report, unproved, shown, .. } = prove(request)?;
    let (known, known_input) = shown.unzip();
    if request.launch.options.witness == 0 || report.verdict() != Verdict::Open {
        return Ok((report, known_input));
    }
    let found = witness::search(request, &unproved.candidates, known)?;
    let (finding, input) = found.unzip();
    if let Some(finding) = finding {
        report.findings.retain(|own| own.code != Code::RaceForInput);
        report.findings.insert(0, finding);
    }
    clean_with::suggest(request, &unproved, input.as_ref(), &mut report)?;
    Ok((report, input.or(known_input)))
}

/// What a check is asked for.
#[derive(Clone, Copy)]
struct CheckRequest<'a> {
    linked: &'a LinkedKernel<'a>,
    launch: &'a Launch,
    /// Of a verdict, what a run leaves open is to be proved for every input.
    effort: Effort,
    /// A solver outside of the library.
    outside: Option<&'a dyn SmtSolver>,
}

/// What a check of one program found.
struct CheckedProgram {
    report: Report,
    /// The variables and buffers whose addresses decide something.
    decides: BTreeSet<Base>,
    /// Why there is no proof, and launches with which the kernel might have a race; empty if none was tried.
    unproved: Unproved,
    /// The instructions that were run in all passes, counted once a warp.
    spent: u64,
    /// The arguments and fields because of whose values or contents something is open, by position.
    depends_on: BTreeSet<usize>,
    /// The kind of the defect that the report has, as its first finding, for a chosen block or grid, and these sizes.
    shown: Option<(Code, ChosenInput)>,
}

/// Checks a kernel without a search for witnesses.
fn prove(request: &CheckRequest<'_>) -> Result<CheckedProgram, CheckError> {
    let CheckRequest { linked, launch: given, .. } = *request;
    let program = linked.program(given)?;
    let launch = requirements::applied(program, linked.kernel, given)?;
    let applied = CheckRequest { launch: &launch, ..*request };
    let mut checked = unstated::check(&applied, program)?;
    checked.report.launch = given.clone();
    let signed = launch.requires.iter().map(|own| requirements::signed(program, own));
    let required = Assumption::required(given.requires.iter().zip(signed));
    checked.report.assumptions.splice(0..0, required);
    let placement = elsewhere::placement(program, &checked.decides);
    if placement == program.placement {
        return Ok(checked);
    }
    let elsewhere = linked.placed(&placement)?;
    let other = unstated::check(&applied, &elsewhere)?.report;
    Ok(CheckedProgram { report: elsewhere::compared(checked.report, other), ..checked })
}

/// Returns the block that a kernel is run with under a launch, and who says so; `None` if nobody states one and the kernel has
/// no bound to guess one within.
///
/// # Errors
/// A block that the kernel cannot have, requirements that it cannot fulfil, or PTX that does not link.
pub fn known_block(
    module: &Module,
    kernel: &Function,
    launch: &Launch,
) -> Result<Option<KnownBlock>, CheckError> {
    let program = linked::build(module, kernel, &[], (&Placement::default(), launch.cluster))?;
    let launch = requirements::applied(&program, kernel, launch)?;
    request::block(&program, kernel, &launch)
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
    LinkedKernel::new(module, kernel, launch, placement)?.into_program(launch)
}

/// Checks a program with a block, or without a run if there is none. Requirements are applied to the launch.
fn attempt(
    request: &CheckRequest<'_>,
    program: &Program,
    block: Option<Dim3>,
) -> Result<CheckedProgram, CheckError> {
    let CheckRequest { linked, launch, effort, outside } = *request;
    let LinkedKernel { module, kernel, .. } = *linked;
    request::arguments(program, launch)?;
    let grid = request::grid(kernel, launch)?;
    let kernel_name = module.name(kernel.name).to_owned();
    let mut report = unrun(kernel_name, program, launch, grid);
    report.block = block;
    let (block, atomics) = (block.unwrap_or(Dim3::line(1)), launch.options.atomics);
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
    let RunFacts { decides, reads_unwritten, spent, depends_on, open } =
        run(&names, launch, effort, &mut report)?;
    let mut unproved = Unproved::default();
    // A run also finds reads of shared memory that nothing wrote, which a proof takes for granted that there are none.
    if effort == Effort::Verdict && !reads_unwritten {
        let are_all = report.stats.ctas == grid.count();
        let of_all = open.as_ref().filter(|_| are_all);
        unproved = every_input::settle(&names, (kernel, launch), of_all, outside, &mut report);
        let of_first = open.filter(|_| !are_all && report.verdict() == Verdict::Open);
        let is_proved = |open| every_input::is_proved(program, (kernel, launch), &open, outside);
        if of_first.is_some_and(is_proved) {
            // A proof decides what the first ctas leave open, so that the kernel can be clean: all ctas are run.
            let mut launch = launch.clone();
            launch.options.past_findings = true;
            return attempt(&CheckRequest { launch: &launch, ..*request }, program, report.block);
        }
    }
    Ok(CheckedProgram { report, decides, unproved, spent, depends_on, shown: None })
}

/// What a run says beside its report.
#[derive(Debug, Default)]
struct RunFacts {
    /// The variables and buffers whose addresses decide something.
    decides: BTreeSet<Base>,
    /// Whether it read, or might have read, shared memory that nothing wrote.
    reads_unwritten: bool,
    /// The instructions that were run in all passes, counted once a warp.
    spent: u64,
    /// The arguments and fields because of whose values or contents something is open, by position.
    depends_on: BTreeSet<usize>,
    /// The accesses at open addresses that might race, if the block and the grid are stated and nothing else is open about the
    /// ctas that ran.
    open: Option<BTreeSet<Pc>>,
}

/// Runs a kernel with the block of its report, if it has one.
fn run(
    names: &Names<'_>,
    launch: &Launch,
    effort: Effort,
    report: &mut Report,
) -> Result<RunFacts, CheckError> {
    let program = names.program;
    let Some(block) = report.block else {
        if report.coverage.sites > 0 {
            report.findings.push(doubts::no_launch(names, launch.block.is_some()));
        }
        return Ok(RunFacts::default());
    };
    let is_any_grid = launch.grid == Some(Dimensions::Any) && report.coverage.sites > 0;
    if is_any_grid && !requirements::permit_one_cta(program, launch, block) {
        report.findings.push(doubts::any_grid(names, 0));
        return Ok(RunFacts::default());
    }
    let dependences = Dependences::of(program, &emulate::pointers(program, launch));
    let mut inputs = Inputs::new(program, launch, block, names.grid, &dependences)
        .map_err(|error| request::input(program, error))?;
    // True even if only the first ctas are run in the end: their run is then the beginning of a run of the launch, and
    // the report is open about the other ctas.
    inputs.runs_all_ctas = launch.grid.is_some_and(|grid| grid.known().is_some());
    request::shared(inputs.shared)?;
    let mut facts = run_with(names, (&inputs, effort), launch, &dependences, report)?;
    let is_block_stated = launch.block.is_some() || names.kernel.reqntid.is_some();
    facts.open = facts.open.filter(|_| inputs.runs_all_ctas && is_block_stated);
    if is_any_grid {
        report.findings.push(doubts::any_grid(names, 1));
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
        shown_with: None,
    }
}

/// Returns the access and barrier instructions. The loads of an asynchronous copy, which always stores, are left out.
fn observable(program: &Program) -> impl Iterator<Item = Pc> {
    let is_of_copy = |pc: &Pc| {
        let instr = &program.code[pc.index()];
        let is_part = instr.decoded().is_some_and(|decoded| decoded.is_asynchronous);
        is_part && instr.effect() == Effect::Load
    };
    let all = (0..program.code.len()).map(Pc::at);
    all.filter(move |pc| slice::is_observable(program, *pc) && !is_of_copy(pc))
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
    (inputs, effort): (&Inputs, Effort),
    launch: &Launch,
    dependences: &Dependences<'_>,
    report: &mut Report,
) -> Result<RunFacts, CheckError> {
    let found = find::find(names, inputs, effort);
    let distinguishes_counters = found.distinguishes_counters;
    let is_too_open = found.is_too_open();
    let SliceResult { slice, outcome, assumed, tensors, ctas, spent, doubted, .. } = found;
    given::mistaken(names, &outcome.decisions)?;
    add_cost(&outcome.decisions, report);
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
        tensors: &tensors,
        dependences,
        distinguishes_counters,
    };
    // If nothing was settled, nothing is known of the reads either.
    let reads = decisions.is_empty() || decisions.iter().any(|decision| decision.reads_unwritten);
    let position = |origin| match origin {
        Origin::Argument(at) | Origin::Contents(at) => Some(at),
        _ => None,
    };
    let depends_on = doubted.into_iter().filter_map(position).collect();
    let decides = taken.list(names, launch, report);
    Ok(RunFacts { decides, reads_unwritten: reads, spent, depends_on, open: outcome.open })
}

/// Adds what the decisions of a check cost.
fn add_cost(decisions: &[Decision], report: &mut Report) {
    for Decision { stats, .. } in decisions {
        report.stats.ctas = report.stats.ctas.max(stats.ctas);
        report.stats.warp_instructions += stats.warp_instructions;
        report.stats.thread_commands += stats.thread_commands;
        report.stats.generations += stats.generations;
    }
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
