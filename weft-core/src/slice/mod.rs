//! Marks what branches, barrier operands and the addresses of shared and global accesses depend on: through registers,
//! predicates, control, and (flow-insensitively, a state space at a time, but for the words that the text names in
//! local memory) through memory. The rest never runs.
//!
//! A branch that decides nothing marked is replaced by a jump to where its sides meet again; a loop without accesses
//! and barriers is so taken to end.

mod control;
mod dependence;
mod locals;
mod temporary;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

pub use dependence::{Base, Beginning, Dependences};

use crate::flow::{BlockId, ByRegister, Instr, Operand, Pc, Program, Reg, Terminator};
use crate::ptx::Space;
use crate::ptx::isa::{Decoded, Effect};
use locals::Locals;

/// How much of an instruction runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keep {
    /// Nothing.
    #[default]
    Nothing,
    /// That it happens, and where: address, guard and barrier operands, but not the data.
    Event,
    /// That it has a result, which is left open.
    Open,
    /// All of it.
    Value,
}

/// What becomes of floating-point arithmetic, comparisons included, that something depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floats {
    /// It is computed.
    Computed,
    /// Its results are open, so that what leads to them need not run: what is proved then is so whatever it computes.
    Open,
}

/// What has to run.
#[derive(Clone, Debug)]
pub struct Slice {
    /// By instruction.
    pub keep: Vec<Keep>,
    /// By block: whether its branch is decided; otherwise it goes to its post-dominator.
    pub branches: Vec<bool>,
    /// By block: whether an aligned barrier lies between its branch and the branch's post-dominator.
    pub encloses: Vec<bool>,
    /// Whether the contents of memory are kept, by state space.
    pub contents: Contents,
    /// What becomes of floating-point arithmetic.
    pub floats: Floats,
    /// The instructions of which something runs, ascending; and by block its part of them.
    kept: Vec<Pc>,
    parts: Vec<Range<usize>>,
    /// By register: its place among those that something kept depends on, counted from 1; 0: nothing does.
    pub places: Arc<[u32]>,
    /// How many registers have a place.
    pub registers: u32,
    /// The last place of a register that blocks hand on. What those behind it hold is of no use in the next block, nor to
    /// lanes that do not run this one.
    pub lasting: u32,
}

/// Spaces whose contents decide something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Shared memory.
    pub shared: bool,
    /// Global memory.
    pub global: bool,
    /// Local memory and the parameters of linked functions.
    pub local: bool,
}

impl Contents {
    /// Whether those of a space decide something.
    pub const fn has(&self, space: Space) -> bool {
        match space {
            Space::Shared => self.shared,
            Space::Global => self.global,
            Space::Local => self.local,
            _ => false,
        }
    }

    fn of(&mut self, space: Space) -> Vec<&mut bool> {
        match space {
            Space::Shared => vec![&mut self.shared],
            Space::Local => vec![&mut self.local],
            Space::Global => vec![&mut self.global],
            Space::Generic => vec![&mut self.shared, &mut self.global, &mut self.local],
            _ => Vec::new(),
        }
    }
}

impl Slice {
    /// The instructions of a block of which something runs.
    pub fn kept(&self, block: BlockId) -> &[Pc] {
        &self.kept[self.parts[block.index()].clone()]
    }

    fn list(&mut self, program: &Program) {
        let all = (0..).map(Pc).zip(&self.keep);
        self.kept = all.filter(|(_, keep)| **keep != Keep::Nothing).map(|(pc, _)| pc).collect();
        let before = |end: Pc| self.kept.partition_point(|pc| *pc < end);
        self.parts =
            program.blocks.iter().map(|block| before(block.first)..before(block.end)).collect();
    }

    fn number(&mut self, needed: &[bool], is_temporary: &[bool]) {
        let mut places = vec![0; needed.len()];
        let mut number = |temporary: bool| {
            for at in (0..needed.len()).filter(|at| needed[*at] && is_temporary[*at] == temporary) {
                self.registers += 1;
                places[at] = self.registers;
            }
            self.registers
        };
        self.lasting = number(false);
        number(true);
        self.places = places.into();
    }

    /// Whether it leaves something open that could be computed.
    pub fn leaves_open(&self) -> bool {
        self.keep.contains(&Keep::Open)
    }
}

