//! A vector clock: for each thread, the last of its warp's epochs that is known.

use std::collections::BTreeMap;

use crate::emulate::{LaneMask, WARP, WarpId, lanes};

/// A time of a warp: the number of times before that some of its lanes synchronized, released what they know, or
/// learned something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(u32);

impl Epoch {
    /// The epoch after this many others.
    #[cfg(test)]
    pub(crate) const fn after(count: u32) -> Self {
        Self(count)
    }

    /// The epoch this many epochs before; the first one if there were not as many.
    pub(super) fn before(self, count: u64) -> Self {
        Self(self.0.saturating_sub(u32::try_from(count).unwrap_or(u32::MAX)))
    }

    pub(super) const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// What happens before some point of the run: of each thread, everything before an epoch. Mostly that epoch is the same
/// for all lanes of a warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    /// For each warp, an epoch before which everything is known of each of its lanes.
    warps: Vec<Epoch>,
    /// The same of agents, of which mostly few are known, and of warps if the clock was made without a number of warps.
    others: BTreeMap<WarpId, Epoch>,
    /// For some warps, such an epoch of each lane. Of this one and that of the warp the later one holds.
    lanes: BTreeMap<WarpId, Box<[Epoch; WARP]>>,
    /// What has caused the point besides, although PTX's memory model orders no accesses by it: what a thread did before it
    /// made copies arrive at an mbarrier object, before it exchanged values with the thread of the point, or before a phase
    /// completed that the thread saw by a `.relaxed` wait.
    causes: Option<Box<Clock>>,
    /// Of this, what a fence between the proxies comes after that happens before the point; `None`: nothing.
    fenced: Option<Box<Self>>,
}

impl Clock {
    /// The clock of a point that nothing happens before, in a run of `warps` warps.
    pub(super) fn new(warps: usize) -> Self {
        Self {
            warps: vec![Epoch::default(); warps],
            others: BTreeMap::new(),
            lanes: BTreeMap::new(),
            causes: None,
            fenced: None,
        }
    }

    /// The epoch before which everything is known of each lane of a warp.
    fn of(&self, warp: WarpId) -> Epoch {
        let own = self.warps.get(warp.index()).copied().unwrap_or_default();
        if self.others.is_empty() {
            return own;
        }
        self.others.get(&warp).map_or(own, |other| own.max(*other))
    }

    /// Whether everything that these lanes of a warp did at `then` is known.
    pub(super) fn has(&self, warp: WarpId, then: Epoch, mask: LaneMask) -> bool {
        self.of(warp) > then
            || self.lanes.get(&warp).is_some_and(|own| lanes(mask).all(|lane| own[lane] > then))
    }

    /// Those of these lanes of a warp of which not everything that they did at `then` is known.
    pub(super) fn unknown(&self, warp: WarpId, then: Epoch, mask: LaneMask) -> LaneMask {
        if self.of(warp) > then {
            return 0;
        }
        let Some(own) = self.lanes.get(&warp) else { return mask };
        lanes(mask).filter(|lane| own[*lane] <= then).fold(0, |all, lane| all | 1 << lane)
    }

    /// As `unknown`, where what has caused the point counts as known.
    pub(super) fn uncaused(&self, warp: WarpId, then: Epoch, mask: LaneMask) -> LaneMask {
        let unknown = self.unknown(warp, then, mask);
        self.causes.as_ref().map_or(unknown, |own| own.unknown(warp, then, unknown))
    }

    /// Whether some lane of a warp is known to have come to an epoch, or has caused the point when it had.
    pub(super) fn has_caused(&self, warp: WarpId, epoch: Epoch) -> bool {
        let is_cause = || self.causes.as_ref().is_some_and(|own| own.has_reached(warp, epoch));
        self.has_reached(warp, epoch) || is_cause()
    }

    /// Whether some lane of a warp is known to have come to an epoch.
    pub(super) fn has_reached(&self, warp: WarpId, epoch: Epoch) -> bool {
        let own = self.lanes.get(&warp);
        self.of(warp) >= epoch || own.is_some_and(|own| own.iter().any(|own| *own >= epoch))
    }

    /// Whether something is known of some of these warps, or has caused the point.
    pub(super) fn has_any(&self, warps: std::ops::Range<usize>) -> bool {
        let begun = Epoch::default().next();
        let is_known = |warp: usize| self.has_reached(WarpId::new(warp), begun);
        warps.clone().any(is_known) || self.causes.as_ref().is_some_and(|own| own.has_any(warps))
    }

