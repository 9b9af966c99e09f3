//! What each warp knows of the others, and each lane of the other lanes of its warp.

use std::collections::BTreeMap;

use super::recycling::{Completion, Recycling};
use crate::emulate::{Arrival, Barriers, LaneMask, Round, WARP, lanes};

/// When lanes of a warp did something: the warp's arrivals and lane synchronizations before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Moment {
    /// Arrivals of the warp at cta barriers so far.
    pub arrivals: u32,
    /// Synchronizations among its lanes so far.
    pub meetings: u32,
}

/// By warp: the number of its last arrival that happens before now.
type Clock = [u32; WARP];

#[derive(Clone, Debug)]
struct Warp {
    now: Moment,
    /// What it knows of every warp, itself included: its own arrivals count only once a barrier gave them back.
    known: Clock,
    lanes: Lanes,
    /// When each lane ended; lanes that run never do.
    ended: Option<Box<[Moment; WARP]>>,
    /// What the lanes that came to the first arrival after a lane ended knew of its meetings: the arrival's number and
    /// the last meeting. They pass on what it did before that meeting.
    passed_on: Option<Box<[Moment; WARP]>>,
}

impl Warp {
    /// The warp arrives without the lanes that have ended: notes what it knows of them.
    fn pass_on(&mut self, live: LaneMask) {
        let Some(ended) = &self.ended else { return };
        let passed_on = self.passed_on.get_or_insert_with(|| Box::new([Moment::default(); WARP]));
        for lane in lanes(!live).filter(|lane| ended[*lane].arrivals < u32::MAX) {
            if passed_on[lane].arrivals == 0 {
                let meetings = match &self.lanes {
                    Lanes::All(last) => (*last).min(ended[lane].meetings),
                    Lanes::Each(each) => {
                        lanes(live).map(|other| each[other][lane]).max().unwrap_or(0)
                    }
                };
                passed_on[lane] = Moment { arrivals: self.now.arrivals, meetings };
            }
        }
    }
}

/// What each lane knows of the meetings of the others: the last that the other took part in.
#[derive(Clone, Debug)]
enum Lanes {
    /// All meetings so far were of all lanes that had not ended, or the last one was and none has: all know all up to
    /// this one.
    All(u32),
    Each(Box<[[u32; WARP]; WARP]>),
}

/// A generation that is not complete.
#[derive(Clone, Debug, Default)]
struct Generation {
    /// What its participants knew when they came, their arrivals included.
    given: Clock,
    /// Who waits.
    waiting: Vec<usize>,
    participants: Vec<Completion>,
}

/// The happens-before of a cta, as far as it has run.
#[derive(Clone, Debug)]
pub struct Order {
    warps: Vec<Warp>,
    generations: [Generation; Barriers::COUNT],
    /// How the last generation of each barrier was completed: one waiting participant, or all that only arrived.
    completed: [Vec<Completion>; Barriers::COUNT],
    live: Vec<LaneMask>,
    /// When each warp began a round of a loop.
    rounds: BTreeMap<Round, Vec<Option<Moment>>>,
}

impl Order {
    /// Nothing has happened. `live`: the lanes of each warp.
    pub fn new(live: Vec<LaneMask>) -> Self {
        let warp = Warp {
            now: Moment::default(),
            known: [0; WARP],
            lanes: Lanes::All(0),
            ended: None,
            passed_on: None,
        };
        Self {
            warps: vec![warp; live.len()],
            generations: std::array::from_fn(|_| Generation::default()),
            completed: std::array::from_fn(|_| Vec::new()),
            live,
            rounds: BTreeMap::new(),
        }
    }

    /// When a warp is.
    pub fn now(&self, warp: usize) -> Moment {
        self.warps[warp].now
    }

    /// A warp arrives. The check of recycling, if it fails: some completion of the generation before is not known to
    /// happen before this point.
    pub fn arrive(&mut self, arrival: Arrival) -> Option<Recycling> {
        let Arrival { warp, barrier, waits, pc } = arrival;
        let slot = usize::from(barrier) % Barriers::COUNT;
        let own = &self.warps[warp];
        let is_known =
            |done: &Completion| done.warp == warp || own.known[done.warp] >= done.arrival;
        let unknown = self.completed[slot].iter().find(|done| !is_known(done));
        let recycling = unknown.map(|done| Recycling {
            barrier,
            previous: done.pc,
            previous_warp: done.warp,
            arrival: pc,
            arrival_warp: warp,
        });
        let live = self.live[warp];
        let own = &mut self.warps[warp];
        own.now.arrivals = own.now.arrivals.saturating_add(1);
        let arrival = own.now.arrivals;
        own.pass_on(live);
        let generation = &mut self.generations[slot];
        join(&mut generation.given, &own.known);
        generation.given[warp] = arrival;
        generation.participants.push(Completion { warp, arrival, pc, waits });
        if waits {
            generation.waiting.push(warp);
        }
        recycling
    }

    /// The generation of a barrier is complete: its waiting participants learn what all participants gave.
    pub fn complete(&mut self, barrier: u8) {
        let slot = usize::from(barrier) % Barriers::COUNT;
        let generation = std::mem::take(&mut self.generations[slot]);
        for &warp in &generation.waiting {
            join(&mut self.warps[warp].known, &generation.given);
        }
        let waited = generation.participants.iter().find(|participant| participant.waits);
        self.completed[slot] = match waited {
            // Its own wait tells a warp of the completion, and so does hearing of it from any waiting participant.
            Some(waited) => vec![*waited],
            None => generation.participants,
        };
    }

