//! The happens-before relation, as far as ctas have run.

mod asynchronous;
mod awaits;
mod cluster;
mod signals;
mod tag;

use std::collections::{BTreeMap, BTreeSet};

use super::clock::{Clock, Epoch};
use super::lane_copies::LaneCopies;
use super::lane_groups::LaneGroups;
use super::phases::Phases;
use super::publication::Publication;
use super::recycling::{Completion, Recycling};
use crate::emulate::{
    Arrival, BarrierId, Iteration, LaneMask, MbarrierId, PerWarp, ProxyFence, WarpId,
};
use signals::Signalling;
pub use tag::SignalTag;

/// The time of one warp, and what its lanes know.
#[derive(Clone, Debug)]
struct WarpClock {
    now: Epoch,
    /// The epoch that its last arrival began that is a release, and whose generation it has waited for.
    met: Epoch,
    /// The lanes that have not ended.
    live: LaneMask,
    lanes: LaneGroups,
}

impl WarpClock {
    /// Begins the next epoch of the warp, and returns it.
    const fn tick(&mut self) -> Epoch {
        self.now = self.now.next();
        self.now
    }
}

/// A generation of a barrier.
#[derive(Clone, Debug)]
struct BarrierGeneration {
    /// What its participants knew when they arrived, their arrivals included.
    joined: Clock,
    /// Those whose arrival is a release of all their lanes.
    participants: Vec<Completion>,
}

impl BarrierGeneration {
    fn new(warps: usize) -> Self {
        Self { joined: Clock::new(warps), participants: Vec::new() }
    }
}

/// The happens-before relation of ctas that run together, as far as they have run.
#[derive(Clone, Debug)]
pub struct Order {
    /// The clocks of the warps, and behind them those of the agents of bulk copies.
    warps: PerWarp<WarpClock>,
    /// Number of warps.
    count: usize,
    /// Number of warps of a cta.
    of_cta: usize,
    /// For each mbarrier object at which bulk copies count their bytes, its agent.
    agents: BTreeMap<MbarrierId, WarpId>,
    /// Likewise, the agent that counts there.
    counting: BTreeMap<MbarrierId, WarpId>,
    /// The agents of bulk copies whose bytes objects count, and of tensor cores: what they had done when a tensor core began
    /// its work is done when that work is.
    followed: BTreeSet<WarpId>,
    /// The agents that access memory in the generic proxy.
    generic: BTreeSet<WarpId>,
    /// For each warp whose copies mbarrier objects might follow, these copies.
    copies: BTreeMap<WarpId, LaneCopies>,
    /// For each warp that has made something ready, what that is.
    publications: BTreeMap<WarpId, Publication>,
    generations: BTreeMap<BarrierId, BarrierGeneration>,
    /// The last complete generation of the barrier of the cluster.
    cluster: Option<BarrierGeneration>,
    /// For each barrier, the arrivals that completed its last generation: one that waited or, if none waited, all.
    completed: BTreeMap<BarrierId, Vec<Completion>>,
    /// For each mbarrier object that is initialized, what happened in its last phases.
    phases: BTreeMap<MbarrierId, Phases>,
    /// For each iteration of a loop, the time at which each warp began it.
    iterations: BTreeMap<Iteration, PerWarp<Option<Epoch>>>,
    /// Whether there might be agents that have not accessed memory yet.
    awaits_agents: bool,
    has_open_fence: bool,
    publishes: bool,
    /// The signals and fences of the ctas; `None` if signals are not followed.
    signalling: Option<Signalling>,
}

impl Order {
    /// The relation before anything has run. `live`: the lanes of each warp.
    pub fn new(live: &PerWarp<LaneMask>) -> Self {
        let count = live.count();
        let warp = |live: &LaneMask| WarpClock {
            now: Epoch::default(),
            met: Epoch::default(),
            live: *live,
            lanes: LaneGroups::new(*live, count),
        };
        Self {
            warps: live.iter().map(warp).collect(),
            count,
            of_cta: count,
            agents: BTreeMap::new(),
            counting: BTreeMap::new(),
            followed: BTreeSet::new(),
            generic: BTreeSet::new(),
            copies: BTreeMap::new(),
            publications: BTreeMap::new(),
            generations: BTreeMap::new(),
            cluster: None,
            completed: BTreeMap::new(),
            phases: BTreeMap::new(),
            iterations: BTreeMap::new(),
            awaits_agents: false,
            has_open_fence: false,
            publishes: false,
            signalling: None,
        }
    }

    /// The same relation, for a program of which agents might access memory.
    #[must_use]
    pub fn with_agents(self, awaits_agents: bool) -> Self {
        Self { awaits_agents, ..self }
    }

    /// The current time of a warp.
    pub fn now(&self, warp: WarpId) -> Epoch {
        self.warps[warp].now
    }

