//! Loops that do nothing but wait: whether a thread that finds a phase incomplete can only try again.

use std::collections::{BTreeMap, BTreeSet};

use crate::emulate::ops;
use crate::flow::{BlockId, Condition, Instr, Operand, Program, Reg, Special, Terminator};
use crate::ptx::Space;
use crate::ptx::isa::Effect;

/// Most blocks that are looked through.
const MOST: usize = 256;

/// Registers whose values are known.
pub(super) type TryValues = BTreeMap<Reg, u64>;

/// Whether the wait at the end of a block, if it finds that the phase is not complete, is always tried again before the
/// thread does anything else: then it is one wait, however often it is tried.
pub(super) fn is_spin(program: &Program, wait: BlockId) -> bool {
    let block = &program.blocks[wait.index()];
    let result = program.instructions(wait).last().and_then(|(_, instr)| *instr.dests.first()?);
    let (Terminator::Goto(next), Some(result)) = (&block.terminator, result) else { return false };
    let mut work = vec![(*next, TryValues::from([(result, 0)]))];
    let mut seen = BTreeSet::new();
    while let Some((at, known)) = work.pop() {
        if at == wait || seen.contains(&(at, known.clone())) {
            continue;
        }
        let Some(next) = follow(program, at, known.clone()) else { return false };
        work.extend(next);
        seen.insert((at, known));
        if seen.len() > MOST {
            return false;
        }
    }
    let blocks = seen.into_iter().map(|(at, _)| at).collect();
    let spin = Spin { program, wait, next: *next, blocks };
    spin.before().all(is_idle) && spin.is_one_wait()
}

/// A loop that waits.
struct Spin<'p> {
    program: &'p Program,
    /// The block that ends with the wait, and the one behind it.
    wait: BlockId,
    next: BlockId,
    /// The other blocks that a thread runs between two tries.
    blocks: BTreeSet<BlockId>,
}

impl<'p> Spin<'p> {
    fn instructions(&self, at: BlockId) -> impl Iterator<Item = &'p Instr> {
        self.program.instructions(at).map(|(_, instr)| instr)
    }

    /// What precedes the wait in its block.
    fn before(&self) -> impl Iterator<Item = &'p Instr> {
        let count = self.program.instructions(self.wait).count();
        self.instructions(self.wait).take(count.saturating_sub(1))
    }

    /// Whether all tries ask the same, and nothing that differs from try to try is used after the last one.
    fn is_one_wait(&self) -> bool {
        let Some(wait) = self.instructions(self.wait).last() else { return false };
        let (before, variant) = self.variant(wait);
        let written = self.written();
        let asks_same = wait.reads().all(|read| !written.contains(&read) || before.contains(&read));
        asks_same && !variant.iter().any(|register| self.is_live(*register))
    }

    /// The registers that a try writes, beside the result of the wait.
    fn written(&self) -> BTreeSet<Reg> {
        let behind = self.blocks.iter().flat_map(|at| self.instructions(*at));
        behind.chain(self.before()).flat_map(dests).collect()
    }

    /// Returns the registers that each try sets anew before the wait, to the same, and those that might differ from try to
    /// try. Behind the wait, what depends on its result alone is the same after every last try.
    fn variant(&self, wait: &Instr) -> (BTreeSet<Reg>, BTreeSet<Reg>) {
        let (written, mut variant) = (self.written(), BTreeSet::new());
        loop {
            let known = variant.len();
            let mut settled = BTreeSet::new();
            let is_settled = |instr: &Instr, settled: &BTreeSet<Reg>| {
                let is_same = |read: Reg| !written.contains(&read) || settled.contains(&read);
                let is_fixed = |operand: &Operand| {
                    !matches!(operand, Operand::Special(Special::Other) | Operand::Opaque)
                };
                instr.guard.is_none()
                    && instr.effect() == Effect::Compute
                    && instr.sources.iter().all(is_fixed)
                    && instr.reads().all(is_same)
                    && dests(instr).all(|dest| !variant.contains(&dest))
            };
            let mut unsettled = BTreeSet::new();
            let mut settle = |instr: &Instr, settled: &mut BTreeSet<Reg>| {
                let is_settled = is_settled(instr, settled);
                if is_settled { settled } else { &mut unsettled }.extend(dests(instr));
            };
            self.before().for_each(|instr| settle(instr, &mut settled));
            let before = settled.clone();
            settled.extend(dests(wait));
            self.instructions(self.next).for_each(|instr| settle(instr, &mut settled));
            let others = self.blocks.iter().filter(|at| **at != self.next);
            unsettled.extend(others.flat_map(|at| self.instructions(*at)).flat_map(dests));
            variant.extend(unsettled);
            if variant.len() == known {
                return (before, variant);
            }
        }
    }

    /// Whether a register might be read behind the loop before it is written again.
    fn is_live(&self, register: Reg) -> bool {
        let is_inside = |at: &BlockId| *at == self.wait || self.blocks.contains(at);
        let leads_to = |at: BlockId| self.program.blocks[at.index()].terminator.successors();
        let around = self.blocks.iter().copied().chain([self.wait]);
        let behind = around.flat_map(leads_to).filter(|at| !is_inside(at));
        is_used_from(self.program, register, behind.collect())
    }
}

