//! Locks: words that a thread takes by an atomic which finds them free, and releases by a strong write. Between the two, in
//! its critical section, no other thread takes the lock, if nothing else writes the word.
//!
//! What a thread did in its critical section comes before what the next one does there if an acquire pattern takes the
//! lock and a release pattern releases it (PTX ISA §8.8).

use std::collections::{BTreeMap, BTreeSet};

use crate::emulate::{AccessKind, MemoryOrder, Nearness, access_kind, fence_order, truncate};
use crate::flow::{Address, BlockId, Holds, Instr, Operand, Pc, Program, Reg, Terminator};
use crate::ptx::Space;
use crate::ptx::isa::{Effect, Modifier, Opcode};

/// An instruction, in one of the blocks that it is in.
pub(super) type BlockStep = (BlockId, Pc);

/// An atomic that takes a lock, if it finds the word free.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Taking {
    at: BlockStep,
    /// The index of the word.
    word: usize,
    /// The block where the thread goes on if it has taken the lock.
    inside: BlockId,
}

/// A word that is a lock, as the text names it: a register and what is added to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LockWord {
    address: Address,
    bytes: u8,
    /// What the word holds while nobody has the lock.
    pub(super) free: u64,
    /// Whether each release hands on what was released before: an atomic does, and a release pattern that comes after an acquire
    /// pattern.
    pub(super) hands_over: bool,
    pub(super) is_released: bool,
}

/// A lock that a thread has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Possession {
    /// The index of the word.
    pub(super) word: usize,
    /// Whether the access comes after what was done with the lock before, and before what will be done with it later.
    pub(super) is_ordered: bool,
}

/// The locks of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct Locks {
    pub(super) words: Vec<LockWord>,
    takings: Vec<Taking>,
    /// The locks that a thread surely has at an access.
    held: BTreeMap<BlockStep, Vec<Possession>>,
    /// The words that a write releases.
    releases: BTreeMap<BlockStep, BTreeSet<usize>>,
}

/// What is known of a lock at a point of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hold {
    /// Whether the thread has it; otherwise it depends on what its atomic has found.
    is_certain: bool,
    /// Whether what comes next comes after what was done with the lock before.
    is_acquired: bool,
    /// Whether there was a fence by which a later relaxed write is a release pattern.
    is_fenced: bool,
}

type LockHolds = BTreeMap<usize, Hold>;

impl Locks {
    /// Finds the locks of threads that are as near to each other.
    pub(super) fn of(program: &Program, nearness: Nearness) -> Self {
        let (words, mut takings) = takings(program);
        takings.retain(|taking| taking.order(program).scope().holds(nearness));
        if takings.is_empty() {
            return Self::default();
        }
        let finder =
            HoldFinder { program, nearness, words: words.clone(), takings: takings.clone() };
        let mut locks = Self { words, takings, ..Self::default() };
        for (at, holds) in finder.settle() {
            finder
                .run(at, holds, &mut |step, instr, holds| locks.note(&finder, step, instr, holds));
        }
        locks.check_order(&finder);
        locks
    }

    /// The atomics that take locks, with their words.
    pub(super) fn takings(&self) -> BTreeMap<BlockStep, usize> {
        self.takings.iter().map(|taking| (taking.at, taking.word)).collect()
    }

    /// The word of the lock that an atomic takes, if it takes one.
    pub(super) fn taken_by(&self, at: BlockStep) -> Option<usize> {
        self.takings.iter().find(|taking| taking.at == at).map(|taking| taking.word)
    }

    /// The locks that a thread has at an access.
    pub(super) fn held(&self, at: BlockStep) -> &[Possession] {
        self.held.get(&at).map_or(&[], Vec::as_slice)
    }

    /// Whether a step releases a lock that is one of these words, and surely no other one.
    pub(super) fn releases_only(&self, at: BlockStep, of: &BTreeSet<usize>) -> bool {
        self.releases.get(&at).is_some_and(|own| own.is_subset(of))
    }

