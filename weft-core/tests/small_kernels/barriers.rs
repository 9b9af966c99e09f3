//! The reference model of a cta's barriers: arrivals of whole warps, generations, and whether each barrier is safely
//! recycled.

use crate::clocks::{Clock, Clocks, Stamp, Thread, join};
use crate::kernel::Use;

const WARP: u32 = 32;

/// What a warp does at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) name: u32,
    pub(crate) count: Option<u32>,
    pub(crate) how: Use,
}

/// What is wrong with the barriers of a cta.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    Deadlock,
    Count,
    Divergence,
    Mask,
    Recycling,
}

/// A generation that has begun and is not complete.
#[derive(Clone, Debug)]
struct Generation {
    count: u32,
    names_count: bool,
    is_reduction: bool,
    warps: Vec<usize>,
    given: Clock,
    /// The threads that wait for its completion.
    waiting: Vec<Thread>,
    waits: Vec<(usize, Stamp)>,
    arrivals: Vec<(usize, Stamp)>,
    votes: u32,
}

/// A completed generation: the threads that become runnable, and the number of true predicates.
#[derive(Clone, Debug)]
pub(crate) struct Complete {
    pub(crate) threads: Vec<Thread>,
    pub(crate) votes: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Barriers {
    warps: usize,
    running: [Option<Generation>; 16],
    /// For each barrier, the commands of the generation before, with their warps: its waits, or all arrivals if no
    /// thread waited. The flag says whether they are waits.
    completed: [(bool, Vec<(usize, Stamp)>); 16],
}

impl Barriers {
    pub(crate) fn new(warps: usize) -> Self {
        Self {
            warps,
            running: std::array::from_fn(|_| None),
            completed: std::array::from_fn(|_| (false, Vec::new())),
        }
    }

    /// Records the arrival of `threads`, all threads of `warp` that have not ended. `votes` is the number of true
    /// predicates.
    pub(crate) fn arrive(
        &mut self,
        warp: usize,
        threads: &[Thread],
        votes: u32,
        arrival: Arrival,
        clocks: &mut Clocks,
    ) -> Result<(), Fault> {
        let Arrival { name, count, how } = arrival;
        let name = name as usize;
        let all = u32::try_from(self.warps).expect("few warps") * WARP;
        if name >= self.running.len() {
            return Err(Fault::Count);
        }
        let expected = count.unwrap_or(all);
        if expected == 0 || expected % WARP != 0 || expected > all {
            return Err(Fault::Count);
        }
        self.check_recycling(name, warp, threads, clocks)?;
        let running = self.running[name].get_or_insert_with(|| Generation {
            count: expected,
            names_count: false,
            is_reduction: how == Use::Reduce,
            warps: Vec::new(),
            given: Vec::new(),
            waiting: Vec::new(),
            waits: Vec::new(),
            arrivals: Vec::new(),
            votes: 0,
        });
        if running.count != expected
            || running.is_reduction == matches!(how, Use::Sync | Use::Arrive)
        {
            return Err(Fault::Count);
        }
        running.names_count |= count.is_some();
        running.warps.push(warp);
        running.votes += votes;
        for &thread in threads {
            let stamp = clocks.now(thread);
            join(&mut running.given, &clocks.give(thread));
            match how {
                Use::Arrive => running.arrivals.push((warp, stamp)),
                Use::Sync | Use::Reduce | Use::All | Use::Any => {
                    running.waiting.push(thread);
                    running.waits.push((warp, stamp));
                }
            }
        }
        Ok(())
    }

    /// Checks that the completion of the generation before happens before the points of these threads (PLDI'15 Fig. 4).
    /// Threads of one warp arrive together.
    fn check_recycling(
        &self,
        name: usize,
        warp: usize,
        threads: &[Thread],
        clocks: &Clocks,
    ) -> Result<(), Fault> {
        let (is_wait, stamps) = &self.completed[name];
        for &thread in threads {
            let is_known = |(other, stamp): &(usize, Stamp)| {
                *other == warp || clocks.is_before(*stamp, thread)
            };
            let has_come = |other: usize| stamps.iter().filter(|own| own.0 == other).any(is_known);
            let mut warps = stamps.iter().map(|own| own.0);
            let is_complete = if *is_wait {
                stamps.is_empty() || warps.any(has_come)
            } else {
                warps.all(has_come)
            };
            if !is_complete {
                return Err(Fault::Recycling);
            }
        }
        Ok(())
    }

    /// Completes one generation that has all its participants; `None` if there is none. `is_live` says whether a warp
    /// has threads that have not ended.
    pub(crate) fn complete(
        &mut self,
        is_live: impl Fn(usize) -> bool,
        clocks: &mut Clocks,
    ) -> Option<Complete> {
        let is_complete = |generation: &Generation| {
            let arrived = u32::try_from(generation.warps.len()).expect("few warps") * WARP;
            let all_came =
                (0..self.warps).all(|warp| !is_live(warp) || generation.warps.contains(&warp));
            arrived >= generation.count || !generation.names_count && all_came
        };
        let name =
            self.running.iter().position(|running| running.as_ref().is_some_and(is_complete))?;
        let generation = self.running[name].take()?;
        for thread in &generation.waiting {
            clocks.learn(*thread, &generation.given);
        }
        let Generation { waiting, waits, arrivals, votes, .. } = generation;
        self.completed[name] = if waits.is_empty() { (false, arrivals) } else { (true, waits) };
        Some(Complete { threads: waiting, votes })
    }
}
