//! The order of what happens between the ctas of a cluster.

use super::Order;
use crate::emulate::{Fence, LaneMask, Nearness, Ordering, WarpId};
use crate::order::clock::{Clock, Epoch};

impl Order {
    /// The same relation, for warps of so many ctas of a cluster.
    #[must_use]
    pub fn for_ctas(self, ctas: usize) -> Self {
        Self { of_cta: self.count / ctas, ..self }
    }

    /// The same relation, for a program in which warps publish by fences what their `.relaxed` arrivals do not release.
    #[must_use]
    pub fn with_publications(self, publishes: bool) -> Self {
        Self { publishes, ..self }
    }

    /// How near threads of two warps are to each other. Of agents it is not distinguished whose work they do.
    pub fn nearness(&self, a: WarpId, b: WarpId) -> Nearness {
        let is_near = a.index() / self.of_cta == b.index() / self.of_cta;
        let is_one_cta = self.of_cta == self.count || is_near && !self.is_agent(a);
        if is_one_cta { Nearness::Cta } else { Nearness::Cluster }
    }

    /// Whether there are several ctas.
    pub const fn has_peers(&self) -> bool {
        self.of_cta < self.count
    }

    /// Whether these lanes of a warp know that some thread of a cta has begun: that it did something before it released what
    /// it knew.
    pub(in crate::order) fn knows_start(
        &self,
        (warp, lanes): (WarpId, LaneMask),
        cta: usize,
    ) -> bool {
        let warps = cta * self.of_cta..(cta + 1) * self.of_cta;
        self.warps[warp].lanes.known_by(lanes).all(|(_, known)| known.has_any(warps.clone()))
    }

    /// Whether a lane knows that everything that these lanes of a warp did at `then` has happened, although memory might not be
    /// ordered by it.
    pub(in crate::order) fn knows(
        &self,
        before: (WarpId, Epoch, LaneMask),
        (after, lane): (WarpId, usize),
    ) -> bool {
        self.warps[after].lanes.uncaused(lane, before) == 0
    }

    /// Whether an agent does copies whose bytes an mbarrier object counts.
    pub(in crate::order) fn counts(&self, agent: WarpId) -> bool {
        self.agents.values().any(|own| *own == agent)
    }

    /// Whether all threads of a cta have ended.
    pub(in crate::order) fn has_ended(&self, cta: usize) -> bool {
        let mut of_cta = self.warps.iter().skip(cta * self.of_cta).take(self.of_cta);
        of_cta.all(|warp| warp.live == 0)
    }

    /// The cta of a warp.
    pub fn cta_of(&self, warp: WarpId) -> usize {
        warp.index() / self.of_cta
    }

    /// Records that a warp has waited for the last generation of the barrier of the cluster.
    pub fn see_cluster(&mut self, warp: WarpId) {
        let Some(generation) = &self.cluster else { return };
        let clock = &mut self.warps[warp];
        clock.tick();
        clock.lanes.learn(clock.live, &generation.joined);
        if let Some(own) = generation.participants.iter().find(|own| own.warp == warp) {
            clock.met = own.arrival;
        }
    }

    /// Records a fence, if it makes something ready to be published or signalled.
    pub fn fence(&mut self, fence: Fence) {
        self.fence_signals(&fence);
        let Fence { warp, lanes, ordering, scope, is_of_inits, may_execute, .. } = fence;
        let releases = !matches!(ordering, Ordering::Acquire | Ordering::Weak | Ordering::Relaxed);
        if !self.publishes || may_execute || !releases || !scope.holds(Nearness::Cluster) {
            return;
        }
        let own = self.publications.entry(warp).or_default();
        if is_of_inits {
            if let Some(agent) = own.inits {
                own.fence_inits(lanes, self.warps[agent].now.next());
            }
            return;
        }
        let clock = &mut self.warps[warp];
        let epoch = clock.tick();
        let mut known = Clock::new(self.count);
        clock.lanes.release(warp, lanes, epoch, &mut known);
        own.fence_all(lanes, known);
    }
}
