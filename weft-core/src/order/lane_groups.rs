//! The lanes of a warp, grouped by what they know.

use smallvec::{SmallVec, smallvec};

use super::clock::{Clock, Epoch};
use crate::emulate::{LaneMask, WARP, WarpId, lanes};

/// Lanes of one warp that know the same. Of its own past, which its group need not know, a lane knows everything.
#[derive(Clone, Debug)]
struct LaneGroup {
    lanes: LaneMask,
    known: Clock,
}

/// The lanes of a warp that have not ended, in groups that know the same; mostly there is one.
#[derive(Clone, Debug)]
pub(super) struct LaneGroups {
    groups: SmallVec<[LaneGroup; 1]>,
    /// All lanes of the warp.
    full: LaneMask,
    /// The epoch of each lane that its last fence between the proxies began; `None`: no lane has executed one.
    fences: Option<Box<[Epoch; WARP]>>,
}

impl LaneGroups {
    /// Lanes that know nothing, in a run of `warps` warps.
    pub(super) fn new(full: LaneMask, warps: usize) -> Self {
        let group = LaneGroup { lanes: full, known: Clock::new(warps) };
        Self { groups: smallvec![group], full, fences: None }
    }

    /// All lanes of the warp.
    pub(super) const fn full(&self) -> LaneMask {
        self.full
    }

    /// What these lanes know, lanes that know the same at a time.
    pub(super) fn known_by(&self, mask: LaneMask) -> impl Iterator<Item = (LaneMask, &Clock)> {
        let groups = self.groups.iter().map(move |group| (group.lanes & mask, &group.known));
        groups.filter(|(lanes, _)| *lanes != 0)
    }

    /// Those of these lanes of a warp of which a lane does not know everything that they did at `then`.
    pub(super) fn unknown(
        &self,
        lane: usize,
        (before, then, mask): (WarpId, Epoch, LaneMask),
    ) -> LaneMask {
        let mut known = self.known_by(1 << lane);
        known.next().map_or(mask, |(_, known)| known.unknown(before, then, mask))
    }

    /// As `unknown`, where what has caused what the lane does counts as known.
    pub(super) fn uncaused(
        &self,
        lane: usize,
        (before, then, mask): (WarpId, Epoch, LaneMask),
    ) -> LaneMask {
        let mut known = self.known_by(1 << lane);
        known.next().map_or(mask, |(_, known)| known.uncaused(before, then, mask))
    }

    /// What all lanes know, if they know the same.
    pub(super) fn common(&self) -> Option<&Clock> {
        match self.groups.as_slice() {
            [group] => Some(&group.known),
            _ => None,
        }
    }

    /// Adds to `to` what these lanes of the warp know, and what they did before `epoch`.
    pub(super) fn release(&self, warp: WarpId, mask: LaneMask, epoch: Epoch, to: &mut Clock) {
        self.known_by(mask).for_each(|(_, known)| to.join(known));
        to.learn(warp, mask, self.full, epoch);
        if let Some(fences) = &self.fences {
            to.learn_fences(warp, mask, fences);
        }
    }

    /// Lets lanes execute a fence between the proxies, which begins an epoch.
    pub(super) fn fence(&mut self, mask: LaneMask, epoch: Epoch) {
        self.split(mask);
        for group in self.groups.iter_mut().filter(|group| group.lanes & mask != 0) {
            group.known.fence();
        }
        let fences = self.fences.get_or_insert_default();
        lanes(mask).for_each(|lane| fences[lane] = epoch);
    }

    /// Makes all lanes know what a clock knows, which knows what each of them does.
    pub(super) fn take_over(&mut self, known: &Clock) {
        let Some(live) = self.groups.iter().map(|group| group.lanes).reduce(|a, b| a | b) else {
            return;
        };
        self.groups.truncate(1);
        let group = &mut self.groups[0];
        group.lanes = live;
        group.known.clone_from(known);
    }

    /// Adds to what these lanes know what a clock knows.
    pub(super) fn learn(&mut self, mask: LaneMask, given: &Clock) {
        self.split(mask);
        for group in self.groups.iter_mut().filter(|group| group.lanes & mask != 0) {
            group.known.join(given);
        }
    }

    /// Adds to what has caused what these lanes do what a clock knows.
    pub(super) fn learn_causes(&mut self, mask: LaneMask, given: &Clock) {
        self.split(mask);
        for group in self.groups.iter_mut().filter(|group| group.lanes & mask != 0) {
            group.known.join_causes(given);
        }
    }

    /// Makes these lanes know what all lanes of a warp did before an epoch.
    pub(super) fn reach(&mut self, mask: LaneMask, warp: WarpId, epoch: Epoch) {
        self.split(mask);
        for group in self.groups.iter_mut().filter(|group| group.lanes & mask != 0) {
            group.known.reach(warp, epoch);
        }
    }

    /// Makes a lane know what the lane of the same number of an agent did before an epoch.
    pub(super) fn reach_own(&mut self, lane: usize, agent: WarpId, epoch: Epoch) {
        let mask = 1 << lane;
        if self.unknown(lane, (agent, epoch.before(1), mask)) == 0 {
            return;
        }
        self.split(mask);
        for group in self.groups.iter_mut().filter(|group| group.lanes & mask != 0) {
            group.known.reach_lane(agent, lane, epoch);
        }
    }

    /// Divides each group into its lanes of `mask` and its other lanes.
    fn split(&mut self, mask: LaneMask) {
        for at in 0..self.groups.len() {
            let group = &mut self.groups[at];
            let rest = group.lanes & !mask;
            if rest != 0 && rest != group.lanes {
                group.lanes &= mask;
                let known = group.known.clone();
                self.groups.push(LaneGroup { lanes: rest, known });
            }
        }
    }

    /// Synchronizes lanes of the warp: each knows then what all of them knew, and what they did before `epoch`.
    pub(super) fn synchronize(&mut self, warp: WarpId, mask: LaneMask, epoch: Epoch) {
        let (full, fences) = (self.full, self.fences.clone());
        let at = |group: &mut LaneGroup| {
            group.known.learn(warp, mask, full, epoch);
            if let Some(fences) = &fences {
                group.known.learn_fences(warp, mask, fences);
            }
        };
        if let Some(group) = self.groups.iter_mut().find(|group| group.lanes == mask) {
            return at(group);
        }
        let mut all = self.groups.iter().filter(|group| group.lanes & mask != 0);
        let Some(first) = all.next() else { return };
        let mut known = first.known.clone();
        all.for_each(|group| known.join(&group.known));
        let mut group = LaneGroup { lanes: mask, known };
        at(&mut group);
        self.remove(mask);
        self.groups.push(group);
    }

    /// Removes lanes from their groups.
    pub(super) fn remove(&mut self, mask: LaneMask) {
        self.groups.iter_mut().for_each(|group| group.lanes &= !mask);
        self.groups.retain(|group| group.lanes != 0);
    }
}
