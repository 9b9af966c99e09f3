//! Decides by proof what a run leaves open: a kernel is clean if the symbolic stage proves it for every input.

use std::collections::BTreeSet;

use super::assumptions::might_write_textures;
use super::{CheckError, observable};
use crate::emulate::{self, WARP};
use crate::explain::{Names, barriers, doubts};
use crate::finding::{Alignment, Assumption, Class, Code, Finding, ProvedFor, Report, Verdict};
use crate::flow::{Block, Pc, Placement, Program};
use crate::launch::requires::{Axis, LaunchVariable, Requirement};
use crate::launch::{BarrierDivergence, Dim3, Dimensions, Launch};
use crate::ptx::isa::Effect;
use crate::ptx::{Function, Module, Space, Span};
use crate::slice::{self, AddressRequirement, Base, Dependences, Floats};
use crate::symbolic::ArithmeticAssumption::{
    NonzeroDivisors, PositiveDivisors, Unwrapped, UnwrappedCounters,
};
use crate::symbolic::{
    self, Gap, Proof, ProofBudget, ProofScope, ProofTask, SmtSolver, StatedSizes, Unproved,
};

/// Replaces a verdict that is open, or clean for one cta where no grid is stated, by a proof, if there is one: for the block
/// and grid of the launch, and for every block and every grid where the launch states none. `open`: the accesses that might
/// race, if the run has decided everything else about the block and the grid of the launch.
/// Returns why there is no proof, if one was tried.
pub(super) fn settle(
    names: &Names<'_>,
    (kernel, launch): (&Function, &Launch),
    open: Option<&BTreeSet<Pc>>,
    outside: Option<&dyn SmtSolver>,
    report: &mut Report,
) -> Unproved {
    let program = names.program;
    let budget = match report.verdict() {
        Verdict::Open if is_of_races(report) => ProofBudget::VERDICT,
        Verdict::Clean
            if launch.grid.is_none() && distinguishes_ctas(program) && !is_empty(report) =>
        {
            ProofBudget::AFTER_RUN
        }
        _ => return Unproved::default(),
    };
    let open = open.filter(|open| is_of_accesses(names, open, report));
    let scope = open.map_or(ProofScope::Kernel, ProofScope::Open);
    let (proof, of_whole_warps) = of_any_block(program, (kernel, launch), scope, (outside, budget));
    match proof {
        // A run has found which accesses might overlap: that they do not because nothing wraps around is no answer.
        Ok(proof)
            if proof.arithmetic.contains(&Unwrapped)
                && has_possible_race(report)
                && !is_proved_as_run(program, kernel, launch, report) => {}
        Ok(proof) => {
            report.findings.retain(|finding| finding.code.class() == Class::Warning);
            report.proved =
                Some(ProvedFor { block: proof.block, grid: proof.grid, of_whole_warps });
            warn_of_exits(names, launch, &proof, &mut report.findings);
            let of_run = std::mem::take(&mut report.assumptions).into_iter();
            report.assumptions = assumptions(program, names, launch, &proof);
            if of_whole_warps {
                report.assumptions.insert(0, Assumption::WholeWarps);
            }
            if open.is_some() {
                let more = of_run.filter(|own| !report.assumptions.contains(own));
                report.assumptions.extend(more.collect::<Vec<_>>());
            }
            if let Some(outside) = outside.filter(|_| proof.trusts_solver) {
                report.assumptions.push(Assumption::Solver(outside.name().to_owned()));
            }
            if open.is_none() {
                report.coverage.reached = observable(program).count();
                report.unreached.clear();
            }
        }
        Err(unproved) => {
            explain(names, &unproved.gaps, &mut report.findings);
            return unproved;
        }
    }
    Unproved::default()
}

/// Adds a warning for each aligned barrier before which lanes of a warp might end, unless a run has warned of it.
fn warn_of_exits(names: &Names<'_>, launch: &Launch, proof: &Proof, findings: &mut Vec<Finding>) {
    if launch.options.barrier_divergence == BarrierDivergence::Off {
        return;
    }
    let program = names.program;
    let is_aligned = |pc: &&Pc| program.code[pc.index()].is_aligned_barrier();
    for pc in proof.after_exits.iter().filter(is_aligned) {
        let span = program.place(*pc).span;
        let is_known = |own: &Finding| {
            own.code == Code::BarrierExit && own.sites.iter().any(|site| site.span == span)
        };
        if !findings.iter().any(is_known) {
            findings.push(barriers::possible_barrier_exit(names, *pc));
        }
    }
}