/// Whether a register might be read from the start of some block on before it is written.
pub(super) fn is_used_from(program: &Program, register: Reg, mut blocks: Vec<BlockId>) -> bool {
    let mut seen = BTreeSet::new();
    while let Some(at) = blocks.pop() {
        if !seen.insert(at) {
            continue;
        }
        let terminator = &program.blocks[at.index()].terminator;
        let mut ends = program.instructions(at).filter_map(|(_, instr)| {
            let writes = instr.guard.is_none() && dests(instr).any(|dest| dest == register);
            let reads = instr.reads().any(|read| read == register);
            (reads || writes).then_some(reads)
        });
        match ends.next() {
            Some(true) => return true,
            Some(false) => {}
            None if decides(terminator, register) => return true,
            None => blocks.extend(terminator.successors()),
        }
    }
    false
}

pub(super) fn dests(instr: &Instr) -> impl Iterator<Item = Reg> {
    instr.dests.iter().flatten().copied()
}

/// Whether a register decides where a block leads to.
pub(super) fn decides(terminator: &Terminator, register: Reg) -> bool {
    match terminator {
        Terminator::Branch { condition, .. } => condition.register == register,
        Terminator::Switch { index: Operand::Register(index), .. } => *index == register,
        _ => false,
    }
}

/// Whether an instruction does nothing that other threads or later accesses could depend on. What later copies see depends
/// on a fence between the proxies.
pub(super) fn is_idle(instr: &Instr) -> bool {
    match instr.effect() {
        Effect::Compute | Effect::Opaque | Effect::Nothing | Effect::MemoryFence => true,
        Effect::Load => instr
            .address
            .is_some_and(|address| matches!(address.space, Space::Param | Space::Const)),
        _ => false,
    }
}

/// Runs a block on what is known. Returns where it can lead to; `None` if it does something, or ends the thread.
fn follow(
    program: &Program,
    at: BlockId,
    mut known: TryValues,
) -> Option<Vec<(BlockId, TryValues)>> {
    for (_, instr) in program.instructions(at) {
        if !is_idle(instr) {
            return None;
        }
        run(instr, &mut known);
    }
    let block = &program.blocks[at.index()];
    let holds = |condition: &Condition| {
        known.get(&condition.register).map(|bits| (bits & 1 == 1) != condition.negated)
    };
    match &block.terminator {
        Terminator::End => None,
        Terminator::Branch { condition, taken, otherwise } => {
            let next = match holds(condition) {
                Some(true) => vec![*taken],
                Some(false) => vec![*otherwise],
                None => vec![*taken, *otherwise],
            };
            Some(next.into_iter().map(|next| (next, known.clone())).collect())
        }
        other => Some(other.successors().into_iter().map(|next| (next, known.clone())).collect()),
    }
}

/// Runs an instruction on what is known.
pub(super) fn run(instr: &Instr, known: &mut TryValues) {
    let value = |operand: &Operand| match operand {
        Operand::Register(register) => known.get(register).copied(),
        Operand::Not(register) => known.get(register).map(|bits| bits ^ 1),
        Operand::Constant(bits) => Some(*bits),
        _ => None,
    };
    let guard = instr
        .guard
        .map(|guard| known.get(&guard.register).map(|bits| (bits & 1 == 1) != guard.negated));
    if guard == Some(Some(false)) {
        return;
    }
    let values: Option<Vec<u64>> = instr.sources.iter().map(value).collect();
    let results =
        values.filter(|_| guard.flatten().unwrap_or(guard.is_none())).and_then(|values| {
            let decoded = instr.decoded().filter(|_| instr.effect() == Effect::Compute)?;
            ops::compute_once(decoded, &values, instr.dests.len())
        });
    let mut results = results.into_iter().flat_map(|(first, second)| [first, second]);
    for dest in &instr.dests {
        let result = results.next();
        if let Some(dest) = dest {
            match result {
                Some(bits) => known.insert(*dest, bits),
                None => known.remove(dest),
            };
        }
    }
}
