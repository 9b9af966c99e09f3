//! Events: what the machine emits while it runs a cta.

use super::copy_event::{BulkGroup, CopyAgent, CopyCommand, MbarrierEvent};
use super::memory_order::{MemoryOrder, MemoryScope, Ordering};
use crate::emulate::facts::alias::AliasClass;
use crate::emulate::facts::counters::CounterIndex;
use crate::emulate::facts::signals::{Signal, SignalKey};
use crate::emulate::memory::region::MemoryRegion;
use crate::emulate::sync::barrier::BarrierId;
use crate::emulate::sync::mbarrier::MbarrierId;
use crate::emulate::value::lane::LaneMask;
use crate::emulate::value::origin::Origin;
use crate::emulate::value::register::Value;
use crate::emulate::value::symbolics::Symbolics;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{BlockId, Pc, PlaceId};
use crate::ptx::Space;

/// How an access is performed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessManner {
    /// By its instruction, in program order.
    #[default]
    Plain,
    /// Its read and its write are one operation.
    Atomic,
    /// Its read and its write are one operation that no load or store is meant to meet: on an mbarrier object, or in the
    /// asynchronous proxy.
    AtomicApart,
    /// It is the read or the write of an asynchronous copy, which happens at any time from its instruction on until its
    /// thread has waited for it.
    Asynchronous,
}

/// How an access acts on memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(clippy::struct_excessive_bools, reason = "independent properties of PTX's memory model")]
pub struct AccessKind {
    /// Whether it writes. An atomic counts as a write, whatever it leaves.
    pub writes: bool,
    /// How its read and its write are performed.
    pub manner: AccessManner,
    /// Its ordering and scope.
    pub order: MemoryOrder,
    /// Whether it might not happen: it lies under an open condition, or its address is not certain.
    pub may_execute: bool,
    /// Whether it is a shadow copy of an access at another address. It conflicts only with accesses that are no shadow
    /// copies.
    pub is_shadow_copy: bool,
    /// Bytes of an element: strong accesses of different sizes do not protect each other (PTX ISA §8.7).
    pub element: u8,
}

impl AccessKind {
    /// Whether its read and its write are one operation.
    pub const fn is_atomic(self) -> bool {
        matches!(self.manner, AccessManner::Atomic | AccessManner::AtomicApart)
    }

    /// Whether it is a part of an asynchronous copy.
    pub const fn is_asynchronous(self) -> bool {
        matches!(self.manner, AccessManner::Asynchronous)
    }

    /// Whether it is strong in the sense of PTX ISA §8.4: relaxed, acquire, release, volatile or atomic.
    pub const fn is_strong(self) -> bool {
        self.order.is_strong()
    }

    /// Whether it is strong and not volatile: an atomic, or a load or store that states that it is relaxed, acquires or releases.
    pub const fn states_order(self) -> bool {
        self.is_strong() && !self.is_volatile()
    }

    /// Whether no load or store is meant to meet it.
    pub const fn is_apart(self) -> bool {
        matches!(self.manner, AccessManner::AtomicApart)
    }

    /// Whether it is volatile.
    pub const fn is_volatile(self) -> bool {
        matches!(self.order.ordering(), Ordering::Volatile)
    }

    /// Whether it is strong for no thread of another cluster.
    pub const fn is_cta_scoped(self) -> bool {
        self.order.scope().is_within_group()
    }
}

/// The lanes that issued what an agent does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Issuer {
    /// One lane of a warp.
    Lane(WarpId, u8),
    /// Each lane of a warp issued the part of the agent's lane of the same number.
    Lanes(WarpId),
}

