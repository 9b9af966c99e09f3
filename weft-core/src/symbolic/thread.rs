//! Runs one arbitrary thread: its blocks once each, in sort order, with every register an expression over the atoms of
//! the launch (ESOP'13 §4; GPUVerify's lock-step predication). Records accesses and barriers with the condition under
//! which the thread reaches them.
//!
//! A loop is run once, for an arbitrary iteration. A register that the loop steps once in every iteration holds its
//! first value plus the steps of all iterations so far; any other register that the loop writes holds an unknown.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

use super::atom::Atom;
use super::expr::{BinaryOperator, Expr, Exprs, Node};
use super::launched::LaunchedValues;
use super::lift;
use super::state::ThreadState;
use super::view::is_of_iteration;
use crate::flow::{
    BlockId, Condition, Instr, Operand, Operation, Pc, Program, Reg, Special, Terminator,
};
use crate::ptx::Space;
use crate::ptx::isa::{Effect, Modifier};
use crate::slice::{Keep, Slice};

/// An access of the arbitrary thread to shared or global memory.
#[derive(Clone, Debug)]
pub(super) struct SymbolicAccess {
    pub(super) pc: Pc,
    pub(super) block: BlockId,
    pub(super) space: Space,
    /// The address of the first byte.
    pub(super) address: Expr,
    /// Bytes of the access, all elements of a vector together.
    pub(super) bytes: u32,
    /// Whether the thread executes it.
    pub(super) reach: Expr,
}

/// A barrier or an exchange between the lanes of a warp.
#[derive(Clone, Debug)]
pub(super) struct SymbolicBarrier {
    pub(super) pc: Pc,
    pub(super) block: BlockId,
    pub(super) reach: Expr,
}

/// A loop, in an arbitrary iteration.
#[derive(Clone, Debug)]
pub(super) struct SymbolicLoop {
    /// Whether the thread enters it.
    pub(super) entry: Expr,
    /// The conditions under which an iteration is followed by another one, one for each back edge.
    pub(super) again: Vec<Expr>,
    /// Registers with unknown contents: their atoms, and what they hold first and after an iteration.
    pub(super) carried: BTreeMap<Atom, Vec<Expr>>,
}

/// What one arbitrary thread does.
#[derive(Debug)]
pub(super) struct SymbolicThread {
    pub(super) exprs: Exprs,
    pub(super) accesses: Vec<SymbolicAccess>,
    pub(super) barriers: Vec<SymbolicBarrier>,
    pub(super) loops: BTreeMap<BlockId, SymbolicLoop>,
    /// What results of instructions that are not followed depend on; `None`: on more than their operands.
    pub(super) results: HashMap<Atom, Option<Vec<Expr>>>,
    /// The instructions that end the proof: the stage does not know what they do.
    pub(super) unknown: BTreeSet<Pc>,
}

/// The most registers times blocks that a run keeps.
const MOST_KEPT: usize = 20_000_000;
/// The most expressions of a run.
const MOST_EXPRESSIONS: usize = 2_000_000;

/// Runs the arbitrary thread; `None` if the program is too large. `launched`: the values that the launch gives.
/// `is_constant`: whether no thread writes the memory that a load reads.
pub(super) fn run(
    program: &Program,
    slice: &Slice,
    launched: &LaunchedValues,
    is_constant: &dyn Fn(Pc) -> bool,
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
            run_once((program, slice), launched, is_constant, (exprs, derived.clone()))?;
        if found == derived {
            return Some(thread);
        }
        (exprs, derived) = (thread.exprs, found);
    }
    let (thread, found) =
        run_once((program, slice), launched, is_constant, (exprs, DerivedRegisters::default()))?;
    drop(found);
    Some(thread)
}

/// What a register of a loop holds when an iteration begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DerivedRegister {
    /// A function of the registers that the loop steps.
    Function(Expr),
    /// Its first value plus this in each iteration.
    Stepped(Expr),
}

/// The registers whose values a loop derives from the number of the iteration.
type DerivedRegisters = BTreeMap<(BlockId, Reg), DerivedRegister>;

/// The most runs that look for derived registers.
const MOST_RUNS: usize = 5;

