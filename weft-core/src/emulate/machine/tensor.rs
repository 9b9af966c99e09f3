//! Runs copies between tensors in global memory and shared memory (PTX ISA §9.7.9.25.5). In shared memory a box lies in one
//! piece, from the address on that the copy names: swizzling and interleaving move bytes only within it. What a copy
//! accesses in global memory is not followed: that it does not matter is assumed.

use super::bulk::{CopySide, CopyTarget};
use super::doubt::DoubtKind;
use super::end::End;
use super::event::{Events, OrderQuery};
use super::phase_state::{AgentDuty, BoxlessCopy};
use super::state::Machine;
use super::stop::{OrStop, Stop, doubt};
use super::wait::SyncPoint;
use crate::emulate::facts::tensors::TensorUse;
use crate::emulate::sync::mbarrier::MbarrierId;
use crate::emulate::value::lane::lanes;
use crate::ptx::Space;
use crate::ptx::isa::{Modifier, Opcode};

/// The number of boxes that a copy of several rows moves.
const ROWS: u64 = 4;

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Runs the tensor copies of the lanes that issue one.
    pub(super) fn tensor_copy(&mut self, point: SyncPoint<'_>) -> OrStop<()> {
        let loads = point.decoded.loads_tensor();
        if point.decoded.is_strange {
            return Err(doubt(DoubtKind::Unsupported, point.instr.place, None));
        }
        if !loads {
            return lanes(point.lanes).try_for_each(|lane| {
                let own = SyncPoint { lanes: 1 << lane, ..point };
                let duty = AgentDuty::Reads(own.warp, own.lanes);
                self.box_copy(own, duty, None).map(|_| ())
            });
        }
        for (named, mask) in self.objects(point)? {
            for lane in lanes(mask) {
                let own = SyncPoint { lanes: 1 << lane, ..point };
                for target in self.targets(own, named)? {
                    let duty = AgentDuty::Object(target.object);
                    if let Some(bytes) = self.box_copy(own, duty, Some(target))? {
                        self.copied(own, target.object, bytes)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Emits what the copy of a lane reads or writes in shared memory. Returns the number of bytes if it is known.
    fn box_copy(
        &mut self,
        point: SyncPoint<'_>,
        duty: AgentDuty,
        target: Option<CopyTarget>,
    ) -> OrStop<Option<u64>> {
        let object = target.map(|target| target.object);
        self.count_commands(point.lanes);
        let first = self.copy_address(point, 0)?;
        let map = self.copy_address(point, 1)?;
        let how = match point.decoded.row.opcode {
            Opcode::TensorReduce => TensorUse::Reduce,
            _ if object.is_some() => TensorUse::Load,
            _ => TensorUse::Store,
        };
        let place = point.instr.place;
        self.facts.tensors.uses.add(map, how, place);
        let boxes = if point.decoded.modifiers.has(Modifier::FourRows) { ROWS } else { 1 };
        let Some(bytes) = self.box_bytes(map) else {
            let phase = |own: MbarrierId| {
                let objects = &self.ctas[own.cta.index()].mbarriers;
                objects.phase(own).map(|phase| (own, phase)).ok()
            };
            let counted = object.and_then(phase);
            self.phases.boxless.push(BoxlessCopy { map, boxes, counted, place });
            return Ok(None);
        };
        let is_stated = self.inputs.boxes.contains_key(&map);
        self.phases.derived.extend(object.filter(|_| !is_stated).map(|own| (own, map)));
        let bytes = bytes * boxes;
        let align = u64::from(point.instr.copied().first().map_or(1, |side| side.align));
        let (writes, space) = (object.is_some(), Space::Shared);
        // What a copy reads from shared memory is always its own cta's.
        let own = self.warps[point.warp].cta;
        let (home, first) = match target {
            Some(CopyTarget { cta, .. }) => self.target(point, (duty, cta), first)?,
            None => (own, first),
        };
        self.copy_side(point, CopySide { duty, writes, home, space, first, bytes, align })?;
        Ok(Some(bytes))
    }

    /// An operand of a lane's copy that is an address.
    fn copy_address(&mut self, point: SyncPoint<'_>, operand: usize) -> OrStop<u64> {
        let known = self.known(point, operand).map_err(|Stop(end)| match *end {
            End::Undecided(own) => doubt(DoubtKind::Address, own.place, own.origin),
            other => other.into(),
        });
        Ok(known?[0].0)
    }
}
