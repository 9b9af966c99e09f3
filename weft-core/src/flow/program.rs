//! A kernel ready to run: names resolved, device functions linked in, blocks in sort order.
//!
//! Invariants: blocks are numbered in the sort order of ESOP'13 §4 and laid out in it, so the least block is the least
//! number; the last block is the only one that ends the thread, and it is empty; an instruction that waits for other
//! threads (a barrier, or an exchange with `.sync`) is the last of its block; every register index is below `registers`.
//!
//! A function that is linked in once for several calls has its instructions once, and blocks of its own for each path of
//! calls: blocks either share all their instructions or none. Inside a loop's span stand also the blocks of functions
//! called in it that lead only to the end of the thread; they are not in the loop.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use smallvec::SmallVec;

use super::addresses::SHARED_SLOT;
use super::declared::{Field, Param, Params, Symbol};
use super::placement::Placement;
use crate::ptx::isa::{Decoded, Effect, Modifier};
use crate::ptx::{Space, Span};

/// A register of the linked program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reg(pub u32);

/// A block, by its place in the sort order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub u32);

/// An instruction, by its place in `Program::code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pc(pub u32);

impl Reg {
    /// As an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl BlockId {
    /// As an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Pc {
    /// As an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A predicate that enables lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The predicate register.
    pub register: Reg,
    /// Whether lanes are enabled where it is false.
    pub negated: bool,
}

/// A special register or a value that only the hardware knows (PTX ISA §10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the manual's; dimensions count from 0")]
pub enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    Laneid,
    LanemaskEq,
    LanemaskLe,
    LanemaskLt,
    LanemaskGe,
    LanemaskGt,
    DynamicSharedSize,
    /// A clock, an SM number, a warp's slot in the SM, an environment register: open.
    Other,
}

/// Something an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A register.
    Register(Reg),
    /// A complemented predicate.
    Not(Reg),
    /// 64 bits; literals of a float instruction are already of its type.
    Constant(u64),
    /// The address of a variable in its space, plus an offset.
    Variable {
        /// Where the variable lies.
        space: Space,
        /// Its first byte.
        first: u64,
        /// In bytes.
        offset: i64,
    },
    /// A special register.
    Special(Special),
    /// Something whose value is not modelled.
    Opaque,
    /// What a register holds that nothing wrote.
    Unset,
}

/// The address of an access, in bytes of its space: `base + offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// Where it points; `Local` holds the parameters of linked functions too, `Param` is the kernel's own bank.
    pub space: Space,
    /// Added to the offset.
    pub base: Option<Reg>,
    /// Symbol and constant together.
    pub offset: u64,
}

impl Address {
    /// The byte of local memory that the text names without a register, if it does. Addresses there have 32 bits.
    pub const fn named_local(&self) -> Option<u64> {
        match (self.space, self.base) {
            (Space::Local, None) => Some(self.offset & 0xffff_ffff),
            _ => None,
        }
    }
}

/// What an instruction does.
#[derive(Clone, Debug)]
pub enum Operation {
    /// An instruction of the table; the same mnemonics share it.
    Known(Arc<Decoded>),
    /// One that the table does not know, or whose modifiers it does not know.
    Unknown,
    /// A call that cannot be linked in, of the function or through the register with this name.
    Call(Span, Unlinked),
    /// A call of a function of the CUDA system, with this name, that touches no memory of the kernel: its results are
    /// open.
    External(Span),
}

/// Why a call is not linked in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlinked {
    /// The function has no body in the module.
    NoBody,
    /// It leads back to a function that is being called.
    Recursive,
    /// Too many calls are within each other.
    TooDeep,
    /// Which functions may be called through the register is not known.
    NoTargets,
}

/// Registers written; mostly one.
pub(super) type Dests = SmallVec<[Option<Reg>; 2]>;

/// An instruction with its operands sorted by what happens to them.
#[derive(Clone, Debug)]
pub struct Instr {
    /// What it does.
    pub operation: Operation,
    /// Enables lanes.
    pub guard: Option<Condition>,
    /// Registers written, in order; `None` where the result is discarded.
    pub dests: Dests,
    /// Operands read, in order, vectors taken apart; the address is apart.
    pub sources: Box<[Operand]>,
    /// The address of an access.
    pub address: Option<Address>,
    /// Where it stands.
    pub place: PlaceId,
}

