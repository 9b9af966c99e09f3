//! The language of small kernels: statements, and the launch of a kernel.
//!
//! Every kernel has the same parameters (a number, a buffer of words, a buffer of bytes), two shared arrays, an array
//! in local memory, and the same registers.

/// A general register; [`Kernel::PRELUDE`] sets the first ones.
pub(crate) type Reg = usize;
/// A predicate.
pub(crate) type Pred = usize;

pub(crate) const REGS: usize = 8;
pub(crate) const PREDS: usize = 3;
/// Maximum nesting of loops. Each level has a counter, a limit and a predicate of its own.
pub(crate) const DEPTH: usize = 3;
pub(crate) const ALL_REGS: usize = REGS + 2 * DEPTH;
pub(crate) const ALL_PREDS: usize = PREDS + DEPTH;

/// The register that holds the thread's index in its cta.
pub(crate) const THREAD: Reg = 0;
/// The register that holds the argument.
pub(crate) const NUMBER: Reg = 1;
/// The register that holds the thread's index in the launch; consecutive ctas start eight apart.
pub(crate) const GLOBAL: Reg = 7;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    Reg(Reg),
    Const(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Sub,
    And,
    Xor,
    Mul,
    Min,
    Shl,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    Eq,
    Ne,
    Lt,
    Ge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Array {
    /// An array in shared memory.
    A,
    /// Another array in shared memory.
    B,
    /// The buffer of bytes: global memory.
    Out,
    /// The buffer of words: global memory.
    Data,
    /// An array in local memory.
    Local,
    /// The buffer of bytes if the predicate holds, otherwise the buffer of words.
    Either(Pred),
}

impl Array {
    /// Size in bytes; the buffer of words has the size that the launch states.
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Self::A | Self::B | Self::Out => 640,
            Self::Data | Self::Either(_) => 16,
            Self::Local => 64,
        }
    }

    /// Address of a shared array.
    pub(crate) const fn base(self) -> u32 {
        match self {
            Self::B => 640,
            _ => 0,
        }
    }

    pub(crate) const fn is_global(self) -> bool {
        matches!(self, Self::Out | Self::Data | Self::Either(_))
    }
}

/// The place of an access: byte `offset + ((index & mask) << shift)` of an array. Index and addresses of shared memory
/// have 32 bits; without a mask, the product has 64 bits for global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) array: Array,
    pub(crate) index: Operand,
    pub(crate) mask: u32,
    pub(crate) shift: u32,
    pub(crate) offset: u32,
    /// Whether the access uses a generic address.
    pub(crate) is_generic: bool,
}

impl What {
    /// Returns the place that the instruction accesses, if any.
    pub(crate) fn place_mut(&mut self) -> Option<&mut Place> {
        match self {
            Self::Load { place, .. }
            | Self::Store { place, .. }
            | Self::Atomic { place, .. }
            | Self::LoadPair { place, .. }
            | Self::StorePair { place, .. } => Some(place),
            _ => None,
        }
    }
}

impl Place {
    /// The mask that keeps all bits, which is not printed.
    pub(crate) const ALL: u32 = u32::MAX;

    /// Whether some of these bytes are outside of the shared array that the address starts from.
    pub(crate) fn strays(&self, address: u64, bytes: u32) -> bool {
        let first = u64::from(self.array.base());
        let size = u64::try_from(self.array.bytes()).expect("arrays are small");
        let is_within = first <= address && address + u64::from(bytes) <= first + size;
        matches!(self.array, Array::A | Array::B) && !is_within
    }

    /// Whether the shifted index exceeds 32 bits.
    pub(crate) const fn wraps(&self, index: u32) -> bool {
        let index = index & self.mask;
        !self.array.is_global() && index.leading_zeros() < self.shift
    }

