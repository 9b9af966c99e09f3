//! Runs the ctas of a cluster: one warp at a time, until all threads have ended, the rest wait in vain, or no warp can go on.

use std::collections::BTreeMap;

use super::cluster::barrier_named;
use super::copying::Copying;
use super::divergence_state::LoopCounters;
use super::doubt::{Doubt, DoubtKind};
use super::draws::Draws;
use super::end::{End, Stuck, StuckAt};
use super::event::{Events, OrderQuery};
use super::needs::Needs;
use super::open_loop::OpenLoops;
use super::phase_state::PhaseState;
use super::scheduler::Scheduler;
use super::signal_state::SignalState;
use super::state::{CtaRun, CtaState, Machine, Requests};
use super::stop::{MAX_REGISTERS, OrStop, Stop, doubt};
use super::warp::{Wait, WaitFor, Warp};
use crate::emulate::facts::Facts;
use crate::emulate::facts::inherited::GeneralWrites;
use crate::emulate::memory::clustering::Cta;
use crate::emulate::memory::inputs::Inputs;
use crate::emulate::sync::barrier::{BarrierId, Barriers};
use crate::emulate::value::lane::{LaneMask, WARP};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::register::Value;
use crate::emulate::value::warp_id::{PerWarp, WarpId, WarpSet};
use crate::flow::{BlockId, PlaceId, Program};
use crate::slice::Slice;

/// Most blocks that a warp runs in one turn. Turns end, so that a warp that polls memory in a loop lets other warps
/// run.
const TURN: u32 = 4096;

/// Runs the cluster that begins with a cta to its end and emits its events. Sets `reached`, for each instruction, if some
/// lane reached it. Returns how the run ended and what it cost.
pub fn run(
    program: &Program,
    slice: &Slice,
    inputs: &Inputs,
    cta: Cta,
    facts: &mut Facts,
    events: &mut (impl Events + OrderQuery),
    reached: &mut [bool],
) -> CtaRun {
    let (threads, ctas) = (inputs.block.count(), inputs.cluster.count());
    let warps = threads.div_ceil(WARP as u64);
    if u64::from(slice.registers).saturating_mul(warps * ctas) > MAX_REGISTERS {
        return CtaRun::ended(too_many_registers(program));
    }
    let count = usize::try_from(warps * ctas).expect("a cluster has few warps");
    let unwritten = Value::open(facts.symbolics.any_number(Origin::Register));
    let state = |member| CtaState::new(member, Barriers::new(warps), program);
    let mut machine = Machine {
        limit: begin(facts, inputs),
        spent: 0,
        contents: 0,
        program,
        slice,
        inputs,
        ctas: inputs.members(cta).map(state).collect(),
        cluster_barrier: Barriers::new(warps * ctas),
        events,
        facts,
        warps: PerWarp::new(count, |id| Warp::new(id, threads, program.entry, slice, &unwritten)),
        scheduler: Scheduler::new(inputs.options.schedule, count, cta.index),
        votes: BTreeMap::new(),
        phases: PhaseState::default(),
        loop_counters: PerWarp::new(count, |_| LoopCounters::new()),
        first_arrivals: BTreeMap::new(),
        atomics: 0,
        copying: PerWarp::new(count, |_| Copying::default()),
        exchanges: PerWarp::new(count, |_| 0),
        requests: Requests::default(),
        contended: None,
        trapped: false,
        doubts: PerWarp::new(count, |_| None),
        open_loops: OpenLoops::new(),
        may_execute: None,
        global: inputs.global.clone(),
        written: GeneralWrites::default(),
        needs: Needs::default(),
        draws: Draws::default(),
        signals: SignalState::new(program, inputs),
        reached,
        run: CtaRun::ended(End::Finished),
    };
    let end = machine.take_turns();
    if let Err(Stop(end)) = machine.judge_boxes(end) {
        machine.run.end = *end;
    }
    let Machine { run, facts, spent, .. } = machine;
    facts.spent = (facts.spent + spent).min(facts.limit.instructions);
    CtaRun { reads_unwritten: facts.symbolics.reads_unwritten, ..run }
}

