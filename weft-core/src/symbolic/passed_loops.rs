//! Iterations of a loop that one thread of a cta begins behind a barrier and another one does not, since it has left the loop
//! behind it: if all threads of the cta enter the loop and go on, or none, the two are not there at once. Compilers test before
//! a loop whether it has any iteration, and at its end whether it has another one. Likewise, a thread is not behind a loop while
//! another one is in it that has a barrier to come to before it leaves the loop.

use super::intervals::{IterationsSince, LoopPlace};
use super::variance::Variances;
use crate::flow::{BlockId, Program};

/// The synchronized loops whose outer loops are synchronized, too.
#[derive(Debug)]
pub(super) struct PassedLoops(Vec<PassedLoop>);

#[derive(Debug)]
struct PassedLoop {
    bit: u64,
    /// The last of its blocks.
    last: BlockId,
    /// The loops around it, as bits.
    around: u64,
}

impl PassedLoop {
    /// Whether a thread at a place in the loop has a barrier before it that another thread, behind the loop, has passed: in the
    /// loops around both, they are in the same iterations.
    fn keeps_in(&self, within: LoopPlace, (block, behind): (BlockId, IterationsSince)) -> bool {
        let around_both = self.around & behind.place.inside;
        self.bit & within.closed != 0
            && block > self.last
            && around_both & !(within.settled & behind.place.settled) == 0
    }
}

impl PassedLoops {
    pub(super) fn of(program: &Program, variances: &Variances) -> Self {
        let passed = |header: &BlockId| {
            let outer = program.blocks[header.index()].loops.iter().filter(|own| *own != header);
            let bits: Vec<u64> = outer.map(|own| variances.bit(*own)).collect();
            let last = program.blocks_in(*header).max()?;
            let around = bits.iter().fold(0, |all, bit| all | bit);
            (!bits.contains(&0)).then(|| PassedLoop { bit: variances.bit(*header), last, around })
        };
        Self(variances.synchronized.iter().filter_map(passed).collect())
    }

    /// Whether two threads cannot have come from one barrier to these blocks in these ways. `within`: the loops that contain
    /// the barrier.
    pub(super) fn exclude(
        &self,
        within: u64,
        first: (BlockId, IterationsSince),
        second: (BlockId, IterationsSince),
    ) -> bool {
        self.0.iter().any(|own| {
            if own.keeps_in(first.1.place, second) || own.keeps_in(second.1.place, first) {
                return true;
            }
            // Both threads are in the iterations of the outer loops that the barrier belongs to, or in the first ones.
            let are_in_step =
                [first, second].iter().all(|(_, since)| (since.next | since.any) & own.around == 0);
            let is_within = own.bit & within != 0;
            let goes_there = |(_, since): (BlockId, IterationsSince)| {
                let gone = if is_within { since.next } else { since.entered };
                gone & !since.any & own.bit != 0
            };
            let does_not = |(block, since): (BlockId, IterationsSince)| {
                block > own.last && (since.entered | since.next | since.any) & own.bit == 0
            };
            are_in_step
                && (goes_there(first) && does_not(second) || goes_there(second) && does_not(first))
        })
    }
}