    /// These lanes of a warp have synchronized.
    pub fn converge(&mut self, warp: usize, met: LaneMask) {
        let live = self.live[warp];
        let own = &mut self.warps[warp];
        own.now.meetings = own.now.meetings.saturating_add(1);
        let meeting = own.now.meetings;
        let is_all = met & live == live;
        match &mut own.lanes {
            Lanes::All(last) if is_all => *last = meeting,
            Lanes::All(last) => {
                let ended = own.ended.as_ref();
                let known =
                    |lane: usize| ended.map_or(*last, |ended| ended[lane].meetings.min(*last));
                let mut each = Box::new([std::array::from_fn(known); WARP]);
                meet(&mut each, met, meeting);
                own.lanes = Lanes::Each(each);
            }
            Lanes::Each(_) if is_all && own.ended.is_none() => own.lanes = Lanes::All(meeting),
            Lanes::Each(each) => meet(each, met, meeting),
        }
    }

    /// Lanes end: what they did since their last arrival happens before nothing that follows.
    pub fn exit(&mut self, warp: usize, mask: LaneMask) {
        self.live[warp] &= !mask;
        let own = &mut self.warps[warp];
        let never = Moment { arrivals: u32::MAX, meetings: u32::MAX };
        let ended = own.ended.get_or_insert_with(|| Box::new([never; WARP]));
        for lane in lanes(mask) {
            ended[lane] = own.now;
        }
    }

    /// Whether all that the lanes of `before` did at `then` happens before now, for a lane of another warp, or for any
    /// lane of the same warp by way of a cta barrier.
    pub fn is_before(&self, before: usize, then: Moment, mask: LaneMask, warp: usize) -> bool {
        let known = self.warps[warp].known[before];
        known > then.arrivals && self.have_arrived(before, then, mask, known)
    }

    /// Whether lanes came to the arrival that followed, or others that knew of them to one up to `known`.
    fn have_arrived(&self, warp: usize, then: Moment, mask: LaneMask, known: u32) -> bool {
        let Warp { ended: Some(ended), passed_on, .. } = &self.warps[warp] else { return true };
        lanes(mask).all(|lane| {
            let is_passed_on = passed_on.as_ref().is_some_and(|passed_on| {
                let passed = passed_on[lane];
                (1..=known).contains(&passed.arrivals) && passed.meetings > then.meetings
            });
            ended[lane].arrivals > then.arrivals || is_passed_on
        })
    }

    /// Of what lanes of a warp did: those for whom it does not happen before now for another lane of it.
    pub fn unordered_lanes(
        &self,
        warp: usize,
        then: Moment,
        mask: LaneMask,
        lane: usize,
    ) -> LaneMask {
        let others = mask & !(1 << lane);
        let own = &self.warps[warp];
        let mut unordered = match (&own.lanes, &own.ended) {
            (Lanes::All(last), None) if *last > then.meetings => 0,
            (Lanes::All(last), Some(ended)) if *last > then.meetings => {
                filter(others, |before| ended[before].meetings <= then.meetings)
            }
            (Lanes::All(_), _) => others,
            (Lanes::Each(each), _) => filter(others, |before| each[lane][before] <= then.meetings),
        };
        if unordered != 0 && own.known[warp] > then.arrivals {
            unordered = filter(unordered, |before| !self.is_before(warp, then, 1 << before, warp));
        }
        unordered
    }

    /// A warp begins a round of a loop.
    pub fn round(&mut self, warp: usize, round: Round) {
        let (count, now) = (self.warps.len(), self.now(warp));
        self.rounds.entry(round).or_insert_with(|| vec![None; count])[warp] = Some(now);
    }

    /// Whether all that the warps did before they began a round happens before what a warp still does.
    pub fn is_separated(&self, warp: usize, round: Round) -> bool {
        let Some(began) = self.rounds.get(&round) else { return false };
        began.iter().enumerate().all(|(other, then)| {
            let live = self.live[other];
            live == 0 || then.is_some_and(|then| self.is_before(other, then, live, warp))
        })
    }

    /// Whether what these lanes did happens before everything that is still to come, by way of cta barriers.
    pub fn is_before_all(&self, before: usize, then: Moment, mask: LaneMask) -> bool {
        (0..self.warps.len())
            .all(|warp| self.live[warp] == 0 || self.is_before(before, then, mask, warp))
    }
}

fn filter(mask: LaneMask, keep: impl Fn(usize) -> bool) -> LaneMask {
    lanes(mask).filter(|lane| keep(*lane)).fold(0, |kept, lane| kept | 1 << lane)
}

fn join(known: &mut Clock, given: &Clock) {
    for (known, given) in known.iter_mut().zip(given) {
        *known = (*known).max(*given);
    }
}

/// Each of the lanes learns what all of them know, and that they met.
fn meet(each: &mut [[u32; WARP]; WARP], met: LaneMask, meeting: u32) {
    let mut given = [0; WARP];
    for lane in lanes(met) {
        join(&mut given, &each[lane]);
    }
    for lane in lanes(met) {
        given[lane] = meeting;
    }
    for lane in lanes(met) {
        each[lane] = given;
    }
}