impl Instr {
    /// What it does to the state.
    pub fn effect(&self) -> Effect {
        match &self.operation {
            Operation::Known(decoded) => decoded.row.effect,
            Operation::External(_) => Effect::Opaque,
            Operation::Unknown | Operation::Call(..) => Effect::Asynchronous,
        }
    }

    /// The instruction of the table.
    pub fn decoded(&self) -> Option<&Decoded> {
        match &self.operation {
            Operation::Known(decoded) => Some(decoded),
            _ => None,
        }
    }

    /// Every register it reads, its guard included.
    pub fn reads(&self) -> impl Iterator<Item = Reg> {
        let sources = self.sources.iter().filter_map(|operand| match operand {
            Operand::Register(register) | Operand::Not(register) => Some(*register),
            _ => None,
        });
        sources.chain(self.address_and_guard())
    }

    /// The registers that decide whether and where it accesses memory.
    pub fn address_and_guard(&self) -> impl Iterator<Item = Reg> {
        let base = self.address.and_then(|address| address.base);
        base.into_iter().chain(self.guard.map(|guard| guard.register))
    }

    /// Whether it is a cta barrier that all lanes of a warp must execute together: `bar.X` means `barrier.X.aligned`.
    pub fn is_aligned_barrier(&self) -> bool {
        self.decoded().is_some_and(|decoded| {
            let is_bar = !decoded.row.pattern.starts_with("barrier");
            decoded.row.effect == Effect::Barrier
                && (is_bar || decoded.modifiers.has(Modifier::Aligned))
        })
    }

    /// Whether it waits for other threads. Exchanges before PTX 6.0, without `.sync`, take the lanes that are there.
    pub fn waits(&self) -> bool {
        match &self.operation {
            Operation::Known(decoded) => match decoded.row.effect {
                Effect::Barrier | Effect::WarpBarrier => true,
                Effect::Exchange => decoded.modifiers.has(Modifier::Sync),
                _ => false,
            },
            _ => false,
        }
    }
}

/// An index into `Program::places`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlaceId(pub u32);

/// Where an instruction stands in the PTX and which source lines it came from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// In the PTX.
    pub span: Span,
    /// `(file, line, column)`, innermost first.
    pub source: Vec<(u32, u32, u32)>,
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Terminator {
    /// Always on to the same block.
    Goto(BlockId),
    /// Where the condition enables, to `taken`.
    Branch {
        /// Who goes to `taken`.
        condition: Condition,
        /// Where enabled lanes go.
        taken: BlockId,
        /// Where the others go.
        otherwise: BlockId,
    },
    /// `brx.idx`: by the index.
    Switch {
        /// The index; out of range is undefined.
        index: Operand,
        /// By index.
        targets: Box<[BlockId]>,
    },
    /// The thread ends.
    End,
}

impl Terminator {
    /// Every block it may go to.
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
    /// Where it goes.
    pub terminator: Terminator,
    /// Where the terminator stands.
    pub place: PlaceId,
    /// The block that every path from here to the end of the thread passes next; `None` for the last block.
    pub post_dominator: Option<BlockId>,
    /// The same for threads that do not trap.
    pub merge: Option<BlockId>,
    /// Whether threads that it leads to the end abort the launch.
    pub traps: bool,
    /// The headers of the natural loops that hold it, outermost first; its own if it is one.
    pub loops: Box<[BlockId]>,
}

