//! Runs bulk copies between global and shared memory (PTX ISA §9.7.9.25.4.1). What a copy reads and writes, an agent does.
//! It knows what the issuing thread knew, and what it does is known only to those that have seen the copy complete: at
//! an mbarrier object, those that see the phase complete that waits for the copy's bytes; in a bulk group, the thread
//! once it has waited for the group.

use super::agents::{AgentAccess, UNIT, group_step};
use super::copy_event::{AgentWork, BulkGroup, CopyAgent};
use super::event::{AccessKind, AccessManner, DoubtKind, Events, FaultKind, OrderQuery};
use super::memory_order::{MemoryOrder, MemoryScope, Ordering};
use super::phase_state::AgentDuty;
use super::state::Machine;
use super::stop::{OrStop, doubt};
use super::wait::SyncPoint;
use crate::emulate::value::lane::{LaneMask, WARP, lanes};
use crate::emulate::value::register::Value;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::Instr;
use crate::ptx::Space;
use crate::ptx::isa::{Decoded, Opcode};

/// What a copy reads or writes.
#[derive(Clone, Copy)]
pub(super) struct CopySide {
    pub(super) duty: AgentDuty,
    pub(super) writes: bool,
    pub(super) space: Space,
    pub(super) first: u64,
    pub(super) bytes: u64,
    /// The first address is a multiple of so many bytes.
    pub(super) align: u64,
}

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Runs the copies of the lanes that issue one.
    pub(super) fn bulk_copy(&mut self, point: SyncPoint<'_>) -> OrStop<()> {
        if let Some(side) = &self.may_execute {
            return Err(side.undecided());
        }
        if point.decoded.is_tensor_copy() {
            return self.tensor_copy(point);
        }
        // What memory holds after a copy is not followed.
        let contents = &self.slice.contents;
        if point.decoded.is_strange || contents.has(Space::Shared) || contents.has(Space::Global) {
            return Err(doubt(DoubtKind::Unsupported, point.instr.place, None));
        }
        if matches!(point.decoded.row.opcode, Opcode::BulkStore | Opcode::BulkReduce) {
            return lanes(point.lanes).try_for_each(|lane| {
                let own = SyncPoint { lanes: 1 << lane, ..point };
                let (reads, writes) =
                    (AgentDuty::Reads(own.warp, own.lanes), AgentDuty::Writes(own.warp, own.lanes));
                let spaces = [(reads, Space::Shared), (writes, Space::Global)];
                self.issue(own, spaces).map(|_| ())
            });
        }
        for (object, mask) in self.objects(point)? {
            let duty = AgentDuty::Object(object);
            for lane in lanes(mask) {
                let own = SyncPoint { lanes: 1 << lane, ..point };
                let bytes = self.issue(own, [(duty, Space::Global), (duty, Space::Shared)])?;
                self.copied(own, object, bytes)?;
            }
        }
        Ok(())
    }

    /// Emits what the copy of a lane reads and writes, each by its agent. Returns the number of bytes.
    fn issue(&mut self, point: SyncPoint<'_>, sides: [(AgentDuty, Space); 2]) -> OrStop<u64> {
        self.count_commands(point.lanes);
        let mut operands = [0; 3];
        for (at, operand) in operands.iter_mut().enumerate() {
            *operand = self.known(point, at)?[0].0;
        }
        let [to, from, bytes] = operands;
        let bytes = bytes & u64::from(u32::MAX);
        let of = |(duty, space), first, writes| CopySide {
            duty,
            writes,
            space,
            first,
            bytes,
            align: UNIT,
        };
        for side in [of(sides[0], from, false), of(sides[1], to, true)] {
            self.copy_side(point, side)?;
        }
        Ok(bytes)
    }

    /// Emits what a copy reads, or what it writes.
    pub(super) fn copy_side(&mut self, point: SyncPoint<'_>, side: CopySide) -> OrStop<()> {
        let CopySide { duty, writes, space, first, bytes, .. } = side;
        let own = AgentAccess { point, space, kind: side_kind(point.decoded, writes) };
        if self.check_side(own, side) == Some(FaultKind::OutOfBounds) {
            return Ok(());
        }
        let agent = self.phases.agent(duty, self.warps.count());
        let work = match duty {
            AgentDuty::Object(object) => AgentWork::Counted(object),
            _ => AgentWork::Grouped,
        };
        self.events.lend(CopyAgent { agent, work, warp: point.warp, lanes: point.lanes });
        let end = first.saturating_add(bytes);
        let variable =
            if space == Space::Shared { self.program.shared_variable(first, end) } else { None };
        let mut start = first;
        while start < end {
            let units = ((end - start) / UNIT).clamp(1, WARP as u64);
            let addresses = Value::affine(start, UNIT);
            let count = usize::try_from(units).expect("at most 32");
            self.access_units(own, agent, (&addresses, count), variable)?;
            start += units * UNIT;
        }
        Ok(())
    }

    /// Emits a fault if what a copy reads or writes is not in one piece of memory, reaches an mbarrier object or is not
    /// aligned. Returns its kind.
    fn check_side(&mut self, own: AgentAccess<'_>, side: CopySide) -> Option<FaultKind> {
        let CopySide { first, bytes, align, .. } = side;
        let is_aligned = first % align == 0 && bytes % UNIT == 0;
        let fault = self.unit_fault(own, (first, bytes));
        let fault = fault.or((!is_aligned).then_some(FaultKind::Misaligned))?;
        let bytes = if fault == FaultKind::Misaligned { align } else { bytes };
        self.agent_fault(own, fault, (first, bytes));
        Some(fault)
    }

    /// Makes groups of the bulk copies of lanes, or waits for groups: until the copies have read, or until they are
    /// complete.
    pub(super) fn bulk_group(&mut self, warp: WarpId, instr: &Instr, mask: LaneMask) -> OrStop<()> {
        let opcode = instr.decoded().map(|decoded| decoded.row.opcode);
        let step = group_step(instr, Opcode::CpAsyncBulkCommit)?;
        for lane in lanes(mask) {
            let own = 1 << lane;
            let writes = Some(AgentDuty::Writes(warp, own))
                .filter(|_| opcode != Some(Opcode::CpAsyncBulkWaitRead));
            for duty in [Some(AgentDuty::Reads(warp, own)), writes].into_iter().flatten() {
                let Some(number) = self.phases.agents.get(&duty) else { continue };
                let agent = WarpId::new(self.warps.count() + number);
                self.events.bulk_group(BulkGroup { agent, warp, lanes: own, step });
            }
        }
        Ok(())
    }
}

/// How a copy accesses what it reads, or what it writes. A reduction updates each element as an atomic does.
fn side_kind(decoded: &Decoded, writes: bool) -> AccessKind {
    let kind = AccessKind { writes, ..AccessKind::default() };
    if writes && decoded.row.opcode == Opcode::BulkReduce {
        let element = u8::try_from(decoded.ty().element_bytes()).expect("elements are small");
        let order = MemoryOrder::new(Ordering::Relaxed, MemoryScope::Gpu);
        return AccessKind { manner: AccessManner::Atomic, order, element, ..kind };
    }
    AccessKind { manner: AccessManner::Asynchronous, element: 16, ..kind }
}