    /// Records the arrival of a warp. Returns a failed recycling check: a completion of the generation before that is
    /// not known to happen before this arrival.
    pub fn arrive(&mut self, arrival: Arrival) -> Option<Recycling> {
        let Arrival { warp, barrier, waits, releases, pc } = arrival;
        // That warps arrive at the barrier of the cluster and wait for it by turns, the machine checks.
        let before = self.unknown_completion(warp, barrier).filter(|_| !barrier.is_of_cluster());
        let recycling = before.map(|done| Recycling {
            barrier,
            previous: done.pc,
            previous_warp: done.warp,
            arrival: pc,
            arrival_warp: warp,
        });
        let count = self.count;
        let clock = &mut self.warps[warp];
        let arrival = clock.tick();
        let generation =
            self.generations.entry(barrier).or_insert_with(|| BarrierGeneration::new(count));
        let (releasing, relaxed) = (clock.live & releases, clock.live & !releases);
        if releasing != 0 {
            clock.lanes.release(warp, releasing, arrival, &mut generation.joined);
        }
        if relaxed != 0 {
            let mut causes = Clock::new(0);
            clock.lanes.release(warp, relaxed, arrival, &mut causes);
            generation.joined.join_causes(&causes);
            if let Some(ready) = self.publications.get(&warp) {
                ready.publish(relaxed, &mut generation.joined);
            }
        } else {
            generation.participants.push(Completion { warp, arrival, pc, waits });
        }
        recycling
    }

    /// A completion of the last generation of a barrier that a warp does not know of.
    fn unknown_completion(&self, warp: WarpId, barrier: BarrierId) -> Option<&Completion> {
        let WarpClock { lanes, live, .. } = &self.warps[warp];
        let is_known = |done: &&Completion| {
            done.warp == warp
                || lanes.known_by(*live).any(|(_, known)| known.has_caused(done.warp, done.arrival))
        };
        self.completed.get(&barrier).into_iter().flatten().find(|done| !is_known(done))
    }

    /// Records that the generation of a barrier is complete: its waiting participants join what all participants knew.
    pub fn complete(&mut self, barrier: BarrierId) {
        let Some(generation) = self.generations.remove(&barrier) else { return };
        if barrier.is_of_cluster() {
            self.cluster = Some(generation);
            return;
        }
        for own in generation.participants.iter().filter(|own| own.waits) {
            let clock = &mut self.warps[own.warp];
            clock.met = own.arrival;
            // All lanes of the warp take part, and have learned nothing since they arrived.
            clock.lanes.take_over(&generation.joined);
        }
        let waited = generation.participants.iter().find(|participant| participant.waits);
        let completed = match waited {
            // A participant that waits does nothing else before the completion, so other warps learn of its arrival
            // only afterwards: one such participant is enough to check.
            Some(waited) => vec![*waited],
            None => generation.participants,
        };
        self.completed.insert(barrier, completed);
    }

    /// Whether everything that a lane of `before` did so far happens before what the lane of the same number of `after` does:
    /// they are one warp, or a warp and the agent of its copies.
    pub fn is_own(&self, before: WarpId, after: WarpId) -> bool {
        if before == after {
            return !self.is_agent(before);
        }
        let is_of_copies = || self.copies.get(&before).is_some_and(|own| own.agent == after);
        let inits = || self.publications.get(&before).and_then(|own| own.inits);
        self.is_agent(after) && (is_of_copies() || inits() == Some(after))
    }

    /// Records that lanes execute a fence between the generic and the async proxy.
    pub fn fence_proxies(&mut self, fence: ProxyFence) {
        let ProxyFence { warp, lanes, may_execute } = fence;
        self.has_open_fence |= may_execute;
        if !may_execute {
            let clock = &mut self.warps[warp];
            let epoch = clock.tick();
            clock.lanes.fence(lanes, epoch);
        }
    }

    /// Whether there was a fence between the proxies that might not happen.
    pub const fn has_open_fence(&self) -> bool {
        self.has_open_fence
    }

    /// Whether this is no warp but the agent of bulk copies, which are in no order.
    pub fn is_agent(&self, warp: WarpId) -> bool {
        warp.index() >= self.count
    }

    /// Records that these lanes of a warp synchronized.
    pub fn converge(&mut self, warp: WarpId, synchronized: LaneMask) {
        let clock = &mut self.warps[warp];
        let epoch = clock.tick();
        clock.lanes.synchronize(warp, synchronized & clock.live, epoch);
    }

    /// Records that each of these lanes of a warp has waited for the others, which orders no memory.
    pub fn meet(&mut self, warp: WarpId, met: LaneMask) {
        // Only the order of phases of mbarriers, and of uses of barriers, might depend on it.
        if self.phases.is_empty() {
            return;
        }
        let clock = &mut self.warps[warp];
        let (epoch, met) = (clock.tick(), met & clock.live);
        let mut causes = Clock::new(0);
        clock.lanes.release(warp, met, epoch, &mut causes);
        clock.lanes.learn_causes(met, &causes);
    }