    /// What is known of some agents.
    pub(super) fn of_agents(&self, is_agent: impl Fn(&WarpId) -> bool) -> Self {
        let others = self.others.iter().filter(|(warp, _)| is_agent(warp));
        let lanes = self.lanes.iter().filter(|(warp, _)| is_agent(warp));
        Self {
            others: others.map(|(warp, epoch)| (*warp, *epoch)).collect(),
            lanes: lanes.map(|(warp, own)| (*warp, own.clone())).collect(),
            ..Self::new(0)
        }
    }

    /// Whether what is known of the lanes of a warp does not differ from lane to lane.
    pub(super) fn is_one(&self, warp: WarpId) -> bool {
        !self.lanes.contains_key(&warp)
    }

    /// Adds what another clock knows as what has caused the point.
    pub(super) fn join_causes(&mut self, other: &Self) {
        let own = self.causes.get_or_insert_with(|| Box::new(Self::new(0)));
        own.join_known(other);
        if let Some(causes) = &other.causes {
            own.join_known(causes);
        }
    }

    /// What accesses of the async proxy see of it (PTX ISA §8.9.5): a fence between the proxies comes after it.
    pub(super) fn fenced(&self) -> Option<&Self> {
        self.fenced.as_deref()
    }

    /// Notes that a fence between the proxies comes after all that is known.
    pub(super) fn fence(&mut self) {
        let mut fenced = self.fenced.take().unwrap_or_else(|| Box::new(Self::new(0)));
        fenced.join(self);
        self.fenced = Some(fenced);
    }

    /// Makes known that lanes of a warp executed their last fences between the proxies at these epochs.
    pub(super) fn learn_fences(&mut self, warp: WarpId, mask: LaneMask, fences: &[Epoch; WARP]) {
        let fenced = self.fenced.get_or_insert_with(|| Box::new(Self::new(0)));
        let own = fenced.lanes.entry(warp).or_default();
        for lane in lanes(mask) {
            own[lane] = own[lane].max(fences[lane]);
        }
    }

    /// Adds what another clock knows.
    pub(super) fn join(&mut self, other: &Self) {
        self.join_known(other);
        if let Some(causes) = &other.causes {
            self.causes.get_or_insert_with(|| Box::new(Self::new(0))).join_known(causes);
        }
    }

    /// As `join`, without what has caused the point besides.
    fn join_known(&mut self, other: &Self) {
        if self.warps.len() < other.warps.len() {
            self.warps.resize(other.warps.len(), Epoch::default());
        }
        for (known, given) in self.warps.iter_mut().zip(&other.warps) {
            *known = (*known).max(*given);
        }
        for (warp, given) in &other.others {
            self.reach(*warp, *given);
        }
        for (warp, given) in &other.lanes {
            let own = self.lanes.entry(*warp).or_default();
            for (known, given) in own.iter_mut().zip(given.iter()) {
                *known = (*known).max(*given);
            }
        }
        if let Some(given) = &other.fenced {
            self.fenced.get_or_insert_with(|| Box::new(Self::new(0))).join(given);
        }
    }

    /// Makes everything known that all lanes of a warp did before an epoch.
    pub(super) fn reach(&mut self, warp: WarpId, epoch: Epoch) {
        let known = match self.warps.get_mut(warp.index()) {
            Some(known) => known,
            None => self.others.entry(warp).or_default(),
        };
        *known = (*known).max(epoch);
    }

    /// Makes everything known that a lane of a warp did before an epoch.
    pub(super) fn reach_lane(&mut self, warp: WarpId, lane: usize, epoch: Epoch) {
        let own = self.lanes.entry(warp).or_default();
        own[lane] = own[lane].max(epoch);
    }

    /// Makes everything known that these lanes of a warp did before an epoch, which is later than all that was known of
    /// the warp. `full`: all lanes of the warp.
    pub(super) fn learn(&mut self, warp: WarpId, mask: LaneMask, full: LaneMask, epoch: Epoch) {
        if mask & full == full {
            self.reach(warp, epoch);
            self.lanes.remove(&warp);
            return;
        }
        let own = self.lanes.entry(warp).or_default();
        for lane in lanes(mask) {
            own[lane] = epoch;
        }
    }
}