    fn note(&mut self, finder: &HoldFinder<'_>, step: BlockStep, instr: &Instr, holds: &LockHolds) {
        let is_access = matches!(instr.effect(), Effect::Load | Effect::Store | Effect::Atomic);
        if !is_access {
            return;
        }
        for (&word, hold) in holds.iter().filter(|(_, hold)| hold.is_certain) {
            if let Some(kind) = finder.release(word, instr) {
                let releases = hold.is_fenced || kind.order.ordering().releases();
                let own = &mut self.words[word];
                own.is_released = true;
                own.hands_over &= kind.is_atomic() || hold.is_acquired && releases;
                self.releases.entry(step).or_default().insert(word);
            } else {
                let possession = Possession { word, is_ordered: hold.is_acquired };
                self.held.entry(step).or_default().push(possession);
            }
        }
    }

    /// Notes the accesses behind which a release might follow without a release pattern.
    fn check_order(&mut self, finder: &HoldFinder<'_>) {
        for word in 0..self.words.len() {
            let of = self.releases.iter().filter(|(_, own)| own.contains(&word));
            let unordered = finder.unordered(word, of.map(|(step, _)| *step));
            for step in unordered {
                let held = self.held.get_mut(&step).into_iter().flatten();
                held.filter(|own| own.word == word).for_each(|own| own.is_ordered = false);
            }
        }
    }
}

/// Whether a program takes locks in global memory, with whatever scope.
pub(crate) fn has_global_lock(program: &Program) -> bool {
    let is_global = |word: &LockWord| {
        let held = word.address.base.map(|base| program.holds[base.index()]);
        match held {
            Some(Holds::Variable(at)) => program.symbols[at].space == Space::Global,
            _ => matches!(word.address.space, Space::Global | Space::Generic),
        }
    };
    takings(program).0.iter().any(is_global)
}

/// Whether a thread surely has a lock at some access of an instruction.
pub(crate) fn has_lock(program: &Program, pc: Pc) -> bool {
    Locks::of(program, Nearness::Cta).held.keys().any(|(_, at)| *at == pc)
}

/// Finds the words that are locks, and the atomics that take them.
fn takings(program: &Program) -> (Vec<LockWord>, Vec<Taking>) {
    let (mut words, mut takings): (Vec<LockWord>, _) = (Vec::new(), Vec::new());
    for block in (0..program.blocks.len()).map(BlockId::at) {
        let Some((at, inside, own)) = taking(program, block) else { continue };
        let known = words.iter().position(|known| *known == own);
        let word = known.unwrap_or(words.len());
        if known.is_none() {
            words.push(own);
        }
        takings.push(Taking { at, word, inside });
    }
    (words, takings)
}

impl Taking {
    /// How the atomic orders memory.
    fn order(&self, program: &Program) -> MemoryOrder {
        let (_, pc) = self.at;
        let atomic = &program.code[pc.index()];
        access_kind(atomic.decoded().expect("an atomic is in the table")).order
    }
}

/// The atomic in a block on whose result the branch at its end depends, if the branch says whether it has found a word free;
/// the block where the thread then goes on, and the word.
fn taking(program: &Program, block: BlockId) -> Option<(BlockStep, BlockId, LockWord)> {
    let Terminator::Branch { condition, taken, otherwise } =
        &program.blocks[block.index()].terminator
    else {
        return None;
    };
    let before: Vec<(Pc, &Instr)> = program.instructions(block).collect();
    let (at, compare) = definition(&before, condition.register)?;
    let decoded = compare.decoded().filter(|own| own.row.opcode == Opcode::Setp)?;
    let compare_type = decoded.source_type();
    let is_equal = decoded.modifiers.has(Modifier::Eq);
    if !is_equal && !decoded.modifiers.has(Modifier::Ne) || compare.dests.len() != 1 {
        return None;
    }
    let [first, second] = &compare.sources[..] else { return None };
    let (at, atomic, number) =
        [(first, second), (second, first)].into_iter().find_map(|sides| {
            let (Operand::Register(found), number) = sides else { return None };
            let (at, atomic) = definition(&before[..at], *found)?;
            (atomic.effect() == Effect::Atomic).then_some((at, atomic, number))
        })?;
    let free = constant(program, number)?;
    let (pc, decoded) = (before[at].0, atomic.decoded()?);
    let bits = decoded.ty().bits();
    // Floating-point numbers of different bits can be equal.
    if compare_type.is_float() || compare_type.bits() != bits {
        return None;
    }
    let numbers: Option<Vec<u64>> =
        atomic.sources.iter().map(|source| constant(program, source)).collect();
    let numbers: Vec<u64> = numbers?.into_iter().map(|number| truncate(number, bits)).collect();
    let free = truncate(free, bits);
    let takes = match &numbers[..] {
        [own, taken] if decoded.modifiers.has(Modifier::Cas) => *own == free && *taken != free,
        [taken] if decoded.modifiers.has(Modifier::Exch) => *taken != free,
        _ => false,
    };
    let is_one_word =
        !decoded.is_strange && decoded.vector() == 1 && !decoded.ty().is_float() && bits <= 64;
    let (inside, outside) =
        if is_equal == condition.negated { (*otherwise, *taken) } else { (*taken, *otherwise) };
    let is_lock = takes && is_one_word && atomic.dests.len() == 1 && inside != outside;
    let (address, bytes) = (atomic.address.filter(|_| is_lock)?, access_kind(decoded).element);
    let word = LockWord { address, bytes, free, hands_over: true, is_released: false };
    Some(((block, pc), inside, word))
}

