//! Releases lanes and warps that wait: synchronizes the lanes of a mask once all of them have come, makes a warp arrive
//! at a cta barrier once all its lanes wait at one, and releases warps when a generation is complete.

use super::cluster::barrier_named;
use super::end::End;
use super::event::{Arrival, Events, OrderQuery};
use super::state::{Machine, Votes};
use super::stop::OrStop;
use super::warp::{BarrierWait, Wait, WaitFor, Warp};
use crate::emulate::sync::barrier::{BarrierId, BarrierUse, Misuse};
use crate::emulate::sync::group::CtaRank;
use crate::emulate::value::lane::{Lane, LaneMask, lanes};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::register::Value;
use crate::emulate::value::warp_id::{WarpId, WarpSet};
use crate::flow::{Operand, Pc, Terminator};
use crate::ptx::isa::{Effect, Modifier, Opcode};

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Releases all lanes of a warp that wait for a mask and whose other lanes have all come. Then the warp arrives at
    /// a cta barrier if all its lanes wait there.
    pub(super) fn release_complete(&mut self, warp: WarpId) -> OrStop<()> {
        while let Some((wait, here)) = self.complete(warp) {
            let sides: Vec<Wait> = self.take(warp, |other| is_same_sync(&wait, other));
            self.complete_sync(warp, wait.pc, wait.what, here);
            for side in sides {
                self.resume(warp, &side)?;
            }
        }
        self.arrive(warp)
    }

    /// Synchronizes these lanes, or exchanges their values: they are all that the instruction waits for.
    pub(super) fn complete_sync(&mut self, warp: WarpId, pc: Pc, what: WaitFor, here: LaneMask) {
        match what {
            WaitFor::Members(_) => self.events.converge(warp, here),
            WaitFor::Exchange(_) => self.exchange(warp, pc, here),
            WaitFor::Warp { .. }
            | WaitFor::Phase { .. }
            | WaitFor::Registers(_)
            | WaitFor::Columns(_) => {}
        }
    }

    /// Synchronizes lanes under an open condition that all or none of them fulfil. Fails if the instruction also waits
    /// for other lanes, or if it would order memory: `bar.warp.sync` orders memory on this side alone, except in lock
    /// step, where it orders nothing that is not ordered already.
    pub(super) fn synchronize_at_once(
        &mut self,
        warp: WarpId,
        pc: Pc,
        effect: Effect,
        members: LaneMask,
        group: LaneMask,
    ) -> OrStop<()> {
        let is_whole = self.awaited(warp, pc, members) == group;
        let is_ordered = effect == Effect::Exchange || self.inputs.options.warp_synchronous;
        if let Some(may_execute) = self.may_execute.as_ref().filter(|_| !is_whole || !is_ordered) {
            return Err(may_execute.undecided());
        }
        if effect == Effect::Exchange {
            self.exchange(warp, pc, group);
        }
        Ok(())
    }

    /// The lanes of a mask that an instruction waits for. `elect.sync` waits for all of them, ended or not (PTX ISA
    /// §9.7.13.14); other instructions wait for those that have not ended.
    pub(super) fn awaited(&self, warp: WarpId, pc: Pc, members: LaneMask) -> LaneMask {
        let Warp { all, live, .. } = &self.warps[warp];
        let decoded = self.program.code[pc.index()].decoded();
        let is_elect = decoded.is_some_and(|decoded| decoded.row.opcode == Opcode::Elect);
        members & if is_elect { *all } else { *live }
    }

    /// Finds lanes that wait for a mask and whose other lanes have all come. Returns one of their waits, and all lanes
    /// that synchronize there.
    fn complete(&self, warp: WarpId) -> Option<(Wait, LaneMask)> {
        let waits = &self.warps[warp].waits;
        waits.iter().find_map(|wait| {
            let (WaitFor::Members(members) | WaitFor::Exchange(members)) = wait.what else {
                return None;
            };
            let with = waits.iter().filter(|other| is_same_sync(wait, other));
            let here = with.fold(0, |lanes, other| lanes | other.lanes);
            (self.awaited(warp, wait.pc, members) & !here == 0).then_some((*wait, here))
        })
    }

    /// Removes and returns the waits of a warp that are `wanted`.
    pub(super) fn take(&mut self, warp: WarpId, wanted: impl Fn(&Wait) -> bool) -> Vec<Wait> {
        self.warps[warp].waits.extract_if(.., |wait| wanted(wait)).collect()
    }

    /// Moves lanes that waited to the block behind the one they waited in.
    pub(super) fn resume(&mut self, warp: WarpId, side: &Wait) -> OrStop<()> {
        match self.program.blocks[side.block.index()].terminator {
            Terminator::Goto(next) => self.go(warp, side.block, next, side.lanes),
            // An instruction that waits is the last of its block, which falls through to the next.
            _ => Ok(()),
        }
    }

    /// Makes a warp arrive at a cta barrier, if all its lanes that have not ended wait at one.
    fn arrive(&mut self, warp: WarpId) -> OrStop<()> {
        let state = &self.warps[warp];
        let is_at_barrier = |wait: &&Wait| matches!(wait.what, WaitFor::Warp { .. });
        let here =
            state.waits.iter().filter(is_at_barrier).fold(0, |lanes, wait| lanes | wait.lanes);
        if here == 0 || here != state.live {
            return Ok(());
        }
        let sides = std::mem::take(&mut self.warps[warp].waits);
        let Some(&first) = sides.first() else { return Ok(()) };
        let WaitFor::Warp { name, count, how } = first.what else { return Ok(()) };
        let cta = self.warps[warp].cta;
        let Some(barrier) = barrier_named(cta, name) else {
            let (misuse, Wait { lanes, pc, .. }) = (Misuse::Name(name), first);
            return Err(End::Misuse { misuse, warp, lanes, pc }.into());
        };
        self.check_divergence(warp, barrier, &sides)?;
        if self.is_aligned(&first) {
            self.gather(warp, &first);
        }
        let pc = first.pc;
        let misused = |misuse| End::Misuse { misuse, warp, lanes: first.lanes, pc };
        if barrier.is_of_cluster() {
            self.check_turn(warp, how).map_err(misused)?;
        }
        if how == BarrierUse::Await {
            return self.await_cluster(warp, sides);
        }
        let live = self.live_warps(barrier);
        let arrived = self.barriers_mut(barrier).arrive(warp, pc, barrier, count, how, live);
        let is_complete = arrived.map_err(misused)?;
        let releasing = sides.iter().filter(|side| !self.is_relaxed(side.pc));
        let releases = releasing.fold(0, |lanes, side| lanes | side.lanes);
        let waits = how != BarrierUse::Arrive;
        self.events.arrive(Arrival { warp, barrier, waits, releases, pc });
        if how == BarrierUse::Reduce {
            self.vote(warp, barrier, &sides);
        }
        if how == BarrierUse::Arrive {
            for side in &sides {
                self.resume(warp, side)?;
            }
        } else {
            self.warps[warp].held = Some(BarrierWait { barrier, sides });
        }
        if is_complete { self.release(barrier) } else { Ok(()) }
    }

    /// The warps that take part in a barrier and have not ended.
    fn live_warps(&self, barrier: BarrierId) -> WarpSet {
        let takes_part = |warp: &Warp| barrier.is_of_cluster() || warp.cta == barrier.cta();
        let live = self.warps.iter().filter(|warp| warp.live != 0 && takes_part(warp));
        live.map(|warp| warp.id).collect()
    }

    /// Releases the warps that wait for a generation, which is complete.
    fn release(&mut self, barrier: BarrierId) -> OrStop<()> {
        self.run.generations += 1;
        self.check_gathered(barrier)?;
        if barrier.is_of_cluster() {
            self.complete_cluster();
        }
        self.events.complete(barrier);
        let votes = self.votes.remove(&barrier).unwrap_or_default();
        for warp in self.warps.ids() {
            if self.warps[warp].held.as_ref().is_none_or(|held| held.barrier != barrier) {
                continue;
            }
            let Some(held) = self.warps[warp].held.take() else { continue };
            if barrier.is_of_cluster() {
                self.see_cluster(warp);
            }
            for side in &held.sides {
                self.write_vote(warp, side, votes);
                self.resume(warp, side)?;
            }
        }
        Ok(())
    }

    /// Completes the barriers of a cta and of the cluster that waited only for a warp that has now ended (PTX ISA §9.7.12.7).
    pub(super) fn complete_after_end(&mut self, cta: CtaRank) -> OrStop<()> {
        let of_cta = self.ctas[cta.index()].barriers.busy();
        let busy: Vec<_> = of_cta.chain(self.cluster_barrier.busy()).collect();
        for barrier in busy {
            let live = self.live_warps(barrier);
            if self.barriers_mut(barrier).complete(barrier, live) {
                self.release(barrier)?;
            }
        }
        Ok(())
    }

    /// Adds the predicates of a warp to the running reduction of a barrier.
    fn vote(&mut self, warp: WarpId, barrier: BarrierId, sides: &[Wait]) {
        for side in sides {
            let instr = &self.program.code[side.pc.index()];
            let Some(predicate) = instr.sources.last().copied() else { continue };
            let value = self.operand(warp, side.pc, &predicate);
            let open = value.open_lanes() & side.lanes;
            let common = self.common_value(&value, open).filter(|_| open != 0);
            let votes = self.votes.entry(barrier).or_default();
            votes.participants += side.lanes.count_ones();
            votes.trues += (value.truth() & side.lanes).count_ones();
            votes.open_count += open.count_ones();
            if open != 0 {
                let is_first = votes.open.is_none();
                votes.is_one =
                    common.is_some() && (is_first || votes.is_one && votes.open == common);
                votes.open = common
                    .or(votes.open)
                    .or_else(|| lanes(open).next().map(|lane| value.whole(lane)));
            }
        }
    }

    /// Writes the result of a reduction in lanes that waited for it; open if some predicate was open.
    fn write_vote(&mut self, warp: WarpId, side: &Wait, votes: Votes) {
        let Votes { participants, trues, open_count, open, is_one } = votes;
        let instr = &self.program.code[side.pc.index()];
        let (Some(Some(dest)), Some(decoded)) = (instr.dests.first(), instr.decoded()) else {
            return;
        };
        let operation = decoded.modifiers.first_of(&[Modifier::Popc, Modifier::And, Modifier::Or]);
        let falses = participants - trues - open_count;
        let value = match (open, operation) {
            // One thread can decide for all.
            (Some(_), Some(Modifier::Or)) if trues > 0 => Value::uniform(1),
            (Some(_), Some(Modifier::And)) if falses > 0 => Value::uniform(0),
            (Some(Lane { bits: 0, symbol: Some(one) }), Some(Modifier::Or | Modifier::And))
                if is_one =>
            {
                Value::open(one)
            }
            (Some(lane), _) => {
                let origin = lane.symbol.and_then(|symbol| self.facts.symbolics.origin(symbol));
                let origin = origin.unwrap_or(Origin::Unsupported(side.pc));
                Value::open(self.facts.symbolics.any_number(origin))
            }
            (None, Some(Modifier::Popc)) => Value::uniform(u64::from(trues)),
            (None, Some(Modifier::And)) => Value::uniform(u64::from(trues == participants)),
            (None, _) => Value::uniform(u64::from(trues > 0)),
        };
        self.warps[warp].write(*dest, value, side.lanes);
    }

    /// The value of operand number `at` of an instruction; open if there is none.
    pub(super) fn source(&mut self, warp: WarpId, pc: crate::flow::Pc, at: usize) -> Value {
        let program = self.program;
        let operand = program.code[pc.index()].sources.get(at).copied().unwrap_or(Operand::Opaque);
        self.operand(warp, pc, &operand)
    }
}

/// Whether two groups of lanes wait for each other: with one mask, at any `bar.warp.sync` or at the same exchange.
fn is_same_sync(a: &Wait, b: &Wait) -> bool {
    a.what == b.what && (matches!(a.what, WaitFor::Members(_)) || a.block == b.block)
}
