//! Runs the instructions that group asynchronous copies and wait for them. Which copies are complete is found out by those
//! that receive the events.

use super::copy_event::CopyCommand;
use super::doubt::DoubtKind;
use super::event::{Events, OrderQuery};
use super::state::Machine;
use super::stop::{OrStop, Stop, doubt, undecided};
use crate::emulate::value::lane::LaneMask;
use crate::emulate::value::origin::Origin;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{BlockId, Instr, Operand};
use crate::ptx::isa::Opcode;

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Records that lanes copy. Fails in a loop whose iterations run at once: the copies of all of them might be in flight.
    pub(super) fn begin_copies(&mut self, warp: WarpId, lanes: LaneMask) -> OrStop<()> {
        if let Some(side) = self.may_execute.as_ref().filter(|side| side.is_widened()) {
            return Err(side.undecided());
        }
        self.copying[warp].issue(lanes);
        Ok(())
    }

    /// Runs an instruction that groups copies, or waits for groups. Fails under an open condition.
    pub(super) fn copy_command(
        &mut self,
        warp: WarpId,
        instr: &Instr,
        lanes: LaneMask,
    ) -> OrStop<()> {
        if let Some(side) = &self.may_execute {
            return Err(side.undecided());
        }
        self.count_commands(lanes);
        let opcode = instr.decoded().map(|decoded| decoded.row.opcode);
        if matches!(opcode, Some(Opcode::WgmmaCommit | Opcode::WgmmaWait)) {
            return self.product_group(warp, instr, lanes);
        }
        if matches!(
            opcode,
            Some(Opcode::CpAsyncBulkCommit | Opcode::CpAsyncBulkWait | Opcode::CpAsyncBulkWaitRead)
        ) {
            return self.bulk_group(warp, instr, lanes);
        }
        let copying = &mut self.copying[warp];
        if matches!(opcode, Some(Opcode::CpAsyncCommit | Opcode::CpAsyncWaitAll)) {
            copying.commit(lanes);
            self.events.copies(warp, lanes, CopyCommand::Commit, &self.facts.symbolics);
        }
        let keep = match (opcode, instr.sources.first()) {
            (Some(Opcode::CpAsyncWaitAll), _) => 0,
            (Some(Opcode::CpAsyncWait), Some(Operand::Constant(keep))) => *keep,
            (Some(Opcode::CpAsyncWait), _) => {
                return Err(doubt(DoubtKind::Unsupported, instr.place, None));
            }
            _ => return Ok(()),
        };
        if keep == 0 {
            copying.wait_for_all(lanes);
        }
        self.events.copies(warp, lanes, CopyCommand::Wait(keep), &self.facts.symbolics);
        Ok(())
    }

    /// Fails if a warp might have copies in flight where it comes to the header of a loop whose trip count is open:
    /// iterations that do not run might have issued others.
    pub(super) fn check_copies(&self, warp: WarpId, header: BlockId) -> OrStop<()> {
        if self.copying[warp].is_any() { Err(self.open_trips(warp, header)) } else { Ok(()) }
    }

    /// Stops because the trip count of a loop has to be known.
    pub(super) fn open_trips(&self, warp: WarpId, header: BlockId) -> Stop {
        let place = self.program.blocks[header.index()].place;
        let state = self.open_loops.get(&(warp, header));
        let origin = state.and_then(|state| state.origin).unwrap_or(Origin::Register);
        undecided(place, place, origin)
    }
}
