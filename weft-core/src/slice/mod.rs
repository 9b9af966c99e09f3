//! Slicing: marks everything that branches, barrier operands and the addresses of shared and global accesses depend on.
//! Dependence goes through registers, predicates, control flow, and memory (flow-insensitively, one state space at a
//! time, except for the words that the text names in local memory). The rest never runs.
//!
//! A branch that decides nothing marked is replaced by a jump to the point where its sides converge. A loop without
//! accesses and barriers is thereby assumed to end.

mod control;
mod dependence;
mod locals;
mod temporary;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

pub use dependence::{AddressRequirement, Base, Dependences};

use crate::flow::{BlockId, ByRegister, Instr, Operand, Pc, Program, Reg, Terminator};
use crate::ptx::Space;
use crate::ptx::isa::{Decoded, Effect};
use locals::Locals;

/// How much of an instruction runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keep {
    /// Nothing runs.
    #[default]
    Nothing,
    /// It happens at an address: address, guard and barrier operands are computed, but not the data.
    Event,
    /// It has a result, which is left open.
    Open,
    /// All of it runs.
    Value,
}

/// How floating-point arithmetic, comparisons included, is treated that something kept depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floats {
    /// It is computed.
    Computed,
    /// Its results are open, so that its operands need not be computed: a proof then holds for all of its results.
    Open,
}

/// The parts of a program that have to run.
#[derive(Clone, Debug)]
pub struct Slice {
    /// How much of each instruction runs.
    pub keep: Vec<Keep>,
    /// For each block, whether its branch is decided; if not, the block continues at its post-dominator.
    pub branches: Vec<bool>,
    /// For each block, whether an aligned barrier lies between its branch and the branch's post-dominator.
    pub encloses: Vec<bool>,
    /// The state spaces whose contents are kept.
    pub contents: Contents,
    /// How floating-point arithmetic is treated.
    pub floats: Floats,
    /// The instructions that run at least in part, ascending; `parts` holds, for each block, the range of its
    /// instructions in this list.
    kept: Vec<Pc>,
    parts: Vec<Range<usize>>,
    /// For each register, its number among the registers that something kept depends on, counted from 1; 0 if nothing
    /// depends on it.
    pub places: Arc<[u32]>,
    /// The number of registers that something kept depends on.
    pub registers: u32,
    /// The last number of a register that is used across blocks. Registers with greater numbers are temporary: their
    /// values are of no use in the next block, nor to lanes that do not run the block.
    pub lasting: u32,
}

/// The state spaces whose contents decide something.
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
    /// Whether the contents of a space decide something.
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
    /// Returns the instructions of a block that run at least in part.
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

    /// Whether the slice leaves something open that could be computed.
    pub fn leaves_open(&self) -> bool {
        self.keep.contains(&Keep::Open)
    }
}

/// Computes the slice of a program. `widen`: instructions whose data are kept as well, such as stores whose values are
/// compared. `floats`: how floating-point arithmetic is treated.
pub fn mark(program: &Program, widen: &BTreeSet<Pc>, floats: Floats) -> Slice {
    let mut marker = Marker::new(program, floats);
    for at in 0..program.code.len() {
        let pc = Pc::at(at);
        let is_fence =
            program.hands_over && program.code[pc.index()].effect() == Effect::MemoryFence;
        if is_fence || is_observable(program, pc) {
            marker.keep(pc, Keep::Event);
        }
        if widen.contains(&pc) {
            marker.keep(pc, Keep::Value);
        }
    }
    if marker.dependences.is_none() {
        (0..program.blocks.len()).for_each(|at| marker.keep_branch(BlockId::at(at)));
    }
    marker.run();
    marker.keep_fences();
    let mut slice = marker.slice;
    slice.list(program);
    slice.number(&marker.needed, &temporary::registers(program, &marker.first_of));
    slice
}

