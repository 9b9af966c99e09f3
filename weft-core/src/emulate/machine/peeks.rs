//! Peeks: tests for a phase whose results only decide whether later waits are left out (a test in advance, whose result
//! is carried to the place where the thread would wait). A machine that lets every peek fail runs all of these waits, so
//! its threads know the least. What it finds, and what it does not, holds for the others too: where a peek succeeds, the
//! phase is complete, so the wait that is left out would have ended at once.

use std::collections::{BTreeMap, BTreeSet};

use super::spin::{decides, dests, is_idle, is_spin, is_used_from};
use crate::flow::{BlockId, Program, Reg, Terminator};
use crate::ptx::isa::Effect;

/// Most blocks of the two ways of a branch that are looked through.
const MOST: usize = 64;

/// The peeks of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct Peeks {
    /// The blocks that end with a peek.
    pub(super) tests: BTreeSet<BlockId>,
    /// The registers to which results of peeks are carried.
    pub(super) carriers: BTreeSet<Reg>,
    /// The blocks that end with a branch on such a register.
    pub(super) skips: BTreeMap<BlockId, Skip>,
    /// For each block that ends with a wait which such a branch can leave out: the registers that decide it.
    pub(super) left_out_by: BTreeMap<BlockId, Vec<Reg>>,
}

/// A branch that can leave out waits, and does nothing else.
#[derive(Clone, Debug)]
pub(super) struct Skip {
    /// Whether there are waits on the way on which its condition holds, and on the other.
    pub(super) waits: [bool; 2],
    /// The blocks that end with these waits.
    blocks: BTreeSet<BlockId>,
    /// What decides.
    condition: Reg,
}

impl Peeks {
    /// Finds the peeks of a program.
    pub(super) fn of(program: &Program) -> Self {
        let mut peeks = Self::default();
        let blocks = (0..program.blocks.len()).map(BlockId::at);
        for test in blocks.filter(|at| is_test(program, *at) && !is_spin(program, *at)) {
            if let Some((carriers, skips)) = carried(program, test) {
                peeks.tests.insert(test);
                peeks.carriers.extend(carriers);
                peeks.skips.extend(skips);
            }
        }
        for skip in peeks.skips.values() {
            for wait in &skip.blocks {
                peeks.left_out_by.entry(*wait).or_default().push(skip.condition);
            }
        }
        peeks
    }
}

/// Whether a block ends with a test for a phase.
fn is_test(program: &Program, block: BlockId) -> bool {
    let last = program.instructions(block).last();
    last.is_some_and(|(_, instr)| instr.effect() == Effect::MbarrierWait)
}

/// Returns the registers to which the result of a test is carried and the branches that it decides; `None` if it decides
/// anything but whether waits are left out.
fn carried(program: &Program, test: BlockId) -> Option<(BTreeSet<Reg>, BTreeMap<BlockId, Skip>)> {
    let (_, test) = program.instructions(test).last()?;
    let mut carriers: BTreeSet<Reg> = dests(test).collect();
    loop {
        let known = carriers.len();
        for instr in &program.code {
            if !instr.reads().any(|read| carriers.contains(&read)) {
                continue;
            }
            let is_guarded = instr.guard.is_some_and(|guard| carriers.contains(&guard.register));
            if is_guarded || instr.effect() != Effect::Compute {
                return None;
            }
            carriers.extend(dests(instr));
        }
        if carriers.len() == known {
            break;
        }
    }
    let mut skips = BTreeMap::new();
    for (at, block) in program.blocks.iter().enumerate() {
        if carriers.iter().any(|register| decides(&block.terminator, *register)) {
            let at = BlockId::at(at);
            skips.insert(at, skip(program, at)?);
        }
    }
    Some((carriers, skips))
}

/// Returns what a branch leaves out; `None` if its two ways differ in more than waits, or do not meet.
fn skip(program: &Program, at: BlockId) -> Option<Skip> {
    let block = &program.blocks[at.index()];
    let Terminator::Branch { condition, taken, otherwise } = &block.terminator else { return None };
    let join = block.post_dominator?;
    let ways = [way(program, *taken, join)?, way(program, *otherwise, join)?];
    let all: BTreeSet<BlockId> = ways.iter().flatten().copied().collect();
    let written =
        all.iter().flat_map(|at| program.instructions(*at)).flat_map(|(_, own)| dests(own));
    let is_kept = |register: Reg| {
        register == condition.register || is_used_from(program, register, vec![join])
    };
    let is_wait = |at: &BlockId| is_test(program, *at);
    if all.contains(&at) || written.into_iter().any(is_kept) {
        return None;
    }
    let waits = [0, 1].map(|way: usize| ways[way].iter().any(is_wait));
    let blocks = all.into_iter().filter(is_wait).collect();
    Some(Skip { waits, blocks, condition: condition.register })
}

/// Returns the blocks from one to another, without that one; `None` if a thread might end there, or do anything but wait.
fn way(program: &Program, from: BlockId, to: BlockId) -> Option<BTreeSet<BlockId>> {
    let (mut work, mut seen) = (vec![from], BTreeSet::new());
    while let Some(at) = work.pop() {
        if at == to || !seen.insert(at) {
            continue;
        }
        let terminator = &program.blocks[at.index()].terminator;
        let waits = usize::from(is_test(program, at) && is_spin(program, at));
        let count = program.instructions(at).count() - waits;
        let is_idle = program.instructions(at).take(count).all(|(_, instr)| is_idle(instr));
        if !is_idle || seen.len() > MOST || matches!(terminator, Terminator::End) {
            return None;
        }
        work.extend(terminator.successors());
    }
    Some(seen)
}
