//! Wires the stages: one kernel under one launch to its report.

mod barriers;
mod ctas;
mod detector;
mod doubts;
mod faults;
mod names;
mod races;
mod recorder;
mod request;

use std::collections::BTreeSet;

use crate::emulate::{Cta, DoubtKind, End, Inputs, Run, Terms};
use crate::finding::{Assumption, Check, Code, Coverage, Finding, Report, Stats};
use crate::flow::{self, Pc, Program, Terminator};
use crate::launch::{Atomics, BarrierDivergence, Dim3, Launch};
use crate::ptx::isa::Effect;
use crate::ptx::{Function, Module, Space};
use crate::race::{Ctas, OpenAccesses};
use crate::slice::{self, Slice};

use detector::Detector;
use names::Names;
pub use request::CheckError;

/// Checks `kernel` of `module` under `launch`. Deterministic.
///
/// # Errors
/// A launch that the kernel cannot have, or PTX that does not link.
pub fn check(module: &Module, kernel: &Function, launch: &Launch) -> Result<Report, CheckError> {
    let program = flow::build(module, kernel).map_err(|error| request::link(module, &error))?;
    request::arguments(&program, launch)?;
    let grid = request::grid(launch)?;
    let mut report = Report {
        kernel: module.name(kernel.name).to_owned(),
        launch: launch.clone(),
        block: None,
        grid,
        findings: Vec::new(),
        assumptions: Vec::new(),
        coverage: Coverage { reached: 0, sites: observable(&program).count() },
        stats: Stats::default(),
    };
    let (block, atomics) = (Dim3::line(1), launch.options.atomics);
    let names = Names { module, kernel, program: &program, grid, block, atomics };
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
    let inputs = Inputs::new(&program, launch, block, grid).map_err(request::input)?;
    request::shared(inputs.shared)?;
    let names = Names { block, ..names };
    run(&names, &inputs, launch, &mut report);
    Ok(report)
}

fn observable(program: &Program) -> impl Iterator<Item = Pc> {
    let count = u32::try_from(program.code.len()).unwrap_or(u32::MAX);
    (0..count).map(Pc).filter(|pc| slice::is_observable(program, *pc))
}

/// What the pass that decides found in one cta.
struct Decided {
    cta: Cta,
    run: Run,
    detector: Detector,
}

/// What the pass that decides found in all ctas.
struct Decision {
    ctas: Vec<Decided>,
    between: Ctas,
    open: OpenAccesses,
    reached: Vec<bool>,
}

/// Runs the ctas, up to one whose barriers are broken.
fn decide(
    names: &Names<'_>,
    inputs: &Inputs,
    slice: &Slice,
    ctas: &[Cta],
    open: OpenAccesses,
    terms: &mut Terms,
) -> Decision {
    let program = names.program;
    let reached = vec![false; program.code.len()];
    let mut decision = Decision { ctas: Vec::new(), between: Ctas::new(), open, reached };
    terms.begin();
    for &cta in ctas {
        let (between, mut open) =
            (std::mem::take(&mut decision.between), std::mem::take(&mut decision.open));
        open.next_cta();
        let mut detector = Detector::new(inputs.block, cta.index, ctas.len() > 1, between, open);
        let reached = &mut decision.reached;
        let run = crate::emulate::run(program, slice, inputs, cta, terms, &mut detector, reached);
        decision.between = std::mem::take(&mut detector.between);
        decision.open = std::mem::take(&mut detector.open);
        let is_out_of_fuel =
            matches!(&run.end, End::Undecided(doubt) if doubt.kind == DoubtKind::Fuel);
        let is_broken =
            barriers::is_defect(&run.end) || !detector.recycled.is_empty() || is_out_of_fuel;
        decision.ctas.push(Decided { cta, run, detector });
        if is_broken {
            break;
        }
    }
    decision
}

/// Decides again until accesses at open addresses are anchored as the pass before found; `None`: they never were.
fn settle(
    names: &Names<'_>,
    inputs: &Inputs,
    slice: &Slice,
    ctas: &[Cta],
    terms: &mut Terms,
) -> Option<Decision> {
    (0..MAX_PASSES).find_map(|_| {
        let mut decision = decide(names, inputs, slice, ctas, OpenAccesses::default(), terms);
        decision.open.set_apart(terms.apart());
        terms.settle().then_some(decision)
    })
}

/// Passes that decide, before the check gives up.
const MAX_PASSES: u32 = 16;

