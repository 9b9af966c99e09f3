//! Barriers as the hardware sees them (PLDI'15 §3, PTX ISA §9.7.13.1).
//!
//! The first arrival configures a generation, which is complete as soon as its count is reached; the barrier is then
//! idle at once. So a full barrier that has not been reset yet cannot be observed, nor a participant beyond the count.

use crate::emulate::value::warp_id::{WarpId, WarpSet};
use std::collections::BTreeMap;
use std::fmt;

use super::group::CtaRank;
use crate::emulate::value::lane::WARP;
use crate::flow::Pc;

/// A barrier: its cta among those that run together, and its number there; or the barrier of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BarrierId {
    cta: CtaRank,
    name: u8,
}

impl BarrierId {
    /// Number of barriers of a cta.
    const COUNT: u8 = 16;

    /// The barrier of a cluster (PTX ISA §9.7.13.3).
    pub const CLUSTER: Self = Self { cta: CtaRank::FIRST, name: u8::MAX };

    /// The barrier that an operand names in a cta; `None` if the number is above 15.
    pub fn named(cta: CtaRank, name: u64) -> Option<Self> {
        let name = u8::try_from(name).ok().filter(|name| *name < Self::COUNT)?;
        Some(Self { cta, name })
    }

    /// The cta that the barrier belongs to.
    pub const fn cta(self) -> CtaRank {
        self.cta
    }

    /// Whether it is the barrier of a cluster.
    pub fn is_of_cluster(self) -> bool {
        self == Self::CLUSTER
    }

    /// Its number, from 0 to 15.
    pub const fn name(self) -> u8 {
        self.name
    }
}

impl fmt::Display for BarrierId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::CLUSTER => "of the cluster".fmt(out),
            Self { name, .. } => name.fmt(out),
        }
    }
}

/// What a warp does at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BarrierUse {
    /// Waits until the generation is complete.
    Sync,
    /// Arrives without waiting.
    Arrive,
    /// Waits, and reduces a predicate over all participants.
    Reduce,
    /// Waits until the generation in which it has arrived is complete; only at the barrier of a cluster.
    Await,
}

/// How a barrier was used wrongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// A barrier number above 15.
    Name(u64),
    /// A count that is zero, not a multiple of the warp size, or larger than the cta.
    Count {
        /// The count as given.
        given: u64,
        /// Number of threads of the cta, rounded up to whole warps.
        threads: u32,
    },
    /// A count other than the generation was configured with.
    Mismatch {
        /// The count as given.
        given: u32,
        /// The count as configured.
        configured: u32,
        /// The arrival that configured the generation.
        first: Pc,
        /// The warp of that arrival.
        first_warp: WarpId,
    },
    /// An arrival at the barrier of the cluster by a warp that has not waited since its last one.
    Twice,
    /// A wait at the barrier of the cluster by a warp that has not arrived.
    NotArrived,
    /// A reduction in the same generation as a sync or arrive.
    Mixed {
        /// The arrival that configured the generation.
        first: Pc,
        /// The warp of that arrival.
        first_warp: WarpId,
    },
}

/// What a generation needs to be complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierNeed {
    /// Number of threads expected; `None`: all threads that have not ended.
    pub expected: Option<u32>,
    /// Number of threads that have arrived.
    pub arrived: u32,
}

/// The current generation of a barrier that is not idle.
#[derive(Clone, Debug)]
struct Generation {
    /// Number of threads expected; all threads of the cta if no count was given.
    count: u32,
    /// Whether no participant gave a count: then warps that have ended are not waited for.
    is_implicit: bool,
    arrived: u32,
    /// Warps that have arrived.
    warps: WarpSet,
    is_reduction: bool,
    first: Pc,
    first_warp: WarpId,
}

/// The barriers of a cta. A barrier that is not idle has a generation.
#[derive(Clone, Debug)]
pub struct Barriers {
    generations: BTreeMap<BarrierId, Generation>,
    /// Number of threads of the cta, rounded up to whole warps.
    threads: u32,
}

#[allow(clippy::cast_possible_truncation, reason = "32")]
const WARP_THREADS: u32 = WARP as u32;

impl Barriers {
    /// Makes barriers that are all idle, for a cta or a cluster of `warps` warps.
    pub fn new(warps: u64) -> Self {
        let threads = u32::try_from(warps * WARP as u64).expect("a cluster has few threads");
        Self { generations: BTreeMap::new(), threads }
    }

    /// Records the arrival of a warp. Returns whether it completes the generation, which makes the barrier idle.
    /// `count`: the number of threads that the instruction states; `live`: the warps that have not ended.
    ///
    /// # Errors
    /// How the barrier was used wrongly, if it was.
    pub fn arrive(
        &mut self,
        warp: WarpId,
        pc: Pc,
        barrier: BarrierId,
        count: Option<u64>,
        how: BarrierUse,
        live: WarpSet,
    ) -> Result<bool, Misuse> {
        let threads = self.threads;
        let given = match count {
            None => threads,
            Some(given) => u32::try_from(given)
                .ok()
                .filter(|given| (1..=threads).contains(given) && given % WARP_THREADS == 0)
                .ok_or(Misuse::Count { given, threads })?,
        };
        let generation = self.generations.entry(barrier).or_insert_with(|| Generation {
            count: given,
            is_implicit: true,
            arrived: 0,
            warps: WarpSet::EMPTY,
            is_reduction: how == BarrierUse::Reduce,
            first: pc,
            first_warp: warp,
        });
        let Generation { first, first_warp, .. } = *generation;
        if generation.count != given {
            return Err(Misuse::Mismatch {
                given,
                configured: generation.count,
                first,
                first_warp,
            });
        }
        if generation.is_reduction != (how == BarrierUse::Reduce) {
            return Err(Misuse::Mixed { first, first_warp });
        }
        generation.is_implicit &= count.is_none();
        generation.arrived += WARP_THREADS;
        generation.warps.insert(warp);
        Ok(self.complete(barrier, live))
    }

    /// Whether the current generation of a barrier is complete if only the warps of `live` have not ended; makes the
    /// barrier idle if so.
    pub fn complete(&mut self, barrier: BarrierId, live: WarpSet) -> bool {
        let Some(generation) = self.generations.get(&barrier) else { return false };
        let is_full = generation.arrived >= generation.count;
        let is_released = generation.is_implicit && live.is_within(generation.warps);
        if is_full || is_released {
            self.generations.remove(&barrier);
        }
        is_full || is_released
    }

    /// Iterates over the barriers that are not idle, in the order of their numbers.
    pub fn busy(&self) -> impl Iterator<Item = BarrierId> + use<> {
        self.generations.keys().copied().collect::<Vec<_>>().into_iter()
    }

    /// What the current generation of a barrier needs; `None` if the barrier is idle.
    pub fn need(&self, barrier: BarrierId) -> Option<BarrierNeed> {
        let generation = self.generations.get(&barrier)?;
        let expected = (!generation.is_implicit).then_some(generation.count);
        Some(BarrierNeed { expected, arrived: generation.arrived })
    }
}
