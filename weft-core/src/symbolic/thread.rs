//! Runs one arbitrary thread: its blocks once each, in sort order, with every register an expression over the atoms of
//! the launch (ESOP'13 §4; `GPUVerify`'s lock-step predication). Records accesses and barriers with the condition under
//! which the thread reaches them.
//!
//! A loop is run once, for an arbitrary iteration. A register that the loop steps once in every iteration holds its
//! first value plus the steps of all iterations so far; any other register that the loop writes holds an unknown.

use std::collections::{BTreeMap, BTreeSet};

use super::atom::Atom;
use super::early_exits::EarlyExits;
use super::expr::{BinaryOperator, Expr, Exprs};
use super::iteration_fact::IterationFact;
use super::launched::LaunchedValues;
use super::lift;
use super::locks::BlockStep;
use super::number_use::{self, NumberUse};
use super::predicate::{conjunction, conjuncts, disjunction};
use super::result_source::ResultSource;
use super::state::ThreadState;
use super::var_bounds::VarBounds;
use crate::flow::{BlockId, Instr, Operand, Operation, Pc, Program, Reg, Special};
use crate::ptx::isa::Effect;
use crate::slice::{Keep, Slice};

/// An access of the arbitrary thread to shared or global memory.
#[derive(Clone, Debug)]
pub(super) struct SymbolicAccess {
    pub(super) pc: Pc,
    pub(super) block: BlockId,
    /// The address of the first byte.
    pub(super) address: Expr,
    /// Bytes of the access, all elements of a vector together.
    pub(super) bytes: u32,
    /// Whether the thread executes it.
    pub(super) reach: Expr,
    /// For an atomic that adds a number to an integer, the number.
    pub(super) added: Option<u64>,
    /// For such an atomic that has a result, what it finds in memory: an unknown of the width of the access, as an atom too.
    pub(super) drawn: Option<(Atom, Expr)>,
    /// The address of each word that is a lock where the thread last executed an atomic that takes it.
    pub(super) taken: BTreeMap<usize, Expr>,
}

/// A barrier or an exchange between the lanes of a warp.
#[derive(Clone, Debug)]
pub(super) struct SymbolicBarrier {
    pub(super) pc: Pc,
    pub(super) block: BlockId,
    pub(super) reach: ReachCondition,
    /// The last operand: the lanes that take part, if it is one of a warp.
    pub(super) last: Option<Expr>,
    /// That the thread has left by none of the early exits before it, if there are some.
    pub(super) stays: Option<Expr>,
}

/// When a thread comes to a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReachCondition {
    /// What holds when it is there, which includes what let it leave the loops before.
    pub(super) holds: Expr,
    /// Whether it comes there at all, given that loops end, that no thread aborts the launch, and that the thread has not left by
    /// an early exit: a thread that comes to a branch or a loop comes to what lies behind all of its ways, too.
    pub(super) comes: Expr,
}

/// A loop, in an arbitrary iteration.
#[derive(Clone, Debug)]
pub(super) struct SymbolicLoop {
    /// Whether the thread enters it, and what then holds.
    pub(super) entry: ReachCondition,
    /// The conditions under which an iteration is followed by another one, one for each back edge.
    pub(super) again: Vec<ReachCondition>,
    /// Registers with unknown contents: their atoms, and what they hold first and after an iteration.
    pub(super) carried: BTreeMap<Atom, Vec<Expr>>,
    /// What has been shown to hold in every iteration that begins.
    pub(super) facts: Vec<IterationFact>,
}

/// The bounds of values that loops carry, as unsigned numbers. An open side says nothing.
pub(super) type CarriedBounds = BTreeMap<Atom, VarBounds>;

/// What one arbitrary thread does.
#[derive(Debug, Default)]
pub(super) struct SymbolicThread {
    pub(super) exprs: Exprs,
    pub(super) accesses: Vec<SymbolicAccess>,
    pub(super) barriers: Vec<SymbolicBarrier>,
    pub(super) loops: BTreeMap<BlockId, SymbolicLoop>,
    /// Bounds of registers with unknown contents, which hold in every iteration.
    pub(super) carried: CarriedBounds,
    /// What results of instructions that are not followed depend on.
    pub(super) results: BTreeMap<Atom, ResultSource>,
    /// What atomics draw from counters that grow.
    pub(super) drawn: BTreeSet<Atom>,
    /// The instructions that end the proof: the stage does not know what they do.
    pub(super) unknown: BTreeSet<Pc>,
    /// How each expression is used, by its index.
    pub(super) uses: Vec<NumberUse>,
}

