//! Vector clocks: what each warp knows of the other warps, and each lane of the other lanes of its warp.

use std::collections::BTreeMap;

use super::recycling::{Completion, Recycling};
use crate::emulate::{Arrival, BarrierId, Iteration, LaneMask, PerWarp, WARP, WarpId, lanes};

/// A time of a warp: the number of its arrivals and of its warp synchronizations before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch {
    /// Number of the warp's arrivals at cta barriers so far.
    pub arrivals: u32,
    /// Number of synchronizations among the warp's lanes so far.
    pub syncs: u32,
}

/// A vector clock: what happens before some point of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Clock {
    /// For each warp: the number of its last arrival that is known. It holds for lanes that have not ended.
    warps: PerWarp<u32>,
    /// For each lane that ended before others of its warp, in the order in which they ended: the numbers of the last
    /// arrival and the last synchronization of the lane that are known. Later arrivals of its warp are not the lane's.
    ended: Vec<Epoch>,
}

impl Clock {
    fn new(warps: usize) -> Self {
        Self { warps: PerWarp::new(warps, |_| 0), ended: Vec::new() }
    }

    fn join(&mut self, other: &Self) {
        for (known, given) in self.warps.iter_mut().zip(other.warps.iter()) {
            *known = (*known).max(*given);
        }
        for (slot, given) in other.ended.iter().enumerate() {
            self.learn(slot, *given);
        }
    }

    fn learn(&mut self, slot: usize, given: Epoch) {
        if self.ended.len() <= slot {
            self.ended.resize(slot + 1, Epoch::default());
        }
        let known = &mut self.ended[slot];
        known.arrivals = known.arrivals.max(given.arrivals);
        known.syncs = known.syncs.max(given.syncs);
    }

    /// Whether what the lane of a slot did at `then` happens before.
    fn has(&self, slot: usize, then: Epoch) -> bool {
        let known = self.ended.get(slot).copied().unwrap_or_default();
        known.arrivals > then.arrivals || known.syncs > then.syncs
    }
}

/// The clocks of one warp.
#[derive(Clone, Debug)]
struct WarpClock {
    now: Epoch,
    /// What the warp knows of every warp, itself included; one of its own arrivals counts only once a barrier has
    /// returned it.
    known: Clock,
    lanes: LaneClocks,
    /// The time at which each lane ended; `u32::MAX` for lanes that still run.
    ended: Option<Box<[Epoch; WARP]>>,
    /// For each lane that ended before others: its slot in `Clock::ended`.
    slots: BTreeMap<usize, usize>,
}

impl WarpClock {
    /// The last synchronization that all lanes know of, if no lane has ended and nothing distinguishes the lanes.
    fn last_common_sync(&self) -> Option<u32> {
        match self.lanes {
            LaneClocks::All(last) if self.ended.is_none() => Some(last),
            _ => None,
        }
    }

    /// What the lanes that arrive now know of those that have ended: the last synchronizations that these took part in.
    fn known_of_ended(&self, live: LaneMask) -> Vec<(usize, Epoch)> {
        let Some(ended) = &self.ended else { return Vec::new() };
        let syncs_of = |lane: usize| match &self.lanes {
            LaneClocks::All(last) => (*last).min(ended[lane].syncs),
            LaneClocks::Each(each) => lanes(live).map(|other| each[other][lane]).max().unwrap_or(0),
        };
        let known =
            |(lane, slot): (&usize, &usize)| (*slot, Epoch { arrivals: 0, syncs: syncs_of(*lane) });
        self.slots.iter().map(known).collect()
    }
}

/// For each lane and each other lane: the last synchronization of the other lane that is known.
#[derive(Clone, Debug)]
enum LaneClocks {
    /// All lanes know of all synchronizations up to this one: each of them was of all lanes that had not ended, or the
    /// last one was and no lane has ended.
    All(u32),
    Each(Box<[[u32; WARP]; WARP]>),
}

/// A generation that is not complete yet.
#[derive(Clone, Debug)]
struct OpenGeneration {
    /// What its participants knew when they arrived, their arrivals included.
    joined: Clock,
    /// The warps that wait.
    waiting: Vec<WarpId>,
    participants: Vec<Completion>,
}

impl OpenGeneration {
    fn new(warps: usize) -> Self {
        Self { joined: Clock::new(warps), waiting: Vec::new(), participants: Vec::new() }
    }
}

/// The happens-before relation of ctas that run together, as far as they have run.
#[derive(Clone, Debug)]
pub struct Order {
    warps: PerWarp<WarpClock>,
    generations: BTreeMap<BarrierId, OpenGeneration>,
    /// For each barrier, the arrivals that completed its last generation: one that waited or, if none waited, all.
    completed: BTreeMap<BarrierId, Vec<Completion>>,
    live: PerWarp<LaneMask>,
    /// For each iteration of a loop, the time at which each warp began it.
    iterations: BTreeMap<Iteration, PerWarp<Option<Epoch>>>,
    /// Number of lanes that have a slot in the clocks.
    slots: usize,
}