/// Runs the thread with what is known of derived registers; returns what the run shows of them.
fn run_once(
    (program, slice): (&Program, &Slice),
    launched: &LaunchedValues,
    is_constant: &dyn Fn(Pc) -> bool,
    (exprs, derived): (Exprs, DerivedRegisters),
) -> Option<(SymbolicThread, DerivedRegisters)> {
    let places = slice.registers as usize + 1;
    let thread = SymbolicThread {
        exprs,
        accesses: Vec::new(),
        barriers: Vec::new(),
        loops: BTreeMap::new(),
        results: HashMap::default(),
        unknown: BTreeSet::new(),
    };
    let mut runner = Runner {
        program,
        slice,
        launched,
        is_constant,
        thread,
        places,
        edges: BTreeMap::new(),
        derived,
        written: BTreeMap::new(),
    };
    let start = runner.thread.exprs.truth(true);
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

struct Runner<'a> {
    program: &'a Program,
    slice: &'a Slice,
    launched: &'a LaunchedValues,
    is_constant: &'a dyn Fn(Pc) -> bool,
    thread: SymbolicThread,
    places: usize,
    /// The edges into blocks that have not run yet, with the conditions under which they are taken.
    edges: BTreeMap<BlockId, Vec<(Expr, ThreadState)>>,
    derived: DerivedRegisters,
    /// For each loop, the registers that it writes.
    written: BTreeMap<BlockId, Vec<LoopRegister>>,
}

/// A register that a loop writes.
#[derive(Clone, Copy, Debug)]
struct LoopRegister {
    register: Reg,
    /// What it holds where the loop begins, and where an iteration does.
    first: Expr,
    now: Expr,
    /// What it holds after an iteration; `None`: the loop has several back edges, or none was reached.
    next: Option<Expr>,
}

