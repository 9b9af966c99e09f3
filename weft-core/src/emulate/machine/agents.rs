//! What agents do for threads: they access the memory of bulk copies and of products of matrices, unit by unit, and threads
//! make groups of their work.

use super::copy_event::CopyCommand;
use super::doubt::DoubtKind;
use super::event::{Access, AccessKind, Events, Fault, FaultKind, Issuer, OrderQuery};
use super::state::Machine;
use super::stop::{OrStop, doubt};
use super::wait::SyncPoint;
use crate::emulate::sync::group::CtaRank;
use crate::emulate::value::lane::{LaneMask, WARP};
use crate::emulate::value::register::Value;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{BULK_ALIGN, Instr, Operand};
use crate::ptx::Space;
use crate::ptx::isa::Opcode;

/// Number of bytes of a unit.
pub(super) const UNIT: u64 = BULK_ALIGN as u64;

/// Cost of an access of an agent, counted as instructions.
const ACCESS_COST: u64 = 2;

/// How the work of a thread accesses memory.
#[derive(Clone, Copy)]
pub(super) struct AgentAccess<'a> {
    /// The instruction, and the lanes that issue the work; it counts as that of the first.
    pub(super) point: SyncPoint<'a>,
    /// The cta whose shared memory it accesses, if it accesses shared memory.
    pub(super) home: CtaRank,
    pub(super) space: Space,
    pub(super) kind: AccessKind,
    /// The bytes of a unit.
    pub(super) bytes: u32,
}

impl AgentAccess<'_> {
    fn lane(&self) -> usize {
        self.point.lanes.trailing_zeros() as usize % WARP
    }
}

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Emits that an agent accesses so many units, at most 32. `variable`: the variable in which all of them are.
    pub(super) fn access_units(
        &mut self,
        own: AgentAccess<'_>,
        agent: WarpId,
        (addresses, units): (&Value, usize),
        variable: Option<usize>,
    ) -> OrStop<()> {
        let SyncPoint { warp, pc, instr, .. } = own.point;
        self.spend(ACCESS_COST, instr.place)?;
        let lane = u8::try_from(own.lane()).expect("a warp has 32 lanes");
        let access = Access {
            warp: agent,
            issuer: Some(Issuer::Lane(warp, lane)),
            lanes: LaneMask::MAX >> (WARP - units),
            pc,
            space: own.space,
            addresses,
            bytes: own.bytes,
            kind: own.kind,
            reads: !own.kind.writes,
            stored: &[],
            condition: None,
            variable,
            is_representative: false,
            class: None,
            decides: false,
            seen: None,
            synchronizes: false,
        };
        self.emit_at(own.home, access);
        Ok(())
    }

    /// Emits a fault of such an access, at an address and so many bytes.
    pub(super) fn agent_fault(
        &mut self,
        own: AgentAccess<'_>,
        kind: FaultKind,
        (first, bytes): (u64, u64),
    ) {
        self.events.fault(Fault {
            kind,
            pc: own.point.pc,
            warp: own.point.warp,
            lane: own.lane(),
            space: own.space,
            address: Some(first),
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            access: own.kind,
            condition: None,
        });
    }

    /// Returns what is wrong with bytes in a space that an agent accesses, apart from their alignment: they are not in one
    /// piece of memory, or reach an mbarrier object.
    pub(super) fn unit_fault(
        &self,
        own: AgentAccess<'_>,
        (first, bytes): (u64, u64),
    ) -> Option<FaultKind> {
        let cta = own.home;
        let objects = &self.ctas[cta.index()].mbarriers;
        match () {
            () if self.piece(own.space, first, bytes).is_none() => Some(FaultKind::OutOfBounds),
            () if own.space == Space::Shared && objects.among(cta, first, bytes).is_some() => {
                Some(FaultKind::Object)
            }
            () => None,
        }
    }
}

/// Returns what an instruction does with groups of work: `commit` is the opcode of the one that makes them, and the others
/// wait for them.
pub(super) fn group_step(instr: &Instr, commit: Opcode) -> OrStop<CopyCommand> {
    let is_commit = instr.decoded().is_some_and(|decoded| decoded.row.opcode == commit);
    match instr.sources.first() {
        _ if is_commit => Ok(CopyCommand::Commit),
        Some(Operand::Constant(keep)) => Ok(CopyCommand::Wait(*keep)),
        _ => Err(doubt(DoubtKind::Unsupported, instr.place, None)),
    }
}