impl SymbolicThread {
    /// How an expression is used as a number.
    pub(super) fn number_use(&self, of: Expr) -> NumberUse {
        self.uses.get(of.index()).copied().unwrap_or_default()
    }
}

/// The most registers times blocks that a run keeps.
const MOST_KEPT: usize = 20_000_000;
/// The most expressions of a run.
const MOST_EXPRESSIONS: usize = 2_000_000;

/// What is known of the program before the thread runs.
#[derive(Clone, Copy)]
pub(super) struct ProgramFacts<'a> {
    /// Whether no thread writes the memory that a load reads.
    pub(super) is_constant: &'a dyn Fn(Pc) -> bool,
    /// The atomics that take locks, with their words.
    pub(super) takings: &'a BTreeMap<BlockStep, usize>,
    /// The branches at which threads end before they do anything that others could notice.
    pub(super) early_exits: &'a EarlyExits,
}

/// Runs the arbitrary thread; `None` if the program is too large. `launched`: the values that the launch gives.
pub(super) fn run(
    program: &Program,
    slice: &Slice,
    launched: &LaunchedValues,
    facts: ProgramFacts<'_>,
) -> Option<SymbolicThread> {
    if program.is_irreducible
        || program.blocks.len().saturating_mul(slice.lasting as usize + 1) > MOST_KEPT
    {
        return None;
    }
    let mut derived = DerivedRegisters::default();
    let mut exprs = Exprs::default();
    for _ in 0..MOST_RUNS {
        let (thread, found) =
            run_once((program, slice), launched, facts, (exprs, derived.clone()))?;
        if found == derived {
            return Some(SymbolicThread {
                uses: number_use::uses(&thread.exprs, program),
                ..thread
            });
        }
        (exprs, derived) = (thread.exprs, found);
    }
    derived.retain(|_, own| *own == DerivedRegister::Wide);
    let (thread, found) = run_once((program, slice), launched, facts, (exprs, derived.clone()))?;
    let mut wide = found.iter().filter(|(_, own)| **own == DerivedRegister::Wide);
    wide.all(|(register, _)| derived.contains_key(register)).then_some(thread)
}

/// What a register of a loop holds when an iteration begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DerivedRegister {
    /// A function of the registers that the loop steps.
    Function(Expr),
    /// Its first value plus this in each iteration.
    Stepped(Expr),
    /// Something unknown that has more bits than its first value.
    Wide,
}

/// The registers whose values a loop derives from the number of the iteration.
pub(super) type DerivedRegisters = BTreeMap<(BlockId, Reg), DerivedRegister>;

/// The most runs that look for derived registers.
const MOST_RUNS: usize = 5;

/// Runs the thread with what is known of derived registers; returns what the run shows of them.
fn run_once(
    (program, slice): (&Program, &Slice),
    launched: &LaunchedValues,
    facts: ProgramFacts<'_>,
    (exprs, derived): (Exprs, DerivedRegisters),
) -> Option<(SymbolicThread, DerivedRegisters)> {
    let places = slice.registers as usize + 1;
    let thread = SymbolicThread { exprs, ..SymbolicThread::default() };
    let mut runner = Runner {
        program,
        slice,
        launched,
        facts,
        thread,
        places,
        edges: BTreeMap::new(),
        dominators: program.dominators(),
        comes: BTreeMap::new(),
        stays: Vec::new(),
        derived,
        written: BTreeMap::new(),
    };
    let always = runner.thread.exprs.truth(true);
    let start = ReachCondition { holds: always, comes: always };
    let state = ThreadState { registers: vec![None; places], ..ThreadState::default() };
    runner.edges.insert(program.entry, vec![(start, state)]);
    for at in 0..program.blocks.len() {
        runner.block(BlockId::at(at));
        if runner.thread.exprs.len() > MOST_EXPRESSIONS {
            return None;
        }
    }
    let found = runner.derive();
    Some((runner.thread, found))
}

