//! Barriers as the hardware sees them (PLDI'15 §3, PTX ISA §9.7.13.1).
//!
//! A generation is configured by its first arrival and complete as soon as its count is reached; the barrier is then
//! idle at once. A full barrier that still waits for its reset, and with it one participant too many, cannot be seen.

use crate::emulate::value::warp_id::{WarpId, WarpSet};
use std::collections::BTreeMap;
use std::fmt;

use super::group::CtaRank;
use crate::emulate::value::lane::WARP;
use crate::flow::Pc;

/// A barrier: the cta that has it, of those that run together, and its name there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BarrierId {
    cta: CtaRank,
    name: u8,
}

impl BarrierId {
    /// Barriers of a cta.
    const COUNT: u8 = 16;

    /// The barrier that an operand names in a cta; `None`: there is none of this name.
    pub fn named(cta: CtaRank, name: u64) -> Option<Self> {
        let name = u8::try_from(name).ok().filter(|name| *name < Self::COUNT)?;
        Some(Self { cta, name })
    }

    /// The cta that has it.
    pub const fn cta(self) -> CtaRank {
        self.cta
    }

    /// Its name, from 0 to 15.
    pub const fn name(self) -> u8 {
        self.name
    }
}

impl fmt::Display for BarrierId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.fmt(out)
    }
}

/// What a warp does at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BarrierUse {
    /// Waits for the generation.
    Sync,
    /// Goes on.
    Arrive,
    /// Waits, and reduces a predicate over all participants.
    Reduce,
}

/// How a barrier was used wrongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// A name over 15.
    Name(u64),
    /// A count that is zero, not a multiple of the warp size, or larger than the cta.
    Count {
        /// As given.
        given: u64,
        /// Threads of the cta, rounded up to warps.
        threads: u32,
    },
    /// Another count than the generation was configured with.
    Mismatch {
        /// As given.
        given: u32,
        /// As configured.
        configured: u32,
        /// The arrival that configured it.
        first: Pc,
        /// Its warp.
        first_warp: WarpId,
    },
    /// A reduction mixed with sync or arrive.
    Mixed {
        /// The arrival that configured the generation.
        first: Pc,
        /// Its warp.
        first_warp: WarpId,
    },
}

/// What a generation still needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierNeed {
    /// Threads expected; `None`: all that have not ended.
    pub expected: Option<u32>,
    /// Threads that have come.
    pub arrived: u32,
}

/// A barrier that is not idle.
#[derive(Clone, Debug)]
struct Generation {
    /// Threads; without a count all of the cta.
    count: u32,
    /// No participant gave a count: ended warps are not waited for.
    is_implicit: bool,
    arrived: u32,
    /// Warps that have come.
    warps: WarpSet,
    is_reduction: bool,
    first: Pc,
    first_warp: WarpId,
}

/// The barriers of a cta: those that are not idle have a generation.
#[derive(Clone, Debug)]
pub struct Barriers {
    generations: BTreeMap<BarrierId, Generation>,
    /// Threads of the cta, rounded up to warps.
    threads: u32,
}

#[allow(clippy::cast_possible_truncation, reason = "32")]
const WARP_THREADS: u32 = WARP as u32;

impl Barriers {
    /// All idle. `warps`: how many the cta has.
    pub fn new(warps: u32) -> Self {
        Self { generations: BTreeMap::new(), threads: warps * WARP_THREADS }
    }

    /// A warp arrives. True if that completes the generation, which makes the barrier idle.
    ///
    /// # Errors
    /// How the barrier was used wrongly.
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

    /// Whether a generation is complete while the warps of `live` have not ended; makes the barrier idle if so.
    pub fn complete(&mut self, barrier: BarrierId, live: WarpSet) -> bool {
        let Some(generation) = self.generations.get(&barrier) else { return false };
        let is_full = generation.arrived >= generation.count;
        let is_released = generation.is_implicit && live.is_within(generation.warps);
        if is_full || is_released {
            self.generations.remove(&barrier);
        }
        is_full || is_released
    }

    /// The barriers that are not idle, in the order of their names.
    pub fn busy(&self) -> impl Iterator<Item = BarrierId> + use<> {
        self.generations.keys().copied().collect::<Vec<_>>().into_iter()
    }

    /// What a barrier's generation needs, if it is not idle.
    pub fn need(&self, barrier: BarrierId) -> Option<BarrierNeed> {
        let generation = self.generations.get(&barrier)?;
        let expected = (!generation.is_implicit).then_some(generation.count);
        Some(BarrierNeed { expected, arrived: generation.arrived })
    }
}
