//! Runs a cta: which warp runs next, until all threads have ended, wait in vain, or cannot go on.

use std::collections::BTreeMap;

use super::draws::Draws;
use super::event::{Doubt, DoubtKind, End, Events, OrderQuery, Stuck};
use super::loop_counters::LoopCounters;
use super::needs::Needs;
use super::open_loop::OpenLoops;
use super::scheduler::Scheduler;
use super::state::{CtaRun, CtaState, Machine};
use super::stop::{MAX_REGISTERS, OrStop, Stop, doubt};
use super::warp::{Wait, WaitFor, Warp};
use crate::emulate::facts::Facts;
use crate::emulate::facts::inherited::GeneralWrites;
use crate::emulate::memory::inputs::{Cta, Inputs};
use crate::emulate::memory::pages::Memory;
use crate::emulate::sync::barrier::{BarrierId, BarrierNeed, Barriers};
use crate::emulate::sync::group::CtaRank;
use crate::emulate::value::lane::{LaneMask, WARP};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::register::Value;
use crate::emulate::value::warp_id::{PerWarp, WarpId, WarpSet};
use crate::flow::{BlockId, PlaceId, Program};
use crate::slice::Slice;

/// Blocks that a warp runs in one turn. Turns end, so that a warp that waits in a loop lets the others go on.
const TURN: u32 = 4096;

/// Runs one cta to its end.
pub fn run(
    program: &Program,
    slice: &Slice,
    inputs: &Inputs,
    cta: Cta,
    facts: &mut Facts,
    events: &mut (impl Events + OrderQuery),
    reached: &mut [bool],
) -> CtaRun {
    let threads = inputs.block.count();
    let warps = threads.div_ceil(WARP as u64);
    if u64::from(slice.registers).saturating_mul(warps) > MAX_REGISTERS {
        return CtaRun::ended(too_many_registers(program));
    }
    let count = usize::try_from(warps).expect("a cta has few warps");
    facts.splits.begin();
    facts.counters.begin_cta();
    // Where some access might lead from one buffer to another, no store of a loop stays in what its address starts from.
    facts.reach.strays |= !inputs.strays.is_empty();
    let unwritten = Value::open(facts.symbolics.fresh(Origin::Register));
    let warp = |id| Warp::new(id, threads, program.entry, slice, &unwritten);
    let limit = facts.limit.of_a_cta().min(facts.limit.instructions - facts.spent);
    let barriers = Barriers::new(u32::try_from(count).expect("a cta has few warps"));
    let mut machine = Machine {
        limit,
        spent: 0,
        contents: 0,
        program,
        slice,
        inputs,
        ctas: vec![CtaState { cta, barriers, shared: Memory::shared() }],
        events,
        facts,
        warps: PerWarp::new(count, warp),
        scheduler: Scheduler::new(inputs.options.schedule, count, cta.index),
        votes: BTreeMap::new(),
        loop_counters: PerWarp::new(count, |_| LoopCounters::new()),
        first_arrivals: BTreeMap::new(),
        atomics: 0,
        exchanges: PerWarp::new(count, |_| 0),
        trapped: false,
        doubts: PerWarp::new(count, |_| None),
        open_loops: OpenLoops::new(),
        may_execute: None,
        global: inputs.global.clone(),
        written: GeneralWrites::default(),
        needs: Needs::default(),
        draws: Draws::default(),
        reached,
        run: CtaRun::ended(End::Finished),
    };
    if let Err(Stop(end)) = machine.take_turns() {
        machine.run.end = *end;
    }
    let Machine { run, facts, spent, .. } = machine;
    facts.spent = (facts.spent + spent).min(facts.limit.instructions);
    run
}

fn too_many_registers(program: &Program) -> End {
    let entry = program.blocks.get(program.entry.index());
    let Stop(end) =
        doubt(DoubtKind::Registers, entry.map_or(PlaceId(0), |block| block.place), None);
    *end
}

