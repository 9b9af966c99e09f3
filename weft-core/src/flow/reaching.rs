//! Which definitions of a register, or of eight bytes of local memory, reach an instruction.

use std::collections::{BTreeMap, HashSet};

use super::constants::Constants;
use super::fixpoint::ByRegister;
use super::program::{BlockId, Pc, Program, Reg};
use crate::ptx::isa::Effect;

/// Blocks that all searches of a program may look at together.
const MAX_BLOCKS: u32 = 1 << 20;

/// What instructions define.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Place {
    Register(Reg),
    /// The first of eight bytes of local memory.
    Slot(u64),
}

/// The definitions of a program. Stores to local memory at addresses that are not known define nothing.
pub(super) struct Reaching<'p> {
    program: &'p Program,
    writers: ByRegister,
    /// By slot: the stores that write to some of its bytes, ascending, and whether to all of them.
    stores: BTreeMap<u64, Vec<(Pc, bool)>>,
    predecessors: Vec<Vec<BlockId>>,
    /// Blocks by their first instruction, one for each path of calls.
    blocks: Vec<(Pc, BlockId)>,
    fuel: u32,
}

impl<'p> Reaching<'p> {
    pub(super) fn of(program: &'p Program, constants: &Constants) -> Self {
        let writers = ByRegister::of(program, |instr| instr.dests.iter().flatten().copied());
        let mut stores: BTreeMap<u64, Vec<(Pc, bool)>> = BTreeMap::new();
        for (instr, pc) in program.code.iter().zip(0..) {
            if instr.effect() != Effect::Store {
                continue;
            }
            for (first, bytes) in constants.stored(instr) {
                let is_whole = bytes == 8 && instr.guard.is_none();
                let last = first.saturating_add(bytes);
                for slot in first.saturating_sub(7)..last {
                    stores.entry(slot).or_default().push((Pc(pc), is_whole && slot == first));
                }
            }
        }
        let mut predecessors = vec![Vec::new(); program.blocks.len()];
        let mut blocks = Vec::new();
        for (block, at) in program.blocks.iter().zip(0..) {
            for next in block.terminator.successors() {
                predecessors[next.index()].push(BlockId(at));
            }
            if block.first < block.end {
                blocks.push((block.first, BlockId(at)));
            }
        }
        blocks.sort_unstable();
        Self { program, writers, stores, predecessors, blocks, fuel: MAX_BLOCKS }
    }

    /// The definitions of a place that reach an instruction; `None`: they were not found in time.
    pub(super) fn definitions(&mut self, place: Place, at: Pc) -> Option<Vec<Pc>> {
        let all: Vec<(Pc, bool)> = match place {
            Place::Register(register) => {
                let kills = |pc: &Pc| self.program.code[pc.index()].guard.is_none();
                let all = self.writers.of_register(register).iter();
                all.map(|pc| (*pc, kills(pc))).collect()
            }
            Place::Slot(slot) => self.stores.get(&slot).cloned().unwrap_or_default(),
        };
        if all.len() < 2 {
            return Some(all.into_iter().map(|(pc, _)| pc).collect());
        }
        self.search(&all, at)
    }

    fn search(&mut self, all: &[(Pc, bool)], at: Pc) -> Option<Vec<Pc>> {
        let program = self.program;
        let mut found = Vec::new();
        let mut seen: HashSet<BlockId> = HashSet::new();
        let mut work: Vec<(BlockId, Pc)> = self.blocks_at(at).map(|block| (block, at)).collect();
        while let Some((block, end)) = work.pop() {
            self.fuel = self.fuel.checked_sub(1)?;
            let first = program.blocks[block.index()].first;
            let range = |pc: Pc| all.partition_point(|(own, _)| *own < pc);
            let mut is_killed = false;
            for (pc, kills) in all[range(first)..range(end).max(range(first))].iter().rev() {
                found.push(*pc);
                is_killed = *kills;
                if is_killed {
                    break;
                }
            }
            if !is_killed {
                let before = &self.predecessors[block.index()];
                let new = before.iter().filter(|own| seen.insert(**own));
                work.extend(new.map(|own| (*own, program.blocks[own.index()].end)));
            }
        }
        found.sort_unstable();
        found.dedup();
        Some(found)
    }

    /// The blocks that hold an instruction.
    fn blocks_at(&self, at: Pc) -> impl Iterator<Item = BlockId> {
        let end = self.blocks.partition_point(|(first, _)| *first <= at);
        let first = self.blocks[..end].last().map(|(first, _)| *first);
        let held = self.blocks[..end].iter().rev();
        held.take_while(move |(own, _)| Some(*own) == first).map(|(_, block)| *block)
    }
}
