//! Branches on open conditions: lanes whose condition is open run all sides, as may-execute.
//!
//! Each side starts from the state at the branch and runs up to the branch's merge, where the states of the sides are
//! joined: what differs between them becomes open. If the branch can go around a loop that does not contain the merge,
//! the sides run only to the end of this iteration. Then all that the loop assigns or stores becomes open, and the loop
//! runs once from its header; this run stands for all iterations that follow. Accesses on a side are marked as
//! may-execute, and nothing on a side can wait for other threads.
//!
//! Lanes with the same condition run the iterations of such a loop together, as long as every branch that can leave the
//! loop decides alike for them. They can then exchange values within the warp.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::doubt::DoubtKind;
use super::event::{Events, OrderQuery};
use super::may_execute::{MAX_DEPTH, OpenSide, UniformLoop};
use super::open_loop::inside;
use super::spin::dests;
use super::state::Machine;
use super::stop::{OPEN_COST, OrStop, doubt, undecided};
use super::warp::Front;
use crate::emulate::memory::pages::{Memory, MemoryUse, View};
use crate::emulate::value::guard::{BranchSide, WrittenRegister};
use crate::emulate::value::lane::{Lane, LaneMask, SymbolId, WARP, lanes};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::register::Value;
use crate::emulate::value::symbolics::Symbolics;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{Block, BlockId, Condition, Instr, Pc, Reg, Terminator};
use crate::ptx::isa::Effect;
use crate::slice::Keep;

/// What decides which of two values a register holds.
pub(super) struct Chooser {
    condition: Value,
    /// Whether the register holds the first of the two if the condition holds.
    holds_for_first: bool,
}

/// What a side changed in the state of lanes: registers that it wrote, and local memory.
struct SideOutcome {
    registers: BTreeMap<Reg, Value>,
    local: Rc<Vec<Memory>>,
}

