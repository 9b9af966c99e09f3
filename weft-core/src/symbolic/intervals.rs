//! Barrier intervals: which accesses of two threads of one cta no barrier orders.
//!
//! All barriers are ones that all threads of the cta reach, equally often. Two accesses are unordered if some barrier, or
//! the begin of the kernel, is the last one before both.

use std::collections::{BTreeMap, BTreeSet};

use super::thread::SymbolicThread;
use super::variance::Variances;
use crate::flow::{BlockId, Program};
use crate::slice::Slice;

/// In how many ways a block is reached before further ones are taken together, as ways that only the loops around the
/// block tell apart.
const MOST_WAYS: u32 = 8;

/// How the iteration of a synchronized loop in which an access happens, or in which the thread left the loop, relates to
/// that of the barrier before the access. Bits stand for the synchronized loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct IterationsSince {
    /// The loops that do not contain the barrier and were entered behind it. The iteration is the first one.
    pub(super) entered: u64,
    /// The next one, of a loop that contains the barrier; otherwise the same one.
    pub(super) next: u64,
    /// Any, whatever the other bits say.
    pub(super) any: u64,
    /// Where the access lies in the loops around it.
    pub(super) place: LoopPlace,
}

/// Where a block lies in the synchronized loops around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LoopPlace {
    /// The loops that contain it.
    pub(super) inside: u64,
    /// Those of them of which no way leads without a barrier to the next iteration, of the loop or of one around it. Two threads
    /// that are at such places behind one barrier are in the same iteration: all threads come to the barrier in front of the
    /// next one, and a thread that was in a later iteration would have passed it.
    pub(super) settled: u64,
    /// Those of the settled ones that no way leaves without a barrier.
    pub(super) closed: u64,
}

/// How the iterations of two accesses relate. Bits stand for the synchronized loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct IterationRelation {
    /// The iterations might differ.
    pub(super) apart: u64,
    /// The first access is one iteration ahead, or the second.
    pub(super) ahead_a: u64,
    pub(super) ahead_b: u64,
    /// The first access is in the first iteration, or the second.
    pub(super) first_a: u64,
    pub(super) first_b: u64,
}

impl IterationsSince {
    /// What is known if nothing is known of these loops.
    fn without(self, loops: u64) -> Self {
        let any = self.any | loops;
        Self { entered: self.entered & !any, next: self.next & !any, any, ..self }
    }
}

impl IterationRelation {
    /// How the iterations of two accesses behind one barrier relate. `within`: the loops that contain the barrier.
    pub(super) fn of(within: u64, a: IterationsSince, b: IterationsSince) -> Self {
        let settled = a.place.settled & b.place.settled;
        let any = (a.any | b.any) & !settled;
        let (ahead_a, ahead_b) = (a.next & !b.next & !settled, b.next & !a.next & !settled);
        Self {
            apart: any | ahead_a | ahead_b | !(within | a.entered & b.entered | settled),
            ahead_a: ahead_a & !any,
            ahead_b: ahead_b & !any,
            first_a: a.entered & !a.any,
            first_b: b.entered & !b.any,
        }
    }

    /// The same, if nothing is known of the iterations of other loops than these.
    pub(super) fn only_of(self, loops: u64) -> Self {
        Self {
            apart: self.apart | !loops,
            ahead_a: self.ahead_a & loops,
            ahead_b: self.ahead_b & loops,
            first_a: self.first_a & loops,
            first_b: self.first_b & loops,
        }
    }
}

/// The accesses that follow one barrier before any other.
#[derive(Clone, Debug)]
pub(super) struct BarrierInterval {
    /// The synchronized loops that contain the barrier.
    pub(super) within: u64,
    /// Accesses by index, each in every way in which it follows the barrier.
    pub(super) accesses: BTreeMap<usize, BTreeSet<IterationsSince>>,
}

/// Returns the intervals: one for the begin of the kernel and one for each of the `barriers`, blocks that end with a
/// barrier.
pub(super) fn intervals(
    program: &Program,
    slice: &Slice,
    thread: &SymbolicThread,
    variances: &Variances,
    barriers: &BTreeSet<BlockId>,
) -> Vec<BarrierInterval> {
    let mut by_block: BTreeMap<BlockId, Vec<usize>> = BTreeMap::new();
    for (at, access) in thread.accesses.iter().enumerate() {
        by_block.entry(access.block).or_default().push(at);
    }
    let mut walk = Walk { program, slice, variances, barriers, by_block, places: BTreeMap::new() };
    walk.places = walk.by_block.keys().map(|block| (*block, walk.place(*block))).collect();
    let mut all = vec![walk.from(None)];
    all.extend(barriers.iter().map(|barrier| walk.from(Some(*barrier))));
    all
}

