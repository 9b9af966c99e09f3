//! The order that signals make between ctas: release and acquire patterns (PTX ISA §8.8) through locations of which a thread
//! of another cta has seen the last signal, and thus all of them.
//!
//! What a thread released by its signal: what happened before the signal, if that is a release, and before the thread's last
//! fence in front of it. What it acquires by having seen the last signal: what follows that signal, if it is an acquire, and
//! the thread's first fence behind it. Fences of other threads count as well if both are `fence.sc`: one of the two comes
//! before the other in Fence-SC order (§8.9.2), and the other way round would contradict what was seen.

use std::collections::BTreeMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use indexmap::IndexSet;

use super::Order;
use super::tag::{SignalTag, Strength};
use crate::emulate::{
    Access, AwaitedSignal, Fence, LaneMask, MemoryOrder, Nearness, Ordering, SentSignal, Signal,
    SignalKey, WarpId, lanes,
};
use crate::order::clock::{Clock, Epoch};

/// Accesses of lanes of a warp at one time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Moment {
    warp: WarpId,
    lanes: LaneMask,
    when: Epoch,
    is_atomic: bool,
    seen: Option<(u64, Strength)>,
    synchronizes: bool,
    /// As in [`SignalTag::acquired`], and in [`SignalTag::awaited`].
    acquired: Vec<(u64, Strength)>,
    awaited: Vec<(SignalKey, Strength)>,
}

/// What two accesses of one moment have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MomentKey {
    warp: WarpId,
    lanes: LaneMask,
    when: Epoch,
    is_atomic: bool,
    seen: Option<Signal>,
    synchronizes: bool,
    /// Numbers of fences, signals and waits of the cta before.
    counts: (usize, usize, usize),
}

/// A fence of lanes of a warp.
#[derive(Clone, Debug)]
pub(super) struct FenceRecord {
    fence: Fence,
    when: Epoch,
    /// What its lanes knew, lanes that knew the same at a time, without what each did itself.
    known: Vec<(LaneMask, Clock)>,
}

/// A signal that was sent.
#[derive(Clone, Debug)]
pub(super) struct SignalRecord {
    sent: SentSignal,
    when: Epoch,
    /// Number of fences of the cta before it.
    fences: usize,
    /// What release patterns, and fences in Fence-SC order, made ready for it.
    pub(super) released: Vec<(Strength, Clock)>,
}

/// A point at which a lane has seen signals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seeing {
    pub(super) warp: WarpId,
    pub(super) lane: usize,
    /// The semantics and the scope of the access that has seen them.
    pub(super) order: MemoryOrder,
    pub(super) when: Epoch,
    /// Number of fences of the cta before it.
    pub(super) fences: usize,
    /// The signal of its own that has seen them.
    pub(super) signal: Option<Signal>,
}

/// A wait that has ended.
#[derive(Clone, Debug)]
pub(super) struct AwaitRecord {
    pub(super) awaited: AwaitedSignal,
    pub(super) when: Epoch,
    /// Number of fences of the cta before it.
    pub(super) fences: usize,
}

impl AwaitRecord {
    pub(super) fn seeing(&self) -> Seeing {
        let AwaitedSignal { warp, lane, order, .. } = self.awaited;
        Seeing { warp, lane, order, when: self.when, fences: self.fences, signal: None }
    }
}

/// The signals and the fences of a cta.
#[derive(Clone, Debug, Default)]
pub(super) struct Signalling {
    pub(super) fences: Vec<FenceRecord>,
    pub(super) sent: Vec<SignalRecord>,
    /// Whether the last signal is among them.
    pub(super) has_last: bool,
    pub(super) awaits: Vec<AwaitRecord>,
    moments: IndexSet<Moment, RandomState>,
    /// The last access, and the number of its moment.
    last: Option<(MomentKey, usize)>,
    /// Whether some fence or signal is not followed.
    is_open: bool,
}

/// Most fences, and most signals, of a cta that are followed.
const MOST: usize = 64;

impl Order {
    /// The same relation, for a launch whose signals are followed.
    #[must_use]
    pub fn with_signals(self, has_signals: bool) -> Self {
        Self { signalling: has_signals.then(Signalling::default), ..self }
    }

