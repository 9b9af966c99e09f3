//! Runs bulk copies between global and shared memory (PTX ISA §9.7.9.25.4.1). What a copy reads and writes, an agent does.
//! It knows what the issuing thread knew, and what it does is known only to those that have seen the copy complete: at
//! an mbarrier object, those that see the phase complete that waits for the copy's bytes; in a bulk group, the thread
//! once it has waited for the group.

use super::agents::{AgentAccess, UNIT, group_step};
use super::cluster::Home;
use super::copy_event::{AgentWork, BulkGroup, CopyAgent};
use super::doubt::DoubtKind;
use super::event::{AccessKind, AccessManner, Events, FaultKind, OrderQuery};
use super::memory_order::{MemoryOrder, MemoryScope, Ordering};
use super::phase_state::AgentDuty;
use super::state::Machine;
use super::stop::{OrStop, doubt};
use super::wait::SyncPoint;
use crate::emulate::memory::bytes::PAGE;
use crate::emulate::sync::group::CtaRank;
use crate::emulate::sync::mbarrier::MbarrierId;
use crate::emulate::value::lane::{LaneMask, WARP, lanes};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::register::Value;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{BULK_ALIGN, Instr};
use crate::ptx::Space;
use crate::ptx::isa::{Decoded, Opcode};

/// What a copy reads or writes.
#[derive(Clone, Copy)]
pub(super) struct CopySide {
    pub(super) duty: AgentDuty,
    pub(super) writes: bool,
    /// The cta in whose shared memory it is, if it is in shared memory.
    pub(super) home: CtaRank,
    pub(super) space: Space,
    pub(super) first: u64,
    pub(super) bytes: u64,
    /// The first address is a multiple of so many bytes.
    pub(super) align: u64,
}

