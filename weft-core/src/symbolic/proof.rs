//! Proves that a kernel is free of races and barrier divergence for every input of a launch, or says where it cannot.
//!
//! Two copies of the arbitrary thread are compared, access by access (`GPUVerify`'s two-thread reduction): the system of
//! their addresses, of the conditions under which they are reached and of the bounds of the launch must have no
//! solution.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use super::assumption::ArithmeticAssumption;
use super::atom::{Atom, Variance};
use super::base::AddressBase;
use super::candidate::CandidateLaunch;
use super::carried;
use super::compared::{BasedAccess, compared};
use super::constant::ConstantMemory;
use super::critical_sections::{CriticalSections, ProgramLocks};
use super::draws::ThreadDraws;
use super::early_exits::EarlyExits;
use super::expr::Expr;
use super::intervals::{self, BarrierInterval, IterationRelation};
use super::launched::{LaunchedValues, StatedSizes};
use super::meetings::{self, Meetings};
use super::ordinary_range::OrdinaryRanges;
use super::outcome::{Gap, Proof, Unproved};
use super::overlap::{differ, overlap, tell_apart};
use super::pair_query::{AskedAccess, PairQuery};
use super::passed_loops::PassedLoops;
use super::poly::Poly;
use super::proof_budget::ProofBudget;
use super::proof_scope::ProofScope;
use super::required::RequiredFacts;
use super::solver::{Answer, SmtSolver};
use super::thread::{self, ProgramFacts, SymbolicThread};
use super::unrolled;
use super::variance::Variances;
use super::view::{Copy, Views};
use crate::emulate::{AccessKind, Nearness};
use crate::flow::{BlockId, Pc, Program};
use crate::launch::{Atomics, ExtentBound, Launch};
use crate::ptx::Space;
use crate::race::{Conflict, conflict};
use crate::slice::Slice;

/// The steps that the proof of one pair can take.
const EFFORT: u32 = 50_000;
/// The most pairs of accesses that are compared.
const MOST_PAIRS: usize = 20_000;

/// What is to be proved of a program, and with what.
#[derive(Clone, Copy)]
pub(crate) struct ProofTask<'a> {
    pub(crate) sizes: StatedSizes,
    /// The accesses whose addresses are computed from several pointers.
    pub(crate) strays: &'a BTreeSet<Pc>,
    pub(crate) scope: ProofScope<'a>,
    /// A solver that is asked what the library's own leaves open.
    pub(crate) outside: Option<&'a dyn SmtSolver>,
    pub(crate) budget: ProofBudget,
}

/// Tries to prove a kernel for all inputs that the launch leaves open, and for every block and grid that are not stated.
pub(crate) fn prove(
    program: &Program,
    slice: &Slice,
    launch: &Launch,
    task: ProofTask<'_>,
) -> Result<Proof, Unproved> {
    let ProofTask { sizes, strays, scope, outside, budget } = task;
    let launched = LaunchedValues::new(program, launch, sizes);
    let locks = ProgramLocks::of(program, launch, &launched);
    let memory = ConstantMemory::of(program);
    let is_constant = |pc: Pc| memory.is_constant(program, pc);
    let facts = ProgramFacts {
        is_constant: &is_constant,
        takings: &locks.takings(),
        early_exits: &EarlyExits::of(program, launch, &is_constant),
    };
    let mut thread = known(thread::run(program, slice, &launched, facts))?;
    let required = RequiredFacts::of(program, launch, &launched, &mut thread.exprs);
    let accesses = compared(program, &mut thread, &is_constant, strays)?;
    let Meetings { variances, barriers, after_exits, assumed } =
        meetings::of(program, &mut thread, &launched, scope.must_meet())?;
    let effort =
        find_invariants(program, &mut thread, (&launched, &variances, &required), budget.effort);
    let draws = ThreadDraws::of(program, launch, (&thread, &variances), &accesses);
    thread.drawn = draws.growing();
    let sections = CriticalSections::of((program, &locks), &mut thread, &accesses);
    let intervals = intervals::intervals(program, slice, &thread, &variances, &barriers);
    let mut prover = Prover {
        program,
        launch,
        launched: &launched,
        required,
        thread: &thread,
        variances: &variances,
        passed: PassedLoops::of(program, &variances),
        ordinary: &RefCell::new(OrdinaryRanges::of(&thread, &launched)),
        draws,
        accesses,
        sections,
        relied_on: BTreeSet::new(),
        scope,
        after_exits,
        assumed,
        gaps: Vec::new(),
        depends_on: None,
        pairs: 0,
        effort: Cell::new(effort),
        disjoint: BTreeSet::new(),
        questions: budget.questions,
        budget,
        outside,
        trusts_solver: false,
        candidates: Vec::new(),
    };
    prover.within_ctas(&intervals);
    prover.between_ctas();
    prover.check_locks(&intervals);
    prover.result()
}

