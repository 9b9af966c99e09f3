//! The state by which barrier divergence is judged: iterations of loops, and the threads that came first to a barrier.

use std::collections::BTreeMap;

use super::end::DivergedThreads;
use crate::emulate::sync::barrier::BarrierId;
use crate::emulate::sync::group::CtaRank;
use crate::emulate::value::lane::WARP;
use crate::emulate::value::warp_id::WarpSet;
use crate::flow::BlockId;

/// For each loop header, how often each lane has come back to it since it entered the loop.
pub(super) type LoopCounters = BTreeMap<BlockId, [u32; WARP]>;

/// Where the threads of a cta meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MeetingPlace {
    pub(super) cta: CtaRank,
    pub(super) barrier: BarrierId,
    /// Whether they wait for the barrier of the cluster, at which they have arrived before.
    pub(super) is_await: bool,
    /// How often the warps have waited for it before: some might wait again before others have waited once.
    pub(super) turn: u32,
}

/// The threads of a cta that came first to a generation of a barrier, and its warps that have come so far.
#[derive(Clone, Debug)]
pub(super) struct FirstArrivals {
    pub(super) first: DivergedThreads,
    pub(super) warps: WarpSet,
}