    /// Records that lanes end: what they did and did not release happens before nothing that follows.
    pub fn exit(&mut self, warp: WarpId, mask: LaneMask) {
        let clock = &mut self.warps[warp];
        clock.live &= !mask;
        clock.lanes.remove(mask);
    }

    /// Whether everything that the lanes `mask` of the warp `before` did at `then` is ordered before what the lanes `later`
    /// of the warp `after` do now, save that of each lane with itself: it happens before, and between accesses of threads
    /// and later ones of agents there is a fence between the proxies.
    pub fn is_before(
        &self,
        (before, then, mask): (WarpId, Epoch, LaneMask),
        (after, later): (WarpId, LaneMask),
    ) -> bool {
        let is_own = self.is_own(before, after);
        let itself = if is_own && later.is_power_of_two() { later } else { 0 };
        let mut known = self.warps[after].lanes.known_by(later);
        let crosses = self.crosses_proxies(before, after);
        known.all(|(_, known)| {
            let has = |known: &Clock| known.has(before, then, mask & !itself);
            has(known) && (!crosses || known.fenced().is_some_and(has))
        })
    }

    /// Whether only a fence between the proxies orders accesses of one before those of the other: an agent accesses memory
    /// in the async proxy. That its accesses are complete, threads learn with such a fence (PTX ISA §9.7.9.25.2).
    fn crosses_proxies(&self, before: WarpId, after: WarpId) -> bool {
        self.is_agent(after) && !self.is_agent(before) && !self.generic.contains(&after)
    }

    /// Whether nothing distinguishes the lanes of `before` as `after` sees them: if [`Self::is_before`] does not hold
    /// for all, it holds for no two of them.
    pub fn is_one(&self, before: WarpId, after: WarpId) -> bool {
        let crosses = self.crosses_proxies(before, after);
        self.warps[after].lanes.common().is_some_and(|known| {
            let is_fenced_alike = || known.fenced().is_none_or(|fenced| fenced.is_one(before));
            known.is_one(before) && (!crosses || is_fenced_alike())
        }) && (before == after || !self.is_own(before, after))
    }

    /// The lanes of `mask` of the warp `before`, other than `lane` itself, of which not everything that they did at
    /// `then` is ordered before what `lane` of the warp `after` does now, as for [`Self::is_before`].
    pub fn unordered_lanes(
        &self,
        (before, then, mask): (WarpId, Epoch, LaneMask),
        (after, lane): (WarpId, usize),
    ) -> LaneMask {
        let happens = self.unknown_lanes((before, then, mask), (after, lane));
        if !self.crosses_proxies(before, after) {
            return happens;
        }
        let known = self.warps[after].lanes.known_by(1 << lane).next();
        let fenced = known.and_then(|(_, known)| known.fenced());
        happens | fenced.map_or(mask, |fenced| fenced.unknown(before, then, mask))
    }

    /// As [`Self::unordered_lanes`], for what does not happen before, whether or not a fence is missing.
    pub fn unknown_lanes(
        &self,
        (before, then, mask): (WarpId, Epoch, LaneMask),
        (after, lane): (WarpId, usize),
    ) -> LaneMask {
        let is_own = self.is_own(before, after);
        let others = if is_own { mask & !(1 << lane) } else { mask };
        self.warps[after].lanes.unknown(lane, (before, then, others))
    }

    /// Records that a warp begins an iteration of a loop.
    pub fn iteration(&mut self, warp: WarpId, iteration: Iteration) {
        let (count, now) = (self.warps.count(), self.now(warp));
        let began = self.iterations.entry(iteration);
        began.or_insert_with(|| PerWarp::new(count, |_| None))[warp] = Some(now);
    }

    /// Whether everything that the warps did before they began an iteration happens before what `warp` does from now
    /// on. For its own lanes, only order through cta barriers counts.
    pub fn is_separated(&self, warp: WarpId, iteration: Iteration) -> bool {
        let Some(began) = self.iterations.get(&iteration) else { return false };
        let later = (warp, self.warps[warp].live);
        began.entries().all(|(other, then)| {
            let live = self.warps[other].live;
            let is_before = |then| {
                if other == warp {
                    self.warps[warp].met > then
                } else {
                    self.is_before((other, then, live), later)
                }
            };
            live == 0 || then.is_some_and(is_before)
        })
    }

    /// Whether what these lanes of a warp did at `then` is ordered before everything that follows.
    pub fn is_before_all(&self, before: WarpId, then: Epoch, mask: LaneMask) -> bool {
        let is_fenced = |known: &Clock| {
            self.is_agent(before) || known.fenced().is_some_and(|own| own.has(before, then, mask))
        };
        self.warps.entries().all(|(warp, clock)| {
            let mut known = clock.lanes.known_by(clock.live);
            self.is_before((before, then, mask), (warp, clock.live))
                && (!self.awaits_agents || known.all(|(_, known)| is_fenced(known)))
        })
    }
}

#[cfg(test)]
mod tests;