struct Walk<'a> {
    program: &'a Program,
    slice: &'a Slice,
    variances: &'a Variances,
    barriers: &'a BTreeSet<BlockId>,
    by_block: BTreeMap<BlockId, Vec<usize>>,
    /// The places of the blocks with accesses.
    places: BTreeMap<BlockId, LoopPlace>,
}

impl Walk<'_> {
    fn from(&self, barrier: Option<BlockId>) -> BarrierInterval {
        let within = barrier.map_or(0, |at| self.loops(at));
        let mut interval = BarrierInterval { within, accesses: BTreeMap::new() };
        let mut seen = BTreeSet::new();
        let start = IterationsSince::default();
        let mut work: Vec<(BlockId, IterationsSince)> = match barrier {
            None => vec![(self.program.entry, self.entered(self.program.entry, start, within))],
            Some(at) => self.next(at, start, within),
        };
        let mut ways: BTreeMap<BlockId, u32> = BTreeMap::new();
        while let Some((block, mut since)) = work.pop() {
            let ways = ways.entry(block).or_default();
            if *ways >= MOST_WAYS {
                since = since.without(!self.loops(block));
            }
            if !seen.insert((block, since)) {
                continue;
            }
            *ways += 1;
            let placed =
                self.places.get(&block).map(|place| IterationsSince { place: *place, ..since });
            for access in self.by_block.get(&block).into_iter().flatten() {
                interval.accesses.entry(*access).or_default().extend(placed);
            }
            if !self.barriers.contains(&block) {
                work.extend(self.next(block, since, within));
            }
        }
        interval
    }

    /// The synchronized loops that contain a block.
    fn loops(&self, block: BlockId) -> u64 {
        let headers = &self.program.blocks[block.index()].loops;
        headers.iter().fold(0, |all, header| all | self.variances.bit(*header))
    }

    fn next(
        &self,
        block: BlockId,
        since: IterationsSince,
        within: u64,
    ) -> Vec<(BlockId, IterationsSince)> {
        let step = |to: BlockId| {
            if to > block {
                return (to, self.entered(to, since, within));
            }
            // Round the loop again.
            let (mut since, bit) = (since, self.variances.bit(to));
            if within & bit != 0 && since.next & bit == 0 {
                since.next |= bit;
            } else {
                since.any |= bit;
            }
            (to, since)
        };
        self.successors(block).into_iter().map(step).collect()
    }

    fn successors(&self, block: BlockId) -> Vec<BlockId> {
        let last = &self.program.blocks[block.index()];
        let successors = last.terminator.successors();
        if self.slice.branches[block.index()] || successors.len() < 2 {
            successors
        } else {
            last.post_dominator.into_iter().collect()
        }
    }

    fn place(&self, block: BlockId) -> LoopPlace {
        let (mut reached, mut work) = (BTreeSet::new(), vec![block]);
        while let Some(at) = work.pop() {
            if !self.barriers.contains(&at) {
                work.extend(self.successors(at).into_iter().filter(|next| reached.insert(*next)));
            }
        }
        let blocks = &self.program.blocks;
        let mut place = LoopPlace { inside: self.loops(block), ..LoopPlace::default() };
        for header in &blocks[block.index()].loops {
            // A way leads to the next iteration of this loop, so that no loop within it is settled either.
            if reached.contains(header) {
                break;
            }
            let is_left = |at: &BlockId| !blocks[at.index()].loops.contains(header);
            place.settled |= self.variances.bit(*header);
            place.closed |=
                if reached.iter().any(is_left) { 0 } else { self.variances.bit(*header) };
        }
        place
    }

    /// What is known where a block is reached that might be the header of a loop, from outside of that loop.
    fn entered(&self, block: BlockId, since: IterationsSince, within: u64) -> IterationsSince {
        let mut since = since;
        let bit = self.variances.bit(block);
        if (within | since.entered) & bit != 0 {
            // The loop was left and is entered anew.
            since.any |= bit;
        } else {
            since.entered |= bit;
        }
        since
    }
}