impl Order {
    /// The relation before anything has run. `live`: the lanes of each warp.
    pub fn new(live: PerWarp<LaneMask>) -> Self {
        let warp = WarpClock {
            now: Epoch::default(),
            known: Clock::new(live.count()),
            lanes: LaneClocks::All(0),
            ended: None,
            slots: BTreeMap::new(),
        };
        Self {
            warps: PerWarp::new(live.count(), |_| warp.clone()),
            generations: BTreeMap::new(),
            completed: BTreeMap::new(),
            live,
            iterations: BTreeMap::new(),
            slots: 0,
        }
    }

    /// The current time of a warp.
    pub fn now(&self, warp: WarpId) -> Epoch {
        self.warps[warp].now
    }

    /// Records the arrival of a warp. Returns a failed recycling check: a completion of the generation before that is
    /// not known to happen before this arrival.
    pub fn arrive(&mut self, arrival: Arrival) -> Option<Recycling> {
        let Arrival { warp, barrier, waits, pc } = arrival;
        let clock = &self.warps[warp];
        let is_known =
            |done: &Completion| done.warp == warp || clock.known.warps[done.warp] >= done.arrival;
        let unknown =
            self.completed.get(&barrier).into_iter().flatten().find(|done| !is_known(done));
        let recycling = unknown.map(|done| Recycling {
            barrier,
            previous: done.pc,
            previous_warp: done.warp,
            arrival: pc,
            arrival_warp: warp,
        });
        let live = self.live[warp];
        let warp_clock = &mut self.warps[warp];
        warp_clock.now.arrivals = warp_clock.now.arrivals.saturating_add(1);
        let arrival = warp_clock.now.arrivals;
        let count = self.live.count();
        let generation =
            self.generations.entry(barrier).or_insert_with(|| OpenGeneration::new(count));
        generation.joined.join(&warp_clock.known);
        generation.joined.warps[warp] = arrival;
        for (slot, known) in warp_clock.known_of_ended(live) {
            generation.joined.learn(slot, known);
        }
        generation.participants.push(Completion { warp, arrival, pc, waits });
        if waits {
            generation.waiting.push(warp);
        }
        recycling
    }

