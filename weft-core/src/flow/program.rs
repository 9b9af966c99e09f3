//! The program: a kernel that is ready to run, with names resolved, device functions linked in, and blocks in sort order.
//!
//! Invariants: blocks are numbered in the sort order of ESOP'13 §4 and stored in it, so that the first of several blocks is
//! the one with the least number; the last block is the only one that ends the thread, and it is empty; an instruction that
//! waits for other threads (a barrier, or an exchange with `.sync`) is the last of its block; registers are below `registers`.
//!
//! A function that is linked in once for several calls has its instructions once, and blocks of its own for each path
//! of calls: two blocks share either all their instructions or none. The span of a loop also contains blocks of
//! functions called in it that lead only to the end of the thread; they do not belong to the loop.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use smallvec::SmallVec;

use super::addresses::SHARED_SLOT;
use super::buffers::StatedBuffers;
use super::declared::{Clusters, Field, Param, Params, Symbol};
use super::dominators::immediate_dominators;
use super::placement::Placement;
use super::special::Special;
use crate::ptx::isa::{Decoded, Effect, Modifier};
use crate::ptx::{Space, Span};

/// A register of the linked program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reg(pub u32);

/// A block, identified by its position in the sort order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub u32);

/// An instruction, identified by its position in `Program::code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pc(pub u32);

impl Reg {
    /// Returns the number as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl BlockId {
    /// Returns the block at an index.
    pub fn at(index: usize) -> Self {
        Self(u32::try_from(index).expect("a program has fewer blocks"))
    }

    /// Returns the number as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Pc {
    /// Returns the instruction at an index.
    pub fn at(index: usize) -> Self {
        Self(u32::try_from(index).expect("a program has fewer instructions"))
    }

    /// Returns the number as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A predicate that enables lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The predicate register.
    pub register: Reg,
    /// Whether lanes are enabled where the predicate is false.
    pub negated: bool,
}

impl Condition {
    /// Returns the condition as an operand.
    pub(super) const fn operand(self) -> Operand {
        if self.negated { Operand::Not(self.register) } else { Operand::Register(self.register) }
    }
}

/// Something an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A register.
    Register(Reg),
    /// A complemented predicate.
    Not(Reg),
    /// 64 bits; literals of a floating-point instruction are already converted to its type.
    Constant(u64),
    /// The address of a variable in its space, plus an offset.
    Variable {
        /// The state space of the variable.
        space: Space,
        /// The address of the variable's first byte.
        first: u64,
        /// Added to the address, in bytes.
        offset: i64,
    },
    /// A special register.
    Special(Special),
    /// Something whose value is not modelled.
    Opaque,
    /// The content of a register that nothing has written.
    Unset,
}

/// The address of an access, in bytes of its space: `base + offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The state space; `Local` also holds the parameters of linked functions, `Param` is the kernel's own parameter
    /// bank.
    pub space: Space,
    /// The register that is added to the offset, if any.
    pub base: Option<Reg>,
    /// The address of the symbol, if there is one, plus the constant.
    pub offset: u64,
}

impl Address {
    /// Returns the address in local memory, if the text names it without a register. Local addresses have 32 bits.
    pub const fn named_local(&self) -> Option<u64> {
        match (self.space, self.base) {
            (Space::Local, None) => Some(self.offset & 0xffff_ffff),
            _ => None,
        }
    }
}

/// The operation of an instruction.
#[derive(Clone, Debug)]
pub enum Operation {
    /// An instruction of the table; instructions with the same mnemonic share it.
    Known(Arc<Decoded>),
    /// An instruction that the table does not know, or that has a modifier that the table does not know.
    Unknown,
    /// A call that cannot be linked in; the span names the function, or the register that holds its address.
    Call(Span, Unlinked),
    /// A call of a function of the CUDA system, with this name, that accesses no memory of the kernel: its results are
    /// open.
    External(Span),
}

/// Why a call is not linked in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlinked {
    /// The function has no body in the module.
    NoBody,
    /// The call leads back to a function that is already being called.
    Recursive,
    /// Calls are nested too deeply.
    TooDeep,
    /// The functions that the register can hold are not known.
    NoTargets,
}

/// The registers that an instruction writes; mostly one.
pub(super) type Dests = SmallVec<[Option<Reg>; 2]>;

