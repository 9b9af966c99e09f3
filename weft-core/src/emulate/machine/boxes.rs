//! Finds out how many bytes tensor copies move, where the launch does not state it.
//!
//! Copies are complete at some time after they are issued. So a schedule is possible in which those whose boxes are not
//! known are all complete only when no thread can run any more: what their phases expect by then, beyond the copies whose
//! bytes are known, is what they move. If a phase has copies with one such tensor map, the bytes of its box follow; the
//! pass is then run again with them, and has to end well.

use std::collections::{BTreeMap, BTreeSet};

use super::doubt::DoubtKind;
use super::end::{End, Stuck, StuckAt};
use super::event::{Events, OrderQuery};
use super::phase_state::BoxlessCopy;
use super::state::Machine;
use super::stop::{OrStop, Stop, doubt};
use super::warp::WaitFor;
use crate::emulate::sync::mbarrier::{MbarrierId, MbarrierNeed};
use crate::flow::BULK_ALIGN;

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// The bytes of the box of a tensor map: as the launch states them, or as they follow from what phases expect.
    pub(super) fn box_bytes(&self, map: u64) -> Option<u64> {
        let stated = self.inputs.boxes.get(&map).copied();
        stated.or_else(|| self.facts.tensors.box_of(map))
    }

    /// Derives boxes from phases that wait only for bytes, once no warp can run. Returns how the run ends, which is `end`
    /// unless it might depend on boxes that are not known.
    pub(super) fn judge_boxes(&mut self, end: OrStop<()>) -> OrStop<()> {
        let is_hung = match &end {
            Ok(()) => false,
            Err(Stop(own)) => match &**own {
                End::Deadlock(stuck) => {
                    let at_phase = |own: &Stuck| matches!(own.at, StuckAt::Phase(..));
                    if !stuck.iter().any(at_phase) {
                        return end;
                    }
                    true
                }
                End::MbarrierMisuse { .. } => false,
                _ => return end,
            },
        };
        if (end.is_ok() || is_hung) && !self.trapped {
            self.derive_boxes(is_hung);
        }
        if let Some(BoxlessCopy { map, place, .. }) = self.phases.boxless.first() {
            return Err(doubt(DoubtKind::Box(*map), *place, None));
        }
        // Bytes that are left belong to copies that the phases were not made for, or to other boxes.
        for (object, map) in std::mem::take(&mut self.phases.derived) {
            let need = self.ctas[object.cta.index()].mbarriers.need(object);
            if need.is_some_and(|need| need.bytes != 0) {
                self.facts.tensors.contradict(map);
            }
        }
        end
    }

    /// Derives boxes. `is_hung`: whether threads wait in vain; then only the phases that they wait for have all their
    /// copies.
    fn derive_boxes(&mut self, is_hung: bool) {
        let awaited = self.awaited_objects();
        let mut copies: BTreeMap<(MbarrierId, u64), BTreeMap<u64, u64>> = BTreeMap::new();
        for BoxlessCopy { map, boxes, counted, .. } in &self.phases.boxless {
            let Some(counted) = counted else { continue };
            *copies.entry(*counted).or_default().entry(*map).or_default() += boxes;
        }
        for ((object, phase), maps) in copies {
            let objects = &self.ctas[object.cta.index()].mbarriers;
            let is_current = objects.phase(object) == Ok(phase);
            let Some(MbarrierNeed { arrivals: 0, bytes }) = objects.need(object) else { continue };
            let (Ok(bytes), [(map, boxes)]) =
                (u64::try_from(bytes), &maps.into_iter().collect::<Vec<_>>()[..])
            else {
                continue;
            };
            let unit = boxes * u64::from(BULK_ALIGN);
            let is_whole = bytes > 0 && bytes.is_multiple_of(unit);
            if is_current && is_whole && (!is_hung || awaited.contains(&object)) {
                self.facts.tensors.derive(*map, bytes / boxes);
            }
        }
    }

    /// The objects that lanes wait for.
    fn awaited_objects(&self) -> BTreeSet<MbarrierId> {
        let waits = self.warps.iter().flat_map(|warp| &warp.waits);
        let object = |what: &WaitFor| match what {
            WaitFor::Phase { object, .. } => Some(*object),
            _ => None,
        };
        waits.filter_map(|wait| object(&wait.what)).collect()
    }
}
