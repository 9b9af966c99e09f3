//! Runs products of matrices by warpgroups (PTX ISA §9.7.15). What a product reads in shared memory, an agent reads for each
//! warp. It knows what the lanes of the warp knew, and that it has read is known to the warp once it has waited for the
//! group of the product. Each of the four warps counts as reading both matrices whole.

use super::agents::{AgentAccess, group_step};
use super::copy_event::{AgentWork, BulkGroup, CopyAgent};
use super::doubt::DoubtKind;
use super::event::{AccessKind, AccessManner, Events, FaultKind, OrderQuery};
use super::memory_order::{MemoryOrder, MemoryScope, Ordering};
use super::phase_state::AgentDuty;
use super::state::Machine;
use super::stop::{OrStop, doubt};
use super::wait::{SyncPoint, groups};
use crate::emulate::memory::descriptor::{self, MatrixExtent, UNIT};
use crate::emulate::sync::group::CtaRank;
use crate::emulate::value::lane::{LaneMask, WARP};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::register::Value;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{BULK_ALIGN, Instr, Operand};
use crate::ptx::Space;
use crate::ptx::isa::{Decoded, Opcode};

/// Warps of a warpgroup.
const WARPGROUP: usize = 4;

/// Rows of matrix A and of the product.
const ROWS: u64 = 64;

/// Bytes of a row of A and of a column of B that one instruction reads.
const LINE: u64 = 2 * UNIT;

/// How units are read.
const READS: AccessKind = AccessKind {
    writes: false,
    manner: AccessManner::Asynchronous,
    order: MemoryOrder::new(Ordering::Weak, MemoryScope::Gpu),
    may_execute: false,
    is_shadow_copy: false,
    element: 16,
};

/// The part that an instruction reads of matrix B (the first descriptor) or of matrix A.
fn extent(decoded: &Decoded, is_first: bool, is_transposed: bool) -> MatrixExtent {
    // Of a sparse matrix A, half of the elements are stored.
    let is_long = is_first && decoded.row.opcode == Opcode::WgmmaSparse;
    let lines = if is_first { decoded.columns.into() } else { ROWS };
    MatrixExtent { lines, bytes: if is_long { 2 * LINE } else { LINE }, is_transposed }
}

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Runs the part of a warp in a product of matrices.
    pub(super) fn multiply(&mut self, point: SyncPoint<'_>) -> OrStop<()> {
        let SyncPoint { warp, pc, instr, decoded, lanes, .. } = point;
        if let Some(side) = &self.may_execute {
            return Err(side.undecided());
        }
        if !decoded.is_product() {
            return Err(doubt(DoubtKind::Unsupported, instr.place, None));
        }
        self.check_warpgroup(warp, instr, lanes)?;
        self.facts.assumed.products = true;
        let agent = self.phases.agent(AgentDuty::Multiplies(warp), self.warps.count());
        self.events.lend(CopyAgent { agent, work: AgentWork::Grouped, warp, lanes });
        for (at, (operand, is_transposed)) in instr.descriptors().enumerate() {
            let bits = self.alike(point, operand)?;
            let bits = bits.ok_or_else(|| doubt(DoubtKind::Warpgroup, instr.place, None))?;
            let units = descriptor::units(bits, extent(decoded, at == 0, is_transposed));
            let Some(units) = units else {
                return Err(doubt(DoubtKind::Unsupported, instr.place, None));
            };
            self.read_units(point, (agent, self.warps[warp].cta), &units)?;
        }
        let open = Value::open(self.facts.symbolics.any_number(Origin::Unsupported(pc)));
        for dest in instr.dests.iter().flatten() {
            self.warps[warp].write(*dest, open.clone(), lanes);
        }
        Ok(())
    }

    /// Fails unless all threads of the warp are there, and the warp is one of a whole warpgroup.
    pub(super) fn check_warpgroup(
        &self,
        warp: WarpId,
        instr: &Instr,
        lanes: LaneMask,
    ) -> OrStop<()> {
        let own = &self.warps[warp];
        let warps = self.warps.count() / self.ctas.len();
        let is_whole = lanes == LaneMask::MAX && (own.place | (WARPGROUP - 1)) < warps;
        if is_whole { Ok(()) } else { Err(doubt(DoubtKind::Warpgroup, instr.place, None)) }
    }

    /// Returns the value of an operand that all lanes of the point have to give alike; `None`: they do not.
    pub(super) fn alike(&mut self, point: SyncPoint<'_>, operand: &Operand) -> OrStop<Option<u64>> {
        let SyncPoint { warp, pc, instr, lanes, .. } = point;
        let value = self.operand(warp, pc, operand);
        let open = value.open_lanes() & lanes;
        if open != 0 {
            let symbol = value.symbol(open);
            let origin = symbol.and_then(|symbol| self.facts.symbolics.origin(symbol));
            self.check_written(warp, &value, open, instr.place);
            return Err(doubt(DoubtKind::Address, instr.place, origin));
        }
        Ok(match groups(&value, lanes).as_slice() {
            [(bits, _)] => Some(*bits),
            _ => None,
        })
    }

    /// Emits that an agent reads units of a matrix in the shared memory of a cta.
    pub(super) fn read_units(
        &mut self,
        point: SyncPoint<'_>,
        (agent, home): (WarpId, CtaRank),
        units: &[u64],
    ) -> OrStop<()> {
        let space = Space::Shared;
        let own = AgentAccess { point, home, space, kind: READS, bytes: BULK_ALIGN };
        let wrong = |unit: &u64| Some((*unit, self.unit_fault(own, (*unit, UNIT))?));
        if let Some((unit, fault)) = units.iter().find_map(wrong) {
            self.agent_fault(own, fault, (unit, UNIT));
            if fault == FaultKind::OutOfBounds {
                return Ok(());
            }
        }
        for part in units.chunks(WARP) {
            let (Some(first), Some(last)) = (part.first(), part.last()) else { continue };
            let mut all = [*last; WARP];
            all[..part.len()].copy_from_slice(part);
            let variable = self.program.shared_variable(*first, last + UNIT);
            self.access_units(own, agent, (&Value::each(all), part.len()), variable)?;
        }
        Ok(())
    }

    /// Makes a group of the products of a warp, or waits for groups.
    pub(super) fn product_group(
        &mut self,
        warp: WarpId,
        instr: &Instr,
        lanes: LaneMask,
    ) -> OrStop<()> {
        self.check_warpgroup(warp, instr, lanes)?;
        let step = group_step(instr, Opcode::WgmmaCommit)?;
        if let Some(number) = self.phases.agents.get(&AgentDuty::Multiplies(warp)) {
            let agent = WarpId::new(self.warps.count() + number);
            self.events.bulk_group(BulkGroup { agent, warp, lanes, step });
        }
        Ok(())
    }
}
