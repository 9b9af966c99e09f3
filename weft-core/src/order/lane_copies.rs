//! The asynchronous copies of the lanes of a warp, where mbarrier objects follow them: an agent does them, each lane of it
//! those of the lane of the same number. The agent knows what the warp knew when it issued its last copy, lane by lane.
//! What it does is known to those that have seen a phase complete that waits for the copies, and to a lane that has waited
//! for its own groups.

use super::clock::Epoch;
use crate::emulate::{LaneMask, WARP, WarpId, lanes};

/// The agent of a warp's copies, and the groups of the copies.
#[derive(Clone, Debug)]
pub(super) struct LaneCopies {
    pub(super) agent: WarpId,
    /// For each lane, the epochs of the agent that its groups ended which it has not waited for.
    groups: Vec<Vec<Epoch>>,
}

impl LaneCopies {
    pub(super) fn new(agent: WarpId) -> Self {
        Self { agent, groups: vec![Vec::new(); WARP] }
    }

    /// Records that lanes make a group each of their copies, which `epoch` follows.
    pub(super) fn commit(&mut self, mask: LaneMask, epoch: Epoch) {
        lanes(mask).for_each(|lane| self.groups[lane].push(epoch));
    }

    /// Forgets the groups of these lanes besides the last `keep`. Returns for each lane that had such groups the epoch before
    /// which they end.
    pub(super) fn complete(
        &mut self,
        mask: LaneMask,
        keep: u64,
    ) -> impl Iterator<Item = (usize, Epoch)> {
        let keep = usize::try_from(keep).unwrap_or(usize::MAX);
        lanes(mask).filter_map(move |lane| {
            let groups = &mut self.groups[lane];
            let complete = groups.len().saturating_sub(keep);
            Some((lane, groups.drain(..complete).next_back()?))
        })
    }
}