fn run(names: &Names<'_>, inputs: &Inputs, launch: &Launch, report: &mut Report) {
    let slice = slice::mark(names.program, &BTreeSet::new());
    let ctas = ctas::select(report.grid);
    let mut terms = Terms::new();
    let Some(decision) = settle(names, inputs, &slice, &ctas, &mut terms) else {
        report.findings.push(doubts::unsettled(names));
        return;
    };
    for Decided { run, .. } in &decision.ctas {
        report.stats.ctas += 1;
        report.stats.warp_instructions += run.warp_instructions;
        report.stats.thread_commands += run.thread_commands;
        report.stats.generations += run.generations;
    }
    let is_reached = |pc: &Pc| decision.reached[pc.index()];
    report.coverage.reached = observable(names.program).filter(is_reached).count();
    report.findings =
        findings(names, inputs, &slice, &ctas, &decision, report.coverage, &mut terms);
    if decision.open.stays_in_variables() {
        report.assumptions.push(Assumption::WithinVariables);
    }
    assume(&slice, names, launch, ctas.len(), report);
}

fn findings(
    names: &Names<'_>,
    inputs: &Inputs,
    slice: &Slice,
    ctas: &[Cta],
    decision: &Decision,
    coverage: Coverage,
    terms: &mut Terms,
) -> Vec<Finding> {
    let Decision { ctas: decided, between, open, .. } = decision;
    let apart = terms.apart();
    let mut findings = Vec::new();
    for own in decided {
        findings.extend(barriers::explain(names, own.cta, &own.run.end, &own.detector.recycled));
        if let End::Undecided(doubt) = &own.run.end {
            findings.push(doubts::explain(names, doubt));
        }
    }
    // Without well-synchronization the order of one run says nothing about races in another (PLDI'15 §4).
    let is_ordered = decided.iter().all(|own| own.detector.recycled.is_empty());
    if is_ordered {
        findings.extend(races::explain(names, inputs, decided, between.racing(), terms));
    }
    let is_full = |own: &Decided| own.detector.global.is_full() || own.detector.shared.is_full();
    if between.is_full() || decided.iter().any(is_full) {
        findings.push(doubts::too_much_memory(names));
    }
    for own in decided {
        let faults = own.detector.faults.iter();
        findings.extend(faults.map(|fault| faults::explain(names, own.cta, fault)));
    }
    let mut doubtful = open.doubtful(ctas.len());
    if !doubtful.is_empty() && is_ordered {
        let again = decide(names, inputs, slice, ctas, OpenAccesses::ordered(apart), terms);
        doubtful = again.open.doubtful(ctas.len());
    }
    findings.extend(doubtful.iter().map(|access| doubts::open_access(names, access)));
    let is_finished = decided.iter().all(|own| own.run.end == End::Finished);
    if is_finished && coverage.reached == 0 && coverage.sites > 0 {
        findings.push(doubts::vacuous(names));
    }
    distinct(findings)
}

/// Ctas often have the same things to say: each is said once.
fn distinct(findings: Vec<Finding>) -> Vec<Finding> {
    let mut said: BTreeSet<(Code, Option<Check>, Vec<_>)> = BTreeSet::new();
    let key = |finding: &Finding| {
        let sites = finding.sites.iter().map(|site| (site.span, site.role)).collect();
        (finding.code, finding.check, sites)
    };
    findings.into_iter().filter(|finding| said.insert(key(finding))).collect()
}

fn assume(slice: &Slice, names: &Names<'_>, launch: &Launch, ctas: usize, report: &mut Report) {
    let mut assume = |holds: bool, assumption| {
        if holds {
            report.assumptions.push(assumption);
        }
    };
    let pointers = names.program.params.iter().filter(|param| param.is_pointer).count();
    let is_global = |symbol: &&flow::Symbol| symbol.space == Space::Global;
    let variables = names.program.symbols.iter().filter(is_global).count();
    assume(pointers > 0 && pointers + variables > 1, Assumption::DisjointBuffers);
    assume(
        names.program.symbols.iter().any(|symbol| symbol.init.is_some()),
        Assumption::InitialValues,
    );
    assume(launch.options.warp_synchronous, Assumption::WarpSynchronous);
    let has_atomics = names.program.code.iter().any(|instr| instr.effect() == Effect::Atomic);
    let is_unique = launch.options.atomics == Atomics::Unique;
    assume(is_unique && has_atomics, Assumption::UniqueCounters);
    assume(launch.grid.is_none(), Assumption::OneCta);
    assume((ctas as u64) < names.grid.count(), Assumption::SomeCtas);
    let counts = launch.options.barrier_divergence == BarrierDivergence::Cta;
    assume(counts && names.program.is_irreducible, Assumption::UncountedLoops);
    assume(drops_a_loop(slice, names.program), Assumption::LoopsEnd);
}

/// Loops are contiguous in the sort order: one is dropped if none of its branches is decided.
fn drops_a_loop(slice: &Slice, program: &Program) -> bool {
    program.blocks.iter().enumerate().any(|(latch, block)| {
        let is_end = matches!(block.terminator, Terminator::End);
        let headers = block.terminator.successors().into_iter().map(flow::BlockId::index);
        !is_end
            && headers
                .filter(|header| *header <= latch)
                .any(|header| !slice.branches[header..=latch].contains(&true))
    })
}