impl Runner<'_> {
    fn block(&mut self, block: BlockId) {
        let Some(edges) = self.edges.remove(&block) else { return };
        let (reach, mut state) = self.merged(edges);
        if self.program.is_header(block) {
            self.enter_loop(block, reach, &mut state);
        }
        for &pc in self.slice.kept(block) {
            self.instruction(block, pc, reach, &mut state);
        }
        self.leave(block, reach, &state);
    }

    /// The state in which a block begins, and the condition under which the thread reaches it.
    fn merged(&mut self, edges: Vec<(Expr, ThreadState)>) -> (Expr, ThreadState) {
        let exprs = &mut self.thread.exprs;
        let mut edges = edges.into_iter();
        let (mut reach, mut state) = edges.next().expect("a block in the table has an edge");
        for (condition, other) in edges {
            let whole = exprs.binary(BinaryOperator::Or, reach, condition);
            // Where the block is reached, both conditions share what its own says.
            let known: BTreeSet<Expr> = conjuncts(exprs, whole).into_iter().collect();
            let rest: Vec<Expr> = conjuncts(exprs, condition)
                .into_iter()
                .filter(|part| !known.contains(part))
                .collect();
            let mut relative = exprs.truth(true);
            for part in rest {
                relative = exprs.binary(BinaryOperator::And, relative, part);
            }
            state.merge(exprs, relative, &other);
            reach = whole;
        }
        (reach, state)
    }

    /// Replaces what a loop writes by what it holds when an arbitrary iteration begins.
    fn enter_loop(&mut self, header: BlockId, entry: Expr, state: &mut ThreadState) {
        let before = state.clone();
        state.locals.clear();
        let mut symbolic = SymbolicLoop { entry, again: Vec::new(), carried: BTreeMap::new() };
        let mut written = Vec::new();
        for register in self.written(header) {
            let place = self.slice.places[register.index()] as usize;
            let Some(first) = before.registers.get(place).copied().flatten() else {
                state.registers[place] = None;
                continue;
            };
            let known = self.stepped(header, register, first, &before);
            let known = known.or_else(|| self.derived_value(header, register, first));
            let now = known.unwrap_or_else(|| {
                let atom = Atom::Carried(header, register);
                symbolic.carried.insert(atom, vec![first]);
                let bits = self.thread.exprs.bits(first);
                self.thread.exprs.atom(atom, bits)
            });
            state.registers[place] = Some(now);
            written.push(LoopRegister { register, first, now, next: None });
        }
        self.written.insert(header, written);
        self.thread.loops.insert(header, symbolic);
    }

    /// Finds the registers that a loop steps, and those that hold the same function of stepped registers where the loop
    /// begins and after each iteration.
    fn derive(&mut self) -> DerivedRegisters {
        let mut found = DerivedRegisters::new();
        for (header, registers) in &self.written {
            let is_inside = |at: BlockId| self.program.blocks[at.index()].loops.contains(header);
            let exprs = &mut self.thread.exprs;
            let mut maps: [HashMap<Expr, Expr>; 3] = Default::default();
            for LoopRegister { register, first, now, next } in registers {
                let Some(next) = next else { continue };
                let is_even = self.program.even.contains(&(*header, *register));
                let step = if is_even { None } else { step(exprs, *now, *next) };
                let is_fixed = |step: &Expr| {
                    let has_iteration = exprs.atoms(*step).contains(&Atom::Iteration(*header));
                    !has_iteration && is_of_iteration(exprs, *step, *header, is_inside)
                };
                if let Some(step) = step.filter(is_fixed) {
                    found.insert((*header, *register), DerivedRegister::Stepped(step));
                } else if !is_even {
                    continue;
                }
                if is_of_iteration(exprs, *now, *header, is_inside) {
                    maps[0].insert(*next, *now);
                    maps[1].insert(*now, *first);
                    maps[2].insert(*now, *next);
                }
            }
            for LoopRegister { register, first, next, .. } in registers {
                let Some(next) = next else { continue };
                let now = exprs.replaced(*next, &maps[0]);
                let holds = exprs.replaced(now, &maps[1]) == *first
                    && exprs.replaced(now, &maps[2]) == *next
                    && is_of_iteration(exprs, now, *header, is_inside);
                if holds && !self.program.even.contains(&(*header, *register)) {
                    found.entry((*header, *register)).or_insert(DerivedRegister::Function(now));
                }
            }
        }
        found
    }

    /// The registers that a loop writes and that hold their values across blocks.
    fn written(&self, header: BlockId) -> BTreeSet<Reg> {
        let blocks = self.program.blocks_in(header);
        let kept = blocks.flat_map(|block| self.slice.kept(block));
        let dests =
            kept.flat_map(|pc| self.program.code[pc.index()].dests.iter().flatten().copied());
        let lasts = |register: &Reg| {
            (1..=self.slice.lasting).contains(&self.slice.places[register.index()])
        };
        dests.filter(lasts).collect()
    }

    /// The first value of a register plus its steps in all iterations so far, if every iteration steps it once by an
    /// amount that the loop does not change.
    fn stepped(
        &mut self,
        header: BlockId,
        register: Reg,
        first: Expr,
        before: &ThreadState,
    ) -> Option<Expr> {
        let program = self.program;
        if !program.even.contains(&(header, register)) {
            return None;
        }
        let [step] = program.steps.get(&(header, register))?.as_slice() else { return None };
        let mut sum = self.thread.exprs.constant(0, step.bits);
        for (amount, is_subtracted) in &step.amounts {
            let amount = self.invariant(header, amount, before)?;
            let amount = self.thread.exprs.resized(amount, step.bits, false);
            sum = if *is_subtracted {
                self.thread.exprs.minus(sum, amount)
            } else {
                self.thread.exprs.binary(BinaryOperator::Add, sum, amount)
            };
        }
        Some(self.after_steps(header, first, sum))
    }

    /// The first value of a register plus a step in each iteration so far, in the width of the step.
    fn after_steps(&mut self, header: BlockId, first: Expr, step: Expr) -> Expr {
        let exprs = &mut self.thread.exprs;
        let bits = exprs.bits(step);
        let iteration = exprs.atom(Atom::Iteration(header), 64);
        let iteration = exprs.resized(iteration, bits, false);
        let steps = exprs.binary(BinaryOperator::Mul, iteration, step);
        let first = exprs.resized(first, bits, false);
        exprs.binary(BinaryOperator::Add, first, steps)
    }

    /// What an earlier run has shown of a register.
    fn derived_value(&mut self, header: BlockId, register: Reg, first: Expr) -> Option<Expr> {
        Some(match *self.derived.get(&(header, register))? {
            DerivedRegister::Function(value) => value,
            DerivedRegister::Stepped(step) => self.after_steps(header, first, step),
        })
    }

    /// What an operand holds in every iteration of a loop.
    fn invariant(
        &mut self,
        header: BlockId,
        operand: &Operand,
        before: &ThreadState,
    ) -> Option<Expr> {
        let Operand::Register(register) = operand else { return self.operand(operand, before) };
        let Some(chain) = self.program.invariant.get(&(header, *register)) else {
            return self.operand(operand, before);
        };
        let mut state = before.clone();
        for &pc in chain {
            self.compute(&self.program.code[pc.index()], &mut state)?;
        }
        self.operand(operand, &state)
    }

    /// Hands the state on along the edges that leave a block.
    fn leave(&mut self, block: BlockId, reach: Expr, state: &ThreadState) {
        let last = &self.program.blocks[block.index()];
        if !self.slice.branches[block.index()] {
            let next = match &last.terminator {
                Terminator::Goto(next) => Some(*next),
                Terminator::End => None,
                _ => last.post_dominator,
            };
            if let Some(next) = next {
                self.edge(block, next, reach, state);
            }
            return;
        }
        match &last.terminator {
            Terminator::Goto(next) => self.edge(block, *next, reach, state),
            Terminator::Branch { condition, taken, otherwise } => {
                let holds = self.condition(*condition, state);
                let not = self.thread.exprs.not(holds);
                for (side, next) in [(holds, *taken), (not, *otherwise)] {
                    let reach = self.thread.exprs.binary(BinaryOperator::And, reach, side);
                    self.edge(block, next, reach, state);
                }
            }
            Terminator::Switch { index, targets } => {
                self.switch(block, index, targets, reach, state)
            }
            Terminator::End => {}
        }
    }

    fn switch(
        &mut self,
        block: BlockId,
        index: &Operand,
        targets: &[BlockId],
        reach: Expr,
        state: &ThreadState,
    ) {
        let index = self.operand(index, state);
        let index = index.unwrap_or_else(|| self.thread.exprs.unknown(32));
        for (at, next) in targets.iter().enumerate() {
            let exprs = &mut self.thread.exprs;
            let (index, number) = (exprs.resized(index, 32, false), exprs.constant(at as u64, 32));
            let is_it = exprs.binary(BinaryOperator::Eq, index, number);
            let reach = exprs.binary(BinaryOperator::And, reach, is_it);
            self.edge(block, *next, reach, state);
        }
    }

    fn edge(&mut self, from: BlockId, to: BlockId, reach: Expr, state: &ThreadState) {
        if self.thread.exprs.is_truth(reach, false) {
            return;
        }
        if to <= from {
            self.repeat(to, reach, state);
            return;
        }
        let mut state = state.clone();
        let lasting = self.slice.lasting as usize + 1;
        state.registers[lasting.min(self.places)..].fill(None);
        self.edges.entry(to).or_default().push((reach, state));
    }

    /// An iteration ends and another one begins.
    fn repeat(&mut self, header: BlockId, reach: Expr, state: &ThreadState) {
        let Some(symbolic) = self.thread.loops.get_mut(&header) else { return };
        symbolic.again.push(reach);
        let is_only = symbolic.again.len() == 1;
        for register in self.written.get_mut(&header).into_iter().flatten() {
            let place = self.slice.places[register.register.index()] as usize;
            let bits = self.thread.exprs.bits(register.now);
            let next = match state.registers[place] {
                Some(next) => self.thread.exprs.resized(next, bits, false),
                None => self.thread.exprs.unknown(bits),
            };
            register.next = Some(next).filter(|_| is_only);
            let atom = Atom::Carried(header, register.register);
            if let Some(values) = symbolic.carried.get_mut(&atom) {
                values.push(next);
            }
        }
    }

    fn condition(&mut self, condition: Condition, state: &ThreadState) -> Expr {
        let place = self.slice.places[condition.register.index()] as usize;
        let value = match state.registers[place] {
            Some(value) => self.thread.exprs.resized(value, 1, false),
            None => self.thread.exprs.unknown(1),
        };
        if condition.negated { self.thread.exprs.not(value) } else { value }
    }

    fn instruction(&mut self, block: BlockId, pc: Pc, reach: Expr, state: &mut ThreadState) {
        let instr = &self.program.code[pc.index()];
        let guard = instr.guard.map(|guard| self.condition(guard, state));
        let before = guard.map(|_| state.clone());
        let reach = guard
            .map_or(reach, |guard| self.thread.exprs.binary(BinaryOperator::And, reach, guard));
        match instr.effect() {
            Effect::Load | Effect::Store | Effect::Atomic => {
                self.access(block, pc, instr, reach, state)
            }
            Effect::Barrier | Effect::WarpBarrier | Effect::Exchange => {
                self.thread.barriers.push(SymbolicBarrier { pc, block, reach });
                self.forget(block, pc, instr, None, state);
            }
            Effect::Asynchronous => {
                self.thread.unknown.insert(pc);
            }
            Effect::Compute | Effect::Opaque => {
                if self.slice.keep[pc.index()] == Keep::Open || self.compute(instr, state).is_none()
                {
                    self.unfollowed(block, pc, instr, state);
                }
            }
            _ => {}
        }
        if let (Some(guard), Some(before)) = (guard, before) {
            let not = self.thread.exprs.not(guard);
            state.merge(&mut self.thread.exprs, not, &before);
        }
    }

    /// Computes an instruction; `None` if it is not followed.
    fn compute(&mut self, instr: &Instr, state: &mut ThreadState) -> Option<()> {
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
        self.forget(block, pc, instr, sources.filter(|_| is_pure), state);
    }

    fn forget(
        &mut self,
        block: BlockId,
        pc: Pc,
        instr: &Instr,
        depends: Option<Vec<Expr>>,
        state: &mut ThreadState,
    ) {
        for (dest, number) in instr.dests.iter().zip(0..) {
            let atom = Atom::Result(pc, block, number);
            self.thread.results.insert(atom, depends.clone());
            let value = self.thread.exprs.atom(atom, 64);
            self.write(*dest, Some(value), state);
        }
    }

    fn write(&mut self, dest: Option<Reg>, value: Option<Expr>, state: &mut ThreadState) {
        let place = dest.map_or(0, |dest| self.slice.places[dest.index()] as usize);
        if place > 0 {
            state.registers[place] = value;
        }
    }

    fn access(
        &mut self,
        block: BlockId,
        pc: Pc,
        instr: &Instr,
        reach: Expr,
        state: &mut ThreadState,
    ) {
        let (Some(decoded), Some(address)) = (instr.decoded(), instr.address) else {
            self.thread.unknown.insert(pc);
            return;
        };
        let bytes = decoded.ty().bytes() * u32::from(decoded.vector());
        let reads = decoded.row.effect == Effect::Load;
        if address.space == Space::Param && address.base.is_none() && reads {
            self.argument(block, pc, instr, address.offset, state);
            return;
        }
        if let Some(first) = address.named_local() {
            self.local(block, pc, instr, (first, bytes), state);
            return;
        }
        if address.space == Space::Local {
            if !reads {
                state.locals.clear();
            }
            self.forget(block, pc, instr, None, state);
            return;
        }
        if address.space == Space::Generic && !reads {
            // It might be a word of local memory.
            state.locals.clear();
        }
        let Some(at) = self.address(instr, state) else {
            self.thread.unknown.insert(pc);
            return;
        };
        let is_constant = address.space == Space::Const || (self.is_constant)(pc);
        if !matches!(address.space, Space::Const | Space::Param) {
            let space = address.space;
            self.thread.accesses.push(SymbolicAccess {
                pc,
                block,
                space,
                address: at,
                bytes,
                reach,
            });
        } else if !reads {
            self.thread.unknown.insert(pc);
        }
        if !reads || !is_constant || decoded.modifiers.has(Modifier::Volatile) {
            self.forget(block, pc, instr, None, state);
            return;
        }
        let size = decoded.ty().bytes();
        for (dest, number) in instr.dests.iter().zip(0_u64..) {
            let exprs = &mut self.thread.exprs;
            let offset = exprs.constant(number * u64::from(size), exprs.bits(at));
            let part = exprs.binary(BinaryOperator::Add, at, offset);
            let value = if size <= 8 {
                let atom = Atom::Loaded(part, u8::try_from(size).expect("at most 8"));
                let value = exprs.atom(atom, size * 8);
                Some(exprs.resized(value, 64, decoded.ty().is_signed()))
            } else {
                None
            };
            self.write(*dest, value, state);
        }
    }

    /// A load of the kernel's parameters.
    fn argument(
        &mut self,
        block: BlockId,
        pc: Pc,
        instr: &Instr,
        offset: u64,
        state: &mut ThreadState,
    ) {
        let Some(decoded) = instr.decoded() else { return };
        let size = decoded.ty().bytes();
        if size > 8 {
            self.forget(block, pc, instr, None, state);
            return;
        }
        for (dest, number) in instr.dests.iter().zip(0_u64..) {
            let first = offset.wrapping_add(number * u64::from(size));
            let value = self.launched.argument(&mut self.thread.exprs, first, size);
            let value = self.thread.exprs.resized(value, 64, decoded.ty().is_signed());
            self.write(*dest, Some(value), state);
        }
    }

    /// An access to a local word that the text names.
    fn local(
        &mut self,
        block: BlockId,
        pc: Pc,
        instr: &Instr,
        (first, bytes): (u64, u32),
        state: &mut ThreadState,
    ) {
        let Some(decoded) = instr.decoded() else { return };
        let size = decoded.ty().bytes();
        if decoded.row.effect != Effect::Load {
            let is_plain = decoded.row.effect == Effect::Store && size <= 8;
            for (source, number) in instr.sources.iter().zip(0_u64..) {
                let value = self.operand(source, state).filter(|_| is_plain);
                let value = value.map(|value| self.thread.exprs.resized(value, size * 8, false));
                state.store(first + number * u64::from(size), size, value);
            }
            if !is_plain {
                state.store(first, bytes, None);
            }
            return;
        }
        self.forget(block, pc, instr, None, state);
        for (dest, number) in instr.dests.iter().zip(0_u64..) {
            let word = (first + number * u64::from(size), size);
            if let Some(value) = state.locals.get(&word).copied() {
                let value = self.thread.exprs.resized(value, 64, decoded.ty().is_signed());
                self.write(*dest, Some(value), state);
            }
        }
    }

    /// The address of an access in the width of its space.
    fn address(&mut self, instr: &Instr, state: &ThreadState) -> Option<Expr> {
        let address = instr.address?;
        let bits = if matches!(address.space, Space::Generic | Space::Global) { 64 } else { 32 };
        let exprs = &mut self.thread.exprs;
        let Some(base) = address.base else {
            return Some(self.launched.address(exprs, address.space, address.offset, bits));
        };
        let base = state.registers[self.slice.places[base.index()] as usize]?;
        let base = exprs.resized(base, bits, false);
        let offset = self.launched.address(exprs, address.space, address.offset, bits);
        Some(exprs.binary(BinaryOperator::Add, base, offset))
    }

    fn operand(&mut self, operand: &Operand, state: &ThreadState) -> Option<Expr> {
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

/// Returns what is added to a value to get another one of the same width.
fn step(exprs: &mut Exprs, now: Expr, next: Expr) -> Option<Expr> {
    match exprs.node(next) {
        Node::Binary(BinaryOperator::Add, a, b) if a == now => Some(b),
        Node::Binary(BinaryOperator::Add, a, b) if b == now => Some(a),
        _ => None,
    }
}

/// The predicates whose conjunction a predicate is.
pub(super) fn conjuncts(exprs: &Exprs, of: Expr) -> Vec<Expr> {
    let mut parts = Vec::new();
    let mut work = vec![of];
    while let Some(part) = work.pop() {
        match exprs.node(part) {
            Node::Binary(BinaryOperator::And, a, b) if exprs.bits(part) == 1 => work.extend([a, b]),
            _ => parts.push(part),
        }
    }
    parts
}