/// A run of the arbitrary thread.
pub(super) struct Runner<'a> {
    pub(super) program: &'a Program,
    pub(super) slice: &'a Slice,
    pub(super) launched: &'a LaunchedValues,
    pub(super) facts: ProgramFacts<'a>,
    pub(super) thread: SymbolicThread,
    pub(super) places: usize,
    /// The edges into blocks that have not run yet, with the conditions under which they are taken.
    pub(super) edges: BTreeMap<BlockId, Vec<(ReachCondition, ThreadState)>>,
    /// By block: the nearest block that every path to it passes.
    dominators: Vec<Option<BlockId>>,
    /// For each block that has run, whether the thread comes there.
    comes: BTreeMap<BlockId, Expr>,
    /// For each early exit so far: that the thread has not left by it.
    pub(super) stays: Vec<Expr>,
    pub(super) derived: DerivedRegisters,
    /// For each loop, the registers that it writes.
    pub(super) written: BTreeMap<BlockId, Vec<CarriedRegister>>,
}

/// A register that a loop writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct CarriedRegister {
    pub(super) register: Reg,
    /// What it holds where the loop begins, and where an iteration does.
    pub(super) first: Expr,
    pub(super) now: Expr,
    /// What it holds after an iteration; `None`: the loop has several back edges, or none was reached.
    pub(super) next: Option<Expr>,
    /// Whether it holds more bits after some iteration than where the loop begins.
    pub(super) is_wide: bool,
}

