//! Iterations of a loop that one thread of a cta begins behind a barrier and another one does not, since it has left the loop
//! behind it: if all threads of the cta enter the loop and go on, or none, the two are not there at once. Compilers test before
//! a loop whether it has any iteration, and at its end whether it has another one. Nor are two threads there at once of which one
//! is in a loop that it does not leave without another barrier, and the other one is behind that loop.

use super::intervals::IterationsSince;
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
            let is_behind = |(block, other): (BlockId, IterationsSince), since: IterationsSince| {
                let around_both = own.around & other.inside;
                own.bit & since.closed != 0
                    && block > own.last
                    && around_both & !(since.settled & other.settled) == 0
            };
            if is_behind(first, second.1) || is_behind(second, first.1) {
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