/// The last instruction of a list that writes a register, with its place there, if it always does.
fn definition<'p>(before: &[(Pc, &'p Instr)], register: Reg) -> Option<(usize, &'p Instr)> {
    let writes = |instr: &Instr| instr.dests.contains(&Some(register));
    let at = before.iter().rposition(|(_, instr)| writes(instr))?;
    let instr = before[at].1;
    instr.guard.is_none().then_some((at, instr))
}

/// The number that an operand always is.
fn constant(program: &Program, operand: &Operand) -> Option<u64> {
    let register = match operand {
        Operand::Constant(bits) => return Some(*bits),
        Operand::Register(register) => *register,
        _ => return None,
    };
    let mut writers = program.code.iter().filter(|own| own.dests.contains(&Some(register)));
    let moved = |instr: &Instr| match (&instr.sources[..], instr.guard, instr.decoded()) {
        ([Operand::Constant(bits)], None, Some(decoded)) if decoded.row.opcode == Opcode::Mov => {
            Some(*bits)
        }
        _ => None,
    };
    let first = moved(writers.next()?)?;
    writers.all(|writer| moved(writer) == Some(first)).then_some(first)
}

/// Finds which locks a thread has where.
struct HoldFinder<'p> {
    program: &'p Program,
    nearness: Nearness,
    words: Vec<LockWord>,
    takings: Vec<Taking>,
}