    /// Records that the generation of a barrier is complete: its waiting participants join what all participants knew.
    pub fn complete(&mut self, barrier: BarrierId) {
        let Some(generation) = self.generations.remove(&barrier) else { return };
        for &warp in &generation.waiting {
            self.warps[warp].known.join(&generation.joined);
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

    /// Records that these lanes of a warp synchronized.
    pub fn converge(&mut self, warp: WarpId, synchronized: LaneMask) {
        let live = self.live[warp];
        let clock = &mut self.warps[warp];
        clock.now.syncs = clock.now.syncs.saturating_add(1);
        let sync = clock.now.syncs;
        let is_all = synchronized & live == live;
        match &mut clock.lanes {
            LaneClocks::All(last) if is_all => *last = sync,
            LaneClocks::All(last) => {
                let ended = clock.ended.as_ref();
                let known = |lane: usize| ended.map_or(*last, |ended| ended[lane].syncs.min(*last));
                let mut each = Box::new([std::array::from_fn(known); WARP]);
                synchronize(&mut each, synchronized, sync);
                clock.lanes = LaneClocks::Each(each);
            }
            LaneClocks::Each(_) if is_all && clock.ended.is_none() => {
                clock.lanes = LaneClocks::All(sync);
            }
            LaneClocks::Each(each) => synchronize(each, synchronized, sync),
        }
    }

    /// Records that lanes end: what they did since their last arrival happens before nothing that follows.
    pub fn exit(&mut self, warp: WarpId, mask: LaneMask) {
        self.live[warp] &= !mask;
        if self.live[warp] != 0 {
            lanes(mask).for_each(|lane| self.part(warp, lane));
        }
        let clock = &mut self.warps[warp];
        let never = Epoch { arrivals: u32::MAX, syncs: u32::MAX };
        let ended = clock.ended.get_or_insert_with(|| Box::new([never; WARP]));
        for lane in lanes(mask) {
            ended[lane] = clock.now;
        }
    }

    /// Gives a lane that ends before others of its warp a slot: from now on its arrivals differ from the warp's.
    fn part(&mut self, warp: WarpId, lane: usize) {
        let slot = self.slots;
        self.slots += 1;
        self.warps[warp].slots.insert(lane, slot);
        let known = self.warps.iter_mut().map(|warp_clock| &mut warp_clock.known);
        let given = self.generations.values_mut().map(|generation| &mut generation.joined);
        for clock in known.chain(given) {
            let arrivals = clock.warps[warp];
            clock.learn(slot, Epoch { arrivals, syncs: 0 });
        }
    }

    /// Whether everything that the lanes of `mask` of the warp `before` did at `then` happens before what `warp` does
    /// now. For a lane of the same warp, only order through cta barriers counts.
    pub fn is_before(&self, before: WarpId, then: Epoch, mask: LaneMask, warp: WarpId) -> bool {
        let (known, slots) = (&self.warps[warp].known, &self.warps[before].slots);
        if slots.is_empty() {
            return known.warps[before] > then.arrivals;
        }
        lanes(mask).all(|lane| match slots.get(&lane) {
            Some(slot) => known.has(*slot, then),
            None => known.warps[before] > then.arrivals,
        })
    }

    /// Whether some lanes of a warp ended before others, so that [`Self::is_before`] depends on the lanes.
    pub fn distinguishes_lanes(&self, warp: WarpId) -> bool {
        !self.warps[warp].slots.is_empty()
    }

    /// Whether everything that the lanes of `mask` of the warp `before` did at `then` happens before what all other
    /// lanes of `warp` do now. If so, no lane has to be examined by itself.
    pub fn is_all_before(&self, before: WarpId, then: Epoch, mask: LaneMask, warp: WarpId) -> bool {
        let has_met = || self.warps[warp].last_common_sync().is_some_and(|last| last > then.syncs);
        self.is_before(before, then, mask, warp) || before == warp && has_met()
    }

    /// Whether nothing distinguishes the lanes of `before` as `warp` sees them: if [`Self::is_all_before`] does not
    /// hold, it holds for no single lane either.
    pub fn is_one(&self, before: WarpId, warp: WarpId) -> bool {
        !self.distinguishes_lanes(before)
            && (before != warp || self.warps[warp].last_common_sync().is_some())
    }

    /// The lanes of `mask` other than `lane` whose accesses at `then` do not happen before what `lane`, of the same
    /// warp, does now.
    pub fn unordered_lanes(
        &self,
        warp: WarpId,
        then: Epoch,
        mask: LaneMask,
        lane: usize,
    ) -> LaneMask {
        let others = mask & !(1 << lane);
        let clock = &self.warps[warp];
        let mut unordered = match (&clock.lanes, &clock.ended) {
            (LaneClocks::All(last), None) if *last > then.syncs => 0,
            (LaneClocks::All(last), Some(ended)) if *last > then.syncs => {
                filter(others, |before| ended[before].syncs <= then.syncs)
            }
            (LaneClocks::All(_), _) => others,
            (LaneClocks::Each(each), _) => {
                filter(others, |before| each[lane][before] <= then.syncs)
            }
        };
        if unordered != 0 && clock.known.warps[warp] > then.arrivals {
            unordered = filter(unordered, |before| !self.is_before(warp, then, 1 << before, warp));
        }
        unordered
    }

    /// Records that a warp begins an iteration of a loop.
    pub fn iteration(&mut self, warp: WarpId, iteration: Iteration) {
        let (count, now) = (self.warps.count(), self.now(warp));
        let began = self.iterations.entry(iteration);
        began.or_insert_with(|| PerWarp::new(count, |_| None))[warp] = Some(now);
    }

    /// Whether everything that the warps did before they began an iteration happens before what `warp` does from now
    /// on.
    pub fn is_separated(&self, warp: WarpId, iteration: Iteration) -> bool {
        let Some(began) = self.iterations.get(&iteration) else { return false };
        began.entries().all(|(other, then)| {
            let live = self.live[other];
            live == 0 || then.is_some_and(|then| self.is_before(other, then, live, warp))
        })
    }

    /// Whether what these lanes did happens before everything that follows, by way of cta barriers.
    pub fn is_before_all(&self, before: WarpId, then: Epoch, mask: LaneMask) -> bool {
        self.warps
            .ids()
            .all(|warp| self.live[warp] == 0 || self.is_before(before, then, mask, warp))
    }
}

fn filter(mask: LaneMask, keep: impl Fn(usize) -> bool) -> LaneMask {
    lanes(mask).filter(|lane| keep(*lane)).fold(0, |kept, lane| kept | 1 << lane)
}

/// Joins what the synchronized lanes know, adds the synchronization itself, and gives the result to each of them.
fn synchronize(each: &mut [[u32; WARP]; WARP], synchronized: LaneMask, sync: u32) {
    let mut given = [0; WARP];
    for lane in lanes(synchronized) {
        for (given, known) in given.iter_mut().zip(&each[lane]) {
            *given = (*given).max(*known);
        }
    }
    for lane in lanes(synchronized) {
        given[lane] = sync;
    }
    for lane in lanes(synchronized) {
        each[lane] = given;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulate::CtaRank;
    use crate::flow::Pc;

    /// A warp that waits at a barrier alone.
    fn synchronize_alone(order: &mut Order, warp: WarpId) {
        let barrier = BarrierId::named(CtaRank::default(), 1).expect("one of sixteen");
        order.arrive(Arrival { warp, barrier, waits: true, pc: Pc(0) });
        order.complete(barrier);
    }

    #[test]
    fn all_that_live_have_to_know() {
        let all = LaneMask::MAX;
        let [first, second] = [0, 1].map(WarpId::new);
        let mut order = Order::new([1, all].into_iter().collect());
        assert!(!order.is_before_all(second, Epoch::default(), all), "it does not know itself");
        synchronize_alone(&mut order, second);
        assert!(
            !order.is_before_all(second, Epoch::default(), all),
            "the first warp does not know"
        );
        order.exit(first, 1);
        assert!(order.is_before_all(second, Epoch::default(), all), "nobody else is left");
    }
}