/// Marks a program. The values stored by the instructions of `widen` are kept as well.
pub fn mark(program: &Program, widen: &BTreeSet<Pc>, floats: Floats) -> Slice {
    let mut marker = Marker::new(program, floats);
    for at in 0..program.code.len() {
        let pc = Pc(u32::try_from(at).unwrap_or(u32::MAX));
        if is_observable(program, pc) || program.code[pc.index()].effect() == Effect::MemoryFence {
            marker.keep(pc, Keep::Event);
        }
        if widen.contains(&pc) {
            marker.keep(pc, Keep::Value);
        }
    }
    if marker.dependences.is_none() {
        (0..program.blocks.len()).for_each(|at| marker.keep_branch(block_id(at)));
    }
    marker.run();
    let mut slice = marker.slice;
    slice.list(program);
    slice.number(&marker.needed, &temporary::registers(program, &marker.first_of));
    slice
}

fn block_id(at: usize) -> BlockId {
    BlockId(u32::try_from(at).unwrap_or(u32::MAX))
}

/// Whether an instruction is an access or a barrier by itself.
pub fn is_observable(program: &Program, pc: Pc) -> bool {
    let instr = &program.code[pc.index()];
    let space = instr.address.map(|address| address.space);
    match instr.effect() {
        // Stores to what may only be read are none, which is to be told.
        Effect::Store | Effect::Atomic if matches!(space, Some(Space::Const | Space::Param)) => {
            true
        }
        Effect::Load | Effect::Store | Effect::Atomic => {
            matches!(space, Some(Space::Shared | Space::Global | Space::Generic))
        }
        Effect::Barrier | Effect::WarpBarrier | Effect::Exchange | Effect::Asynchronous => true,
        _ => false,
    }
}

struct Marker<'p> {
    program: &'p Program,
    slice: Slice,
    /// `None`: every branch is kept.
    dependences: Option<Vec<Vec<BlockId>>>,
    /// By instruction: the first one of its blocks.
    first_of: Vec<Pc>,
    /// Blocks by their first instruction, one for each path of calls; and of which the branches are kept.
    blocks_at: Vec<(Pc, BlockId)>,
    is_kept: Vec<bool>,
    needed: Vec<bool>,
    live_blocks: Vec<bool>,
    work: Vec<Reg>,
    contents_changed: bool,
    locals: Locals,
}

impl<'p> Marker<'p> {
    fn new(program: &'p Program, floats: Floats) -> Self {
        let mut first_of = vec![Pc(0); program.code.len()];
        let mut blocks_at = Vec::new();
        for (block, at) in
            program.blocks.iter().zip(0..).filter(|(block, _)| block.first < block.end)
        {
            first_of[block.first.index()..block.end.index()].fill(block.first);
            blocks_at.push((block.first, BlockId(at)));
        }
        blocks_at.sort_unstable();
        let dependences = control::dependences(program);
        let encloses = control::around_barriers(program, dependences.as_deref());
        Self {
            program,
            slice: Slice {
                keep: vec![Keep::Nothing; program.code.len()],
                branches: vec![false; program.blocks.len()],
                encloses,
                contents: Contents::default(),
                floats,
                kept: Vec::new(),
                parts: Vec::new(),
                places: Arc::default(),
                registers: 0,
                lasting: 0,
            },
            dependences,
            first_of,
            blocks_at,
            is_kept: vec![false; program.code.len()],
            needed: vec![false; program.registers as usize],
            live_blocks: vec![false; program.blocks.len()],
            work: Vec::new(),
            contents_changed: false,
            locals: Locals::of(program),
        }
    }

    fn run(&mut self) {
        let written = |instr: &'p Instr| instr.dests.iter().flatten().copied();
        let writers = ByRegister::of(self.program, written);
        let length = self.program.code.len();
        loop {
            if let Some(register) = self.work.pop() {
                for &pc in writers.of_register(register) {
                    self.keep(pc, self.of_result(pc));
                }
            } else if let Some(word) = self.locals.next_loaded() {
                for pc in self.locals.stores(word) {
                    self.keep(pc, Keep::Value);
                }
            } else if std::mem::take(&mut self.contents_changed) {
                (0..).map(Pc).take(length).for_each(|pc| self.keep_store(pc));
            } else {
                return;
            }
        }
    }

