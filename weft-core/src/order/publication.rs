//! What a warp publishes by a `.relaxed` arrival at the barrier of its cluster: what fences before that made ready (PTX ISA
//! §8.8, §9.7.13.4). A fence of all memory makes everything ready that happened before it, `fence.mbarrier_init` the
//! initializations of mbarrier objects by its own thread.

use super::clock::{Clock, Epoch};
use crate::emulate::{LaneMask, WARP, WarpId, lanes};

/// What the lanes of a warp have made ready.
#[derive(Clone, Debug, Default)]
pub(super) struct Publication {
    /// The agent of the warp's initializations, each by the lane of the same number; `None`: there were none.
    pub(super) inits: Option<WarpId>,
    /// For each lane, the epoch of that agent before which its fence made the initializations ready.
    fenced: [Epoch; WARP],
    /// What fences of all memory made ready, by the lanes that executed them; for each lane, one at most.
    all: Vec<(LaneMask, Clock)>,
}

impl Publication {
    /// Records a fence for initializations, before `epoch` of their agent.
    pub(super) fn fence_inits(&mut self, mask: LaneMask, epoch: Epoch) {
        lanes(mask).for_each(|lane| self.fenced[lane] = epoch);
    }

    /// Records a fence of all memory by lanes that know `known`.
    pub(super) fn fence_all(&mut self, mask: LaneMask, known: Clock) {
        for (lanes, _) in &mut self.all {
            *lanes &= !mask;
        }
        self.all.retain(|(lanes, _)| *lanes != 0);
        self.all.push((mask, known));
    }

    /// Adds what these lanes have made ready.
    pub(super) fn publish(&self, mask: LaneMask, to: &mut Clock) {
        let ready = self.all.iter().filter(|(lanes, _)| lanes & mask != 0);
        ready.for_each(|(_, known)| to.join(known));
        let Some(agent) = self.inits else { return };
        for lane in lanes(mask).filter(|lane| self.fenced[*lane] > Epoch::default()) {
            to.reach_lane(agent, lane, self.fenced[lane]);
        }
    }
}