/// Returns the arbitrary thread, if it is not too large and nothing in it is unknown.
fn known(thread: Option<SymbolicThread>) -> Result<SymbolicThread, Vec<Gap>> {
    let thread = thread.ok_or_else(|| vec![Gap::Size])?;
    match thread.unknown.first() {
        Some(pc) => Err(vec![Gap::Unknown(*pc)]),
        None => Ok(thread),
    }
}

/// Finds what holds in every iteration of the loops of a thread. Returns the steps of `effort` that are left.
fn find_invariants(
    program: &Program,
    thread: &mut SymbolicThread,
    known: (&LaunchedValues, &Variances, &RequiredFacts),
    mut effort: u32,
) -> u32 {
    let (launched, variances, required) = known;
    carried::bound(thread, launched, variances, required);
    unrolled::find(program, thread, known, &mut effort);
    effort
}

/// The offset, condition, size and innermost loop of an access.
type AccessPlace = (Expr, Expr, u32, Option<BlockId>);

pub(super) struct Prover<'a> {
    pub(super) program: &'a Program,
    launch: &'a Launch,
    launched: &'a LaunchedValues,
    required: RequiredFacts,
    thread: &'a SymbolicThread,
    variances: &'a Variances,
    passed: PassedLoops,
    ordinary: &'a RefCell<OrdinaryRanges<'a>>,
    draws: ThreadDraws,
    pub(super) accesses: Vec<BasedAccess>,
    pub(super) sections: CriticalSections,
    /// The buffers and variables in which there are locks that order accesses.
    pub(super) relied_on: BTreeSet<AddressBase>,
    scope: ProofScope<'a>,
    /// As in [`Proof`].
    after_exits: BTreeSet<Pc>,
    pub(super) assumed: BTreeSet<ArithmeticAssumption>,
    pub(super) gaps: Vec<Gap>,
    /// The parameters that the first pair that is not proved depends on.
    depends_on: Option<BTreeSet<usize>>,
    pairs: usize,
    /// The steps that are left to all pairs.
    effort: Cell<u32>,
    /// The pairs of places that are disjoint.
    disjoint: BTreeSet<(AccessPlace, AccessPlace, Option<IterationRelation>)>,
    /// How many questions that are not refuted can still be asked of the solver.
    questions: usize,
    budget: ProofBudget,
    outside: Option<&'a dyn SmtSolver>,
    /// Whether the solver outside of the library has refuted what this one could not.
    trusts_solver: bool,
    candidates: Vec<CandidateLaunch>,
}

