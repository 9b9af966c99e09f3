//! The scheduler decides which of the runnable warps of a cta runs next, in an order that the launch can choose.
//!
//! A turn ends when the warp is no longer runnable, when it has run for long and, under some schedules, before an
//! access or a barrier. Every runnable warp gets another turn at some time, so a warp that polls memory sees what other
//! warps write.

use crate::emulate::value::warp_id::{PerWarp, WarpId, WarpSet};
use crate::launch::Schedule;

/// Which warp ran last, and what the choice of the next one depends on.
#[derive(Clone, Debug)]
pub(super) struct Scheduler {
    schedule: Schedule,
    /// The warp that ran last.
    last: WarpId,
    /// The warps that were runnable when its turn began.
    ready: WarpSet,
    /// For each warp, the turn in which it last became runnable, as a number of turns of the cta; 0 once it has had its
    /// turn.
    since: PerWarp<u64>,
    /// For each warp, the number of accesses and barriers that it has come to.
    events: PerWarp<u64>,
    /// Number of turns so far.
    count: u64,
    /// State of the random number generator.
    dice: u64,
}

impl Scheduler {
    /// The scheduler of a cta in which no warp has run. `cta` is the linear index of the cta: random schedules differ
    /// from cta to cta.
    pub(super) fn new(schedule: Schedule, warps: usize, cta: u32) -> Self {
        let seed = if let Schedule::Random(seed) = schedule { seed } else { 0 };
        let last = if schedule == Schedule::Reverse { 0 } else { warps.saturating_sub(1) };
        let last = WarpId::new(last);
        Self {
            schedule,
            last,
            ready: WarpSet::EMPTY,
            since: PerWarp::new(warps, |_| 0),
            events: PerWarp::new(warps, |_| 0),
            count: 0,
            dice: seed ^ u64::from(cta) << 32,
        }
    }

    /// Chooses the warp that runs next among the runnable ones; `None` if no warp is runnable.
    pub(super) fn next(&mut self, ready: WarpSet) -> Option<WarpId> {
        self.count += 1;
        self.note(ready);
        let (count, last) = (self.since.count(), self.last.index());
        let is_ready = |warp: &WarpId| ready.has(*warp);
        let around = |place: usize| WarpId::new(place % count);
        let mut all = self.since.ids().filter(is_ready);
        let next = match self.schedule {
            Schedule::InOrder => (1..=count).map(|step| around(last + step)).find(is_ready),
            Schedule::Reverse => (1..=count).map(|step| around(last + count - step)).find(is_ready),
            Schedule::InTurn => all.min_by_key(|warp| self.events[*warp]),
            Schedule::Latest => all.max_by_key(|warp| self.since[*warp]),
            Schedule::Random(_) => {
                let warps = u64::from(ready.count().max(1));
                let at = usize::try_from(self.roll() % warps).expect("a group has few warps");
                all.nth(at)
            }
        }?;
        self.last = next;
        Some(next)
    }

    /// Records which warps have become runnable, and that the turn of the last warp is over.
    fn note(&mut self, ready: WarpSet) {
        for warp in self.since.ids() {
            let since = &mut self.since[warp];
            let is_woken = ready.has(warp) && !self.ready.has(warp);
            let is_over = warp == self.last && !is_woken;
            *since = match (is_woken, is_over) {
                (true, _) => self.count,
                (_, true) => 0,
                _ => *since,
            };
        }
        self.ready = ready;
    }

    /// Whether turns can end before an access or a barrier.
    pub(super) const fn may_end_turn(&self) -> bool {
        matches!(self.schedule, Schedule::InTurn | Schedule::Random(_))
    }

    /// Records that the running warp comes to an access or a barrier. Returns whether its turn ends before that.
    pub(super) fn ends_turn(&mut self) -> bool {
        self.events[self.last] += 1;
        match self.schedule {
            Schedule::InOrder | Schedule::Reverse | Schedule::Latest => false,
            Schedule::InTurn => true,
            Schedule::Random(_) => self.roll().is_multiple_of(2),
        }
    }

    /// Random bits: Steele, Lea and Flood's `SplitMix64` (OOPSLA 2014).
    const fn roll(&mut self) -> u64 {
        self.dice = self.dice.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.dice ^ self.dice >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The warps whose bits are set.
    fn set(bits: u32) -> WarpSet {
        (0..32).filter(|place| bits >> place & 1 == 1).map(WarpId::new).collect()
    }

    /// The warps that run, of four. Each entry of `blocked` is a step, with the bits of the warps that are not runnable
    /// in it.
    fn order(schedule: Schedule, blocked: &[u32]) -> Vec<usize> {
        let mut scheduler = Scheduler::new(schedule, 4, 0);
        let next = |blocked: &u32| scheduler.next(set(0b1111 & !blocked)).map(WarpId::index);
        blocked.iter().filter_map(next).collect()
    }

    #[test]
    fn warps_run_in_ascending_or_descending_order() {
        assert_eq!(order(Schedule::InOrder, &[0, 0, 0b1100, 0]), [0, 1, 0, 1]);
        assert_eq!(order(Schedule::Reverse, &[0, 0, 0b0011, 0]), [3, 2, 3, 2]);
    }

    #[test]
    fn the_warp_that_became_runnable_last_runs() {
        // Warp 2 waits, and becomes runnable when warp 0 waits: it runs before warp 1, which has been runnable for
        // longer.
        let blocked = [0b0100, 0b1100, 0b1001, 0b1011, 0b1101];
        assert_eq!(order(Schedule::Latest, &blocked), [3, 1, 2, 2, 1]);
    }

    #[test]
    fn the_warp_with_the_fewest_events_runs() {
        let mut scheduler = Scheduler::new(Schedule::InTurn, 2, 0);
        for warp in [0, 1, 0, 1] {
            assert_eq!(scheduler.next(set(0b11)), Some(WarpId::new(warp)));
            assert!(scheduler.ends_turn());
        }
        assert_eq!(scheduler.next(set(0b10)), Some(WarpId::new(1)));
        assert_eq!(scheduler.next(set(0)), None);
    }

    #[test]
    fn seeds_differ_and_repeat() {
        let all = [0; 32];
        let [one, two] = [1, 2].map(|seed| order(Schedule::Random(seed), &all));
        assert_eq!(one, order(Schedule::Random(1), &all));
        assert_ne!(one, two);
        assert!((0..4).all(|warp| one.contains(&warp)), "{one:?}");
    }
}
