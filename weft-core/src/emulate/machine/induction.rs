//! Proves loops around barriers by induction, if their trip count is open and all threads decide alike.
//!
//! The first iteration runs as it is. Then each amount that the loop adds to a register is added an unknown number of
//! times, which is the same for all threads of the cta: this is the general state, before any later iteration. Two
//! iterations run from it, one after the other, and the loop ends. Then all pairs of accesses in one iteration, or in
//! two consecutive ones, have been seen. If everything before these iterations is ordered before everything that is
//! still to come, no other pair can race. What iterations leave in memory for later ones is open in the general state
//! (see `inherited`).

use super::event::{Events, Iteration, OrderQuery};
use super::open_loop::{GeneralPhase, OpenLoop, Phase, inside};
use super::piece::Piece;
use super::state::Machine;
use super::stop::{OrStop, undecided};
use super::warp::Warp;
use crate::emulate::value::lane::{Lane, LaneMask, lanes};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::register::Value;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{BlockId, Condition, Instr, Reg, space_of};
use crate::ptx::Space;
use crate::ptx::isa::Effect;
use crate::slice::Keep;

/// Iterations that run in the general state before the loop ends.
const GENERAL_ITERATIONS: u32 = 2;

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Counts iterations of lanes that go from a block to the header of a loop. Begins the general state if an open
    /// condition decided that the loop goes on.
    pub(super) fn enter_header(
        &mut self,
        warp: WarpId,
        from: BlockId,
        header: BlockId,
        mask: LaneMask,
    ) -> OrStop<()> {
        let is_back = self.program.blocks[from.index()].loops.contains(&header);
        let state = self.open_loops.entry((warp, header)).or_default();
        if !is_back {
            *state = OpenLoop { entry: state.entry + 1, ..OpenLoop::default() };
            return Ok(());
        }
        state.is_torn |= mask != self.warps[warp].live;
        state.iterations += 1;
        state.before += u32::from(state.general().is_none());
        let is_open = state.is_open();
        if state.general().is_some() || is_open {
            self.check_copies(warp, header)?;
            self.check_mbarriers(warp, header)?;
        }
        let state = self.open_loops.entry((warp, header)).or_default();
        if state.general().is_some() {
            self.end_iteration_at_header(warp, header, mask);
            self.check_handed(warp, header, mask);
        } else if is_open {
            self.end_iteration_at_header(warp, header, mask);
            self.begin_general(warp, header, mask)?;
        }
        Ok(())
    }

    /// Puts a warp at the header of a loop into the general state, before the first general iteration.
    fn begin_general(&mut self, warp: WarpId, header: BlockId, lanes: LaneMask) -> OrStop<()> {
        let is_there = |other: &WarpId| *other != warp && self.warps[*other].live != 0;
        let beside = self.warps.ids().filter(is_there).collect();
        let state = self.open_loops.entry((warp, header)).or_default();
        state.phase = Phase::General(GeneralPhase { lanes, beside, ..GeneralPhase::default() });
        let (entry, origin) = (state.entry, state.origin.unwrap_or(Origin::Register));
        self.generalise(warp, header, entry, lanes, origin)
    }

    /// Records, at the end of an iteration, what registers pass on to later ones.
    fn end_iteration_at_header(&mut self, warp: WarpId, header: BlockId, mask: LaneMask) {
        if !self.facts.symbolics.reads_unwritten {
            return;
        }
        let program = self.program;
        for register in inside(program, header).flat_map(|(_, instr)| instr.dests.iter().flatten())
        {
            let value = self.warps[warp].registers[*register].clone();
            self.pass_on(header, *register, &value, mask);
        }
    }

    /// How often a warp has entered a loop, and how many iterations it has completed since.
    pub(super) fn iteration_of(&self, warp: WarpId, header: BlockId) -> Option<(u32, u32)> {
        self.open_loops.get(&(warp, header)).map(|state| (state.entry, state.iterations))
    }

    /// The outermost loop that a branch can leave, if there is one.
    fn left_by(&self, branch: BlockId) -> Option<BlockId> {
        let block = &self.program.blocks[branch.index()];
        let merge = &self.program.blocks[block.post_dominator?.index()];
        block.loops.iter().copied().find(|header| !merge.loops.contains(header))
    }

    /// Records that a branch was decided on an open condition. In the general state of the loop that it can leave, this
    /// begins an iteration, counted for this branch.
    pub(super) fn note_decision(&mut self, warp: WarpId, branch: BlockId, origin: Option<Origin>) {
        let Some(header) = self.left_by(branch) else { return };
        self.note_open_loop(warp, header, self.warps[warp].front);
        let state = self.open_loops.entry((warp, header)).or_default();
        state.origin = state.origin.or(origin);
        let (now, entry) = (state.iterations, state.entry);
        let Phase::General(general) = &mut state.phase else {
            state.phase = Phase::Open;
            return;
        };
        let (number, last) = general.decisions.entry(branch).or_default();
        // A branch in an inner loop can be decided more than once in an iteration.
        if *number == 0 || *last != now {
            (*number, *last) = (*number + 1, now);
            let iteration = Iteration { branch, entry, number: *number };
            self.events.iteration(warp, iteration);
        }
    }

    /// Whether a branch has to leave its loop now, because all kinds of iterations have run: `Some` with the value that
    /// the register of its condition is assumed to have for that, `None` if the loop goes on. Fails if accesses of
    /// earlier iterations might not be ordered before those that follow.
    pub(super) fn leaves(
        &mut self,
        warp: WarpId,
        branch: BlockId,
        condition: Condition,
        taken: BlockId,
        origin: Origin,
        open: Lane,
    ) -> OrStop<Option<bool>> {
        // Only iterations of lanes that surely run are counted.
        let Some(header) = self.left_by(branch).filter(|_| self.may_execute.is_none()) else {
            return Ok(None);
        };
        let Some(state) = self.open_loops.get(&(warp, header)) else { return Ok(None) };
        let has_run = |(number, last): &(u32, u32)| {
            *number >= GENERAL_ITERATIONS && *last != state.iterations
        };
        let decisions = state.general().and_then(|general| general.decisions.get(&branch));
        if !decisions.is_some_and(has_run) {
            return Ok(None);
        }
        let iteration = Iteration { branch, entry: state.entry, number: GENERAL_ITERATIONS };
        let is_torn = state.is_torn || !self.is_complete(warp, header, (branch, open));
        let place = self.program.blocks[branch.index()].place;
        if is_torn || !self.events.is_separated(warp, iteration) {
            return Err(undecided(place, place, origin));
        }
        let state = self.open_loops.get_mut(&(warp, header));
        if let Some(general) = state.and_then(OpenLoop::general_mut) {
            general.left = Some((branch, open));
        }
        self.leave_loop(warp, header, self.warps[warp].front);
        let stays = self.program.blocks[taken.index()].loops.contains(&header);
        Ok(Some(stays == condition.negated))
    }

    /// Whether all threads that came to the general state of a loop did so after the same number of iterations, and are
    /// still in the loop or left it by the same branch and condition (`way`), and no other thread has ended since. What
    /// a thread does before it ends is ordered before no later iteration, and only a few of those run.
    fn is_complete(&self, warp: WarpId, header: BlockId, way: (BlockId, Lane)) -> bool {
        let Some(state) = self.open_loops.get(&(warp, header)) else { return true };
        let is_alike = |other: &OpenLoop| other.general().is_some() && other.entry == state.entry;
        let has_come = |other: WarpId| self.open_loops.get(&(other, header)).is_some_and(is_alike);
        let mut beside = state.general().into_iter().flat_map(|general| &general.beside);
        if beside.any(|other| self.warps[*other].live == 0 && !has_come(*other)) {
            return false;
        }
        let in_loop = self.open_loops.iter().filter(|((_, at), _)| *at == header);
        in_loop.filter(|(_, other)| other.entry == state.entry).all(|((warp, _), other)| {
            other.general().is_none_or(|general| {
                let is_there = self.warps[*warp].live & general.lanes == general.lanes;
                other.before == state.before && (general.left == Some(way) || is_there)
            })
        })
    }

    /// Whether, for some warp and some loop, an open condition decided how often the loop ran when the warp entered it
    /// last.
    pub(super) fn has_open_loop(&self) -> bool {
        self.open_loops.values().any(OpenLoop::is_open)
    }

    /// Whether a warp is in a loop that is in the general state.
    pub(super) fn is_in_general(&self, warp: WarpId) -> bool {
        let Warp { block, general: Some(_), .. } = self.warps[warp] else { return false };
        let is_general = |header: &BlockId| {
            self.open_loops.get(&(warp, *header)).is_some_and(|state| state.general().is_some())
        };
        self.program.blocks[block.index()].loops.iter().any(is_general)
    }

    /// Records that a warp writes memory that threads share.
    pub(super) fn note_written(&mut self, piece: &Piece<'_>, address: u64, bytes: u32) {
        let warp = piece.warp;
        let Some((is_global, address)) = piece.place(address) else { return };
        self.written.write(is_global, address, bytes, self.warps[warp].general);
        if self.is_in_general(warp) {
            self.facts.inherited.write(is_global, address, bytes);
        }
    }

    /// The origin of what a warp reads in the general state of a loop, if iterations other than the two that run might
    /// have left it; `None` if memory holds what the warp reads.
    pub(super) fn other_iterations(
        &mut self,
        piece: &Piece<'_>,
        address: u64,
        bytes: u32,
    ) -> Option<Origin> {
        let warp = piece.warp;
        let state = self.warps[warp].general?;
        let (is_global, address) = piece.place(address)?;
        if self.written.holds(is_global, address, bytes, state) {
            return None;
        }
        let origin = self.open_loops.get(&(warp, state.0)).and_then(|loop_state| loop_state.origin);
        let is_carried = self.facts.inherited.read(is_global, address, bytes);
        let origin = self.facts.passed_on.in_any_store(origin.unwrap_or(Origin::Register));
        is_carried.then_some(origin)
    }

    /// Sets registers and local memory to what they hold after any number of iterations, which is the same for all
    /// threads of the cta.
    fn generalise(
        &mut self,
        warp: WarpId,
        header: BlockId,
        entry: u32,
        mask: LaneMask,
        origin: Origin,
    ) -> OrStop<()> {
        let program = self.program;
        let count = self.facts.symbolics.iterations(origin, self.cta(warp).index, header, entry);
        for (pc, instr) in inside(program, header) {
            for dest in instr.dests.iter().flatten() {
                let old_value = self.warps[warp].registers[*dest].clone();
                self.pass_on(header, *dest, &old_value, mask);
                let is_even = program.even.contains(&(header, *dest));
                let steps = program.steps.get(&(header, *dest)).filter(|_| is_even);
                let value = if let Some([step]) = steps.map(Vec::as_slice) {
                    let amounts = self.amounts(warp, header, step);
                    let left = self.facts.passed_on.in_register(header, *dest, origin);
                    Value::from_lanes(|lane| match amounts[lane] {
                        Some(amount) => {
                            self.facts.symbolics.plus(old_value.whole(lane), count, amount)
                        }
                        None => Lane::open(self.facts.symbolics.unclear(left)),
                    })
                } else {
                    let unknown = self.after_iterations(warp, header, *dest, origin);
                    self.hand_on(warp, header, *dest, &unknown)
                };
                self.warps[warp].write(*dest, value, mask);
            }
            if instr.effect() == Effect::Store && self.slice.keep[pc.index()] == Keep::Value {
                let origin = self.facts.passed_on.in_store(pc, origin);
                self.forget_local(warp, header, instr, mask, origin)?;
            }
        }
        self.warps[warp].general = Some((header, entry));
        Ok(())
    }

    /// Makes open what a store of a loop might have left in local memory after any number of iterations: at its address
    /// if the loop does not change that, otherwise wherever the store can reach.
    fn forget_local(
        &mut self,
        warp: WarpId,
        header: BlockId,
        instr: &Instr,
        mask: LaneMask,
        origin: Origin,
    ) -> OrStop<()> {
        let (Some(decoded), Some(address)) = (instr.decoded(), instr.address) else {
            return Ok(());
        };
        if !matches!(address.space, Space::Local | Space::Generic) {
            return Ok(());
        }
        let is_defined = |base: Reg| {
            inside(self.program, header)
                .any(|(_, other)| other.dests.iter().flatten().any(|dest| *dest == base))
        };
        let is_fixed = address.base.is_none_or(|base| !is_defined(base));
        let addresses = self.addresses(warp, &address);
        let bytes = decoded.ty().bytes() * u32::from(decoded.vector());
        for lane in lanes(mask) {
            let whole = addresses.whole(lane);
            let (space, within) = match address.space {
                Space::Generic => space_of(whole.bits),
                space => (space, whole.bits),
            };
            let open = Lane::open(self.facts.symbolics.unclear(origin));
            match is_fixed && whole.symbol.is_none() {
                true if space == Space::Local => {
                    let memory = self.warps[warp].local(lane);
                    (0..u64::from(bytes))
                        .for_each(|at| memory.store(within.wrapping_add(at), 1, open));
                }
                true => {}
                false => self.forget_stored_locally(warp, lane, instr, origin)?,
            }
        }
        Ok(())
    }
}