    /// Returns the address of the first byte for this index, relative to the state space or the buffer.
    pub(crate) fn address(&self, index: u32) -> u64 {
        let offset = u64::from(self.offset);
        if self.array.is_global() && self.mask == Self::ALL {
            return (u64::from(index) << self.shift) + offset;
        }
        let scaled = (index & self.mask) << self.shift;
        if self.array.is_global() {
            return u64::from(scaled) + offset;
        }
        u64::from(scaled.wrapping_add(self.offset).wrapping_add(self.array.base()))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Use {
    Sync,
    Arrive,
    /// `bar.red.popc` of a predicate.
    Reduce,
    /// `bar.red.and`, into the predicate with the register's number.
    All,
    /// `bar.red.or`, into the predicate with the register's number.
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atomic {
    Add,
    /// `sub` is an `add` of the negated operand in PTX.
    Sub,
    Inc,
    Dec,
    Exch,
    Cas,
    Max,
    /// A relaxed store.
    Set,
    /// A relaxed load.
    Look,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Move(Reg, Operand),
    Compute(Reg, Binary, Operand, Operand),
    Test(Pred, Compare, Operand, Operand),
    Select(Reg, Operand, Operand, Pred),
    Load {
        dest: Reg,
        place: Place,
        bytes: u32,
    },
    Store {
        place: Place,
        bytes: u32,
        source: Operand,
    },
    Atomic {
        dest: Option<Reg>,
        operation: Atomic,
        place: Place,
        source: Operand,
        compare: Operand,
    },
    Barrier {
        how: Use,
        name: u32,
        count: Option<u32>,
        is_aligned: bool,
        dest: Reg,
        pred: Pred,
    },
    WarpSync {
        mask: u32,
    },
    /// `vote.sync.any`.
    Vote {
        dest: Pred,
        pred: Pred,
        mask: u32,
    },
    /// `shfl.sync.idx`.
    Shuffle {
        dest: Reg,
        source: Reg,
        lane: u32,
        mask: u32,
    },
    /// A vector load of two words.
    LoadPair {
        dests: [Reg; 2],
        place: Place,
    },
    StorePair {
        place: Place,
        sources: [Operand; 2],
    },
    /// `cp.async` from global to shared memory, of this size of the source if there is one.
    Copy {
        to: Place,
        from: Place,
        bytes: u32,
        size: Option<Operand>,
    },
    /// `cp.async.commit_group`.
    Commit,
    /// `cp.async.wait_group` with this number, or `cp.async.wait_all`.
    Wait(Option<u32>),
}

/// An instruction and its guard: a predicate, and whether it is negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instr {
    pub(crate) guard: Option<(Pred, bool)>,
    pub(crate) what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stmt {
    Do(Instr),
    If {
        pred: Pred,
        negated: bool,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    /// A loop of at most three iterations.
    Loop {
        count: Operand,
        tests_first: bool,
        body: Vec<Stmt>,
    },
    Return(Option<(Pred, bool)>),
    Break(Option<(Pred, bool)>),
    /// A jump to the label of this number, if the label comes later.
    Jump(Option<(Pred, bool)>, u32),
    Label(u32),
    /// A switch to one of four arms by the two lowest bits of a register.
    Switch {
        index: Reg,
        arms: [Vec<Stmt>; 4],
    },
}

/// How the check models results of atomics, as in the launch options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atomics {
    Auto,
    Abstract,
    Unique,
    Off,
}

/// A kernel and its launch, without the inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    pub(crate) block: usize,
    pub(crate) grid: usize,
    pub(crate) atomics: Atomics,
    /// Number of words in the buffer of words.
    pub(crate) words: usize,
    pub(crate) body: Vec<Stmt>,
}

impl Kernel {
    /// The initial values of registers.
    pub(crate) const PRELUDE: [What; 6] = [
        What::Compute(2, Binary::Xor, Operand::Reg(THREAD), Operand::Const(1)),
        What::Compute(3, Binary::Add, Operand::Reg(THREAD), Operand::Const(1)),
        What::Move(4, Operand::Const(1)),
        What::Test(0, Compare::Eq, Operand::Reg(THREAD), Operand::Const(0)),
        What::Test(1, Compare::Eq, Operand::Reg(NUMBER), Operand::Const(0)),
        What::Test(2, Compare::Lt, Operand::Reg(THREAD), Operand::Reg(NUMBER)),
    ];
}