/// Tries to prove a kernel for every block, if the launch states none; or else for every block of whole warps, if the kernel
/// exchanges values between all lanes of warps: the flag says so.
fn of_any_block(
    program: &Program,
    (kernel, launch): (&Function, &Launch),
    scope: ProofScope<'_>,
    by: (Option<&dyn SmtSolver>, ProofBudget),
) -> (Result<Proof, Unproved>, bool) {
    let found = prove(program, (kernel, launch), scope, by);
    let mut required = launch.requires.iter().flat_map(Requirement::variables);
    let is_any = launch.block.is_none()
        && kernel.reqntid.is_none()
        && !required.any(|variable| matches!(variable, LaunchVariable::Block(_)));
    if found.is_ok() || !is_any || !exchanges_in_warps(program) {
        return (found, false);
    }
    let mut narrowed = launch.clone();
    narrowed.requires.push(Requirement::multiple(Axis::X, WARP as u64));
    match prove(program, (kernel, &narrowed), scope, by) {
        Ok(proof) => (Ok(proof), true),
        Err(_) => (found, false),
    }
}

/// Whether lanes of a warp wait for each other somewhere. That all lanes do is for the proof to show.
pub(super) fn exchanges_in_warps(program: &Program) -> bool {
    let is_of_warp = |effect: Effect| matches!(effect, Effect::Exchange | Effect::WarpBarrier);
    program.code.iter().any(|instr| is_of_warp(instr.effect()) && instr.waits())
}

fn distinguishes_ctas(program: &Program) -> bool {
    (0..3).any(|dimension| program.distinguishes_ctas(dimension))
}

fn is_empty(report: &Report) -> bool {
    report.coverage.sites == 0
}

/// Whether there is a proof for the block and the grid of a run that holds even if integers wrap around.
fn is_proved_as_run(
    program: &Program,
    kernel: &Function,
    launch: &Launch,
    report: &Report,
) -> bool {
    let mut as_run = launch.clone();
    as_run.block = report.block.map(Dimensions::Is);
    as_run.grid = Some(Dimensions::Is(report.grid));
    prove(program, (kernel, &as_run), ProofScope::Kernel, (None, ProofBudget::VERDICT))
        .is_ok_and(|proof| !proof.arithmetic.contains(&Unwrapped))
}

fn has_possible_race(report: &Report) -> bool {
    report.findings.iter().any(|finding| finding.code == Code::PossibleRace)
}

/// Whether races, or which way threads go, are all that is open. A run also finds a launch in which no thread does
/// anything, for instance: what is open about that, the proof does not decide.
fn is_of_races(report: &Report) -> bool {
    let is_decided = |finding: &Finding| {
        let is_of_races =
            matches!(finding.code, Code::PossibleRace | Code::DependsOnInput | Code::NoLaunch);
        is_of_races || finding.code.class() != Class::Open
    };
    report.findings.iter().all(is_decided)
}

/// Returns the launches that a kernel is proved for by the symbolic stage alone, without a run: with the block and grid
/// of the launch, or every one where it states none, and every argument that it does not give; `None`: there is no proof.
///
/// # Errors
/// PTX that does not link.
pub fn prove_every_input(
    module: &Module,
    kernel: &Function,
    launch: &Launch,
) -> Result<Option<ProvedFor>, CheckError> {
    let program = super::link(module, kernel, launch, &Placement::default())?;
    let by = (None, ProofBudget::VERDICT);
    let (proof, of_whole_warps) = of_any_block(&program, (kernel, launch), ProofScope::Kernel, by);
    Ok(proof.ok().map(|Proof { block, grid, .. }| ProvedFor { block, grid, of_whole_warps }))
}

/// Whether all that is open in a report is at some of these accesses.
fn is_of_accesses(names: &Names<'_>, open: &BTreeSet<Pc>, report: &Report) -> bool {
    let spans: BTreeSet<Span> = open.iter().map(|pc| names.program.place(*pc).span).collect();
    let is_there = |finding: &Finding| {
        finding.code == Code::DependsOnInput
            && finding.sites.iter().all(|site| spans.contains(&site.span))
    };
    let mut all = report.findings.iter().filter(|own| own.code.class() == Class::Open);
    all.all(is_there)
}

/// Whether there is a proof that no other access races with the accesses `open`.
pub(super) fn is_proved(
    program: &Program,
    kernel_and_launch: (&Function, &Launch),
    open: &BTreeSet<Pc>,
    outside: Option<&dyn SmtSolver>,
) -> bool {
    let scope = ProofScope::Open(open);
    prove(program, kernel_and_launch, scope, (outside, ProofBudget::VERDICT)).is_ok()
}