impl SideOutcome {
    /// Lets a run that ended before a loop was forgotten keep what it left in registers where that equals what all later
    /// iterations leave there, as a constant that each iteration assigns anew. `first`: the registers before the run.
    fn keep_equal(&mut self, first: &BTreeMap<Reg, Value>, later: &Self, mask: LaneMask) {
        for (register, value) in first {
            let is_equal = |later: &Value| later.differs(value) & mask == 0;
            if later.registers.get(register).is_some_and(is_equal) {
                self.registers.entry(*register).or_insert_with(|| value.clone());
            }
        }
    }
}

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Runs lanes whose condition is open on all of `sides`, and lets them converge at the merge of the branch.
    /// `is_one`: the condition is the same for all of these lanes.
    pub(super) fn either(
        &mut self,
        warp: WarpId,
        branch: BlockId,
        sides: &[BlockId],
        mask: LaneMask,
        (origin, is_one): (Origin, bool),
    ) -> OrStop<()> {
        let program = self.program;
        let block = &program.blocks[branch.index()];
        let Some(merge) = block.merge else { return Ok(()) };
        let depth = self.may_execute.as_ref().map_or(0, |outer| outer.depth) + 1;
        if depth > MAX_DEPTH {
            return Err(doubt(DoubtKind::Branch, block.place, Some(origin)));
        }
        self.spend(OPEN_COST, block.place)?;
        // Sides that write local memory copy it.
        let held: MemoryUse = self.warps[warp].local.iter().map(Memory::held).sum();
        self.spend(held.pages as u64, block.place)?;
        let (may_execute, iterations) = self.inner(warp, branch, merge, mask, (origin, is_one));
        if let Some(header) = iterations {
            self.spend(inside(program, header).count() as u64, block.place)?;
            self.note_open_loop(warp, header, mask);
        }
        // A side that ends at once changes nothing.
        let (ended, entries): (Vec<BlockId>, Vec<BlockId>) = sides
            .iter()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .partition(|side| may_execute.stops_at(**side));
        let first = ended.iter().chain(&entries).next().copied();
        let chooser = self.chooser(warp, block, first).filter(|_| iterations.is_none());
        let sides = (!ended.is_empty(), entries.as_slice());
        let outcomes = self.run_sides(warp, branch, sides, (may_execute, iterations), mask)?;
        self.join(warp, outcomes, mask, (origin, chooser.as_ref()));
        if let Some(header) = iterations {
            self.leave_loop(warp, header, mask);
        }
        self.go(warp, branch, merge, mask)
    }

    /// The open condition of a branch, and the header of the loop that its sides can go around, if there is one.
    fn inner(
        &self,
        warp: WarpId,
        branch: BlockId,
        merge: BlockId,
        mask: LaneMask,
        (origin, is_one): (Origin, bool),
    ) -> (OpenSide, Option<BlockId>) {
        let block = &self.program.blocks[branch.index()];
        let outer = self.may_execute.clone().unwrap_or_else(|| OpenSide {
            was_convergent: true,
            is_whole: true,
            ..OpenSide::guard(origin, block.place)
        });
        let is_together = is_one && outer.was_convergent;
        let is_whole = is_together && mask == self.warps[warp].live && outer.is_whole;
        let (place, depth) = (block.place, outer.depth + 1);
        let mut inner =
            OpenSide { origin, place, depth, was_convergent: is_together, is_whole, ..outer };
        inner.stops.push(merge);
        let merged = &self.program.blocks[merge.index()].loops;
        let goes_round =
            |header: &&BlockId| !merged.contains(header) && !inner.widened.contains(header);
        let iterations = block.loops.iter().find(goes_round).copied();
        if let Some(header) = iterations {
            inner.stops.push(header);
            inner.widened.push(header);
            let since = (self.atomics, self.exchanges[warp]);
            let uniform_loop = UniformLoop { header, lanes: mask, since, is_torn: Rc::default() };
            inner.uniform_loops.extend(is_together.then_some(uniform_loop));
        }
        (inner, iterations)
    }

    /// Runs the sides of a branch and then, if they can go around a loop, all iterations that follow, at once. Returns
    /// what each run changed. A side that ends at once comes first and changes nothing.
    fn run_sides(
        &mut self,
        warp: WarpId,
        branch: BlockId,
        (ends_at_once, entries): (bool, &[BlockId]),
        (may_execute, iterations): (OpenSide, Option<BlockId>),
        mask: LaneMask,
    ) -> OrStop<Vec<SideOutcome>> {
        let mut outcomes = Vec::new();
        if ends_at_once {
            let local = Rc::clone(&self.warps[warp].local);
            outcomes.push(SideOutcome { registers: BTreeMap::new(), local });
        }
        for entry in entries {
            let side = self.taken(warp, branch, *entry, may_execute.was_convergent);
            outcomes.push(self.with_side(warp, may_execute.clone().on(side), *entry, mask)?);
            self.end_iteration(iterations, outcomes.last(), mask);
        }
        if let Some(header) = iterations {
            let first = self.assigned_in(warp, header);
            self.forget_loop(warp, header, mask, may_execute.origin)?;
            // No condition decides whether such a later iteration runs.
            let place = self.program.blocks[branch.index()].place;
            let run = (self.spent, place, header.index());
            let is_one = may_execute.was_convergent;
            let side = BranchSide { condition: None, run, is_one, holds: true };
            let later = self.with_side(warp, may_execute.on(side), header, mask)?;
            for outcome in &mut outcomes {
                outcome.keep_equal(&first, &later, mask);
            }
            outcomes.push(later);
            self.end_iteration(iterations, outcomes.last(), mask);
        }
        Ok(outcomes)
    }

    /// The values of the registers that a loop assigns.
    fn assigned_in(&self, warp: WarpId, header: BlockId) -> BTreeMap<Reg, Value> {
        let registers = &self.warps[warp].registers;
        let assigned = inside(self.program, header).flat_map(|(_, instr)| dests(instr));
        let held = assigned.filter(|register| registers.has(*register));
        held.map(|register| (register, registers[register].clone())).collect()
    }

    /// Checks a branch that decides for the lanes of `mask`, for all of them alike if `is_alike`. Lanes that run the
    /// iterations of a loop together have to leave the loop together if they exchange values in it. Fails if they might
    /// not.
    pub(super) fn stays_convergent(
        &self,
        warp: WarpId,
        branch: BlockId,
        mask: LaneMask,
        is_alike: bool,
    ) -> OrStop<()> {
        let Some(may_execute) = &self.may_execute else { return Ok(()) };
        let blocks = &self.program.blocks;
        let block = &blocks[branch.index()];
        let is_in =
            |at: BlockId, header| at != header && blocks[at.index()].loops.contains(&header);
        let may_leave = |uniform_loop: &UniformLoop| {
            let stays = block.merge.is_some_and(|merge| is_in(merge, uniform_loop.header));
            block.loops.contains(&uniform_loop.header) && !stays
        };
        for uniform_loop in
            may_execute.uniform_loops.iter().filter(|uniform_loop| may_leave(uniform_loop))
        {
            if is_alike && uniform_loop.lanes == mask {
                continue;
            }
            uniform_loop.is_torn.set(true);
            if self.exchanges[warp] > uniform_loop.since.1 {
                return Err(may_execute.undecided());
            }
        }
        Ok(())
    }

    /// Whether a symbolic value stands for another value in each iteration of a loop that lanes run together.
    pub(super) fn is_repeated(&self, symbol: SymbolId) -> bool {
        let first =
            self.may_execute.as_ref().and_then(|may_execute| may_execute.uniform_loops.first());
        first.is_some_and(|uniform_loop| self.facts.symbolics.is_from(symbol, uniform_loop.since))
    }

    /// Runs an instruction under an open guard: an access might happen, and each result is the new or the old value, so
    /// it is open.
    pub(super) fn under_open_guard(
        &mut self,
        warp: WarpId,
        block: BlockId,
        pc: Pc,
        instr: &Instr,
        guard: Condition,
        open: LaneMask,
    ) -> OrStop<()> {
        let origin = self.origin_of(warp, guard, open);
        let condition = self.warps[warp].registers[guard.register].clone();
        let chooser = Chooser { condition, holds_for_first: guard.negated };
        let before: Vec<_> = instr
            .dests
            .iter()
            .flatten()
            .map(|dest| (*dest, self.warps[warp].registers[*dest].clone()))
            .collect();
        match instr.effect() {
            Effect::Compute | Effect::Opaque => self.compute(warp, pc, instr, open),
            Effect::Load | Effect::Store | Effect::Atomic | Effect::MemoryFence => {
                self.reached[pc.index()] = true;
                let run = (self.spent, instr.place, 0);
                let condition = Some(self.asked(warp, guard));
                let side = BranchSide { condition, run, is_one: false, holds: !guard.negated };
                let inner =
                    OpenSide::guard(origin, instr.place).within(self.may_execute.as_ref()).on(side);
                let outer = self.may_execute.replace(inner);
                self.watch(warp, block, pc, instr, open)?;
                if instr.effect() == Effect::MemoryFence {
                    self.emit_fence(warp, pc, instr, open)?;
                } else {
                    self.access(warp, pc, instr, open)?;
                }
                self.may_execute = outer;
            }
            _ => return Err(undecided(instr.place, instr.place, origin)),
        }
        for (dest, old) in before {
            let new = self.warps[warp].registers[dest].clone();
            let value = self.one_of(&old, &new, open, (origin, Some(&chooser)));
            self.warps[warp].write(dest, value, open);
        }
        Ok(())
    }

    /// What decides between the sides of a branch, of which the first in order begins with block `first`; `None` for a
    /// branch with an index.
    fn chooser(&self, warp: WarpId, block: &Block, first: Option<BlockId>) -> Option<Chooser> {
        let Terminator::Branch { condition, taken, .. } = &block.terminator else { return None };
        let value = self.warps[warp].registers[condition.register].clone();
        let holds_for_first = (first == Some(*taken)) != condition.negated;
        Some(Chooser { condition: value, holds_for_first })
    }

    /// The side of a branch that begins with block `entry`.
    fn taken(&self, warp: WarpId, branch: BlockId, entry: BlockId, is_one: bool) -> BranchSide {
        let block = &self.program.blocks[branch.index()];
        let run = (self.spent, block.place, entry.index());
        match &block.terminator {
            Terminator::Branch { condition, taken, .. } => {
                let holds = (entry == *taken) != condition.negated;
                BranchSide { condition: Some(self.asked(warp, *condition)), run, is_one, holds }
            }
            _ => BranchSide { condition: None, run, is_one, holds: true },
        }
    }

    /// The value of a condition, and the register that holds it.
    fn asked(
        &self,
        warp: WarpId,
        Condition { register, .. }: Condition,
    ) -> (Value, WrittenRegister) {
        let registers = &self.warps[warp].registers;
        let version = registers.version(register);
        (registers[register].clone(), WrittenRegister { warp, register, version })
    }

    /// Runs lanes from the entry of a side to where it ends. What they wrote to registers and local memory is undone,
    /// and returned. The open condition around the side is restored.
    fn with_side(
        &mut self,
        warp: WarpId,
        may_execute: OpenSide,
        entry: BlockId,
        lanes: LaneMask,
    ) -> OrStop<SideOutcome> {
        let outer = self.may_execute.replace(may_execute);
        let state = &mut self.warps[warp];
        let local = Rc::clone(&state.local);
        let log = state.log.replace(Vec::new());
        let fronts = std::mem::replace(&mut state.fronts, vec![Front { block: entry, lanes }]);
        while let Some(front) = self.warps[warp].least() {
            self.block(warp, front.block, front.lanes)?;
        }
        self.may_execute = outer;
        let state = &mut self.warps[warp];
        state.fronts = fronts;
        let mut registers = BTreeMap::new();
        let written = std::mem::replace(&mut state.log, log).unwrap_or_default();
        for (register, old) in written.into_iter().rev() {
            if let Some((value, _)) = state.registers.get_mut(register) {
                registers.entry(register).or_insert(std::mem::replace(value, old));
            }
        }
        let local = std::mem::replace(&mut state.local, local);
        Ok(SideOutcome { registers, local })
    }

    /// Records what registers pass on to later iterations at the end of a side that can go around a loop.
    fn end_iteration(
        &mut self,
        iterations: Option<BlockId>,
        side: Option<&SideOutcome>,
        mask: LaneMask,
    ) {
        let (Some(header), Some(side)) = (iterations, side) else { return };
        if !self.facts.symbolics.reads_unwritten {
            return;
        }
        for (register, value) in &side.registers {
            self.pass_on(header, *register, value, mask);
        }
    }

    /// Sets registers and local memory to the state after one of several sides, not known which.
    fn join(
        &mut self,
        warp: WarpId,
        outcomes: Vec<SideOutcome>,
        mask: LaneMask,
        by: (Origin, Option<&Chooser>),
    ) {
        // One condition decides only between two sides.
        let by = (by.0, by.1.filter(|_| outcomes.len() == 2));
        let written: BTreeSet<Reg> =
            outcomes.iter().flat_map(|outcome| outcome.registers.keys().copied()).collect();
        for register in written {
            let before = self.warps[warp].registers[register].clone();
            let mut after = outcomes
                .iter()
                .map(|outcome| outcome.registers.get(&register).unwrap_or(&before).clone());
            let Some(first) = after.next() else { continue };
            let joined = after.fold(first, |one, other| self.one_of(&one, &other, mask, by));
            self.warps[warp].write(register, joined, mask);
        }
        self.warps[warp].local = Rc::default();
        let mut all = outcomes.into_iter().map(|outcome| outcome.local);
        let Some(first) = all.next() else { return };
        self.warps[warp].local = all.fold(first, |mut one, other| {
            if !Rc::ptr_eq(&one, &other) && one != other {
                self.join_local(Rc::make_mut(&mut one), &other, mask, by);
            }
            one
        });
    }

    /// Sets the local memory of a warp after one side to what it is after one of two sides.
    fn join_local(
        &mut self,
        one: &mut Vec<Memory>,
        other: &[Memory],
        mask: LaneMask,
        (origin, chooser): (Origin, Option<&Chooser>),
    ) {
        let nothing = Memory::default();
        one.resize(WARP, nothing.clone());
        let unwritten = self.facts.passed_on.in_any_store(origin);
        let view = View { unwritten, guards: None };
        for lane in lanes(mask) {
            let other = other.get(lane).unwrap_or(&nothing);
            one[lane].join(other, view, &mut self.facts.symbolics, |symbolics, a, b| {
                one_of(symbolics, (a, b), lane, (origin, chooser))
            });
        }
    }

    /// One of two values in the lanes of `mask`, not known which; `a` in other lanes.
    pub(super) fn one_of(
        &mut self,
        a: &Value,
        b: &Value,
        mask: LaneMask,
        (origin, chooser): (Origin, Option<&Chooser>),
    ) -> Value {
        let differs = a.differs(b) & mask;
        if differs == 0 {
            return a.clone();
        }
        Value::from_lanes(|lane| match differs >> lane & 1 {
            1 => {
                let both = (a.whole(lane), b.whole(lane));
                one_of(&mut self.facts.symbolics, both, lane, (origin, chooser))
            }
            _ => a.whole(lane),
        })
    }

    /// Makes open what any iteration of a loop can assign or store.
    fn forget_loop(
        &mut self,
        warp: WarpId,
        header: BlockId,
        mask: LaneMask,
        origin: Origin,
    ) -> OrStop<()> {
        self.forget_registers(warp, header, mask, origin);
        let program = self.program;
        for (pc, instr) in inside(program, header) {
            if matches!(instr.effect(), Effect::Store | Effect::Atomic)
                && self.slice.keep[pc.index()] == Keep::Value
            {
                let origin = self.facts.passed_on.in_store(pc, origin);
                self.forget_stored(warp, mask, instr, origin)?;
            }
        }
        Ok(())
    }
}

/// One of two values of a lane, not known which.
fn one_of(
    symbolics: &mut Symbolics,
    (a, b): (Lane, Lane),
    lane: usize,
    (origin, chooser): (Origin, Option<&Chooser>),
) -> Lane {
    match chooser {
        Some(chooser) => {
            let by = (chooser.condition.whole(lane), chooser.holds_for_first);
            symbolics.either_by((a, b), origin, by)
        }
        None => symbolics.either(a, b, origin),
    }
}
