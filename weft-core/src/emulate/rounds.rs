//! Loops around barriers whose trip count is open, where all threads decide alike: by induction.
//!
//! The first round runs as it is. Then what the loop adds to registers is added an unknown number of times, the same for
//! all threads of the cta: the state before any later round. Two such rounds run after each other, and the loop ends. All
//! pairs of accesses in one round or in two consecutive ones have then been seen; if the rounds before are ordered before
//! all that is still to come, so have all pairs there are.

use std::collections::BTreeMap;

use super::event::Events;
use super::machine::{Machine, Step, undecided};
use super::maybe::inside;
use super::origin::Origin;
use super::term::Lane;
use super::value::{LaneMask, Value};
use crate::flow::{BlockId, Condition};
use crate::ptx::Space;
use crate::ptx::isa::Effect;
use crate::slice::Keep;

/// Rounds that run in the general state before the loop ends.
const GENERAL_ROUNDS: u32 = 2;

/// A round of a loop in a cta, from a branch that may leave the loop on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Round {
    /// The branch.
    pub branch: BlockId,
    /// How often the warp has come to the loop.
    pub entry: u32,
    /// From 1.
    pub number: u32,
}

/// A warp in a loop.
#[derive(Clone, Debug, Default)]
pub(super) struct InLoop {
    entry: u32,
    /// Whether leaving it was decided on an open condition.
    is_decided: bool,
    is_general: bool,
    /// The lanes that went on into the general state.
    general: LaneMask,
    /// How it had to leave: the branch and the condition there.
    left: Option<(BlockId, Lane)>,
    /// Lanes came round apart.
    is_torn: bool,
    /// By branch: decisions in the general state.
    decisions: BTreeMap<BlockId, u32>,
    origin: Option<Origin>,
}

/// By warp and header.
pub(super) type Rounds = BTreeMap<(usize, BlockId), InLoop>;

impl<E: Events> Machine<'_, E> {
    /// Lanes go to the header of a loop.
    pub(super) fn come_round(
        &mut self,
        warp: usize,
        from: BlockId,
        header: BlockId,
        mask: LaneMask,
    ) -> Step<()> {
        let is_back = self.program.blocks[from.index()].loops.contains(&header);
        let own = self.rounds.entry((warp, header)).or_default();
        if !is_back {
            *own = InLoop { entry: own.entry + 1, ..InLoop::default() };
            return Ok(());
        }
        own.is_torn |= mask != self.warps[warp].live;
        let entry = own.entry;
        if own.is_decided && !std::mem::replace(&mut own.is_general, true) {
            own.general = mask;
            let origin = own.origin.unwrap_or(Origin::Register);
            self.generalise(warp, header, entry, mask, origin)?;
        }
        Ok(())
    }

    /// The loop that a branch may leave.
    fn left_by(&self, branch: BlockId) -> Option<BlockId> {
        let block = &self.program.blocks[branch.index()];
        let merge = &self.program.blocks[block.post_dominator?.index()];
        block.loops.iter().copied().find(|header| !merge.loops.contains(header))
    }

    /// A branch was decided on an open condition.
    pub(super) fn note_decision(&mut self, warp: usize, branch: BlockId, origin: Option<Origin>) {
        let Some(header) = self.left_by(branch) else { return };
        self.note_open_loop(warp, header, self.warps[warp].front);
        let own = self.rounds.entry((warp, header)).or_default();
        own.is_decided = true;
        own.origin = own.origin.or(origin);
        if own.is_general {
            let number = own.decisions.entry(branch).or_default();
            *number += 1;
            let round = Round { branch, entry: own.entry, number: *number };
            self.events.round(warp, round);
        }
    }

    /// Whether a branch has to leave its loop now, since all kinds of rounds have run: true if its condition is taken to
    /// hold for that.
    pub(super) fn leaves(
        &mut self,
        warp: usize,
        branch: BlockId,
        condition: Condition,
        taken: BlockId,
        origin: Origin,
        open: Lane,
    ) -> Step<Option<bool>> {
        let Some(header) = self.left_by(branch) else { return Ok(None) };
        let Some(own) = self.rounds.get(&(warp, header)) else { return Ok(None) };
        if own.decisions.get(&branch).is_none_or(|count| *count < GENERAL_ROUNDS) {
            return Ok(None);
        }
        let round = Round { branch, entry: own.entry, number: GENERAL_ROUNDS };
        let is_torn = own.is_torn || !self.is_complete(warp, header, (branch, open));
        let place = self.program.blocks[branch.index()].place;
        if is_torn || !self.is_general(header) || !self.events.is_separated(warp, round) {
            return Err(undecided(place, place, origin));
        }
        self.rounds.entry((warp, header)).or_default().left = Some((branch, open));
        let stays = self.program.blocks[taken.index()].loops.contains(&header);
        Ok(Some(stays == condition.negated))
    }

    /// Whether all threads that went on into the general state of a loop are still there, or left it in the same way: a
    /// thread that ended before is ordered before none of the rounds after its end, of which only a few run.
    fn is_complete(&self, warp: usize, header: BlockId, way: (BlockId, Lane)) -> bool {
        let Some(InLoop { entry, .. }) = self.rounds.get(&(warp, header)) else { return true };
        let in_loop = self.rounds.iter().filter(|((_, at), _)| *at == header);
        in_loop.filter(|(_, own)| own.is_general && own.entry == *entry).all(|((other, _), own)| {
            own.left == Some(way) || self.warps[*other].live & own.general == own.general
        })
    }

    /// Whether the general state covers a loop: no values go from round to round through memory.
    fn is_general(&self, header: BlockId) -> bool {
        let is_kept_store = |pc: usize| {
            let instr = &self.program.code[pc];
            matches!(instr.effect(), Effect::Store | Effect::Atomic)
                && self.slice.keep[pc] == Keep::Value
                && instr.address.is_none_or(|address| address.space != Space::Local)
        };
        !inside(self.program, header).any(is_kept_store)
    }

    /// Registers after any number of rounds, the same for all threads of the cta.
    fn generalise(
        &mut self,
        warp: usize,
        header: BlockId,
        entry: u32,
        mask: LaneMask,
        origin: Origin,
    ) -> Step<()> {
        let program = self.program;
        let count = self.terms.rounds(origin, self.cta.index, header, entry);
        for pc in inside(program, header) {
            let instr = &program.code[pc];
            for dest in instr.dests.iter().flatten() {
                let own = self.warps[warp].registers[*dest].clone();
                let is_even = program.even.contains(&(header, *dest));
                let steps = program.steps.get(&(header, *dest)).filter(|_| is_even);
                let value = match steps.map(Vec::as_slice) {
                    Some([step]) => {
                        let amounts = self.amounts(warp, header, step);
                        Value::from_lanes(|lane| match amounts[lane] {
                            Some(amount) => self.terms.plus(own.whole(lane), count, amount),
                            None => Lane::open(self.terms.unclear(origin)),
                        })
                    }
                    _ => self.after_rounds(warp, header, *dest, origin),
                };
                self.warps[warp].write(*dest, value, mask);
            }
            // What goes from round to round through memory that threads share ends the induction.
            let may_be_local = instr
                .address
                .is_none_or(|address| matches!(address.space, Space::Local | Space::Generic));
            if matches!(instr.effect(), Effect::Store | Effect::Atomic)
                && self.slice.keep[pc] == Keep::Value
                && may_be_local
            {
                self.forget_stored(warp, mask, instr, origin)?;
            }
        }
        Ok(())
    }
}