/// Where bytes of a copy are counted, and the cta that it copies to if it copies to several.
#[derive(Clone, Copy)]
pub(super) struct CopyTarget {
    pub(super) object: MbarrierId,
    pub(super) cta: Option<CtaRank>,
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
        if point.decoded.is_strange {
            return Err(doubt(DoubtKind::Unsupported, point.instr.place, None));
        }
        if matches!(point.decoded.row.opcode, Opcode::BulkStore | Opcode::BulkReduce) {
            return lanes(point.lanes).try_for_each(|lane| {
                let own = SyncPoint { lanes: 1 << lane, ..point };
                let (reads, writes) =
                    (AgentDuty::Reads(own.warp, own.lanes), AgentDuty::Writes(own.warp, own.lanes));
                let spaces = [(reads, Space::Shared), (writes, Space::Global)];
                self.issue(own, spaces, None).map(|_| ())
            });
        }
        let from = if point.decoded.row.opcode == Opcode::BulkPeer {
            Space::Shared
        } else {
            Space::Global
        };
        for (named, mask) in self.objects(point)? {
            for lane in lanes(mask) {
                let own = SyncPoint { lanes: 1 << lane, ..point };
                for target in self.targets(own, named)? {
                    let duty = AgentDuty::Object(target.object);
                    let bytes =
                        self.issue(own, [(duty, from), (duty, Space::Shared)], target.cta)?;
                    self.copied(own, target.object, bytes)?;
                }
            }
        }
        Ok(())
    }

    /// Where the bytes of a lane's copy are counted: at the object that it names or, for each cta that it copies to, at the one
    /// at the same address; of a pair of ctas, in the one whose place in the pair is that of the named object's.
    pub(super) fn targets(
        &mut self,
        point: SyncPoint<'_>,
        named: MbarrierId,
    ) -> OrStop<Vec<CopyTarget>> {
        let Some(operand) = point.instr.multicast() else {
            return Ok(vec![CopyTarget { object: named, cta: None }]);
        };
        let mask = self.known(point, operand)?[0].0 & u64::from(u16::MAX);
        let ctas = self.ctas.len();
        let is_of_pair = point.decoded.tensor.ctas == 2;
        let place = named.cta.index() as u64 & 1;
        let counts = |rank: u64| if is_of_pair { rank & !1 | place } else { rank };
        let target = |rank: u64| {
            let object = MbarrierId { cta: CtaRank::among(counts(rank), ctas)?, ..named };
            Some(CopyTarget { object, cta: Some(CtaRank::among(rank, ctas)?) })
        };
        let all = (0..CtaRank::MAX).filter(|rank| mask >> rank & 1 == 1);
        let all: Option<Vec<_>> = all.map(target).collect();
        // That a cta is named which the cluster does not have is undefined.
        all.ok_or_else(|| doubt(DoubtKind::Unsupported, point.instr.place, None))
    }

    /// Where a lane's copy writes: the cta, which is `copied_to` if it copies to several, and the address there.
    pub(super) fn target(
        &self,
        point: SyncPoint<'_>,
        (duty, copied_to): (AgentDuty, Option<CtaRank>),
        address: u64,
    ) -> OrStop<(CtaRank, u64)> {
        let own = self.warps[point.warp].cta;
        let unclear = || doubt(DoubtKind::Unsupported, point.instr.place, None);
        let homes = self.homes(point.warp, (&Value::uniform(address), point.lanes), true);
        let Home { cta, addresses, .. } =
            homes.and_then(|all| all.into_iter().next()).ok_or_else(unclear)?;
        let address = addresses.bits_of(point.lanes.trailing_zeros() as usize % WARP);
        match (duty, copied_to) {
            (_, Some(copied_to)) if cta == own => Ok((copied_to, address)),
            (AgentDuty::Object(object), _) if are_paired(point.decoded, [object.cta, cta]) => {
                Ok((cta, address))
            }
            // The object has to be in the cta that the copy writes to.
            (AgentDuty::Object(object), _) if object.cta != cta => Err(unclear()),
            _ => Ok((cta, address)),
        }
    }

    /// Emits what the copy of a lane reads and writes, each by its agent. Returns the number of bytes.
    fn issue(
        &mut self,
        point: SyncPoint<'_>,
        sides: [(AgentDuty, Space); 2],
        copied_to: Option<CtaRank>,
    ) -> OrStop<u64> {
        self.count_commands(point.lanes);
        let mut operands = [0; 3];
        for (at, operand) in operands.iter_mut().enumerate() {
            *operand = self.known(point, at)?[0].0;
        }
        let [to, from, bytes] = operands;
        let bytes = bytes & u64::from(u32::MAX);
        let own = self.warps[point.warp].cta;
        let [(reader, source), (writer, space)] = sides;
        let (home, to) = match space {
            Space::Shared => self.target(point, (writer, copied_to), to)?,
            _ => (own, to),
        };
        let read = CopySide {
            duty: reader,
            writes: false,
            home: own,
            space: source,
            first: from,
            bytes,
            align: UNIT,
        };
        self.copy_side(point, read)?;
        self.copy_side(
            point,
            CopySide { duty: writer, writes: true, home, space, first: to, ..read },
        )?;
        Ok(bytes)
    }

    /// Emits what a copy reads, or what it writes.
    pub(super) fn copy_side(&mut self, point: SyncPoint<'_>, side: CopySide) -> OrStop<()> {
        let CopySide { duty, writes, home, space, first, bytes, .. } = side;
        let kind = side_kind(point.decoded, writes);
        let own = AgentAccess { point, home, space, kind, bytes: BULK_ALIGN };
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
        if writes && bytes > 0 && self.slice.contents.has(space) {
            // What a copy brings is not followed. It is there at once: whoever reads it before it is surely there races.
            let memory = match space {
                Space::Shared => &mut self.ctas[home.index()].shared,
                _ => &mut self.global,
            };
            memory.overwrite((first, end - 1), Origin::Unsupported(point.pc));
            self.spend(bytes / PAGE, point.instr.place)?;
        }
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

/// Whether a copy acts on pairs of ctas, and two ctas are one.
fn are_paired(decoded: &Decoded, ctas: [CtaRank; 2]) -> bool {
    let [one, other] = ctas.map(|cta| cta.index() / 2);
    decoded.tensor.ctas == 2 && one == other
}

/// How a copy accesses what it reads, or what it writes. A reduction updates each element as an atomic does.
fn side_kind(decoded: &Decoded, writes: bool) -> AccessKind {
    let kind = AccessKind { writes, ..AccessKind::default() };
    if writes && decoded.row.opcode == Opcode::BulkReduce {
        let element = u8::try_from(decoded.ty().element_bytes()).expect("elements are small");
        let order = MemoryOrder::new(Ordering::Relaxed, MemoryScope::Gpu);
        return AccessKind { manner: AccessManner::AtomicApart, order, element, ..kind };
    }
    AccessKind { manner: AccessManner::Asynchronous, element: 16, ..kind }
}