impl Runner<'_> {
    fn block(&mut self, block: BlockId) {
        let Some(edges) = self.edges.remove(&block) else { return };
        let (mut reach, mut state) = self.merged(edges);
        reach.comes = self.comes_as_before(block).unwrap_or(reach.comes);
        self.comes.insert(block, reach.comes);
        if self.program.is_header(block) {
            self.enter_loop(block, reach, &mut state);
        }
        for &pc in self.slice.kept(block) {
            self.instruction(block, pc, reach, &mut state);
        }
        self.leave(block, reach, &state);
    }

    /// Whether the thread comes to a block, if that is whether it comes to an earlier one: one that every path to the block
    /// passes, and from which every path leads to it. Of a loop that the block lies behind, that is the header.
    fn comes_as_before(&self, block: BlockId) -> Option<Expr> {
        let blocks = &self.program.blocks;
        let dominator = self.dominators[block.index()]?;
        let around = &blocks[block.index()].loops;
        let left = blocks[dominator.index()].loops.iter().find(|header| !around.contains(header));
        let before = left.copied().unwrap_or(dominator);
        let mut next = blocks[before.index()].merge;
        while let Some(at) = next.filter(|at| *at != block) {
            next = blocks[at.index()].merge;
        }
        next.and_then(|_| self.comes.get(&before).copied())
    }

    /// The state in which a block begins, and the condition under which the thread reaches it.
    fn merged(
        &mut self,
        edges: Vec<(ReachCondition, ThreadState)>,
    ) -> (ReachCondition, ThreadState) {
        let exprs = &mut self.thread.exprs;
        let mut edges = edges.into_iter();
        let (mut reach, mut state) = edges.next().expect("a block in the table has an edge");
        for (condition, other) in edges {
            let whole = disjunction(exprs, reach.holds, condition.holds);
            // Where the block is reached, both conditions share what its own says.
            let known: BTreeSet<Expr> = conjuncts(exprs, whole).into_iter().collect();
            let mut rest = conjuncts(exprs, condition.holds);
            rest.retain(|part| !known.contains(part));
            let relative = conjunction(exprs, rest);
            state.merge(exprs, relative, &other);
            let comes = exprs.binary(BinaryOperator::Or, reach.comes, condition.comes);
            reach = ReachCondition { holds: whole, comes };
        }
        (reach, state)
    }

    fn instruction(
        &mut self,
        block: BlockId,
        pc: Pc,
        reach: ReachCondition,
        state: &mut ThreadState,
    ) {
        let instr = &self.program.code[pc.index()];
        let guard = instr.guard.map(|guard| self.condition(guard, state));
        let before = guard.map(|_| state.clone());
        let reach = guard.map_or(reach, |guard| self.with(reach, guard));
        match instr.effect() {
            Effect::Load | Effect::Store | Effect::Atomic => {
                self.access(block, pc, instr, reach.holds, state);
            }
            Effect::Barrier | Effect::WarpBarrier | Effect::Exchange => {
                let last = instr.sources.last().and_then(|last| self.operand(last, state));
                self.meet((block, pc), instr, reach, last);
                let last = last.and_then(|last| self.thread.exprs.as_constant(last));
                let loops = &self.program.blocks[block.index()].loops;
                let source = ResultSource::of_meeting(instr, last, loops);
                self.forget(block, pc, instr, &source, state);
            }
            Effect::CopyGroup
            | Effect::ClusterBarrier
            | Effect::BulkCopy
            | Effect::Multiply
            | Effect::TensorMemory
            | Effect::TakeOver
            | Effect::Mbarrier
            | Effect::MbarrierWait
            | Effect::Asynchronous => {
                self.thread.unknown.insert(pc);
            }
            Effect::RegisterCount if self.program.thread_registers.is_some() => {
                self.thread.unknown.insert(pc);
            }
            Effect::Answer => self.unfollowed(block, pc, instr, state),
            Effect::Compute | Effect::Opaque
                if self.slice.keep[pc.index()] == Keep::Open
                    || self.compute(instr, state).is_none() =>
            {
                self.unfollowed(block, pc, instr, state);
            }
            _ => {}
        }
        if let (Some(guard), Some(before)) = (guard, before) {
            let not = self.thread.exprs.not(guard);
            state.merge(&mut self.thread.exprs, not, &before);
        }
    }

    /// Computes an instruction; `None` if it is not followed.
    pub(super) fn compute(&mut self, instr: &Instr, state: &mut ThreadState) -> Option<()> {
        let decoded = instr.decoded()?;
        let sources: Option<Vec<Expr>> =
            instr.sources.iter().map(|source| self.operand(source, state)).collect();
        let results = lift::lift(&mut self.thread.exprs, decoded, &sources?, instr.dests.len())?;
        for (dest, value) in instr.dests.iter().zip(results) {
            self.write(*dest, Some(value), state);
        }
        Some(())
    }

    /// The results of an instruction that is not followed: unknowns that depend on its operands.
    fn unfollowed(&mut self, block: BlockId, pc: Pc, instr: &Instr, state: &mut ThreadState) {
        let is_pure = instr.effect() == Effect::Compute
            && self.slice.keep[pc.index()] == Keep::Value
            && matches!(instr.operation, Operation::Known(_));
        let sources: Option<Vec<Expr>> =
            instr.sources.iter().map(|source| self.operand(source, state)).collect();
        let source = sources.filter(|_| is_pure).map(ResultSource::Operands);
        self.forget(block, pc, instr, &source.unwrap_or_default(), state);
    }

    pub(super) fn forget(
        &mut self,
        block: BlockId,
        pc: Pc,
        instr: &Instr,
        source: &ResultSource,
        state: &mut ThreadState,
    ) {
        for (dest, number) in instr.dests.iter().zip(0..) {
            let atom = Atom::Result(pc, block, number);
            self.thread.results.insert(atom, source.clone());
            let value = self.thread.exprs.atom(atom, 64);
            self.write(*dest, Some(value), state);
        }
    }

    pub(super) fn write(
        &mut self,
        dest: Option<Reg>,
        value: Option<Expr>,
        state: &mut ThreadState,
    ) {
        let place = dest.map_or(0, |dest| self.slice.places[dest.index()] as usize);
        if place > 0 {
            state.registers[place] = value;
        }
    }

    pub(super) fn operand(&mut self, operand: &Operand, state: &ThreadState) -> Option<Expr> {
        let exprs = &mut self.thread.exprs;
        let register =
            |register: &Reg| state.registers[self.slice.places[register.index()] as usize];
        match operand {
            Operand::Register(at) => Some(register(at).unwrap_or_else(|| exprs.unknown(64))),
            Operand::Not(at) => {
                let value = register(at).unwrap_or_else(|| exprs.unknown(1));
                let value = exprs.resized(value, 1, false);
                Some(exprs.not(value))
            }
            Operand::Constant(bits) => Some(exprs.constant(*bits, 64)),
            Operand::Variable { space, first, offset } => {
                let first = self.launched.address(exprs, *space, *first, 64);
                let offset = exprs.constant(offset.cast_unsigned(), 64);
                Some(exprs.binary(BinaryOperator::Add, first, offset))
            }
            Operand::Special(Special::Other) | Operand::Opaque | Operand::Unset => None,
            Operand::Special(special) => Some(self.launched.special(exprs, *special)),
        }
    }
}
