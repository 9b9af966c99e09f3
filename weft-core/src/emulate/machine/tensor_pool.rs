//! Allocates tensor memory and frees it (PTX ISA §9.7.16.7). A warp that asks for more columns than there are in a row waits
//! until no other warp can go on, and is then given them if there are enough.

use super::copy_event::AgentWork;
use super::doubt::DoubtKind;
use super::event::{Events, OrderQuery};
use super::phase_state::AgentDuty;
use super::state::Machine;
use super::stop::{OrStop, doubt, tensor_misuse};
use super::tensor_part::TensorPart;
use super::wait::SyncPoint;
use super::warp::{Wait, WaitFor};
use crate::emulate::sync::columns::{ColumnRange, TensorMisuse};
use crate::emulate::value::lane::{LaneMask, WARP};
use crate::emulate::value::register::Value;
use crate::flow::PlaceId;

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Lets a warp allocate columns. Returns the lanes that wait for them.
    pub(super) fn allocate_columns(&mut self, at: SyncPoint<'_>) -> OrStop<LaneMask> {
        let SyncPoint { warp, block, pc, lanes, .. } = at;
        let count = self.one_value(at, 0)?;
        if self.take_columns(at, count)? {
            return Ok(0);
        }
        let what = WaitFor::Columns(count);
        self.warps[warp].waits.push(Wait { pc, block, lanes, what });
        Ok(lanes)
    }

    /// Gives a warp columns and writes the first of them to its register. Returns whether there are as many in a row.
    fn take_columns(&mut self, at: SyncPoint<'_>, count: u64) -> OrStop<bool> {
        let SyncPoint { warp, pc, lanes, .. } = at;
        let cta = self.warps[warp].cta;
        let columns = &mut self.ctas[cta.index()].columns;
        let taken = columns.allocate(count, (warp, pc));
        let taken = taken.map_err(|misuse| tensor_misuse(misuse, (warp, lanes, pc)))?;
        let Some(first) = taken else { return Ok(false) };
        let duty = AgentDuty::TensorAllocates(cta, first);
        self.lend(at, duty, AgentWork::Grouped);
        self.wait_for_agent(warp, lanes, duty);
        for dest in at.instr.dests.iter().flatten() {
            self.warps[warp].write(*dest, Value::uniform(first), lanes);
        }
        Ok(true)
    }

    /// Gives warps the columns that they wait for, as far as there are enough. Returns whether some warp can go on.
    pub(super) fn give_columns(&mut self) -> OrStop<bool> {
        let asks = |wait: &Wait| match wait.what {
            WaitFor::Columns(count) => Some((*wait, count)),
            _ => None,
        };
        let waiting = self.warps.iter().filter_map(|warp| {
            let (wait, count) = warp.waits.iter().find_map(asks)?;
            Some((warp.id, wait, count))
        });
        let waiting: Vec<_> = waiting.collect();
        let mut is_any = false;
        for (warp, wait, count) in waiting {
            let Wait { pc, block, lanes, .. } = wait;
            let instr = &self.program.code[pc.index()];
            let Some(decoded) = instr.decoded() else { continue };
            let at = SyncPoint { warp, block, pc, instr, decoded, lanes };
            if self.take_columns(at, count)? {
                self.take(warp, |own| *own == wait);
                self.resume(warp, &wait)?;
                is_any = true;
            }
        }
        Ok(is_any)
    }

    /// Frees an allocation. Whatever still accesses its columns has to be known to be done.
    pub(super) fn free_columns(&mut self, at: SyncPoint<'_>) -> OrStop<()> {
        let SyncPoint { warp, pc, lanes, .. } = at;
        let (first, count) = (self.one_value(at, 0)?, self.one_value(at, 1)?);
        let cta = self.warps[warp].cta;
        let is_allocation = self.ctas[cta.index()].columns.is_allocation(first, count);
        if !is_allocation || !self.knows(at, AgentDuty::TensorAllocates(cta, first)) {
            return Err(tensor_misuse(TensorMisuse::NotHeld(first, count), (warp, lanes, pc)));
        }
        let duty = AgentDuty::TensorFrees(cta, first);
        let agent = self.lend(at, duty, AgentWork::Grouped);
        self.access_columns(at, (agent, cta), TensorPart::whole(first, count), true)?;
        self.wait_for_agent(warp, lanes, duty);
        self.ctas[cta.index()].columns.free(first);
        Ok(())
    }

    /// Gives up to allocate more columns in the cta of a warp. All allocations have to come before that.
    pub(super) fn close_columns(&mut self, at: SyncPoint<'_>) -> OrStop<()> {
        let cta = self.warps[at.warp].cta;
        let begins: Vec<u64> = self.ctas[cta.index()].columns.begins().collect();
        if !begins.iter().all(|begin| self.knows(at, AgentDuty::TensorAllocates(cta, *begin))) {
            return Err(tensor_misuse(TensorMisuse::Closed, (at.warp, at.lanes, at.pc)));
        }
        self.ctas[cta.index()].columns.close();
        Ok(())
    }

    /// Fails if all threads have ended, but some columns are still allocated, or it depends on the schedule which warp was given
    /// columns first.
    pub(super) fn check_columns(&self) -> OrStop<()> {
        for cta in &self.ctas {
            if let Some((ColumnRange { warp, pc, .. }, count)) = cta.columns.kept() {
                let lanes = LaneMask::MAX >> (WARP - 1);
                return Err(tensor_misuse(TensorMisuse::Kept(count), (warp, lanes, pc)));
            }
            if cta.columns.is_contended() {
                let entry = self.program.blocks.get(self.program.entry.index());
                let place = entry.map_or(PlaceId(0), |block| block.place);
                return Err(doubt(DoubtKind::ColumnPool, place, None));
            }
        }
        Ok(())
    }
}