/// One access: an instruction, executed by lanes of a warp at known or representative addresses.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each holds or not whatever the others are")]
pub struct Access<'a> {
    /// The warp, by its place in the cta, or an agent.
    pub warp: WarpId,
    /// For what an agent does, who issued it.
    pub issuer: Option<Issuer>,
    /// The lanes that access.
    pub lanes: LaneMask,
    /// The instruction.
    pub pc: Pc,
    /// `Shared` or `Global`.
    pub space: Space,
    /// First byte within the space, for each lane; known in all of `lanes`. In shared memory, the 32 bits above an address
    /// hold the rank of the cta.
    pub addresses: &'a Value,
    /// Bytes that each lane accesses, all elements of a vector together.
    pub bytes: u32,
    /// How it acts.
    pub kind: AccessKind,
    /// Whether it reads.
    pub reads: bool,
    /// The stored elements, each with its value in every lane; empty if the slice does not keep them.
    pub stored: &'a [Value],
    /// The origin of the open value that decides whether the access happens, or happens at this address; `None` if it
    /// surely does.
    pub condition: Option<Origin>,
    /// The variable in shared memory that all lanes access, as an index into the symbols of the program; `None` if
    /// there is not exactly one, or if it is not known.
    pub variable: Option<usize>,
    /// Whether these are representative addresses, at which accesses at open addresses are compared.
    pub is_representative: bool,
    /// The alias class with which it is compared; `None`: with none.
    pub class: Option<AliasClass>,
    /// Whether something that the slice keeps depends on what it reads.
    pub decides: bool,
    /// A signal of its cta that is the last one of the launch at its location, if a condition says so.
    pub seen: Option<Signal>,
    /// Whether all lanes access locations by which threads wait for each other.
    pub synchronizes: bool,
}

impl Access<'_> {
    /// The warp and lane of the thread that a lane's part belongs to: for an agent, of the one that issued it.
    pub fn thread(&self, lane: usize) -> (WarpId, usize) {
        match self.issuer {
            None => (self.warp, lane),
            Some(Issuer::Lane(warp, lane)) => (warp, lane.into()),
            Some(Issuer::Lanes(warp)) => (warp, lane),
        }
    }

    /// The lane that issued all of it; `None` if each lane issued its own part.
    pub fn only_issuer(&self) -> Option<(WarpId, u8)> {
        match self.issuer {
            Some(Issuer::Lane(warp, lane)) => Some((warp, lane)),
            _ => None,
        }
    }
}

/// An access at an open address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpenAccess {
    /// The instruction.
    pub pc: Pc,
    /// The region in which the address lies.
    pub region: MemoryRegion,
    /// How it acts.
    pub kind: AccessKind,
    /// The origin of the address.
    pub origin: Option<Origin>,
    /// The alias class, of its region, with which it is compared; `None`: with none.
    pub class: Option<AliasClass>,
    /// The counter index, if unique counter values index it: accesses with the same counter index are disjoint, or are
    /// compared.
    pub index: Option<CounterIndex>,
}

/// What is wrong with an access by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// No variable, no buffer and no dynamic shared memory lies there.
    OutOfBounds,
    /// Its address is not a multiple of its size.
    Misaligned,
    /// It reads memory that nothing wrote, and a branch, an address or a barrier at this place depends on what it
    /// reads.
    Uninitialized(PlaceId),
    /// It writes to constant memory or to the kernel's parameters.
    ReadOnly,
    /// An mbarrier object lies there, which only its own instructions can access.
    Object,
    /// No access, but the end of a thread that aborts the launch at this place.
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
    /// The first lane with this fault.
    pub lane: usize,
    /// `Shared` or `Global`; `Const` or `Param` for a write to read-only memory.
    pub space: Space,
    /// First byte within the space, if it is known.
    pub address: Option<u64>,
    /// Bytes that the lane accesses.
    pub bytes: u32,
    /// How it acts.
    pub access: AccessKind,
    /// The origin of the open value that decides whether the fault happens; `None` if it surely does.
    pub condition: Option<Origin>,
}

/// Lanes execute a fence. A fence with a guard, or in a block of which nothing else runs, is not emitted.
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
    pub scope: MemoryScope,
    /// Whether it is for the initializations of mbarrier objects alone (`fence.mbarrier_init`).
    pub is_of_inits: bool,
    /// Whether it lies under an open condition and might not happen.
    pub may_execute: bool,
    /// If that condition says no more than that a signal of its cta is the last one: the signal.
    pub seen: Option<Signal>,
}

/// A lane signals: it has executed an atomic on a location that signals, or stored a value for which others wait. This access was the last
/// event of the warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentSignal {
    /// The signal.
    pub signal: Signal,
    /// What others can wait for.
    pub key: SignalKey,
    /// The warp.
    pub warp: WarpId,
    /// The lane.
    pub lane: usize,
    /// The semantics and the scope of the atomic.
    pub order: MemoryOrder,
}

