//! The state of the machine: the warps of the ctas of a cluster, their memory and barriers, what later passes have to know,
//! and what the run has cost so far.

use std::collections::BTreeMap;

use super::copying::Copying;
use super::divergence_state::{FirstArrivals, LoopCounters, MeetingPlace};
use super::doubt::Doubt;
use super::draws::Draws;
use super::end::End;
use super::may_execute::OpenSide;
use super::needs::Needs;
use super::open_loop::OpenLoops;
use super::phase_state::PhaseState;
use super::scheduler::Scheduler;
use super::signal_state::SignalState;
use super::warp::Warp;
use crate::emulate::facts::Facts;
use crate::emulate::facts::inherited::GeneralWrites;
use crate::emulate::memory::clustering::Cta;
use crate::emulate::memory::inputs::Inputs;
use crate::emulate::memory::pages::Memory;
use crate::emulate::sync::barrier::{BarrierId, Barriers};
use crate::emulate::sync::columns::TensorColumns;
use crate::emulate::sync::group::CtaRank;
use crate::emulate::sync::mbarrier::Mbarriers;
use crate::emulate::sync::registers::RegisterPool;
use crate::emulate::value::lane::{Lane, SymbolId};
use crate::emulate::value::warp_id::{PerWarp, WarpId};
use crate::flow::{PlaceId, Program};
use crate::slice::Slice;

/// How the run of a cta ended, and what it cost.
#[derive(Clone, Debug)]
pub struct CtaRun {
    /// How it ended.
    pub end: End,
    /// Executed instructions, each counted once for a warp.
    pub warp_instructions: u64,
    /// Executed accesses and barrier commands, each counted once for a thread.
    pub thread_commands: u64,
    /// Completed generations of barriers.
    pub generations: u64,
    /// Bytes of dynamic shared memory that the accesses of the cta need; 0 if the launch states how many there are.
    pub dynamic_shared: u64,
    /// Whether it read, or might have read, shared memory that nothing wrote.
    pub reads_unwritten: bool,
}

impl CtaRun {
    /// A run that ended before it executed anything.
    pub(super) const fn ended(end: End) -> Self {
        Self {
            end,
            warp_instructions: 0,
            thread_commands: 0,
            generations: 0,
            dynamic_shared: 0,
            reads_unwritten: false,
        }
    }
}

/// Predicates of the warps that have arrived in a running reduction at a barrier.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Votes {
    /// Lanes that have arrived.
    pub(super) participants: u32,
    /// Lanes whose predicate is true.
    pub(super) trues: u32,
    /// Lanes whose predicate is open.
    pub(super) open_count: u32,
    /// An open predicate, if some predicate is open.
    pub(super) open: Option<Lane>,
    /// Whether all open predicates are the same.
    pub(super) is_one: bool,
}

/// Requests to take over the work of other ctas.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    pub(super) count: u64,
    /// For each symbolic value of an answer: the number of the cluster whose work is taken over, if one is.
    pub(super) answers: BTreeMap<SymbolId, Option<u64>>,
}

/// What the threads of one cta share.
pub(super) struct CtaState {
    pub(super) cta: Cta,
    pub(super) barriers: Barriers,
    pub(super) mbarriers: Mbarriers,
    pub(super) shared: Memory,
    /// Its registers; `None` if the kernel does not state how many it starts with.
    pub(super) registers: Option<RegisterPool>,
    /// Its tensor memory.
    pub(super) columns: TensorColumns,
}

impl CtaState {
    /// The state of a cta before it runs.
    pub(super) fn new(cta: Cta, barriers: Barriers, program: &Program) -> Self {
        Self {
            cta,
            barriers,
            mbarriers: Mbarriers::default(),
            shared: Memory::shared(),
            registers: program.thread_registers.map(RegisterPool::new),
            columns: TensorColumns::default(),
        }
    }
}

impl<E> Machine<'_, E> {
    /// The cta of a warp.
    pub(super) fn cta(&self, warp: WarpId) -> Cta {
        self.ctas[self.warps[warp].cta.index()].cta
    }

    /// The shared memory of a cta.
    pub(super) fn shared(&self, cta: CtaRank) -> &Memory {
        &self.ctas[cta.index()].shared
    }

    /// Whether the ctas of the cluster can reach each other's shared memory.
    pub(super) const fn has_peers(&self) -> bool {
        self.ctas.len() > 1
    }
}

/// The state of the ctas of a cluster. `step` runs instructions, `access` accesses, `wait` and `warp_sync` synchronization.
pub(super) struct Machine<'a, E> {
    pub(super) program: &'a Program,
    pub(super) slice: &'a Slice,
    pub(super) inputs: &'a Inputs,
    /// The ctas of the cluster, by rank.
    pub(super) ctas: Vec<CtaState>,
    /// The barrier of the cluster.
    pub(super) cluster_barrier: Barriers,
    pub(super) events: &'a mut E,
    pub(super) facts: &'a mut Facts,
    pub(super) warps: PerWarp<Warp>,
    pub(super) scheduler: Scheduler,
    /// For each barrier, the votes of its running reduction.
    pub(super) votes: BTreeMap<BarrierId, Votes>,
    /// For each warp, the iterations of loops, by which the rule for the whole cta judges barrier divergence.
    pub(super) loop_counters: PerWarp<LoopCounters>,
    /// What is known of waits for phases of mbarrier objects, and of bulk copies.
    pub(super) phases: PhaseState,
    /// For each place where threads of a cta meet, those that came first this time.
    pub(super) first_arrivals: BTreeMap<MeetingPlace, FirstArrivals>,
    /// Number of atomic instructions that the warps have executed. Symbolic values that stand for later results count
    /// as well, so that each result gets another number.
    pub(super) atomics: u64,
    /// For each warp, the lanes that might have asynchronous copies in flight.
    pub(super) copying: PerWarp<Copying>,
    /// For each warp, the number of exchanges that it has executed.
    pub(super) exchanges: PerWarp<u32>,
    /// For each warp and loop, the iterations so far, and how far the proof of a loop with an open trip count has come.
    pub(super) open_loops: OpenLoops,
    /// Requests to take over the work of other ctas.
    pub(super) requests: Requests,
    /// An instruction of which it depends on the schedule whether its warp is given the registers that it asks for.
    pub(super) contended: Option<PlaceId>,
    /// Whether some thread has aborted the launch.
    pub(super) trapped: bool,
    /// For each warp, what it could not decide, if it cannot go on.
    pub(super) doubts: PerWarp<Option<Doubt>>,
    /// The open condition under which lanes run now; `None` if what runs surely executes.
    pub(super) may_execute: Option<OpenSide>,
    /// Contents of global memory.
    pub(super) global: Memory,
    /// Bytes of shared and global memory that were last written in general states of loops.
    pub(super) written: GeneralWrites,
    /// Room and alignment that accesses at open addresses need.
    pub(super) needs: Needs,
    /// The draws that unique counter values come from.
    pub(super) draws: Draws,
    /// The signals that the ctas have sent.
    pub(super) signals: SignalState,
    /// Most instructions that this run can spend.
    pub(super) limit: u64,
    /// Instructions spent so far, and work that counts as instructions.
    pub(super) spent: u64,
    /// Bytes that the contents of global and local memory take, added up as accesses made them.
    pub(super) contents: u64,
    /// For each instruction, whether some lane reached it.
    pub(super) reached: &'a mut [bool],
    pub(super) run: CtaRun,
}