/// What a register holds, joined over all its definitions. `Nothing` is the least, `Mixed` the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Nothing wrote it so far.
    Nothing,
    /// A parameter's value, plus numbers: by position, those that are structures by field behind the last parameter.
    Param(usize),
    /// One of several parameters' values plus numbers, or null.
    Params(Params),
    /// The address of a variable, by index of the program's symbols, plus numbers. Dynamic shared memory is one
    /// variable, whatever names it has.
    Variable(usize),
    /// Zero, which may be the null pointer.
    Null,
    /// The result of arithmetic that no address comes out of by itself: a product, a shift, a constant. A sum of such
    /// numbers might be one, put together of its halves.
    Number,
    /// Anything else: it may be an address of something else.
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
    /// Variables of all spaces that have an address.
    pub symbols: Vec<Symbol>,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// What is loaded of structures, numbered from behind the last parameter on; those of eight bytes first.
    pub fields: Vec<Field>,
    /// Parameters that are taken for pointers since addresses might come from them, though none surely does; fields behind
    /// the last parameter.
    pub guessed: BTreeSet<usize>,
    /// Places of instructions.
    pub places: Vec<Place>,
    /// Bytes of static shared memory, up to where dynamic shared memory would follow.
    pub static_shared: u64,
    /// Where variables and buffers lie.
    pub placement: Placement,
    /// Where the first instruction runs.
    pub entry: BlockId,
    /// By header: the first and the last block of a loop.
    pub spans: BTreeMap<BlockId, (BlockId, BlockId)>,
    /// What each register holds, by all its definitions.
    pub holds: Vec<Holds>,
    /// What loops add to registers that they only add to.
    pub steps: super::InductionSteps,
    /// The atomics that give registers of loops their values.
    pub fetches: super::Fetches,
    /// Registers that loops step once in every round.
    pub even: super::Even,
    /// Registers that each iteration of a loop computes from what the loop does not define.
    pub invariant: super::Chains,
    /// Registers that loops compute from what others hold when an iteration begins.
    pub derived: super::Chains,
    /// Whether a cycle has several entries, so that the sort order is that of a depth-first search.
    pub is_irreducible: bool,
}

impl Program {
    /// Whether a parameter or field holds an address of global memory.
    pub fn is_pointer(&self, at: usize) -> bool {
        match self.params.get(at) {
            Some(param) => param.is_pointer(),
            None => self.field(at).is_some_and(|field| field.is_pointer),
        }
    }

    /// The parameter or field that is these bytes of the bank and may be a pointer.
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

    /// The field with this number.
    pub fn field(&self, at: usize) -> Option<&Field> {
        self.fields.get(at.checked_sub(self.params.len())?)
    }

    /// Whether the kernel declares dynamic shared memory.
    pub fn has_dynamic_shared(&self) -> bool {
        self.symbols.iter().any(Symbol::is_dynamic)
    }

    /// The instructions of a block.
    pub fn instructions(&self, block: BlockId) -> impl Iterator<Item = (Pc, &Instr)> {
        let block = &self.blocks[block.index()];
        (block.first.0..block.end.0).map(|pc| (Pc(pc), &self.code[pc as usize]))
    }

    /// Whether a block is the header of a loop, which is then the innermost that holds it.
    pub fn is_header(&self, block: BlockId) -> bool {
        self.blocks[block.index()].loops.last() == Some(&block)
    }

    /// The blocks of a loop, ascending.
    pub fn blocks_in(&self, header: BlockId) -> impl Iterator<Item = BlockId> {
        let span = self.spans.get(&header).map(|(first, last)| first.0..last.0 + 1);
        let is_in = move |at: &BlockId| self.blocks[at.index()].loops.contains(&header);
        span.unwrap_or(0..0).map(BlockId).filter(is_in)
    }

    /// The variable of a space with this first byte, by index of the symbols.
    pub(super) fn variable_at(&self, space: Space, first: u64) -> Option<usize> {
        self.symbols
            .iter()
            .position(|variable| variable.space == space && variable.address == first)
    }

    /// The variable of this space that a register holds an address in, by index of the symbols.
    pub fn variable_of(&self, space: Space, register: Reg) -> Option<usize> {
        match self.holds[register.index()] {
            Holds::Variable(at) if self.symbols[at].space == space => Some(at),
            _ => None,
        }
    }

    /// The first and the last byte of a variable in its space. Dynamic shared memory lies behind all others.
    pub fn extent_of(&self, variable: usize) -> (u64, u64) {
        let symbol = &self.symbols[variable];
        let last = if symbol.is_dynamic() {
            u64::MAX
        } else {
            symbol.address.saturating_add(symbol.size - 1)
        };
        (symbol.address, last)
    }

    /// The variable in shared memory that holds all these bytes, by index of the symbols.
    pub fn shared_variable(&self, first: u64, end: u64) -> Option<usize> {
        let holds = |variable: &Symbol| match variable.size {
            _ if variable.space != Space::Shared => false,
            0 => variable.address <= first && first - variable.address < SHARED_SLOT,
            size => variable.address <= first && end <= variable.address + size,
        };
        self.symbols.iter().position(holds)
    }

    /// The place of an instruction.
    pub fn place(&self, pc: Pc) -> &Place {
        &self.places[self.code[pc.index()].place.0 as usize]
    }
}
