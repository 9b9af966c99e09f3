//! Asynchronous copies that mbarrier objects follow (`cp.async.mbarrier.arrive`, PTX ISA §9.7.13.15.15): an arrival that
//! happens by itself, at some time after the earlier copies of its thread are complete. Those that see its phase complete
//! know these copies, and nothing else that the thread did. What a thread makes a tensor core do is followed likewise
//! (`tcgen05.commit`, PTX ISA §9.7.16.12).
//!
//! In the run, copies are complete and arrive at once. That other schedules agree on the phase is for the order of the
//! events to show. Nobody knows that the arrival has happened but those that wait for its phase.

use super::copy_event::{AgentWork, CopyAgent};
use super::event::{Access, AccessKind, AccessManner, Events, Issuer, OrderQuery};
use super::memory_order::{MemoryOrder, MemoryScope, Ordering};
use super::phase_state::AgentDuty;
use super::state::Machine;
use super::wait::SyncPoint;
use crate::emulate::sync::mbarrier::{MbarrierId, MbarrierMisuse, Mbarriers};
use crate::emulate::value::register::Value;
use crate::flow::Instr;
use crate::ptx::Space;
use crate::ptx::isa::{Modifier, Opcode};

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Makes the earlier copies of a lane, or what it made a tensor core do, arrive at an object. Returns whether that completes the phase.
    pub(super) fn follow_copies(
        &mut self,
        point: SyncPoint<'_>,
        object: MbarrierId,
    ) -> Result<bool, MbarrierMisuse> {
        let objects = &mut self.ctas[object.cta.index()].mbarriers;
        let is_copy = point.decoded.row.opcode == Opcode::CpAsyncArrive;
        if is_copy && !point.decoded.modifiers.has(Modifier::NoInc) {
            objects.join(object)?;
        }
        let is_complete = objects.arrive(object, 1, false)?;
        self.access_later(point, object);
        Ok(is_complete)
    }

    /// Emits that an object is accessed at some time after an instruction of a lane, and before the phase is complete.
    pub(super) fn access_later(&mut self, point: SyncPoint<'_>, object: MbarrierId) {
        let SyncPoint { warp, pc, lanes, .. } = point;
        let agent = self.phases.agent(AgentDuty::Counts(object), self.warps.count());
        self.events.lend(CopyAgent { agent, work: AgentWork::Counting(object), warp, lanes });
        let lane = u8::try_from(lanes.trailing_zeros()).expect("a warp has 32 lanes");
        let addresses = Value::uniform(object.address);
        let end = object.address + u64::from(Mbarriers::BYTES);
        let access = Access {
            warp: agent,
            issuer: Some(Issuer::Lane(warp, lane)),
            lanes: 1,
            pc,
            space: Space::Shared,
            addresses: &addresses,
            bytes: Mbarriers::BYTES,
            kind: AccessKind {
                writes: true,
                manner: AccessManner::AtomicApart,
                order: MemoryOrder::new(Ordering::Relaxed, MemoryScope::Cluster),
                element: 8,
                ..AccessKind::default()
            },
            reads: false,
            stored: &[],
            condition: None,
            variable: self.program.shared_variable(object.address, end),
            is_representative: false,
            class: None,
            decides: false,
            seen: None,
            synchronizes: false,
        };
        self.emit_at(object.cta, access);
    }

    /// Returns an access as one of the agent that takes it over, if it is a copy that an object might follow.
    pub(super) fn lent<'a>(&mut self, access: Access<'a>) -> Access<'a> {
        if !access.kind.is_asynchronous() || !self.follows() {
            return access;
        }
        let Access { warp, lanes, .. } = access;
        let agent = self.phases.agent(AgentDuty::Copies(warp), self.warps.count());
        self.events.lend(CopyAgent { agent, work: AgentWork::ByLane, warp, lanes });
        Access { warp: agent, issuer: Some(Issuer::Lanes(warp)), ..access }
    }

    /// Whether the program makes objects follow copies.
    fn follows(&mut self) -> bool {
        let mut all = self.program.code.iter().filter_map(Instr::decoded);
        let mut is_any = || all.any(|own| own.row.opcode == Opcode::CpAsyncArrive);
        *self.phases.follows.get_or_insert_with(&mut is_any)
    }
}