/// An instruction with its operands sorted by their role.
#[derive(Clone, Debug)]
pub struct Instr {
    /// Its operation.
    pub operation: Operation,
    /// The condition that enables lanes; `None`: all active lanes.
    pub guard: Option<Condition>,
    /// Registers written, in order; `None` where the result is discarded.
    pub dests: Dests,
    /// Operands read, in order; the parts of vectors are operands of their own, the address is not included.
    pub sources: Box<[Operand]>,
    /// The address of an access.
    pub address: Option<Address>,
    /// The place of the instruction in the PTX and the source.
    pub place: PlaceId,
}

impl Instr {
    /// Returns its effect on the state.
    pub fn effect(&self) -> Effect {
        match &self.operation {
            Operation::Known(decoded) => decoded.row.effect,
            Operation::External(_) => Effect::Opaque,
            Operation::Unknown | Operation::Call(..) => Effect::Asynchronous,
        }
    }

    /// Returns the decoded mnemonic, if the table knows the instruction.
    pub fn decoded(&self) -> Option<&Decoded> {
        match &self.operation {
            Operation::Known(decoded) => Some(decoded),
            _ => None,
        }
    }

    /// Returns every register that it reads, including its guard.
    pub fn reads(&self) -> impl Iterator<Item = Reg> {
        let sources = self.sources.iter().filter_map(|operand| match operand {
            Operand::Register(register) | Operand::Not(register) => Some(*register),
            _ => None,
        });
        sources.chain(self.address_and_guard())
    }

    /// Returns the registers that decide whether and where it accesses memory.
    pub fn address_and_guard(&self) -> impl Iterator<Item = Reg> {
        let base = self.address.and_then(|address| address.base);
        base.into_iter().chain(self.guard.map(|guard| guard.register))
    }

    /// Whether it is a cta barrier that all lanes of a warp must execute together: `bar.X` means `barrier.X.aligned`.
    pub fn is_aligned_barrier(&self) -> bool {
        self.decoded().is_some_and(|decoded| {
            let is_aligned = decoded.modifiers.has(Modifier::Aligned);
            match decoded.row.effect {
                Effect::ClusterBarrier => is_aligned,
                Effect::Barrier => is_aligned || !decoded.row.pattern.starts_with("barrier"),
                _ => false,
            }
        })
    }

    /// Whether it waits for other threads. Exchanges without `.sync`, from before PTX 6.0, do not.
    pub fn waits(&self) -> bool {
        use Effect::{Barrier, ClusterBarrier, Exchange, MbarrierWait, RegisterCount, WarpBarrier};
        self.decoded().is_some_and(|decoded| match decoded.row.effect {
            Barrier | ClusterBarrier | WarpBarrier | MbarrierWait => true,
            Exchange => decoded.modifiers.has(Modifier::Sync),
            RegisterCount => decoded.modifiers.has(Modifier::Inc),
            _ => decoded.is_allocation(),
        })
    }
}

/// An index into `Program::places`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlaceId(pub u32);

/// Where an instruction stands in the PTX and which source lines it came from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The text of the instruction in the PTX.
    pub span: Span,
    /// `(file, line, column)`, innermost first.
    pub source: Vec<(u32, u32, u32)>,
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Terminator {
    /// Always continues at the same block.
    Goto(BlockId),
    /// A conditional branch.
    Branch {
        /// The condition for `taken`.
        condition: Condition,
        /// The block where enabled lanes continue.
        taken: BlockId,
        /// The block where the other lanes continue.
        otherwise: BlockId,
    },
    /// `brx.idx`: continues at the target with the given index.
    Switch {
        /// The index; a value out of range is undefined behaviour.
        index: Operand,
        /// The target blocks by index.
        targets: Box<[BlockId]>,
    },
    /// The thread ends.
    End,
}

impl Terminator {
    /// Returns every block that can follow.
    pub fn successors(&self) -> Vec<BlockId> {
        match self {
            Self::Goto(next) => vec![*next],
            Self::Branch { taken, otherwise, .. } => vec![*taken, *otherwise],
            Self::Switch { targets, .. } => targets.to_vec(),
            Self::End => Vec::new(),
        }
    }
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its instructions: `first..end` of `Program::code`.
    pub first: Pc,
    /// One past its last instruction.
    pub end: Pc,
    /// How it ends.
    pub terminator: Terminator,
    /// The place of the terminator.
    pub place: PlaceId,
    /// The first block that every path from here to the end of the thread passes next; `None` for the last block.
    pub post_dominator: Option<BlockId>,
    /// The post-dominator if threads that trap are ignored: the block where the sides of a branch converge.
    pub merge: Option<BlockId>,
    /// Whether the threads that end in this block abort the launch.
    pub traps: bool,
    /// The headers of the natural loops that contain it, outermost first; if it is a header, it is the last of them.
    pub loops: Box<[BlockId]>,
}

