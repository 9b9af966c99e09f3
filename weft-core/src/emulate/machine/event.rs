//! What the machine tells, as it happens.

use super::memory_order::{Ordering, Scope};
use crate::emulate::facts::alias::AliasClass;
use crate::emulate::facts::counters::CounterIndex;
use crate::emulate::memory::region::MemoryRegion;
use crate::emulate::sync::barrier::{BarrierId, BarrierNeed, Misuse};
use crate::emulate::value::lane::LaneMask;
use crate::emulate::value::origin::Origin;
use crate::emulate::value::register::Value;
use crate::emulate::value::symbolics::Symbolics;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{BlockId, Pc, PlaceId};
use crate::ptx::Space;

/// How an access acts on memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(clippy::struct_excessive_bools, reason = "independent properties of PTX's memory model")]
pub struct AccessKind {
    /// It may write.
    pub writes: bool,
    /// Read and write are one.
    pub is_atomic: bool,
    /// Its semantics.
    pub ordering: Ordering,
    /// The threads that it is strong for.
    pub scope: Scope,
    /// It lies under an open condition and may not happen.
    pub may_execute: bool,
    /// It stands elsewhere for an access at another address: it conflicts only with accesses that are there themselves.
    pub is_shadow_copy: bool,
    /// Bytes of an element: strong accesses of different sizes do not protect each other (PTX ISA §8.7).
    pub element: u8,
}

impl AccessKind {
    /// Strong in the sense of PTX ISA §8.4: relaxed, acquire, release, volatile or atomic.
    pub const fn is_strong(self) -> bool {
        self.ordering.is_strong()
    }

    /// Whether it is strong for no thread of another group of ctas.
    pub const fn is_cta_scoped(self) -> bool {
        self.scope.is_within_group()
    }
}

/// One access instruction of a warp.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// The warp, by its place in the cta.
    pub warp: WarpId,
    /// The lanes that access.
    pub lanes: LaneMask,
    /// The instruction.
    pub pc: Pc,
    /// `Shared` or `Global`.
    pub space: Space,
    /// First byte within the space, by lane; known in all of `lanes`.
    pub addresses: &'a Value,
    /// Bytes of a lane, all elements of a vector together.
    pub bytes: u32,
    /// How it acts.
    pub kind: AccessKind,
    /// Whether it reads.
    pub reads: bool,
    /// The elements stored, by lane, if the slice keeps them.
    pub stored: &'a [Value],
    /// Where the open value comes from on which it depends whether it happens, or happens there.
    pub condition: Option<Origin>,
    /// The variable in shared memory that all lanes access, by index of the program's symbols.
    pub variable: Option<usize>,
    /// Whether the addresses are made up, so that accesses at open addresses can be compared.
    pub is_representative: bool,
    /// Where it is compared with accesses at open addresses; `None`: nowhere.
    pub class: Option<AliasClass>,
    /// Whether what it reads decides something.
    pub decides: bool,
}

/// An access at an open address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpenAccess {
    /// The instruction.
    pub pc: Pc,
    /// The memory in which the address lies.
    pub region: MemoryRegion,
    /// How it acts.
    pub kind: AccessKind,
    /// Where the address comes from.
    pub origin: Option<Origin>,
    /// Where it is compared with others of its region; `None`: nowhere.
    pub class: Option<AliasClass>,
    /// The tickets that it is indexed with: others of the same queue are apart, or compared.
    pub index: Option<CounterIndex>,
}

/// What is wrong with an access by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// No variable, no buffer and no dynamic shared memory lies there.
    OutOfBounds,
    /// Its address is not a multiple of its size.
    Misaligned,
    /// It reads what nothing wrote, and a branch, an address or a barrier depends on it here.
    Uninitialized(PlaceId),
    /// It writes to constant memory or to the kernel's parameters.
    ReadOnly,
    /// It is none: the thread aborts the launch here.
    Trapped(PlaceId),
}

/// An access that is wrong by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// The instruction.
    pub pc: Pc,
    /// The warp.
    pub warp: WarpId,
    /// The first such lane.
    pub lane: usize,
    /// `Shared` or `Global`; `Const` or `Param` of a write to what may only be read.
    pub space: Space,
    /// First byte within the space, if it is known.
    pub address: Option<u64>,
    /// Bytes.
    pub bytes: u32,
    /// How it acts.
    pub access: AccessKind,
    /// Where the open condition that it lies under comes from.
    pub condition: Option<Origin>,
}

/// Lanes execute a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// Their warp.
    pub warp: WarpId,
    /// The lanes.
    pub lanes: LaneMask,
    /// The instruction.
    pub pc: Pc,
    /// Its semantics.
    pub ordering: Ordering,
    /// The threads that it is strong for.
    pub scope: Scope,
    /// It lies under an open condition and might not happen.
    pub may_execute: bool,
}

/// A warp arrives at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The warp.
    pub warp: WarpId,
    /// The barrier's name.
    pub barrier: BarrierId,
    /// Whether it waits for the generation (`sync`, `red`) or goes on (`arrive`).
    pub waits: bool,
    /// The instruction.
    pub pc: Pc,
}

/// A warp arrives at an aligned barrier after some of its lanes have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierExit {
    /// The warp.
    pub warp: WarpId,
    /// The lanes that have ended.
    pub ended: LaneMask,
    /// The barrier instruction.
    pub pc: Pc,
}

/// A round of a loop in a cta, from a branch that may leave the loop on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Iteration {
    /// The branch.
    pub branch: BlockId,
    /// How often the warp has come to the loop.
    pub entry: u32,
    /// From 1.
    pub number: u32,
}

