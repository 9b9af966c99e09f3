//! Loops that do nothing but ask for the value of a location in memory, until it is one that other threads leave there.

use std::collections::BTreeSet;

use super::piece::kind;
use super::spin::{TryValues, dests, is_idle, run};
use crate::flow::{BlockId, Instr, Pc, Program, Reg, Terminator};
use crate::ptx::isa::{Effect, Modifier};

/// A loop that asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct AskingLoop {
    header: BlockId,
    /// The access by which it asks, and its block.
    pub(super) pc: Pc,
    block: BlockId,
    /// The register that gets the value.
    result: Reg,
}

/// Most blocks that a thread runs between two questions.
const MOST: usize = 64;

impl AskingLoop {
    /// The loop with this header, if each of its iterations begins by asking, and does nothing else that others could see.
    pub(super) fn of(program: &Program, header: BlockId) -> Option<Self> {
        let all = program.blocks_in(header).flat_map(|block| {
            program.instructions(block).map(move |(pc, instr)| (block, pc, instr))
        });
        let mut others = all.filter(|(_, _, instr)| !is_idle(instr));
        let (block, pc, instr) = others.next()?;
        let is_one = others.next().is_none() && instr.guard.is_none() && asks(instr);
        let (Some(result), true) = (*instr.dests.first()?, is_one) else { return None };
        let asking = Self { header, pc, block, result };
        asking.comes_first(program).then_some(asking)
    }

    /// Whether no iteration leaves the loop before it has asked.
    fn comes_first(&self, program: &Program) -> bool {
        let (mut open, mut seen) = (vec![self.header], BTreeSet::new());
        while let Some(at) = open.pop().filter(|_| seen.len() <= MOST) {
            if at == self.block || !seen.insert(at) {
                continue;
            }
            let next = program.blocks[at.index()].terminator.successors();
            if next.iter().any(|next| !self.holds(program, *next)) {
                return false;
            }
            open.extend(next);
        }
        seen.len() <= MOST
    }

    fn holds(&self, program: &Program, at: BlockId) -> bool {
        program.blocks[at.index()].loops.contains(&self.header)
    }

    /// The registers that no iteration changes.
    pub(super) fn fixed(&self, program: &Program) -> BTreeSet<Reg> {
        let inside = || program.blocks_in(self.header).flat_map(|at| program.instructions(at));
        let written: BTreeSet<Reg> = inside().flat_map(|(_, instr)| dests(instr)).collect();
        let conditions = program.blocks_in(self.header).filter_map(|at| {
            match &program.blocks[at.index()].terminator {
                Terminator::Branch { condition, .. } => Some(condition.register),
                _ => None,
            }
        });
        let read = inside().flat_map(|(_, instr)| instr.reads().collect::<Vec<_>>());
        read.chain(conditions).filter(|register| !written.contains(register)).collect()
    }

    /// Whether a thread leaves the loop once it has read a value; `None`: that depends on more. `fixed`: what registers hold that
    /// no iteration changes.
    pub(super) fn passes(&self, program: &Program, fixed: &TryValues, value: u64) -> Option<bool> {
        let mut known = fixed.clone();
        known.insert(self.result, value);
        let behind = |(pc, instr)| (pc > self.pc).then_some(instr);
        program
            .instructions(self.block)
            .filter_map(behind)
            .for_each(|instr| run(instr, &mut known));
        let mut at = self.block;
        for _ in 0..MOST {
            let next = match &program.blocks[at.index()].terminator {
                Terminator::Goto(next) => *next,
                Terminator::Branch { condition, taken, otherwise } => {
                    let holds = known.get(&condition.register)? & 1 == 1;
                    if holds == condition.negated { *otherwise } else { *taken }
                }
                _ => return None,
            };
            if !self.holds(program, next) {
                return Some(true);
            }
            if next == self.block {
                return Some(false);
            }
            program.instructions(next).for_each(|(_, instr)| run(instr, &mut known));
            at = next;
        }
        None
    }
}

/// Whether an instruction reads one strong value and changes nothing.
fn asks(instr: &Instr) -> bool {
    let Some(decoded) = instr.decoded() else { return false };
    // Narrower numbers, and those with a sign, might be extended on their way into the register.
    let is_whole = decoded.vector() == 1 && decoded.ty().bits() >= 32;
    let is_plain = !decoded.ty().is_signed() || decoded.ty().bits() == 64;
    let is_strong = kind(decoded).is_strong() && is_whole;
    match instr.effect() {
        Effect::Load => is_strong && !decoded.ty().is_float() && is_plain,
        Effect::Atomic => is_strong && changes_nothing(instr) && is_plain,
        _ => false,
    }
}

/// Whether an atomic leaves what it finds: it adds zero, or the like.
pub(super) fn changes_nothing(instr: &Instr) -> bool {
    let Some(decoded) = instr.decoded() else { return false };
    let is_zero = matches!(instr.sources[..], [crate::flow::Operand::Constant(0)]);
    let adds = [Modifier::Add, Modifier::Or, Modifier::Xor];
    is_zero && !decoded.ty().is_float() && decoded.modifiers.first_of(&adds).is_some()
}