impl Prover<'_> {
    /// What came of the comparisons.
    fn result(self) -> Result<Proof, Unproved> {
        let Self { launched, gaps, candidates, depends_on, .. } = self;
        if !gaps.is_empty() {
            let spent = self.budget.effort - self.effort.get();
            return Err(Unproved { gaps, candidates, depends_on, spent });
        }
        Ok(Proof {
            block: launched.block,
            grid: launched.grid,
            after_exits: self.after_exits,
            arithmetic: self.assumed,
            trusts_solver: self.trusts_solver,
        })
    }

    /// Compares the accesses of threads of one cta in each interval.
    fn within_ctas(&mut self, intervals: &[BarrierInterval]) {
        if self.launched.block.iter().all(|extent| *extent == ExtentBound::Is(1)) {
            return;
        }
        for a in 0..self.accesses.len() {
            for b in a..self.accesses.len() {
                if self.conflicts(a, b, Nearness::Cta) {
                    for relation in self.relations_to_tell_apart(a, b, intervals) {
                        self.compare(a, b, Some(relation));
                    }
                }
                if self.is_over() {
                    return;
                }
            }
        }
    }

    /// Returns how the iterations of two accesses might relate where they are not known to be disjoint: whatever the
    /// iterations of loops that their addresses do not depend on.
    pub(super) fn relations_to_tell_apart(
        &mut self,
        a: usize,
        b: usize,
        intervals: &[BarrierInterval],
    ) -> BTreeSet<IterationRelation> {
        let [first, second] = [a, b].map(|at| &self.accesses[at]);
        let blocks = [first, second].map(|access| self.thread.accesses[access.index].block);
        let mut all = BTreeSet::new();
        for interval in intervals {
            let of = |access: &BasedAccess| interval.accesses.get(&access.index);
            let (Some(ways), Some(others)) = (of(first), of(second)) else { continue };
            let pairs = ways.iter().flat_map(|way| others.iter().map(move |other| [*way, *other]));
            let possible = pairs.filter(|ways| {
                let [first, second] = [0, 1].map(|at| (blocks[at], ways[at]));
                !self.passed.exclude(interval.within, first, second)
            });
            all.extend(
                possible.map(|[way, other]| IterationRelation::of(interval.within, way, other)),
            );
        }
        let [first, second] =
            [first.offset, second.offset].map(|of| self.variances.iterations_of(of));
        let narrow = |relation: &IterationRelation| relation.only_of(first | second);
        let narrowed: BTreeSet<IterationRelation> = all.iter().map(narrow).collect();
        if narrowed.len() < all.len() {
            let told_apart: BTreeSet<IterationRelation> = narrowed
                .into_iter()
                .filter(|relation| self.are_disjoint(a, b, Some(*relation)))
                .collect();
            all.retain(|relation| !told_apart.contains(&narrow(relation)));
        }
        all
    }

    /// Whether no launch has several ctas.
    pub(super) fn is_one_cta(&self) -> bool {
        self.launched.grid.iter().all(|extent| *extent == ExtentBound::Is(1))
    }

    fn between_ctas(&mut self) {
        if self.is_one_cta() || self.is_over() {
            return;
        }
        for a in 0..self.accesses.len() {
            for b in a..self.accesses.len() {
                if self.accesses[a].space != Space::Shared && self.conflicts(a, b, Nearness::Grid) {
                    self.compare(a, b, None);
                }
                if self.is_over() {
                    return;
                }
            }
        }
    }

    /// Whether enough is known to be unproved.
    pub(super) fn is_over(&self) -> bool {
        self.gaps.len() >= self.budget.gaps || self.gaps.contains(&Gap::Size)
    }

    fn conflicts(&self, a: usize, b: usize, nearness: Nearness) -> bool {
        let (a, b) = (&self.accesses[a], &self.accesses[b]);
        let protects = self.launch.options.atomics != Atomics::Off;
        let of = |kind: AccessKind| {
            let is_plain = kind.is_atomic() && !protects;
            if is_plain { AccessKind { writes: true, ..AccessKind::default() } } else { kind }
        };
        self.scope.has(a.pc, b.pc) && a.base == b.base && {
            conflict(of(a.kind), of(b.kind), nearness).is_some_and(Conflict::is_race)
        }
    }

    /// Tries to show that two accesses do not overlap: of two threads of one cta, or of different ctas if there is no
    /// relation of their iterations.
    fn compare(&mut self, a: usize, b: usize, relation: Option<IterationRelation>) {
        if self.pairs >= MOST_PAIRS || self.effort.get() == 0 {
            self.gaps.push(Gap::Size);
        }
        let pair = Gap::Pair(self.accesses[a].pc, self.accesses[b].pc);
        let is_known = self.is_over() || self.gaps.contains(&pair);
        if is_known || self.are_disjoint(a, b, relation) || self.are_in_turn(a, b, relation) {
            return;
        }
        if self.is_refuted(a, b, relation) {
            self.disjoint.insert((self.place(a), self.place(b), relation));
        } else {
            if self.gaps.is_empty() {
                self.depends_on = self.parameters([a, b]);
            }
            self.gaps.push(pair);
        }
    }

    /// Returns the parameters that the addresses and the conditions of two accesses depend on; `None` if an address depends on
    /// what memory holds, or on a result that is not followed.
    fn parameters(&self, pair: [usize; 2]) -> Option<BTreeSet<usize>> {
        let exprs = &self.thread.exprs;
        let atoms = |of: fn(&BasedAccess) -> Expr| {
            pair.into_iter().flat_map(move |at| exprs.atoms(of(&self.accesses[at])))
        };
        let is_open =
            |atom: Atom| matches!(atom, Atom::Loaded(..) | Atom::Unknown(_) | Atom::Result(..));
        if atoms(|access| access.offset).any(is_open) {
            return None;
        }
        let position = |atom: Atom| match atom {
            Atom::Argument(offset, _) => {
                self.program.params.iter().position(|param| param.offset == offset)
            }
            _ => None,
        };
        let all = atoms(|access| access.offset).chain(atoms(|access| access.reach));
        Some(all.filter_map(position).collect())
    }

    /// Whether the algebra shows that two accesses do not overlap.
    pub(super) fn are_disjoint(
        &mut self,
        a: usize,
        b: usize,
        relation: Option<IterationRelation>,
    ) -> bool {
        let key = (self.place(a), self.place(b), relation);
        if self.disjoint.contains(&key) {
            return true;
        }
        self.pairs += 1;
        let Some(assumed) = self.disjointness((a, b), relation, None) else { return false };
        self.disjoint.insert(key);
        self.assumed.extend(assumed);
        true
    }

    /// What decides whether an access overlaps another one, beside its base.
    fn place(&self, at: usize) -> AccessPlace {
        let access = &self.accesses[at];
        let block = self.thread.accesses[access.index].block;
        let innermost = self.program.blocks[block.index()].loops.last().copied();
        (access.offset, access.reach, access.bytes, innermost)
    }

    /// What the proof assumes that two accesses are disjoint; `None` if there is no proof. `unequal`: two values that differ, one of
    /// each thread.
    pub(super) fn disjointness(
        &self,
        (a, b): (usize, usize),
        relation: Option<IterationRelation>,
        unequal: Option<[Expr; 2]>,
    ) -> Option<BTreeSet<ArithmeticAssumption>> {
        let (shared, apart) = match relation {
            Some(relation) => (Variance::Cta, relation.apart),
            None => (Variance::Launch, u64::MAX),
        };
        let Self { thread, launched, variances, ordinary, .. } = *self;
        let mut views = Views::new(thread, launched, variances, shared, apart, ordinary);
        views.require(&self.required);
        let (first, second) = (&self.accesses[a], &self.accesses[b]);
        views.assume(first.reach, Copy::First);
        views.assume(second.reach, Copy::Second);
        views.repeated(self.program, self.thread.accesses[first.index].block, Copy::First);
        views.repeated(self.program, self.thread.accesses[second.index].block, Copy::Second);
        if let Some(relation) = relation {
            self.relate(&mut views, relation);
        }
        let offsets = [first.offset, second.offset];
        for pair in self.draws.pairs(thread, offsets, relation.is_some()) {
            differ(&mut views, pair);
        }
        if let Some([one, other]) = unequal {
            let one = views.exact(one, true, Copy::First);
            let difference = one.minus(&views.exact(other, true, Copy::Second))?;
            views.system.conditions.nonzero.push(difference);
        }
        // Accesses of one size that overlap are at one address, if they are aligned to it.
        overlap(&mut views, first, second, unequal.is_some())?;
        tell_apart(&mut views, relation.is_some());
        // Whatever is done with a system takes time for each of its conditions.
        let conditions = views.system.conditions.count();
        self.effort.set(self.effort.get().saturating_sub(conditions));
        let granted = EFFORT.min(self.effort.get());
        let mut effort = granted;
        let is_refuted = views.system.is_refuted(&mut effort)
            || views.find_flips() && views.system.is_refuted(&mut effort);
        self.effort.set(self.effort.get() - (granted - effort));
        is_refuted.then_some(views.assumed)
    }

    /// Whether the solver refutes that two accesses overlap. A launch with which they might is kept.
    pub(super) fn is_refuted(
        &mut self,
        a: usize,
        b: usize,
        relation: Option<IterationRelation>,
    ) -> bool {
        if self.questions == 0 {
            return false;
        }
        let mut query = PairQuery::new(self.thread, self.launched, self.variances, relation);
        query.require(&self.required);
        let asked = [a, b].map(|at| {
            let BasedAccess { index, offset, reach, bytes, .. } = self.accesses[at];
            (AskedAccess { offset, reach, bytes }, self.thread.accesses[index].block)
        });
        let offsets = asked.map(|(access, _)| access.offset);
        let pairs = self.draws.pairs(self.thread, offsets, relation.is_some());
        let uses_draws = !pairs.is_empty();
        for pair in pairs {
            query.differ(pair);
        }
        let mut answer =
            query.overlap(self.program, asked).map_or(Answer::Unknown, |()| query.ask());
        let outside = self.outside.filter(|_| answer == Answer::Unknown);
        if let Some(outside) = outside {
            answer = query.ask_outside(outside);
        }
        if answer == Answer::Unsatisfiable {
            self.trusts_solver |= outside.is_some();
            self.assumed.extend(uses_draws.then_some(ArithmeticAssumption::UnwrappedCounters));
            return true;
        }
        self.questions -= 1;
        if self.budget.wants_candidates
            && let Answer::Satisfiable(large) = answer
            && let Some(model) = query.model().or(outside.map(|_| large))
        {
            self.candidates.push(CandidateLaunch::of(self.program, self.launched, &model));
        }
        false
    }

    fn relate(&self, views: &mut Views<'_>, relation: IterationRelation) {
        for header in &self.variances.synchronized {
            let bit = self.variances.bit(*header);
            let mut set = |copy: Copy, value: i128, other: Option<Copy>| {
                let of = |copy: Copy, views: &mut Views<'_>| {
                    views.natural(Atom::Iteration(*header), copy)
                };
                let Some(own) = of(copy, views) else { return };
                let base = other.and_then(|copy| of(copy, views)).unwrap_or_default();
                let difference = own.minus(&base).and_then(|all| all.minus(&Poly::constant(value)));
                views.system.conditions.zero.extend(difference);
            };
            if relation.ahead_a & bit != 0 {
                set(Copy::First, 1, Some(Copy::Second));
            }
            if relation.ahead_b & bit != 0 {
                set(Copy::Second, 1, Some(Copy::First));
            }
            let copy_of = |own: Copy| if relation.apart & bit == 0 { Copy::Both } else { own };
            if relation.first_a & bit != 0 {
                set(copy_of(Copy::First), 0, None);
            }
            if relation.first_b & bit != 0 {
                set(copy_of(Copy::Second), 0, None);
            }
        }
    }
}