/// Receives events in the order in which they happen.
pub trait Events {
    /// Lanes access shared or global memory.
    fn access(&mut self, access: &Access<'_>, symbolics: &Symbolics);
    /// Lanes access shared or global memory at addresses that are open: within the buffer of an argument, or anywhere.
    fn open_access(&mut self, warp: WarpId, lanes: LaneMask, access: OpenAccess);
    /// A lane accesses where nothing is, or misaligned.
    fn fault(&mut self, fault: Fault);
    /// Lanes execute a fence.
    fn fence(&mut self, fence: Fence);
    /// These lanes of a warp have synchronized with each other.
    fn converge(&mut self, warp: WarpId, lanes: LaneMask);
    /// A warp arrives.
    fn arrive(&mut self, arrival: Arrival);
    /// A warp arrives at an aligned barrier after some of its lanes have ended.
    fn barrier_exit(&mut self, exit: BarrierExit);
    /// Lanes of a warp executed this branch at different times: some of them might have gone around an aligned barrier
    /// that others wait at.
    fn possible_bypass(&mut self, branch: PlaceId);
    /// The generation of a barrier is complete.
    fn complete(&mut self, barrier: BarrierId);
    /// A warp begins a round of a loop.
    fn iteration(&mut self, warp: WarpId, round: Iteration);
    /// Lanes end.
    fn exit(&mut self, warp: WarpId, lanes: LaneMask);
}

/// What the machine has to know of the order of what it has emitted.
pub trait OrderQuery {
    /// Whether everything that warps did before this iteration happens before everything that `warp` will still do.
    fn is_separated(&self, warp: WarpId, iteration: Iteration) -> bool;
}

/// What was open where it had to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DoubtKind {
    /// The condition of a branch, or the guard of an access or barrier.
    Branch,
    /// An address that may lie in any state space.
    Address,
    /// A barrier's name or count, or the mask of a warp instruction.
    Barrier,
    /// An instruction whose effect is not modelled.
    Unsupported,
    /// Whether lanes meet that exchange values at two instructions.
    ExchangeMask,
    /// The target of a jump or call: it is none of those that are named.
    Target,
    /// More instructions than the limit.
    Fuel,
    /// More registers than the limit.
    Registers,
    /// More contents of memory than are kept.
    Memory,
}

impl DoubtKind {
    /// Whether a limit of the check was reached: no other warp or cta is run.
    pub const fn is_limit(self) -> bool {
        matches!(self, Self::Fuel | Self::Memory)
    }

    /// Whether it was the limit of memory.
    pub const fn is_memory(self) -> bool {
        matches!(self, Self::Memory)
    }
}

/// Why the machine could not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Doubt {
    /// What was open.
    pub kind: DoubtKind,
    /// Where.
    pub place: PlaceId,
    /// Where the value comes from.
    pub origin: Option<Origin>,
    /// The branch or guard whose open condition, once decided, lets the machine go on.
    pub split: Option<PlaceId>,
}

impl Doubt {
    /// Whether an instruction is the reason, so that nothing that the launch gives lets the machine go on.
    pub(super) const fn is_unsupported(&self) -> bool {
        matches!(self.kind, DoubtKind::Unsupported)
            || matches!(self.origin, Some(Origin::Unsupported(_)))
    }
}

/// Lanes that wait in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Their warp.
    pub warp: WarpId,
    /// The lanes.
    pub lanes: LaneMask,
    /// What they wait at.
    pub pc: Pc,
    /// The barrier's name and what it still needs; `None` at a warp-level instruction, and at a barrier that no warp has
    /// arrived at yet.
    pub barrier: Option<(BarrierId, BarrierNeed)>,
}

/// Why threads do not reach a barrier together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divergence {
    /// Lanes of one warp stand at different barriers, one of them `.aligned`.
    Lanes,
    /// Threads of the cta stand at different barrier instructions (ESOP'13 §3.2, B1).
    Barriers,
    /// They stand at one barrier in different iterations of a loop around it (B2).
    Iterations,
    /// Some threads have ended.
    Ended,
    /// Lanes of one warp went around an aligned barrier that others of it wait at: at this branch, or where the barrier
    /// has a guard at the barrier itself.
    Bypassed(Option<PlaceId>),
}

/// Threads at a barrier, or that should be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DivergedThreads {
    /// Their warp.
    pub warp: WarpId,
    /// Their lanes.
    pub lanes: LaneMask,
    /// The instruction.
    pub pc: Pc,
    /// Its block: another for each call of its function.
    pub block: BlockId,
    /// The iteration of each loop around it, from 0, outermost first.
    pub iterations: Vec<u32>,
}

/// How the run of a cta ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All threads ended.
    Finished,
    /// No thread can run and not all have ended.
    Deadlock(Vec<Stuck>),
    /// A barrier was used wrongly.
    Misuse {
        /// How.
        misuse: Misuse,
        /// By which warp.
        warp: WarpId,
        /// By its lanes.
        lanes: LaneMask,
        /// Where.
        pc: Pc,
    },
    /// Threads that must reach a barrier together do not.
    Diverged {
        /// Why not.
        divergence: Divergence,
        /// Two of the groups of threads; one where the others have ended. Those that went around a barrier stand where
        /// they did something observable.
        sides: Vec<DivergedThreads>,
    },
    /// Lanes execute a warp instruction whose mask does not hold them.
    Mask {
        /// The warp.
        warp: WarpId,
        /// The lanes left out.
        lanes: LaneMask,
        /// Where.
        pc: Pc,
    },
    /// The machine could not go on.
    Undecided(Doubt),
}