/// What a register holds, joined over all its definitions. `Nothing` is the least, `Mixed` the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Nothing has written the register so far.
    Nothing,
    /// The value of a parameter plus numbers: by position, with fields of structures numbered after the last parameter.
    Param(usize),
    /// The value of one of several parameters plus numbers, or null.
    Params(Params),
    /// The address of a variable, by index of the program's symbols, plus numbers. Dynamic shared memory is one
    /// variable, whatever names it has.
    Variable(usize),
    /// Zero, which might be the null pointer.
    Null,
    /// The result of arithmetic that gives no address by itself: a product, a shift, a constant. A sum of such numbers
    /// might be an address that is composed of its halves.
    Number,
    /// Anything else: it might be an address of something else.
    Mixed,
}

/// A linked kernel.
#[derive(Clone, Debug)]
pub struct Program {
    /// Instructions, function by function, each in block order.
    pub code: Vec<Instr>,
    /// Blocks in sort order.
    pub blocks: Vec<Block>,
    /// Number of registers.
    pub registers: u32,
    /// The number of registers that each thread has on a device when the kernel starts, if the kernel states it.
    pub thread_registers: Option<u32>,
    /// Whether threads might order each other through memory.
    pub hands_over: bool,
    /// Variables of all spaces that have an address.
    pub symbols: Vec<Symbol>,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// The pieces of structures that are loaded, numbered after the last parameter; pieces of eight bytes come first.
    pub fields: Vec<Field>,
    /// Parameters that are treated as pointers because addresses might come from them, though no address certainly
    /// does; fields are numbered after the last parameter.
    pub guessed: BTreeSet<usize>,
    /// Places of instructions.
    pub places: Vec<Place>,
    /// Bytes of static shared memory, up to the address at which dynamic shared memory would follow.
    pub static_shared: u64,
    /// Where variables and buffers lie.
    pub placement: Placement,
    /// How its ctas are taken to form clusters.
    pub clusters: Clusters,
    /// The buffers that the launch states; none if the program is not that of a launch.
    pub buffers: StatedBuffers,
    /// The block where a thread begins.
    pub entry: BlockId,
    /// For each loop, by header, its first and its last block.
    pub spans: BTreeMap<BlockId, (BlockId, BlockId)>,
    /// What each register holds, joined over all its definitions.
    pub holds: Vec<Holds>,
    /// For the registers that a loop only adds to, the amounts that are added.
    pub steps: super::InductionSteps,
    /// For the registers of a loop that get their values from atomics, these atomics.
    pub fetches: super::Fetches,
    /// The registers that a loop steps exactly once in every iteration.
    pub even: super::SteppedOnce,
    /// The registers that each iteration of a loop computes from registers that the loop does not define.
    pub invariant: super::Chains,
    /// The registers that a loop computes from what other registers hold when an iteration begins.
    pub derived: super::Chains,
    /// Whether some cycle has several entries; the sort order then follows a depth-first search.
    pub is_irreducible: bool,
}

impl Program {
    /// Whether some instruction reads a special register.
    pub(crate) fn reads(&self, special: Special) -> bool {
        let mut sources = self.code.iter().flat_map(|instr| &instr.sources);
        sources.any(|source| matches!(source, Operand::Special(read) if *read == special))
    }

    /// Whether some instruction reads the index of the thread in this dimension, or the extent of its block.
    pub(crate) fn distinguishes_threads(&self, dimension: u8) -> bool {
        self.reads(Special::Tid(dimension)) || self.reads(Special::Ntid(dimension))
    }

    /// Whether some instruction reads the index of the cta in this dimension, or the extent of its grid.
    pub(crate) fn distinguishes_ctas(&self, dimension: u8) -> bool {
        self.reads(Special::Ctaid(dimension)) || self.reads(Special::Nctaid(dimension))
    }