/// Prepares what passes find out for the run of a cluster. Returns the most instructions that it can spend.
fn begin(facts: &mut Facts, inputs: &Inputs) -> u64 {
    facts.splits.begin();
    facts.counters.begin_cta();
    facts.signals.begin_cta();
    // If some access might lead from one buffer to another, stores of a loop are not assumed to stay in the buffer or
    // variable that their address is based on.
    facts.strays.some |= !inputs.strays.is_empty();
    let limit = facts.limit.of_a_cta().saturating_mul(inputs.cluster.count());
    limit.min(facts.limit.instructions - facts.spent)
}

/// How the run of a cta ends whose warps have too many registers.
fn too_many_registers(program: &Program) -> End {
    let entry = program.blocks.get(program.entry.index());
    let Stop(end) =
        doubt(DoubtKind::Registers, entry.map_or(PlaceId(0), |block| block.place), None);
    *end
}

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Runs warps until none is runnable. Fails unless all threads have ended or some thread has aborted the launch. A
    /// warp with a doubt that is no limit is left, and the other warps run on.
    fn take_turns(&mut self) -> OrStop<()> {
        loop {
            let Some(warp) = self.scheduler.next(self.ready()) else {
                if self.give_registers()? || self.give_columns()? {
                    continue;
                }
                break;
            };
            let Err(stop) = self.turn(warp) else { continue };
            match *stop.0 {
                End::Undecided(doubt) if !doubt.kind.is_limit() => self.leave(warp, doubt),
                _ => return Err(stop),
            }
        }
        // A doubt that nothing in the launch can settle is reported first.
        if let Some(doubt) =
            self.doubts.iter().flatten().min_by_key(|candidate| !candidate.is_unsupported())
        {
            return Err(End::Undecided(*doubt).into());
        }
        if self.trapped || self.warps.iter().all(|warp| warp.live == 0) {
            self.check_columns()?;
            self.check_takeovers()?;
            return self.check_registers();
        }
        Err(self.deadlock().into())
    }

    /// Stops running a warp that cannot go on without a guess. The other warps go on as if this one were slow, so what
    /// is observed of them does not depend on the schedule.
    fn leave(&mut self, warp: WarpId, doubt: Doubt) {
        self.doubts[warp] = Some(doubt);
        self.may_execute = None;
        let state = &mut self.warps[warp];
        (state.paused, state.log) = (None, None);
        state.fronts.clear();
    }

    /// The runnable warps.
    fn ready(&self) -> WarpSet {
        self.warps.iter().filter(|warp| warp.can_run()).map(|warp| warp.id).collect()
    }

    /// Runs a warp until its lanes wait, or its turn is over.
    fn turn(&mut self, warp: WarpId) -> OrStop<()> {
        for _ in 0..TURN {
            if let Some(paused) = self.warps[warp].paused.take() {
                self.go_on(warp, paused)?;
            } else {
                let Some(front) = self.warps[warp].least() else { return Ok(()) };
                self.block(warp, front.block, front.lanes)?;
            }
            if self.warps[warp].paused.is_some() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Counts instructions, or work that takes as long, against the limit. Fails if the limit is exceeded.
    pub(super) fn spend(&mut self, instructions: u64, place: PlaceId) -> OrStop<()> {
        self.spent += instructions;
        if self.spent > self.limit {
            return Err(doubt(DoubtKind::Fuel, place, None));
        }
        if self.phases.has_too_many {
            return Err(doubt(DoubtKind::Agents, place, None));
        }
        Ok(())
    }

    /// Moves lanes from the end of the block `from` to the start of the block `to`; the last block ends them. On a side
    /// of an open condition, lanes go no further than to the end of the side.
    pub(super) fn go(
        &mut self,
        warp: WarpId,
        from: BlockId,
        to: BlockId,
        lanes: LaneMask,
    ) -> OrStop<()> {
        if lanes == 0 {
            return Ok(());
        }
        let is_end = to.index() + 1 == self.program.blocks.len();
        if self.may_execute.is_none() && !self.warps[warp].partings.is_empty() {
            self.warps[warp].partings.pass(to, lanes);
        }
        if self.may_execute.as_ref().is_some_and(|may_execute| is_end || may_execute.stops_at(to)) {
            return Ok(());
        }
        if self.program.is_header(to) {
            self.count_iteration(warp, from, to, lanes);
            if self.may_execute.is_none() {
                self.enter_header(warp, from, to, lanes)?;
            }
        }
        if !is_end {
            self.warps[warp].place(to, lanes);
            return Ok(());
        }
        let last = &self.program.blocks[from.index()];
        if last.traps {
            // A trap aborts the launch: the end of these lanes releases no thread that waits.
            self.trapped = true;
            self.emit_trap(warp, lanes, last.place);
            return Ok(());
        }
        self.warps[warp].live &= !lanes;
        self.warps[warp].partings.exit(lanes);
        self.events.exit(warp, lanes);
        self.release_complete(warp)?;
        if self.warps[warp].live == 0 {
            self.complete_after_end(self.warps[warp].cta)?;
        }
        Ok(())
    }

    /// Returns an exchange at which lanes wait for other lanes of their mask, while these wait, with the same mask, at
    /// an exchange of the same kind elsewhere. The manual does not say whether such lanes synchronize: it requires one
    /// mask and one kind (PTX ISA §9.7.13.9), not one instruction.
    fn mismatched_exchange(&self) -> Option<&Wait> {
        let kind = |wait: &Wait| Some(self.program.code[wait.pc.index()].decoded()?.meaning());
        let is_mismatched = |wait: &&Wait, other: &Wait| {
            matches!(wait.what, WaitFor::Exchange(_))
                && wait.what == other.what
                && wait.block != other.block
                && kind(wait) == kind(other)
        };
        self.warps.iter().find_map(|warp| {
            warp.waits.iter().find(|wait| warp.waits.iter().any(|other| is_mismatched(wait, other)))
        })
    }

    /// How a run ends in which no warp is runnable although some threads have not ended: in a deadlock, or in a doubt
    /// if the manual does not say whether lanes that wait synchronize.
    fn deadlock(&self) -> End {
        if let Some(wait) = self.mismatched_exchange() {
            let place = self.program.code[wait.pc.index()].place;
            let Stop(end) = doubt(DoubtKind::ExchangeMask, place, None);
            return *end;
        }
        if let Some(place) = self.might_end_free() {
            let Stop(end) = doubt(DoubtKind::RegisterPool, place, None);
            return *end;
        }
        let mut stuck = Vec::new();
        for warp in &self.warps {
            let held = warp.held.iter().flat_map(|held| {
                let at = self.need(held.barrier);
                held.sides.iter().map(move |side| (side, at))
            });
            let waits = warp.waits.iter().map(|wait| (wait, self.needed(warp, wait)));
            for (&Wait { pc, lanes, .. }, at) in held.chain(waits) {
                stuck.push(Stuck { warp: warp.id, lanes, pc, at });
            }
        }
        End::Deadlock(stuck)
    }

    /// What the current generation of a barrier needs.
    fn need(&self, barrier: BarrierId) -> StuckAt {
        let need = self.barriers(barrier).need(barrier);
        need.map_or(StuckAt::Warp, |need| StuckAt::Barrier(barrier, need))
    }

    /// What waiting lanes wait at, and what it needs.
    fn needed(&self, warp: &Warp, wait: &Wait) -> StuckAt {
        let cta = warp.cta;
        match wait.what {
            WaitFor::Registers(count) => {
                let pool = self.ctas[cta.index()].registers.as_ref();
                pool.map_or(StuckAt::Warp, |pool| StuckAt::Registers(pool.need(warp.id, count)))
            }
            WaitFor::Columns(count) => StuckAt::Columns(self.ctas[cta.index()].columns.need(count)),
            WaitFor::Warp { name, .. } => {
                barrier_named(cta, name).map_or(StuckAt::Warp, |barrier| self.need(barrier))
            }
            WaitFor::Phase { object, phase } => {
                let need = self.ctas[cta.index()].mbarriers.need(object);
                need.map_or(StuckAt::Warp, |need| StuckAt::Phase(object, phase, need))
            }
            WaitFor::Members(_) | WaitFor::Exchange(_) => StuckAt::Warp,
        }
    }

    /// Coordinates of a thread in its cta.
    pub(super) fn thread(&self, warp: WarpId, lane: usize) -> [u32; 3] {
        self.inputs.block.point((self.warps[warp].place * WARP + lane) as u64)
    }

    /// Counts one command for each of these lanes.
    pub(super) fn count_commands(&mut self, mask: LaneMask) {
        self.run.thread_commands += u64::from(mask.count_ones());
    }
}
