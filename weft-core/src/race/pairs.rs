//! Racing pairs of instructions, with every racing pair of threads counted once.

use std::collections::{BTreeMap, HashMap};

use super::entry::Conflict;
use crate::emulate::{Kind, LaneMask, Origin, lanes};
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
    /// Pairs of threads of different ctas; a lower bound: of threads of one cta that do the same to a location, one counts.
    pub between_ctas: u64,
    /// By pair of warps of the launch: a bit for each pair of lanes.
    seen: HashMap<(u64, u64), Box<[LaneMask; 32]>>,
}

/// Racing pairs of instructions by space.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    all: BTreeMap<(bool, Pc, Pc), Pair>,
    /// Accesses compared.
    compared: u64,
    is_cut: bool,
}

/// Pairs of instructions that are named.
pub const MAX_PAIRS: usize = 1024;

/// Comparisons of two accesses, each by up to 32 lanes, before the pass that explains names no more pairs.
const MAX_COMPARED: u64 = 1 << 27;

impl Pairs {
    /// Whether there may be more pairs than are named, and more to say of those that are.
    pub const fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Counts comparisons; false if there were too many.
    pub(super) fn compare(&mut self, count: usize) -> bool {
        self.compared = self.compared.saturating_add(count as u64);
        self.is_cut |= self.compared > MAX_COMPARED;
        self.compared <= MAX_COMPARED
    }

    /// All pairs: whether of global memory, and what is known, by instruction.
    pub fn iter(&self) -> impl Iterator<Item = (Space, &Pair)> {
        self.all.iter().map(|((is_global, ..), pair)| {
            (if *is_global { Space::Global } else { Space::Shared }, pair)
        })
    }

    /// Adds a race of each of the lanes of `before` at `first` with the one lane of `second`.
    pub(super) fn add(
        &mut self,
        space: Space,
        first: &Side,
        before: LaneMask,
        second: &Side,
        conflict: Conflict,
        is_benign: bool,
    ) {
        let lane = |lane: usize| Side { lane: u8::try_from(lane).unwrap_or(0), ..*first };
        let example = || Example { first: lane(before.trailing_zeros() as usize), second: *second };
        let key = (space == Space::Global, first.pc.min(second.pc), first.pc.max(second.pc));
        if self.all.len() >= MAX_PAIRS && !self.all.contains_key(&key) {
            self.is_cut = true;
            return;
        }
        let pair = self.all.entry(key).or_insert_with(|| Pair {
            conflict,
            is_benign: true,
            example: example(),
            within_warps: 0,
            between_warps: 0,
            between_ctas: 0,
            seen: HashMap::new(),
        });
        if conflict > pair.conflict {
            (pair.conflict, pair.example) = (conflict, example());
        }
        pair.is_benign &= is_benign;
        pair.count(first, before, second);
    }
}

impl Pair {
    /// Counts pairs of threads that were not counted before.
    fn count(&mut self, first: &Side, before: LaneMask, second: &Side) {
        let warp = |side: &Side| u64::from(side.cta) << 8 | u64::from(side.warp);
        let (a, b) = (warp(first), warp(second));
        let is_turned = (first.pc, a) > (second.pc, b);
        let key = if is_turned { (b, a) } else { (a, b) };
        let rows = self.seen.entry(key).or_insert_with(|| Box::new([0; 32]));
        let mut new = 0;
        if (first.pc, a) == (second.pc, b) {
            // Within one instruction and warp a pair has no first: the lower lane stands for it.
            let own = second.lane;
            for lane in lanes(before) {
                let (low, high) = (lane.min(usize::from(own)), lane.max(usize::from(own)));
                new += u64::from(rows[low] >> high & 1 == 0);
                rows[low] |= 1 << high;
            }
        } else if is_turned {
            let row = &mut rows[usize::from(second.lane) % 32];
            new = u64::from((before & !*row).count_ones());
            *row |= before;
        } else {
            for lane in lanes(before) {
                new += u64::from(rows[lane] >> second.lane & 1 == 0);
                rows[lane] |= 1 << second.lane;
            }
        }
        let count = match (first.cta == second.cta, first.warp == second.warp) {
            (true, true) => &mut self.within_warps,
            (true, false) => &mut self.between_warps,
            (false, _) => &mut self.between_ctas,
        };
        *count += new;
    }
}