    /// Whether a parameter or field holds an address of global memory.
    pub fn is_pointer(&self, at: usize) -> bool {
        match self.params.get(at) {
            Some(param) => param.is_pointer(),
            None => self.field(at).is_some_and(|field| field.is_pointer),
        }
    }

    /// Returns the parameter or field that occupies exactly these bytes of the bank, if its size is that of a pointer
    /// in some space.
    pub(super) fn parameter(&self, offset: u64, bytes: u64) -> Option<usize> {
        let is_it = |param: &Param| (param.offset, param.size) == (offset, bytes);
        let whole = |declared_param: &Param| {
            declared_param.is_scalar && matches!(bytes, 4 | 8) && is_it(declared_param)
        };
        let field =
            || self.fields.iter().position(|fields| (fields.offset, fields.size) == (offset, 8));
        let whole = self.params.iter().position(whole);
        whole.or_else(|| Some(self.params.len() + field().filter(|_| bytes == 8)?))
    }

    /// Returns the field with this number; numbers continue behind the last parameter.
    pub fn field(&self, at: usize) -> Option<&Field> {
        self.fields.get(at.checked_sub(self.params.len())?)
    }

    /// Whether the kernel declares dynamic shared memory.
    pub fn has_dynamic_shared(&self) -> bool {
        self.symbols.iter().any(Symbol::is_dynamic)
    }

    /// Returns the instructions of a block.
    pub fn instructions(&self, block: BlockId) -> impl Iterator<Item = (Pc, &Instr)> {
        let block = &self.blocks[block.index()];
        (block.first.0..block.end.0).map(|pc| (Pc(pc), &self.code[pc as usize]))
    }

    /// Whether a block is the header of a loop; that loop is then the innermost that contains the block.
    pub fn is_header(&self, block: BlockId) -> bool {
        self.blocks[block.index()].loops.last() == Some(&block)
    }

    /// Returns the immediate dominator of each block: the nearest one that every path from the entry to it passes; `None`
    /// for the entry and for blocks that no path leads to.
    pub(crate) fn dominators(&self) -> Vec<Option<BlockId>> {
        let successors = self
            .blocks
            .iter()
            .map(|block| block.terminator.successors().into_iter().map(BlockId::index).collect());
        let successors: Vec<Vec<usize>> = successors.collect();
        let found = immediate_dominators(&successors, self.entry.index());
        found.into_iter().map(|above| above.map(BlockId::at)).collect()
    }

    /// Returns the blocks of a loop, ascending.
    pub fn blocks_in(&self, header: BlockId) -> impl Iterator<Item = BlockId> {
        let span = self.spans.get(&header).map(|(first, last)| first.0..last.0 + 1);
        let is_in = move |at: &BlockId| self.blocks[at.index()].loops.contains(&header);
        span.unwrap_or(0..0).map(BlockId).filter(is_in)
    }

    /// Returns the symbol index of the variable of a space with this first byte.
    pub(super) fn variable_at(&self, space: Space, first: u64) -> Option<usize> {
        self.symbols
            .iter()
            .position(|variable| variable.space == space && variable.address == first)
    }

    /// Returns the symbol index of the variable of this space that a register holds an address in; `None` if the
    /// register holds something else.
    pub fn variable_of(&self, space: Space, register: Reg) -> Option<usize> {
        match self.holds[register.index()] {
            Holds::Variable(at) if self.symbols[at].space == space => Some(at),
            _ => None,
        }
    }

    /// Returns the first and the last byte of a variable in its space. Dynamic shared memory lies behind all other
    /// variables, without an end.
    pub fn extent_of(&self, variable: usize) -> (u64, u64) {
        let symbol = &self.symbols[variable];
        let last = if symbol.is_dynamic() {
            u64::MAX
        } else {
            symbol.address.saturating_add(symbol.size - 1)
        };
        (symbol.address, last)
    }

    /// Returns the symbol index of the shared variable that contains all these bytes.
    pub fn shared_variable(&self, first: u64, end: u64) -> Option<usize> {
        let holds = |variable: &Symbol| match variable.size {
            _ if variable.space != Space::Shared => false,
            0 => variable.address <= first && first - variable.address < SHARED_SLOT,
            size => variable.address <= first && end <= variable.address + size,
        };
        self.symbols.iter().position(holds)
    }

    /// Returns the place of an instruction.
    pub fn place(&self, pc: Pc) -> &Place {
        &self.places[self.code[pc.index()].place.0 as usize]
    }
}
