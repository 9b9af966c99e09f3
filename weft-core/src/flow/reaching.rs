//! Finds the definitions of a register, or of eight bytes of local memory, that reach an instruction.

use std::cell::Cell;
use std::collections::{BTreeMap, HashSet};

use super::constants::Constants;
use super::fixpoint::ByRegister;
use super::program::{BlockId, Pc, Program, Reg};
use crate::ptx::isa::Effect;

/// The most blocks and definitions that all searches of a program can visit together.
const MAX_STEPS: u32 = 1 << 22;

/// Something that instructions define.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Defined {
    Register(Reg),
    /// The first of eight bytes of local memory.
    Slot(u64),
}

/// The definitions of a program. A store to local memory at an address that is not known defines nothing.
pub(super) struct Reaching<'p> {
    program: &'p Program,
    writers: ByRegister,
    /// For each slot, the stores that write some of its bytes, ascending; the flag says that a store always writes all
    /// of them.
    stores: BTreeMap<u64, Vec<(Pc, bool)>>,
    predecessors: Vec<Vec<BlockId>>,
    /// Blocks with their first instruction, ascending; a routine's block is there once for each path of calls.
    blocks: Vec<(Pc, BlockId)>,
    stores_anywhere: bool,
    fuel: Cell<u32>,
}

impl<'p> Reaching<'p> {
    pub(super) fn of(program: &'p Program, constants: &Constants) -> Self {
        let writers = ByRegister::of(program, |instr| instr.dests.iter().flatten().copied());
        let mut stores: BTreeMap<u64, Vec<(Pc, bool)>> = BTreeMap::new();
        let mut stores_anywhere = false;
        for (instr, pc) in program.code.iter().zip(0..) {
            if instr.effect() != Effect::Store {
                continue;
            }
            stores_anywhere |= constants.might_store_locally(instr);
            for (first, bytes) in constants.elements(instr) {
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
        Self {
            program,
            writers,
            stores,
            predecessors,
            blocks,
            stores_anywhere,
            fuel: Cell::new(MAX_STEPS),
        }
    }

    /// Whether some store goes to an address in local memory that is not known.
    pub(super) const fn stores_anywhere(&self) -> bool {
        self.stores_anywhere
    }

    /// Returns the definitions of a register or slot that reach an instruction; `None` if the search took too many
    /// steps.
    pub(super) fn definitions(&self, place: Defined, at: Pc) -> Option<Vec<Pc>> {
        match place {
            Defined::Register(register) => {
                let kills = |pc: &Pc| self.program.code[pc.index()].guard.is_none();
                self.search(self.writers.of_register(register), |pc| (*pc, kills(pc)), at)
            }
            Defined::Slot(slot) => {
                let all = self.stores.get(&slot).map_or(&[][..], Vec::as_slice);
                self.search(all, |store| *store, at)
            }
        }
    }

    /// Searches backwards from an instruction, on each path until a definition that replaces all earlier ones. `of`
    /// returns where a definition stands and whether it replaces earlier ones.
    fn search<T>(&self, all: &[T], of: impl Fn(&T) -> (Pc, bool), at: Pc) -> Option<Vec<Pc>> {
        if let [] | [_] = all {
            return Some(all.iter().map(|definition| of(definition).0).collect());
        }
        let blocks = &self.program.blocks;
        let before = |pc: Pc| all.partition_point(|candidate| of(candidate).0 < pc);
        let mut found = Vec::new();
        let mut seen: HashSet<BlockId> = HashSet::new();
        let mut work: Vec<(BlockId, Pc)> = Vec::new();
        for block in self.blocks_at(at) {
            self.spend()?;
            work.push((block, at));
        }
        while let Some((block, end)) = work.pop() {
            self.spend()?;
            let (first, last) = (before(blocks[block.index()].first), before(end));
            let mut is_killed = false;
            for own in all.get(first..last).unwrap_or_default().iter().rev() {
                self.spend()?;
                let (pc, kills) = of(own);
                found.push(pc);
                is_killed = kills;
                if is_killed {
                    break;
                }
            }
            if !is_killed {
                let before = &self.predecessors[block.index()];
                let new = before.iter().filter(|header| seen.insert(**header));
                work.extend(new.map(|own| (*own, blocks[own.index()].end)));
            }
        }
        found.sort_unstable();
        found.dedup();
        Some(found)
    }

    /// Counts a step of the search; `None` if there were too many.
    fn spend(&self) -> Option<()> {
        self.fuel.set(self.fuel.get().checked_sub(1)?);
        Some(())
    }

    /// Returns the blocks that contain an instruction.
    fn blocks_at(&self, at: Pc) -> impl Iterator<Item = BlockId> {
        let end = self.blocks.partition_point(|(first, _)| *first <= at);
        let first = self.blocks[..end].last().map(|(first, _)| *first);
        let held = self.blocks[..end].iter().rev();
        held.take_while(move |(pc, _)| Some(*pc) == first).map(|(_, block)| *block)
    }
}