impl HoldFinder<'_> {
    /// What is known where each block begins that a thread comes to, whichever way it came.
    fn settle(&self) -> BTreeMap<BlockId, LockHolds> {
        let mut known = BTreeMap::from([(self.program.entry, LockHolds::new())]);
        let mut work = BTreeSet::from([self.program.entry]);
        while let Some(block) = work.pop_first() {
            let holds = self.run(block, known[&block].clone(), &mut |_, _, _| {});
            for next in self.program.blocks[block.index()].terminator.successors() {
                let mut handed = self.handed(block, next, &holds);
                if let Some(own) = known.get(&next) {
                    handed = met(own, &handed);
                    if handed == *own {
                        continue;
                    }
                }
                known.insert(next, handed);
                work.insert(next);
            }
        }
        known
    }

    /// What is known on the way from one block to another.
    fn handed(&self, from: BlockId, to: BlockId, holds: &LockHolds) -> LockHolds {
        let is_taken = |word: usize| {
            let mut own = self.takings.iter().filter(|taking| taking.word == word);
            own.any(|taking| (taking.at.0, taking.inside) == (from, to))
        };
        let certain = |(word, hold): (&usize, &Hold)| {
            let is_certain = hold.is_certain || is_taken(*word);
            is_certain.then_some((*word, Hold { is_certain, ..*hold }))
        };
        holds.iter().filter_map(certain).collect()
    }

    /// Runs through a block; `visit` gets each instruction with what is known before it. Returns what is known at the end.
    fn run(
        &self,
        block: BlockId,
        mut holds: LockHolds,
        visit: &mut impl FnMut(BlockStep, &Instr, &LockHolds),
    ) -> LockHolds {
        for (pc, instr) in self.program.instructions(block) {
            let taken = self.takings.iter().find(|taking| taking.at == (block, pc));
            if taken.is_none() {
                visit((block, pc), instr, &holds);
            }
            self.step(instr, &mut holds);
            if let Some(taking) = taken {
                let is_acquired = taking.order(self.program).ordering().acquires();
                let hold = Hold { is_certain: false, is_acquired, is_fenced: false };
                holds.insert(taking.word, hold);
            }
        }
        holds
    }

    fn step(&self, instr: &Instr, holds: &mut LockHolds) {
        if instr.waits() {
            // Others can release a lock behind a barrier.
            holds.clear();
        }
        if let Some(order) = self.fence(instr) {
            for hold in holds.values_mut() {
                hold.is_acquired |= order.ordering().acquires();
                hold.is_fenced |= hold.is_acquired && order.ordering().releases();
            }
        }
        holds.retain(|word, _| {
            let address = self.words[*word].address;
            let writes = matches!(instr.effect(), Effect::Store | Effect::Atomic);
            let is_word = writes && instr.address == Some(address);
            !is_word && !instr.dests.iter().flatten().any(|dest| Some(*dest) == address.base)
        });
    }

    /// How a fence orders memory, if it surely does for all threads that are near.
    fn fence(&self, instr: &Instr) -> Option<MemoryOrder> {
        let decoded = instr.decoded().filter(|own| own.is_memory_fence() && !own.is_strange)?;
        let order = fence_order(decoded);
        (instr.guard.is_none() && order.scope().holds(self.nearness)).then_some(order)
    }

    /// How a strong write to the word of a lock acts, if the instruction is one.
    fn release(&self, word: usize, instr: &Instr) -> Option<AccessKind> {
        let decoded = instr.decoded().filter(|own| !own.is_strange)?;
        let kind = access_kind(decoded);
        let own = &self.words[word];
        let is_word = kind.writes && instr.address == Some(own.address) && decoded.vector() == 1;
        let is_strong = kind.is_strong() && kind.order.scope().holds(self.nearness);
        (is_word && is_strong && kind.element == own.bytes).then_some(kind)
    }

    /// The steps from which a thread might come to one of these releases without a release pattern.
    fn unordered(
        &self,
        word: usize,
        releases: impl Iterator<Item = BlockStep>,
    ) -> BTreeSet<BlockStep> {
        let mut before: BTreeMap<BlockId, Vec<BlockId>> = BTreeMap::new();
        for (block, at) in self.program.blocks.iter().zip(0..) {
            for next in block.terminator.successors() {
                before.entry(next).or_default().push(BlockId::at(at));
            }
        }
        let mut found = BTreeSet::new();
        let is_relaxed = |(_, pc): &BlockStep| {
            let kind = self.release(word, &self.program.code[pc.index()]);
            kind.is_none_or(|kind| !kind.order.ordering().releases())
        };
        let mut work: Vec<(BlockId, Option<Pc>)> =
            releases.filter(is_relaxed).map(|(block, pc)| (block, Some(pc))).collect();
        let mut seen = BTreeSet::new();
        while let Some((block, end)) = work.pop() {
            let all: Vec<(Pc, &Instr)> = self.program.instructions(block).collect();
            let all = all.iter().rev().filter(|(pc, _)| end.is_none_or(|end| *pc < end));
            let is_end = |pc: Pc, instr: &Instr| {
                let is_fence = self.fence(instr).is_some_and(|own| own.ordering().releases());
                let mut own = self.takings.iter().filter(|taking| taking.word == word);
                is_fence || own.any(|taking| taking.at == (block, pc))
            };
            let mut is_open = true;
            for (pc, instr) in all {
                is_open = !is_end(*pc, instr);
                if !is_open {
                    break;
                }
                found.insert((block, *pc));
            }
            if is_open {
                let next = before.get(&block).into_iter().flatten();
                work.extend(next.filter(|next| seen.insert(**next)).map(|next| (*next, None)));
            }
        }
        found
    }
}

/// What is known whichever of two ways a thread came.
fn met(a: &LockHolds, b: &LockHolds) -> LockHolds {
    let both = |(word, one): (&usize, &Hold)| {
        let other = b.get(word)?;
        let hold = Hold {
            is_certain: one.is_certain && other.is_certain,
            is_acquired: one.is_acquired && other.is_acquired,
            is_fenced: one.is_fenced && other.is_fenced,
        };
        Some((*word, hold))
    };
    a.iter().filter_map(both).collect()
}
