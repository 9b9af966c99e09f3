//! The machine of one cta: its warps take turns until all have ended or none can go on.

use std::collections::BTreeMap;

use super::draws::Draws;
use super::event::{Doubt, End};
use super::loop_counters::{FirstArrivals, LoopCounters};
use super::may_execute::MayExecute;
use super::needs::Needs;
use super::open_loop::OpenLoops;
use super::scheduler::Scheduler;
use super::warp::Warp;
use crate::emulate::facts::Facts;
use crate::emulate::facts::inherited::GeneralWrites;
use crate::emulate::memory::inputs::{Cta, Inputs};
use crate::emulate::memory::pages::Memory;
use crate::emulate::sync::barrier::{BarrierId, Barriers};
use crate::emulate::value::lane::SymbolId;
use crate::emulate::value::warp_id::{PerWarp, WarpId};
use crate::flow::Program;
use crate::slice::Slice;

/// What the run of a cta cost and reached.
#[derive(Clone, Debug)]
pub struct CtaRun {
    /// How it ended.
    pub end: End,
    /// Instructions executed, counted once a warp.
    pub warp_instructions: u64,
    /// Accesses and barrier commands, counted once a thread.
    pub thread_commands: u64,
    /// Completed generations.
    pub generations: u64,
    /// Bytes of dynamic shared memory that its accesses need, where the launch does not state how many there are.
    pub dynamic_shared: u64,
}

impl CtaRun {
    pub(super) const fn ended(end: End) -> Self {
        Self { end, warp_instructions: 0, thread_commands: 0, generations: 0, dynamic_shared: 0 }
    }
}

/// Predicates of a reduction at a barrier, so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Votes {
    pub(super) participants: u32,
    pub(super) trues: u32,
    /// An open one.
    pub(super) open: Option<SymbolId>,
}

/// What the threads of one cta share.
pub(super) struct CtaState {
    pub(super) cta: Cta,
    pub(super) barriers: Barriers,
    pub(super) shared: Memory,
}

impl<E> Machine<'_, E> {
    /// The cta of a warp.
    pub(super) fn cta(&self, warp: WarpId) -> Cta {
        self.ctas[self.warps[warp].cta.index()].cta
    }

    /// The shared memory of a warp's cta.
    pub(super) fn shared(&self, warp: WarpId) -> &Memory {
        &self.ctas[self.warps[warp].cta.index()].shared
    }
}

/// The state of a group of ctas. Its parts are run by `step` (instructions), `access` (memory) and `rendezvous` (waiting).
pub(super) struct Machine<'a, E> {
    pub(super) program: &'a Program,
    pub(super) slice: &'a Slice,
    pub(super) inputs: &'a Inputs,
    /// The ctas that run together, by rank.
    pub(super) ctas: Vec<CtaState>,
    pub(super) events: &'a mut E,
    pub(super) facts: &'a mut Facts,
    pub(super) warps: PerWarp<Warp>,
    pub(super) scheduler: Scheduler,
    /// Votes of the running reduction of each barrier.
    pub(super) votes: BTreeMap<BarrierId, Votes>,
    /// By warp, and by barrier: what the rule for the whole cta needs.
    pub(super) loop_counters: PerWarp<LoopCounters>,
    pub(super) first_arrivals: BTreeMap<BarrierId, FirstArrivals>,
    /// Atomic instructions that the warps executed.
    pub(super) atomics: u64,
    /// Exchanges that each warp ran.
    pub(super) exchanges: PerWarp<u32>,
    /// Loops whose trip counts are open.
    pub(super) open_loops: OpenLoops,
    /// Some thread has aborted the launch.
    pub(super) trapped: bool,
    /// By warp: what it could not decide.
    pub(super) doubts: PerWarp<Option<Doubt>>,
    /// What runs now may not happen.
    pub(super) may_execute: Option<MayExecute>,
    pub(super) global: Memory,
    /// What of shared and global memory was written in general states of loops.
    pub(super) written: GeneralWrites,
    /// What accesses at open addresses need.
    pub(super) needs: Needs,
    /// What tickets were drawn by.
    pub(super) draws: Draws,
    /// Instructions that this run may execute.
    pub(super) limit: u64,
    /// Those that it has, and what took as long as some.
    pub(super) spent: u64,
    /// Bytes that the contents of global and local memory take, counted as they were made.
    pub(super) contents: u64,
    /// By instruction: whether some lane reached it.
    pub(super) reached: &'a mut [bool],
    pub(super) run: CtaRun,
}
