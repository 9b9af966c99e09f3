//! Runs a block: its instructions in order, then its branch. Instructions under open guards and branches on open
//! conditions are left to `sides`.

use smallvec::SmallVec;

use super::doubt::DoubtKind;
use super::event::{Events, OrderQuery};
use super::may_execute::OpenSide;
use super::state::Machine;
use super::stop::{APART_COST, OrStop, doubt};
use super::warp::{Front, Paused};
use crate::emulate::ops;
use crate::emulate::value::lane::{Lane, LaneMask, WARP, lanes};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::register::Value;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{BlockId, Condition, Instr, Operand, Operation, Pc, PlaceId, Terminator};
use crate::ptx::isa::{Decoded, Effect};
use crate::slice::{self, Keep};

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Runs a block from its start in these lanes, and counts its instructions.
    pub(super) fn block(&mut self, warp: WarpId, id: BlockId, lanes: LaneMask) -> OrStop<()> {
        let program = self.program;
        let block = &program.blocks[id.index()];
        let instructions = u64::from(block.end.0 - block.first.0) + 1;
        self.run.warp_instructions += instructions;
        self.spend(instructions, block.place)?;
        self.rest(warp, Front { block: id, lanes }, None)
    }

    /// Runs the rest of the block in which the warp's last turn ended.
    pub(super) fn go_on(&mut self, warp: WarpId, paused: Paused) -> OrStop<()> {
        self.rest(warp, paused.front, Some(paused.pc))
    }

    /// Runs a block from the instruction `from` on, or from its start. The warp's turn can end before a later
    /// instruction.
    fn rest(&mut self, warp: WarpId, front: Front, from: Option<Pc>) -> OrStop<()> {
        let Front { block: id, lanes } = front;
        let program = self.program;
        self.warps[warp].front = lanes;
        self.warps[warp].block = id;
        self.in_lock_step(warp);
        let mut waiting = 0;
        let slice = self.slice;
        for &pc in slice.kept(id) {
            let instr = &program.code[pc.index()];
            if from.is_some_and(|from| pc < from) {
                continue;
            }
            if from != Some(pc) && self.ends_turn(pc) {
                self.warps[warp].paused = Some(Paused { front, pc });
                return Ok(());
            }
            waiting |= self.instruction(warp, id, pc, instr, lanes)?;
        }
        self.branch(warp, id, lanes & !waiting)?;
        if waiting != 0 { self.release_complete(warp) } else { Ok(()) }
    }

    /// Whether the warp's turn ends before an instruction. A side of an open condition runs in one turn.
    fn ends_turn(&mut self, pc: Pc) -> bool {
        self.scheduler.may_end_turn()
            && self.may_execute.is_none()
            && slice::is_observable(self.program, pc)
            && self.scheduler.ends_turn()
    }

    /// Runs an instruction. Returns the lanes that wait there.
    fn instruction(
        &mut self,
        warp: WarpId,
        block: BlockId,
        pc: Pc,
        instr: &Instr,
        lanes: LaneMask,
    ) -> OrStop<LaneMask> {
        let effect = instr.effect();
        let mut enabled = lanes;
        if let Some(guard) = instr.guard {
            // The result of a computation under an open guard is a value that depends on the guard: nothing is decided
            // yet.
            if !matches!(effect, Effect::Compute | Effect::Opaque) {
                self.check_condition(warp, guard, lanes, instr.place);
            }
            let (is_enabled, open) = self.decided(warp, guard, lanes, instr.place, None)?;
            if open != 0 {
                self.under_open_guard(warp, block, pc, instr, guard, open)?;
            }
            enabled = is_enabled;
            if instr.is_aligned_barrier() {
                self.part(warp, block, &[enabled, lanes & !enabled]);
            }
        }
        if enabled == 0 {
            return Ok(0);
        }
        self.reached[pc.index()] = true;
        self.watch(warp, block, pc, instr, enabled)?;
        match effect {
            Effect::Load | Effect::Store | Effect::Atomic => {
                self.access(warp, pc, instr, enabled)?;
                self.in_lock_step(warp);
            }
            Effect::CopyGroup => {
                self.copy_command(warp, instr, enabled)?;
                self.in_lock_step(warp);
            }
            Effect::Asynchronous => return Err(doubt(DoubtKind::Unsupported, instr.place, None)),
            Effect::Compute | Effect::Opaque => {
                self.compute_counted(warp, pc, instr, enabled)?;
            }
            Effect::MemoryFence => self.emit_fence(warp, pc, instr, enabled)?,
            Effect::ProxyFence => self.emit_proxy_fence(warp, enabled),
            Effect::Answer => self.read_answers(warp, pc, instr, enabled)?,
            Effect::RegisterCount => return self.change_registers(warp, block, pc, instr, enabled),
            Effect::Nothing | Effect::Branch | Effect::Call | Effect::Return | Effect::Exit => {}
            // What synchronizes, or acts on more than one lane at a time.
            _ => return self.wait(warp, block, pc, instr, enabled),
        }
        Ok(0)
    }

    /// Computes an instruction, and counts the additional cost of results that differ from lane to lane.
    fn compute_counted(
        &mut self,
        warp: WarpId,
        pc: Pc,
        instr: &Instr,
        enabled: LaneMask,
    ) -> OrStop<()> {
        self.compute(warp, pc, instr, enabled);
        let mut results = instr.dests.iter().flatten();
        if results.any(|register| self.warps[warp].registers[*register].differs_by_lane()) {
            self.spend(APART_COST, instr.place)?;
        }
        Ok(())
    }

    /// Computes an instruction in the lanes of `enabled`. Its results are open if it is not modelled or the slice
    /// leaves them open.
    pub(super) fn compute(&mut self, warp: WarpId, pc: Pc, instr: &Instr, enabled: LaneMask) {
        let decoded = instr.decoded().filter(|_| self.slice.keep[pc.index()] != Keep::Open);
        let Some(decoded) = decoded else {
            let origin = Origin::Unsupported(pc);
            // What a function of the system returns might be an address.
            let is_unclear = matches!(instr.operation, Operation::External(_));
            let open = if is_unclear {
                self.facts.symbolics.unclear(origin)
            } else {
                self.facts.symbolics.any_number(origin)
            };
            for dest in instr.dests.iter().flatten() {
                self.warps[warp].write(*dest, Value::open(open), enabled);
            }
            return;
        };
        let results = self.computed(warp, pc, instr, decoded, enabled);
        for (dest, value) in instr.dests.iter().zip(results) {
            if let Some(dest) = dest {
                self.warps[warp].write(*dest, value, enabled);
            }
        }
        if self.phases.peeks.is_some() {
            self.carry(warp, instr, enabled);
        }
    }

    /// Returns the results of a modelled instruction.
    fn computed(
        &mut self,
        warp: WarpId,
        pc: Pc,
        instr: &Instr,
        decoded: &Decoded,
        enabled: LaneMask,
    ) -> ops::Results {
        if let Some((first, second)) = self.computed_once(warp, instr, decoded) {
            return ops::results([first, second].map(Value::uniform), instr.dests.len());
        }
        let mut made = SmallVec::<[Value; 3]>::new();
        for source in &instr.sources {
            if self.warps[warp].registers.operand(source, enabled).is_none() {
                made.push(self.operand(warp, pc, source).among(enabled));
            }
        }
        let (registers, mut made) = (&self.warps[warp].registers, made.iter());
        let mut sources = SmallVec::<[&Value; 4]>::new();
        for source in &instr.sources {
            if let Some(value) = registers.operand(source, enabled).or_else(|| made.next()) {
                sources.push(value);
            }
        }
        ops::compute(&mut self.facts.symbolics, pc, decoded, &sources, instr.dests.len(), enabled)
    }

    /// Returns the results if all operands are known and the same in all lanes; otherwise `None`.
    fn computed_once(&self, warp: WarpId, instr: &Instr, decoded: &Decoded) -> Option<(u64, u64)> {
        let registers = &self.warps[warp].registers;
        let mut operands = [0; ops::MAX_OPERANDS];
        let values = operands.get_mut(..instr.sources.len())?;
        for (operand, source) in values.iter_mut().zip(&instr.sources) {
            *operand = match source {
                Operand::Register(register) => registers[*register].as_uniform()?,
                Operand::Constant(bits) => *bits,
                Operand::Variable { first, offset, .. } => first.wrapping_add_signed(*offset),
                _ => return None,
            };
        }
        ops::compute_once(decoded, values, instr.dests.len())
    }

    /// The origin of a condition that is open in some of these lanes.
    pub(super) fn origin_of(&self, warp: WarpId, condition: Condition, lanes: LaneMask) -> Origin {
        let value = &self.warps[warp].registers[condition.register];
        let origin = value.symbol(lanes).and_then(|symbol| self.facts.symbolics.origin(symbol));
        origin.unwrap_or(Origin::Register)
    }

    /// Returns the lanes in which a condition holds, and those in which it is open. A negated condition holds where its
    /// register is false.
    fn condition(
        &self,
        warp: WarpId,
        condition: Condition,
        lanes: LaneMask,
    ) -> (LaneMask, LaneMask) {
        let value = &self.warps[warp].registers[condition.register];
        let open = value.open_lanes() & lanes;
        let truth = if condition.negated { !value.truth() } else { value.truth() };
        (truth & lanes & !open, open)
    }

    /// Emits a fault if a condition depends on memory that nothing wrote.
    fn check_condition(
        &mut self,
        warp: WarpId,
        condition: Condition,
        lanes: LaneMask,
        place: PlaceId,
    ) {
        let value = &self.warps[warp].registers[condition.register];
        let open = value.open_lanes() & lanes;
        if open != 0 {
            let value = value.clone();
            self.check_written(warp, &value, open, place);
        }
    }

    /// What the open lanes hold, if they provably all hold the same.
    pub(super) fn common_value(&self, value: &Value, open: LaneMask) -> Option<Lane> {
        let first = value.whole(open.trailing_zeros() as usize % WARP);
        let is_stable = first.symbol.is_some_and(|symbol| self.facts.symbolics.is_stable(symbol));
        (is_stable && lanes(open).all(|lane| value.whole(lane) == first)).then_some(first)
    }

    /// As `condition`, but decides an open condition that is the same in all open lanes, if a case split or the end of
    /// a loop decides it. `branch`: the block that ends with the condition, and its successor if the condition holds;
    /// `None` for a guard. Fails if a loop would have to end here whose proof is not complete.
    fn decided(
        &mut self,
        warp: WarpId,
        condition: Condition,
        lanes: LaneMask,
        place: PlaceId,
        branch: Option<(BlockId, BlockId)>,
    ) -> OrStop<(LaneMask, LaneMask)> {
        let (enabled, open) = self.condition(warp, condition, lanes);
        if open == 0 {
            return Ok((enabled, open));
        }
        if let Some(holds) = self.known_by_others(warp, condition, open) {
            return Ok(if holds { (enabled | open, 0) } else { (enabled, 0) });
        }
        if self.facts.splits.is_empty() {
            self.note_left_open(warp, condition, open, (place, branch));
            return Ok((enabled, open));
        }
        let value = &self.warps[warp].registers[condition.register];
        let Some(first) = self.common_value(value, open) else { return Ok((enabled, open)) };
        let is_own = first.symbol.is_some_and(|symbol| self.facts.symbolics.is_of_cta(symbol));
        // Where all iterations of a loop run at once, such a condition can hold in some of them and not in others.
        if is_own && self.may_execute.as_ref().is_some_and(OpenSide::is_widened) {
            return Ok((enabled, open));
        }
        let origin = self.origin_of(warp, condition, open);
        let forced = match branch {
            Some((id, taken)) => self.leaves(warp, id, condition, taken, origin, first)?,
            None => None,
        };
        let holds = forced.or_else(|| self.facts.splits.decide(place, first, is_own));
        if let (Some(_), None, Some((id, _))) = (holds, forced, branch) {
            self.note_decision(warp, id, Some(origin));
        }
        Ok(match holds {
            Some(holds) if holds == condition.negated => (enabled, 0),
            Some(_) => (enabled | open, 0),
            None => (enabled, open),
        })
    }

    /// Records that a branch ran both sides whose condition a case split could decide.
    fn note_left_open(
        &mut self,
        warp: WarpId,
        condition: Condition,
        open: LaneMask,
        (place, branch): (PlaceId, Option<(BlockId, BlockId)>),
    ) {
        let Some((id, _)) = branch else { return };
        let value = &self.warps[warp].registers[condition.register];
        if self.program.blocks[id.index()].loops.is_empty()
            && self.common_value(value, open).is_some()
        {
            self.facts.splits.leave_open(place);
        }
    }

    /// Moves lanes from the end of a block to its successors. Lanes whose condition is open run all successors.
    fn branch(&mut self, warp: WarpId, id: BlockId, lanes: LaneMask) -> OrStop<()> {
        let program = self.program;
        let block = &program.blocks[id.index()];
        let is_decided = self.slice.branches[id.index()];
        match &block.terminator {
            Terminator::Goto(next) => self.go(warp, id, *next, lanes),
            Terminator::End => Ok(()),
            _ if !is_decided => match block.post_dominator {
                Some(next) => self.go(warp, id, next, lanes),
                None => Ok(()),
            },
            Terminator::Branch { condition, taken, otherwise } => {
                let side = Some((id, *taken));
                self.check_condition(warp, *condition, lanes, block.place);
                let (enabled, open) = self.decided(warp, *condition, lanes, block.place, side)?;
                self.check_skip(warp, id, *condition, (lanes & !open, enabled))?;
                if self.slice.encloses[id.index()] {
                    self.part(warp, id, &[enabled, lanes & !enabled & !open, open]);
                }
                let is_known = open == 0 && (enabled == 0 || enabled == lanes);
                let value = &self.warps[warp].registers[condition.register];
                let is_alike =
                    is_known || open == lanes && self.common_value(value, open).is_some();
                self.stays_convergent(warp, id, lanes, is_alike)?;
                if open != 0 {
                    let origin = self.origin_of(warp, *condition, open);
                    let value = self.warps[warp].registers[condition.register].clone();
                    let is_one = self.common_value(&value, open).is_some();
                    self.either(warp, id, &[*taken, *otherwise], open, (origin, is_one))?;
                }
                self.go(warp, id, *taken, enabled)?;
                self.go(warp, id, *otherwise, lanes & !enabled & !open)
            }
            Terminator::Switch { index, targets } => self.switch(warp, id, index, targets, lanes),
        }
    }

    /// Moves lanes to the targets that their index selects. Lanes whose index is open run all targets.
    fn switch(
        &mut self,
        warp: WarpId,
        id: BlockId,
        index: &Operand,
        targets: &[BlockId],
        mask: LaneMask,
    ) -> OrStop<()> {
        let block = &self.program.blocks[id.index()];
        let (pc, place) = (block.first, block.place);
        let value = self.operand(warp, pc, index);
        let open = value.open_lanes() & mask;
        if self.slice.encloses[id.index()] {
            let target =
                |lane| targets.get(usize::try_from(value.bits_of(lane) & 0xffff_ffff).ok()?);
            let mut sides: Vec<LaneMask> = targets
                .iter()
                .map(|successor| {
                    lanes(mask & !open).filter(|lane| target(*lane) == Some(successor))
                })
                .map(|side| side.fold(0, |side, lane| side | 1 << lane))
                .collect();
            sides.push(open);
            self.part(warp, id, &sides);
        }
        self.stays_convergent(warp, id, mask, false)?;
        if open != 0 {
            self.check_written(warp, &value, open, place);
            self.facts.assumed.targets = true;
            let origin = value.symbol(open).and_then(|symbol| self.facts.symbolics.origin(symbol));
            let is_one = self.common_value(&value, open).is_some();
            let origin = origin.unwrap_or(Origin::Register);
            self.either(warp, id, targets, open, (origin, is_one))?;
        }
        for lane in lanes(mask & !open) {
            let target = usize::try_from(value.bits_of(lane) & 0xffff_ffff)
                .ok()
                .and_then(|at| targets.get(at));
            // An index outside the table is undefined behaviour, so it is not known what follows.
            let Some(target) = target else { return Err(doubt(DoubtKind::Target, place, None)) };
            self.go(warp, id, *target, 1 << lane)?;
        }
        Ok(())
    }
}