impl<E: Events + OrderQuery> Machine<'_, E> {
    fn take_turns(&mut self) -> OrStop<()> {
        while let Some(warp) = self.scheduler.next(self.ready()) {
            let Err(stop) = self.turn(warp) else { continue };
            match *stop.0 {
                End::Undecided(doubt) if !doubt.kind.is_limit() => self.leave(warp, doubt),
                _ => return Err(stop),
            }
        }
        // What no setting settles is said first.
        if let Some(doubt) =
            self.doubts.iter().flatten().min_by_key(|candidate| !candidate.is_unsupported())
        {
            return Err(End::Undecided(*doubt).into());
        }
        if self.trapped || self.warps.iter().all(|warp| warp.live == 0) {
            return Ok(());
        }
        Err(self.deadlock().into())
    }

    /// A warp cannot go on without guessing. The others can, as if it was slow: so it is up to no schedule what is seen of
    /// them.
    fn leave(&mut self, warp: WarpId, doubt: Doubt) {
        self.doubts[warp] = Some(doubt);
        self.may_execute = None;
        let state = &mut self.warps[warp];
        (state.paused, state.log) = (None, None);
        state.fronts.clear();
    }

    /// The warps that can run.
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

    /// Counts instructions, or what takes as long, against the limit.
    pub(super) fn spend(&mut self, instructions: u64, place: PlaceId) -> OrStop<()> {
        self.spent += instructions;
        if self.spent > self.limit {
            return Err(doubt(DoubtKind::Fuel, place, None));
        }
        Ok(())
    }

    /// Lanes go to the start of a block; the last block ends them.
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
            // Nobody goes on because these lanes ended.
            self.trapped = true;
            self.emit_trap(warp, lanes, last.place);
            return Ok(());
        }
        self.warps[warp].live &= !lanes;
        self.warps[warp].partings.exit(lanes);
        self.events.exit(warp, lanes);
        self.release_complete(warp)?;
        if self.warps[warp].live == 0 {
            self.release_all(self.warps[warp].cta)?;
        }
        Ok(())
    }

    /// An exchange at which lanes wait for others of their mask that wait at an exchange of the same kind elsewhere. Whether
    /// these two meet, the manual leaves to its reader: it asks for one mask and one kind (PTX ISA §9.7.13.9), not for one
    /// instruction.
    fn mismatched_exchange(&self) -> Option<&Wait> {
        let kind = |wait: &Wait| Some(self.program.code[wait.pc.index()].decoded()?.meaning());
        let is_apart = |wait: &&Wait, other: &Wait| {
            matches!(wait.what, WaitFor::Exchange(_))
                && wait.what == other.what
                && wait.block != other.block
                && kind(wait) == kind(other)
        };
        self.warps.iter().find_map(|warp| {
            warp.waits.iter().find(|wait| warp.waits.iter().any(|other| is_apart(wait, other)))
        })
    }

    fn deadlock(&self) -> End {
        if let Some(wait) = self.mismatched_exchange() {
            let place = self.program.code[wait.pc.index()].place;
            let Stop(end) = doubt(DoubtKind::ExchangeMask, place, None);
            return *end;
        }
        let mut stuck = Vec::new();
        for warp in &self.warps {
            let held = warp.held.iter().flat_map(|held| {
                let need = self.need(held.barrier);
                held.sides.iter().map(move |side| (side, need.map(|need| (held.barrier, need))))
            });
            let waits = warp.waits.iter().map(|wait| (wait, self.needed(warp.cta, wait)));
            for (&Wait { pc, lanes, .. }, barrier) in held.chain(waits) {
                stuck.push(Stuck { warp: warp.id, lanes, pc, barrier });
            }
        }
        End::Deadlock(stuck)
    }

    /// What the generation of a barrier needs, if it is not idle.
    fn need(&self, barrier: BarrierId) -> Option<BarrierNeed> {
        self.ctas[barrier.cta().index()].barriers.need(barrier)
    }

    fn needed(&self, cta: CtaRank, wait: &Wait) -> Option<(BarrierId, BarrierNeed)> {
        let WaitFor::Warp { name, .. } = wait.what else { return None };
        let barrier = BarrierId::named(cta, name)?;
        Some((barrier, self.need(barrier)?))
    }

    /// Coordinates of a thread in its cta.
    pub(super) fn thread(&self, warp: WarpId, lane: usize) -> [u32; 3] {
        self.inputs.block.point((self.warps[warp].place * WARP + lane) as u64)
    }

    /// Counts commands of threads.
    pub(super) fn count_commands(&mut self, mask: LaneMask) {
        self.run.thread_commands += u64::from(mask.count_ones());
    }
}