    /// Whether signals are followed.
    pub const fn has_signals(&self) -> bool {
        self.signalling.is_some()
    }

    /// Lets the accesses of a warp that follow have a time of their own.
    pub fn separate(&mut self, warp: WarpId) {
        self.warps[warp].tick();
    }

    /// Records a fence that might make something ready for signals, or for what follows them.
    pub(super) fn fence_signals(&mut self, fence: &Fence) {
        let &Fence { warp, scope, is_of_inits, .. } = fence;
        if self.signalling.is_none() || is_of_inits || !scope.holds(Nearness::Grid) {
            return;
        }
        let clock = &mut self.warps[warp];
        let when = clock.now;
        clock.tick();
        let known = clock.lanes.known_by(fence.lanes);
        let known = known.map(|(group, known)| (group, known.clone())).collect();
        let record = FenceRecord { fence: *fence, when, known };
        let Some(own) = &mut self.signalling else { return };
        own.is_open |= own.fences.len() == MOST;
        if own.fences.len() < MOST {
            own.fences.push(record);
        }
    }

    /// Records a signal.
    pub fn signal(&mut self, sent: SentSignal) {
        let Some(own) = &mut self.signalling else { return };
        own.has_last = false;
        let is_other = |past: &SignalRecord| past.sent.signal.location != sent.signal.location;
        own.is_open |= own.sent.len() == MOST || own.sent.iter().any(is_other);
        if own.sent.len() == MOST || !sent.order.scope().holds(Nearness::Grid) {
            return;
        }
        let record = SignalRecord {
            sent,
            when: self.now(sent.warp),
            fences: self.signalling.as_ref().map_or(0, |own| own.fences.len()),
            released: self.released(sent),
        };
        if let Some(own) = &mut self.signalling {
            own.sent.push(record);
            own.has_last = true;
        }
    }

    /// What release patterns, and fences in Fence-SC order, made ready for a signal that a thread sends now.
    fn released(&self, SentSignal { warp, lane, order, .. }: SentSignal) -> Vec<(Strength, Clock)> {
        let (clock, mask) = (&self.warps[warp], 1 << lane);
        let known = clock.lanes.known_by(mask).next();
        let Some((own, (_, known))) = self.signalling.as_ref().zip(known) else {
            return Vec::new();
        };
        let mut released = Vec::new();
        if order.ordering().releases() {
            let mut known = known.clone();
            known.learn(warp, mask, clock.lanes.full(), clock.now);
            released.push((Strength::PATTERN, known));
        }
        for past in own.fences.iter().filter(|past| past.fence.ordering.releases()) {
            let own_lane = if past.fence.warp == warp { past.fence.lanes & mask } else { 0 };
            let by = |by: Strength| if past.fence.may_execute { by.perhaps() } else { by };
            if own_lane != 0 {
                released.push((by(Strength::PATTERN), past.ready(own_lane, self)));
            }
            if past.fence.ordering == Ordering::SequentiallyConsistent {
                let before = own_lane | past.lanes_known(known);
                released.push((by(Strength::FENCE_SC), past.ready(before, self)));
            }
        }
        released
    }

    /// Returns a number for the time and the lanes of an access, by which [`Self::signal_tags`] finds what orders it.
    pub fn moment(&mut self, access: &Access<'_>) -> usize {
        let &Access { warp, lanes, kind, seen, synchronizes, .. } = access;
        let Some(own) = &self.signalling else { return 0 };
        let counts = (own.fences.len(), own.sent.len(), own.awaits.len());
        let key = MomentKey {
            warp,
            lanes,
            when: self.now(warp),
            is_atomic: kind.is_atomic(),
            seen,
            synchronizes,
            counts,
        };
        if let Some((_, number)) = own.last.as_ref().filter(|(last, _)| *last == key) {
            return *number;
        }
        let moment = self.moment_of(access, own);
        let Some(own) = &mut self.signalling else { return 0 };
        let (number, _) = own.moments.insert_full(moment);
        own.last = Some((key, number));
        number
    }