/// A lane goes on after it has waited for signals of other threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwaitedSignal {
    /// The warp.
    pub warp: WarpId,
    /// The lane.
    pub lane: usize,
    /// The semantics and the scope of the accesses by which it asked.
    pub order: MemoryOrder,
    /// What it waited for.
    pub key: SignalKey,
    /// The signals that come before that.
    pub before: Vec<SignalKey>,
}

/// Lanes execute a fence between the generic and the async proxy (PTX ISA §9.7.13.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProxyFence {
    /// Their warp.
    pub warp: WarpId,
    /// The lanes.
    pub lanes: LaneMask,
    /// Whether it lies under an open condition and might not happen.
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
    /// The lanes whose arrival is no `.relaxed` one: those that wait know then what these lanes did.
    pub releases: LaneMask,
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

/// An iteration of a loop in a cta, which begins at a branch that can leave the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Iteration {
    /// The branch.
    pub branch: BlockId,
    /// How often the warp has entered the loop.
    pub entry: u32,
    /// Number of the iteration, counted from 1.
    pub number: u32,
}

/// Receives events in the order in which they happen.
pub trait Events {
    /// Lanes access shared or global memory.
    fn access(&mut self, access: &Access<'_>, symbolics: &Symbolics);
    /// Lanes access shared or global memory at open addresses, somewhere in a region.
    fn open_access(&mut self, warp: WarpId, lanes: LaneMask, access: OpenAccess);
    /// A lane accesses memory wrongly, or aborts the launch.
    fn fault(&mut self, fault: Fault);
    /// Lanes group their asynchronous copies, or have waited for them.
    fn copies(
        &mut self,
        warp: WarpId,
        lanes: LaneMask,
        command: CopyCommand,
        symbolics: &Symbolics,
    );
    /// Lanes do something at an mbarrier object.
    fn mbarrier(&mut self, event: MbarrierEvent);
    /// An agent takes over a bulk copy. What it reads and writes is emitted next, as accesses of the agent.
    fn lend(&mut self, agent: CopyAgent);
    /// A lane makes a group of its bulk copies, or has waited for groups.
    fn bulk_group(&mut self, group: BulkGroup);
    /// Lanes execute a fence.
    fn fence(&mut self, fence: Fence);
    /// A lane signals.
    fn signal(&mut self, sent: SentSignal);
    /// A lane goes on after it has waited for signals.
    fn await_signal(&mut self, awaited: AwaitedSignal);
    /// Lanes execute a fence between the proxies.
    fn proxy_fence(&mut self, fence: ProxyFence);
    /// These lanes of a warp have synchronized with each other.
    fn converge(&mut self, warp: WarpId, lanes: LaneMask);
    /// Each of these lanes of a warp has waited for the others at an exchange, which orders no memory.
    fn meet(&mut self, warp: WarpId, lanes: LaneMask);
    /// A warp arrives.
    fn arrive(&mut self, arrival: Arrival);
    /// A warp arrives at an aligned barrier after some of its lanes have ended.
    fn barrier_exit(&mut self, exit: BarrierExit);
    /// Lanes of a warp executed this branch at different times: some of them might have bypassed an aligned barrier at
    /// which others wait.
    fn possible_bypass(&mut self, branch: PlaceId);
    /// The generation of a barrier is complete.
    fn complete(&mut self, barrier: BarrierId);
    /// A warp has waited for the last generation of the cluster's barrier, which is complete.
    fn see_cluster(&mut self, warp: WarpId);
    /// A warp begins an iteration of a loop.
    fn iteration(&mut self, warp: WarpId, iteration: Iteration);
    /// Lanes end.
    fn exit(&mut self, warp: WarpId, lanes: LaneMask);
}

/// Answers what the machine has to know about the order of the events that it has emitted.
pub trait OrderQuery {
    /// Whether everything that warps did before this iteration happens before everything that `warp` will still do.
    fn is_separated(&self, warp: WarpId, iteration: Iteration) -> bool;

    /// Returns those of some lanes that know that the phase before the current one of an mbarrier object is complete.
    fn knows_completion(&self, object: MbarrierId, warp: WarpId, lanes: LaneMask) -> LaneMask;
    /// Whether all of these lanes of a warp know that all the work of an agent is done.
    fn knows_work(&self, agent: WarpId, warp: WarpId, lanes: LaneMask) -> bool;
    /// What had been waited for before the last signal was sent, so that it comes before that signal.
    fn awaited_before(&self) -> Vec<SignalKey>;
}