    /// How much of an instruction runs whose result is needed.
    fn of_result(&self, pc: Pc) -> Keep {
        let is_float =
            |decoded: &Decoded| decoded.is_float_arithmetic() || decoded.is_float_comparison();
        match self.slice.floats {
            Floats::Open if self.program.code[pc.index()].decoded().is_some_and(is_float) => {
                Keep::Open
            }
            _ => Keep::Value,
        }
    }

    /// A store into a space whose contents matter is kept with its data.
    fn keep_store(&mut self, pc: Pc) {
        let instr = &self.program.code[pc.index()];
        if matches!(instr.effect(), Effect::Store | Effect::Atomic)
            && let Some(address) = instr.address
            && !self.locals.is_of_no_use(instr)
            && self.slice.contents.of(address.space).into_iter().any(|kept| *kept)
        {
            self.keep(pc, Keep::Value);
        }
    }

    fn need(&mut self, register: Reg) {
        if !std::mem::replace(&mut self.needed[register.index()], true) {
            self.work.push(register);
        }
    }

    fn keep(&mut self, pc: Pc, keep: Keep) {
        if self.slice.keep[pc.index()] >= keep {
            return;
        }
        self.slice.keep[pc.index()] = keep;
        let program = self.program;
        let instr = &program.code[pc.index()];
        instr.address_and_guard().for_each(|register| self.need(register));
        let is_barrier = matches!(instr.effect(), Effect::Barrier | Effect::WarpBarrier);
        if keep == Keep::Value || is_barrier {
            instr.reads().for_each(|register| self.need(register));
        } else if let (Effect::Exchange, Some(Operand::Register(mask))) =
            (instr.effect(), instr.sources.last())
        {
            // The mask of an exchange stands last; the data that it moves may not matter.
            self.need(*mask);
        }
        if keep == Keep::Value
            && matches!(instr.effect(), Effect::Load | Effect::Atomic)
            && let Some(address) = instr.address
        {
            self.contents_changed |= self.locals.load(instr);
            for kept in self.slice.contents.of(address.space) {
                self.contents_changed |= !std::mem::replace(kept, true);
            }
        }
        let first = self.first_of[pc.index()];
        // Once for all instructions of a block: what is kept of them keeps the same branches.
        if std::mem::replace(&mut self.is_kept[first.index()], true) {
            return;
        }
        let mut at = self.blocks_at.partition_point(|(start, _)| *start < first);
        while let Some(&(_, block)) = self.blocks_at.get(at).filter(|(start, _)| *start == first) {
            self.keep_block(block);
            at += 1;
        }
    }

    /// Keeps the branches that decide whether a block runs, and those that decide whether they do. Branches may stand
    /// behind each other by the thousand, as asserts do, too many for a recursion.
    fn keep_block(&mut self, block: BlockId) {
        let mut work = vec![block];
        while let Some(block) = work.pop() {
            if std::mem::replace(&mut self.live_blocks[block.index()], true) {
                continue;
            }
            let Some(dependences) = &mut self.dependences else { continue };
            for branch in std::mem::take(&mut dependences[block.index()]) {
                self.keep_branch(branch);
                work.push(branch);
            }
        }
    }

    fn keep_branch(&mut self, branch: BlockId) {
        self.slice.branches[branch.index()] = true;
        match &self.program.blocks[branch.index()].terminator {
            Terminator::Branch { condition, .. } => self.need(condition.register),
            Terminator::Switch { index: Operand::Register(register), .. } => self.need(*register),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow;
    use crate::ptx;

    /// More than the stack of a test's thread would hold.
    const BRANCHES: usize = 30_000;

    #[test]
    fn a_barrier_may_stand_behind_any_number_of_branches() {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.entry k()\n{{\n.reg .pred %p<2>;\n\
             {}bar.sync 0;\nEND: ret;\n}}\n",
            "@%p1 bra END;\n".repeat(BRANCHES)
        );
        let module = ptx::parse(&text);
        let kernel = module.kernel("k").expect("the text declares it");
        let program = flow::build(&module, kernel).expect("it links");
        let slice = mark(&program, &BTreeSet::new(), Floats::Computed);
        assert_eq!(slice.branches.iter().filter(|kept| **kept).count(), BRANCHES);
    }
}