    fn moment_of(&self, access: &Access<'_>, own: &Signalling) -> Moment {
        let &Access { warp, lanes, kind, .. } = access;
        let mut acquired = BTreeMap::<u64, Strength>::new();
        let mut seen = access.seen.map(|signal| (signal.location, Strength::default()));
        // Where something is not followed, what might be ordered is not asked for.
        let is_needed =
            |record: &&SignalRecord| !own.is_open || access.seen == Some(record.sent.signal);
        for record in own.sent.iter().filter(is_needed) {
            let SentSignal { signal, .. } = record.sent;
            let by = self.acquired(&record.seeing(), access);
            let all = acquired.entry(signal.location).or_default();
            *all = all.and(by);
            if access.seen == Some(signal) {
                seen = Some((signal.location, by));
            }
        }
        acquired.retain(|_, by| *by != Strength::default());
        let (when, is_atomic) = (self.now(warp), kind.is_atomic());
        let acquired = acquired.into_iter().collect();
        let (awaited, synchronizes) = (self.awaited(access), access.synchronizes);
        Moment { warp, lanes, when, is_atomic, seen, synchronizes, acquired, awaited }
    }

    /// The events by which a lane surely acquires what it has seen: its warp, when, and the lane itself.
    pub(super) fn acquired_at(
        &self,
        &Seeing { warp, lane, order, when, fences, .. }: &Seeing,
    ) -> impl Iterator<Item = (WarpId, Epoch, usize)> {
        let own = order.ordering().acquires().then_some((warp, when, lane));
        let behind = self.signalling.iter().flat_map(move |own| &own.fences[fences..]);
        let by_fence = behind.filter(move |past| {
            let Fence { warp: of, lanes: fenced, ordering, may_execute, .. } = past.fence;
            of == warp && fenced >> lane & 1 == 1 && ordering.acquires() && !may_execute
        });
        own.into_iter().chain(by_fence.map(move |past| (warp, past.when, lane)))
    }

    /// How an access acquires what its cta has seen at a point.
    pub(super) fn acquired(&self, seeing: &Seeing, access: &Access<'_>) -> Strength {
        let Some(own) = &self.signalling else { return Strength::default() };
        let &Seeing { warp, lane, order, when: seen_at, fences, signal } = seeing;
        // The lanes of the access that follow what some of these lanes did.
        let followers = |when, of: WarpId, mask: LaneMask| {
            let follow = lanes(access.lanes).filter(|later| {
                let is_own = of == access.warp && mask >> later & 1 == 1;
                is_own || self.unknown_lanes((of, when, mask), (access.warp, *later)) != mask
            });
            follow.fold(0, |all, lane| all | 1 << lane)
        };
        let of_lanes = |by: Strength, followers: LaneMask| {
            let is_whole = followers == access.lanes;
            if is_whole { by } else { by.perhaps().when(followers != 0) }
        };
        let after_signal = followers(seen_at, warp, 1 << lane);
        if after_signal == 0 {
            return Strength::default();
        }
        let by_signal = Strength::PATTERN.when(order.ordering().acquires());
        let mut acquired = of_lanes(Strength::SIGNAL.and(by_signal), after_signal);
        let behind = own.fences[fences..].iter();
        for past in behind.filter(|past| past.fence.ordering.acquires()) {
            let Fence { warp: of, lanes: fenced, ordering, may_execute, seen, .. } = past.fence;
            let own_lane = if of == warp { fenced & 1 << lane } else { 0 };
            let after = own_lane | past.lanes_that_know((warp, seen_at, 1 << lane));
            let is_sc = ordering == Ordering::SequentiallyConsistent;
            let by_own = if own_lane != 0 { followers(past.when, of, own_lane) } else { 0 };
            let by_any = if is_sc && after != 0 { followers(past.when, of, after) } else { 0 };
            let by = of_lanes(Strength::PATTERN, by_own & after_signal)
                .and(of_lanes(Strength::FENCE_SC, by_any & after_signal));
            let is_sure = !may_execute || seen.is_some() && seen == signal;
            acquired = acquired.and(if is_sure { by } else { by.perhaps() });
        }
        acquired
    }