/// Whether an instruction is itself an access or a barrier that the checker observes.
pub fn is_observable(program: &Program, pc: Pc) -> bool {
    let instr = &program.code[pc.index()];
    let space = instr.address.map(|address| address.space);
    match instr.effect() {
        // A store to read-only memory is a fault, which has to be reported.
        Effect::Store | Effect::Atomic if matches!(space, Some(Space::Const | Space::Param)) => {
            true
        }
        Effect::Load | Effect::Store | Effect::Atomic => {
            matches!(space, Some(Space::Shared | Space::Global | Space::Generic))
        }
        Effect::Barrier
        | Effect::ClusterBarrier
        | Effect::WarpBarrier
        | Effect::Exchange
        | Effect::CopyGroup
        | Effect::BulkCopy
        | Effect::Multiply
        | Effect::TensorMemory
        | Effect::TakeOver
        | Effect::Mbarrier
        | Effect::MbarrierWait
        | Effect::Asynchronous => true,
        Effect::ProxyFence => program.has_agents(),
        Effect::MemoryFence => program.publishes(),
        Effect::RegisterCount => program.thread_registers.is_some(),
        _ => false,
    }
}

struct Marker<'p> {
    program: &'p Program,
    slice: Slice,
    /// For each block, the branches that decide whether it runs; `None`: every branch is kept.
    dependences: Option<Vec<Vec<BlockId>>>,
    /// For each instruction, the first instruction of its block.
    first_of: Vec<Pc>,
    /// Blocks with their first instructions, ascending; a routine's block is there once for each path of calls.
    /// `is_kept`, by a block's first instruction: whether its branches are kept.
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

    /// Keeps the fences without a guard in blocks that run for another reason. Where threads cannot order each other by them, a
    /// fence alone keeps neither a branch nor a guard.
    fn keep_fences(&mut self) {
        for (at, instr) in self.program.code.iter().enumerate() {
            let runs = instr.guard.is_none() && self.is_kept[self.first_of[at].index()];
            if runs && instr.effect() == Effect::MemoryFence {
                self.slice.keep[at] = Keep::Event;
            }
        }
    }

    /// Returns how much of an instruction runs whose result is needed.
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

    /// Keeps a store with its data if it might write to a space whose contents matter.
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
        let is_barrier = matches!(
            instr.effect(),
            Effect::Barrier
                | Effect::WarpBarrier
                | Effect::BulkCopy
                | Effect::Multiply
                | Effect::TensorMemory
                | Effect::TakeOver
                | Effect::Mbarrier
                | Effect::MbarrierWait
                | Effect::RegisterCount
        );
        if keep == Keep::Value || is_barrier {
            instr.reads().for_each(|register| self.need(register));
        } else if let (Effect::Exchange, Some(Operand::Register(mask))) =
            (instr.effect(), instr.sources.last())
        {
            // The mask is the last operand of an exchange; the data that the exchange moves might not matter.
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
        // Done once for all instructions of a block, because they depend on the same branches.
        if std::mem::replace(&mut self.is_kept[first.index()], true) {
            return;
        }
        let mut at = self.blocks_at.partition_point(|(start, _)| *start < first);
        while let Some(&(_, block)) = self.blocks_at.get(at).filter(|(start, _)| *start == first) {
            self.keep_block(block);
            at += 1;
        }
    }

    /// Keeps the branches that decide whether a block runs, and those that these depend on. Thousands of branches can
    /// follow each other, as asserts do: too many for a recursion.
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

    /// More branches than the stack of a test's thread could hold.
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

    /// Returns how many branches are kept, and how many fences run.
    fn branches_and_fences(body: &str) -> (usize, usize) {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 p)\n{{\n.reg .pred %p<2>;\n\
             .reg .b64 %a;\n.reg .b32 %r;\nld.param.u64 %a, [p];\nld.global.u32 %r, [%a];\n\
             setp.ne.u32 %p1, %r, 0;\n{body}END: ret;\n}}\n"
        );
        let module = ptx::parse(&text);
        let kernel = module.kernel("k").expect("the text declares it");
        let program = flow::build(&module, kernel).expect("it links");
        let slice = mark(&program, &BTreeSet::new(), Floats::Computed);
        let runs = |pc: &Pc| program.code[pc.index()].effect() == Effect::MemoryFence;
        let fences = slice.kept.iter().filter(|pc| runs(pc)).count();
        (slice.branches.iter().filter(|kept| **kept).count(), fences)
    }

    #[test]
    fn a_fence_keeps_neither_a_branch_nor_a_guard() {
        assert_eq!(branches_and_fences("@%p1 bra END;\nmembar.gl;\n"), (0, 0));
        assert_eq!(branches_and_fences("@%p1 membar.gl;\n"), (0, 0));
        assert_eq!(
            branches_and_fences("@%p1 bra END;\nmembar.gl;\nst.global.u32 [%a], 1;\n"),
            (1, 1)
        );
    }
}
