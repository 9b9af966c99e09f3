//! Loops that do nothing but wait: whether a thread that finds a phase incomplete can only try again.

use std::collections::{BTreeMap, BTreeSet};

use crate::emulate::ops;
use crate::flow::{BlockId, Condition, Instr, Operand, Pc, Program, Reg, Terminator};
use crate::ptx::Space;
use crate::ptx::isa::Effect;

/// Most blocks that are looked through.
const MOST: usize = 256;

/// Registers whose values are known.
type Known = BTreeMap<Reg, u64>;

/// Whether the wait at the end of a block, if it finds that the phase is not complete, is always tried again before the
/// thread does anything else: then it is one wait, however often it is tried.
pub(super) fn is_spin(program: &Program, wait: BlockId) -> bool {
    let block = &program.blocks[wait.index()];
    let result = program.instructions(wait).last().and_then(|(_, instr)| *instr.dests.first()?);
    let (Terminator::Goto(next), Some(result)) = (&block.terminator, result) else { return false };
    let mut work = vec![(*next, Known::from([(result, 0)]))];
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
    // What precedes the wait in its block runs again.
    let before = program.instructions(wait).count().saturating_sub(1);
    let mut again = program.instructions(wait).take(before);
    let blocks: BTreeSet<BlockId> = seen.into_iter().map(|(at, _)| at).collect();
    again.all(|(_, instr)| is_idle(instr)) && !counts(program, wait, &blocks)
}

/// Whether something that the tries count is used elsewhere: a register that the loop writes, and that some instruction
/// of the loop reads from the try before.
fn counts(program: &Program, wait: BlockId, blocks: &BTreeSet<BlockId>) -> bool {
    let around = || blocks.iter().copied().chain([wait]);
    let tries = |instr: &Instr| instr.effect() == Effect::MbarrierWait;
    let written: BTreeSet<Reg> = around()
        .flat_map(|at| program.instructions(at))
        .filter(|(_, instr)| !tries(instr))
        .flat_map(|(_, instr)| instr.dests.iter().flatten().copied())
        .collect();
    let mut carried = BTreeSet::new();
    for at in around() {
        let mut own = BTreeSet::new();
        for (_, instr) in program.instructions(at) {
            carried
                .extend(instr.reads().filter(|read| written.contains(read) && !own.contains(read)));
            own.extend(instr.dests.iter().flatten().copied().filter(|_| instr.guard.is_none()));
        }
    }
    let inside: BTreeSet<Pc> =
        around().flat_map(|at| program.instructions(at).map(|(pc, _)| pc)).collect();
    let mut others = (0..).map(Pc).zip(&program.code).filter(|(pc, _)| !inside.contains(pc));
    others.any(|(_, instr)| instr.reads().any(|read| carried.contains(&read)))
}

/// Whether an instruction does nothing that other threads or later accesses could depend on.
fn is_idle(instr: &Instr) -> bool {
    match instr.effect() {
        Effect::Compute | Effect::Opaque | Effect::Nothing | Effect::MemoryFence => true,
        Effect::Load => instr
            .address
            .is_some_and(|address| matches!(address.space, Space::Param | Space::Const)),
        _ => false,
    }
}

/// Runs a block on what is known. Returns where it can lead to; `None` if it does something, or ends the thread.
fn follow(program: &Program, at: BlockId, mut known: Known) -> Option<Vec<(BlockId, Known)>> {
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
fn run(instr: &Instr, known: &mut Known) {
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
