//! Racing pairs of instructions, with every racing pair of threads counted once.

use std::collections::{BTreeMap, HashMap};

use super::entry::Conflict;
use crate::emulate::{Kind, LaneMask, Origin};
use crate::flow::Pc;
use crate::ptx::Space;

/// One access of a racing pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// The instruction.
    pub pc: Pc,
    /// How it accesses.
    pub kind: Kind,
    /// Linear index of the cta.
    pub cta: u32,
    /// Warp in the cta.
    pub warp: u8,
    /// Lane in the warp.
    pub lane: u8,
    /// First byte in the space.
    pub address: u64,
    /// Bytes.
    pub bytes: u32,
    /// Where the open condition that it lies under comes from.
    pub maybe: Option<Origin>,
}

/// A concrete race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// The access that came first in the run.
    pub first: Side,
    /// The one that came second.
    pub second: Side,
}

/// Everything known of a racing pair of instructions.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The worst conflict.
    pub conflict: Conflict,
    /// Whether all of it are writes that provably store the same value.
    pub is_benign: bool,
    /// The first race found.
    pub example: Example,
    /// Pairs of threads of one warp.
    pub within_warps: u64,
    /// Pairs of threads of different warps of a cta.
    pub between_warps: u64,
    /// Pairs of threads of different ctas; a lower bound where a location has more than two ctas.
    pub between_ctas: u64,
    /// By pair of warps of the launch: a bit for each pair of lanes.
    seen: HashMap<(u64, u64), Box<[LaneMask; 32]>>,
}

/// Racing pairs of instructions by space.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    pairs: BTreeMap<(bool, Pc, Pc), Pair>,
}

impl Pairs {
    /// All pairs: whether of global memory, and what is known, by instruction.
    pub fn iter(&self) -> impl Iterator<Item = (Space, &Pair)> {
        self.pairs.iter().map(|((is_global, ..), pair)| {
            (if *is_global { Space::Global } else { Space::Shared }, pair)
        })
    }

    /// Adds a race of two threads.
    pub(super) fn add(
        &mut self,
        space: Space,
        example: Example,
        conflict: Conflict,
        is_benign: bool,
    ) {
        let (a, b) = (example.first, example.second);
        let key = (space == Space::Global, a.pc.min(b.pc), a.pc.max(b.pc));
        let pair = self.pairs.entry(key).or_insert_with(|| Pair {
            conflict,
            is_benign: true,
            example,
            within_warps: 0,
            between_warps: 0,
            between_ctas: 0,
            seen: HashMap::new(),
        });
        if conflict > pair.conflict {
            (pair.conflict, pair.example) = (conflict, example);
        }
        pair.is_benign &= is_benign;
        let warp = |side: &Side| u64::from(side.cta) << 8 | u64::from(side.warp);
        let place = |side: &Side| (side.pc, warp(side), side.lane);
        // A pair of threads at one instruction has no first.
        let (a, b) = if place(&a) <= place(&b) { (a, b) } else { (b, a) };
        let seen = pair.seen.entry((warp(&a), warp(&b))).or_insert_with(|| Box::new([0; 32]));
        let row = &mut seen[usize::from(a.lane) % 32];
        if *row >> b.lane & 1 == 1 {
            return;
        }
        *row |= 1 << b.lane;
        let count = match (a.cta == b.cta, a.warp == b.warp) {
            (true, true) => &mut pair.within_warps,
            (true, false) => &mut pair.between_warps,
            (false, _) => &mut pair.between_ctas,
        };
        *count += 1;
    }
}