    /// What orders the accesses of each moment with those of other ctas; `None`: nothing.
    pub fn signal_tags(&self) -> Vec<Option<Arc<SignalTag>>> {
        let Some(own) = &self.signalling else { return Vec::new() };
        let tag = |moment: &Moment| {
            let mut released: BTreeMap<SignalKey, Vec<(Strength, LaneMask)>> = BTreeMap::new();
            for record in &own.sent {
                let all = released.entry(record.sent.key).or_default();
                all.push((own.is_signal(moment, record), moment.lanes));
                all.extend(record.releases(moment));
            }
            // Who has seen the last signal has seen all: each lane can be released by another one.
            let by = |(key, by): (SignalKey, Vec<_>)| (key, of_lanes(&by, moment.lanes));
            let released = released.into_iter().map(by);
            let released = released.filter(|(_, by)| *by != Strength::default());
            let released: Vec<_> = released.collect();
            let Moment { seen, acquired, awaited, synchronizes, .. } = moment;
            let tag = SignalTag {
                seen: *seen,
                released,
                awaited: awaited.clone(),
                synchronizes: *synchronizes,
                acquired: acquired.clone(),
                is_open: own.is_open,
            };
            (tag != SignalTag::default()).then(|| Arc::new(tag))
        };
        own.moments.iter().map(tag).collect()
    }
}

impl FenceRecord {
    /// What the fences of some of the lanes made ready.
    fn ready(&self, mask: LaneMask, order: &Order) -> Clock {
        let mut ready = Clock::new(0);
        for (group, known) in self.known.iter().filter(|(group, _)| group & mask != 0) {
            let mut known = known.clone();
            let full = order.warps[self.fence.warp].lanes.full();
            known.learn(self.fence.warp, group & mask, full, self.when.next());
            ready.join(&known);
        }
        ready
    }

    /// The lanes whose fences happen before what a clock knows.
    fn lanes_known(&self, known: &Clock) -> LaneMask {
        let Fence { warp, lanes, .. } = self.fence;
        lanes & !known.unknown(warp, self.when, lanes)
    }

    /// The lanes that knew at the fence what a lane of a warp did at a time.
    fn lanes_that_know(&self, (warp, when, mask): (WarpId, Epoch, LaneMask)) -> LaneMask {
        let known = self.known.iter().filter(|(_, known)| known.has(warp, when, mask));
        known.fold(0, |all, (group, _)| all | group)
    }
}

impl SignalRecord {
    fn seeing(&self) -> Seeing {
        let SentSignal { signal, warp, lane, order, .. } = self.sent;
        let (when, fences) = (self.when, self.fences);
        Seeing { warp, lane, order, when, fences, signal: Some(signal) }
    }

    /// How accesses of a moment are released by the signal, and those of which lanes.
    fn releases(&self, moment: &Moment) -> impl Iterator<Item = (Strength, LaneMask)> {
        self.released.iter().map(|(by, ready)| {
            (*by, moment.lanes & !ready.unknown(moment.warp, moment.when, moment.lanes))
        })
    }
}

/// The ways that hold for all of these lanes, each of them for one reason or another, and perhaps those that hold for some.
fn of_lanes(by: &[(Strength, LaneMask)], mask: LaneMask) -> Strength {
    let ways = [Strength::SIGNAL, Strength::PATTERN, Strength::FENCE_SC, Strength::PERHAPS];
    ways.into_iter().fold(Strength::default(), |all, way| {
        let of_way = by.iter().filter(|(by, _)| by.0 & way.0 != 0);
        let lanes = of_way.fold(0, |lanes, (_, some)| lanes | some);
        let of_all = way.when(lanes & mask == mask);
        let is_of_some = way != Strength::SIGNAL && lanes & mask != 0;
        all.and(of_all).and(way.perhaps().when(is_of_some))
    })
}

impl Signalling {
    /// Whether the accesses of a moment are the signal, or signals at the same location.
    fn is_signal(&self, moment: &Moment, record: &SignalRecord) -> Strength {
        let is_of = |record: &&SignalRecord| {
            (record.sent.warp, record.when) == (moment.warp, moment.when)
                && moment.lanes >> record.sent.lane & 1 == 1
        };
        let mut all = self.sent.iter().filter(is_of);
        let location = record.sent.signal.location;
        let holds = moment.is_atomic
            && is_of(&record)
            && all.clone().count() == moment.lanes.count_ones() as usize
            && all.all(|other| other.sent.signal.location == location);
        Strength::SIGNAL.when(holds)
    }
}
