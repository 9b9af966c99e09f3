//! The sixteen barriers of a cta as the hardware sees them (PLDI'15 §3, PTX ISA §9.7.13.1).
//!
//! A generation is configured by its first arrival and complete as soon as its count is reached; the barrier is then
//! idle at once. A full barrier that still waits for its reset, and with it one participant too many, cannot be seen.

use crate::emulate::value::lane::WARP;
use crate::flow::Pc;

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
        first_warp: usize,
    },
    /// A reduction mixed with sync or arrive.
    Mixed {
        /// The arrival that configured the generation.
        first: Pc,
        /// Its warp.
        first_warp: usize,
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
    /// Warps that have come, bit by warp.
    warps: u32,
    is_reduction: bool,
    first: Pc,
    first_warp: usize,
}

/// The barriers of a cta.
#[derive(Clone, Debug)]
pub struct Barriers {
    generations: [Option<Generation>; Self::COUNT],
    /// Warps of the cta.
    warps: u32,
}

#[allow(clippy::cast_possible_truncation, reason = "32")]
const WARP_THREADS: u32 = WARP as u32;

impl Barriers {
    /// How many a cta has.
    pub const COUNT: usize = 16;

    /// All idle.
    pub fn new(warps: usize) -> Self {
        Self {
            generations: std::array::from_fn(|_| None),
            warps: u32::try_from(warps).unwrap_or(WARP_THREADS),
        }
    }

    /// A warp arrives. True if that completes the generation, which makes the barrier idle.
    ///
    /// # Errors
    /// How the barrier was used wrongly.
    pub fn arrive(
        &mut self,
        warp: usize,
        pc: Pc,
        name: u64,
        count: Option<u64>,
        how: BarrierUse,
        live: u32,
    ) -> Result<bool, Misuse> {
        let threads = self.warps * WARP_THREADS;
        let slot = usize::try_from(name).ok().and_then(|name| self.generations.get_mut(name));
        let Some(slot) = slot else { return Err(Misuse::Name(name)) };
        let given = match count {
            None => threads,
            Some(given) => u32::try_from(given)
                .ok()
                .filter(|given| (1..=threads).contains(given) && given % WARP_THREADS == 0)
                .ok_or(Misuse::Count { given, threads })?,
        };
        let generation = slot.get_or_insert_with(|| Generation {
            count: given,
            is_implicit: true,
            arrived: 0,
            warps: 0,
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
        generation.warps |= 1 << warp;
        Ok(self.complete(usize::try_from(name).unwrap_or(0), live))
    }

    /// Whether a generation is complete while the warps of `live` have not ended; makes the barrier idle if so.
    pub fn complete(&mut self, name: usize, live: u32) -> bool {
        let Some(Some(generation)) = self.generations.get(name) else { return false };
        let is_full = generation.arrived >= generation.count;
        let is_released = generation.is_implicit && live & !generation.warps == 0;
        if is_full || is_released {
            self.generations[name] = None;
        }
        is_full || is_released
    }

    /// What a barrier's generation needs, if it is not idle.
    pub fn need(&self, name: usize) -> Option<BarrierNeed> {
        let generation = self.generations.get(name)?.as_ref()?;
        let expected = (!generation.is_implicit).then_some(generation.count);
        Some(BarrierNeed { expected, arrived: generation.arrived })
    }
}