/// Tries to prove a kernel, or a part of it, for all that the launch leaves open.
pub(super) fn prove(
    program: &Program,
    (kernel, launch): (&Function, &Launch),
    scope: ProofScope<'_>,
    (outside, budget): (Option<&dyn SmtSolver>, ProofBudget),
) -> Result<Proof, Unproved> {
    // A proof is about threads of one cta, or of two that nothing orders and that share no memory but the global one.
    if program.clusters.are_of_several() {
        return Err(Unproved::default());
    }
    let slice = slice::mark(program, &BTreeSet::new(), Floats::Open);
    let dependences = Dependences::of(program, &emulate::pointers(program, launch));
    let strays: BTreeSet<Pc> = dependences.strays().into_keys().collect();
    let dim = |[x, y, z]: [u32; 3]| Dim3 { x, y, z };
    let known = |dimensions: Option<Dimensions>| dimensions.and_then(Dimensions::known);
    let most = kernel.maxntid.map_or(Dim3::MAX_THREADS, |most| dim(most).count());
    let sizes = StatedSizes {
        block: known(launch.block).or(kernel.reqntid.map(dim)),
        // Whichever its dimensions are, a block has at most as many threads as the bound.
        threads: u32::try_from(most.min(Dim3::MAX_THREADS)).expect("at most 1024"),
        grid: known(launch.grid),
        // A lock in global memory is for the threads of several ctas.
        is_any_grid: launch.grid.is_some() || symbolic::has_global_lock(program),
    };
    let task = ProofTask { sizes, strays: &strays, scope, outside, budget };
    symbolic::prove(program, &slice, launch, task)
}

/// Says in the finding that a launch is missing, if there is one, where the proof for every launch ended.
fn explain(names: &Names<'_>, gaps: &[Gap], findings: &mut [Finding]) {
    let mut notes: Vec<String> = gaps.iter().map(|gap| doubts::gap(names, *gap)).collect();
    notes.dedup();
    let are_all = notes.len() <= MOST_NOTES;
    notes.truncate(MOST_NOTES);
    if !are_all {
        notes.push("and more places".to_owned());
    }
    if let Some(finding) = findings.iter_mut().find(|own| own.code == Code::NoLaunch) {
        finding.notes.extend(notes);
    }
}

/// The most gaps that a finding names.
const MOST_NOTES: usize = 4;

/// Returns the variables and buffers that some access needs aligned to more than their declarations state. Their addresses
/// are open in a proof, which looks at offsets only.
fn alignments(program: &Program, names: &Names<'_>, pointers: &BTreeSet<usize>) -> Vec<Alignment> {
    let slice = slice::mark(program, &BTreeSet::new(), Floats::Open);
    let dependences = Dependences::of(program, pointers);
    let reached = vec![true; program.code.len()];
    let accessed = dependences.accessed(&reached);
    let aligned = |(base, place): (Base, AddressRequirement)| match place {
        AddressRequirement::Multiple(to) => {
            let bytes = accessed.get(&base).copied().unwrap_or(0);
            Some((names.base(base), to, dependences.declared(base), bytes))
        }
        AddressRequirement::Fixed => None,
    };
    let taken = dependences.taken_for_granted(&slice, &reached, false);
    taken.into_iter().filter_map(aligned).collect()
}

/// What a proof takes for granted.
fn assumptions(
    program: &Program,
    names: &Names<'_>,
    launch: &Launch,
    proof: &Proof,
) -> Vec<Assumption> {
    let mut all = Vec::new();
    let mut assume = |holds: bool, assumption: Assumption| {
        if holds {
            all.push(assumption);
        }
    };
    let pointers = emulate::pointers(program, launch);
    let effects =
        |wanted: &[Effect]| program.code.iter().any(|instr| wanted.contains(&instr.effect()));
    let has = |space: Space| program.symbols.iter().any(|symbol| symbol.space == space);
    let is_stated = |at: &usize| emulate::is_within(program, *at);
    assume(!pointers.iter().all(is_stated), Assumption::DisjointBuffers);
    assume(!pointers.is_empty(), Assumption::WithinBuffers);
    let guessed: Vec<String> = pointers
        .iter()
        .filter(|at| program.guessed.contains(at))
        .map(|at| names.param(*at))
        .collect();
    assume(!guessed.is_empty(), Assumption::Pointers(guessed));
    let aligned = alignments(program, names, &pointers);
    assume(!aligned.is_empty(), Assumption::Aligned(aligned));
    assume(has(Space::Shared) || has(Space::Global), Assumption::WithinVariables);
    assume(effects(&[Effect::Load, Effect::Store, Effect::Atomic]), Assumption::OpenAddresses);
    assume(has(Space::Shared) && effects(&[Effect::Load]), Assumption::Written);
    assume(proof.arithmetic.contains(&Unwrapped), Assumption::UnwrappedIndices);
    assume(proof.arithmetic.contains(&UnwrappedCounters), Assumption::UniqueCounters);
    assume(proof.arithmetic.contains(&NonzeroDivisors), Assumption::NonzeroDivisors);
    assume(proof.arithmetic.contains(&PositiveDivisors), Assumption::PositiveDivisors);
    assume(!program.spans.is_empty(), Assumption::AllLoopsEnd);
    let leaves_out = |block: &Block| block.merge != block.post_dominator;
    assume(program.blocks.iter().any(leaves_out), Assumption::NoTrap);
    assume(might_write_textures(program), Assumption::TexturesUnwritten);
    all
}
