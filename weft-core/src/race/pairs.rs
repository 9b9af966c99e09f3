//! Racing pairs of instructions, and the numbers of their racing pairs of threads, each counted once.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use super::entry::Conflict;
use crate::emulate::memory::bytes::{Bytes, PAGE};
use crate::emulate::{Access, AccessKind, CtaRank, LaneMask, Origin, WARP, WarpId, lanes};
use crate::flow::Pc;
use crate::ptx::Space;

/// One access of a racing pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RacingAccess {
    /// The instruction.
    pub pc: Pc,
    /// How the instruction accesses memory.
    pub kind: AccessKind,
    /// Linear index of the cta, or of the first one of its cluster.
    pub cta: u32,
    /// The warp.
    pub warp: WarpId,
    /// Lane in the warp.
    pub lane: u8,
    /// Address of the first byte.
    pub address: u64,
    /// Number of bytes.
    pub bytes: u32,
    /// The origin of the open condition that the access depends on, if there is one.
    pub condition: Option<Origin>,
}

impl RacingAccess {
    /// The access of one lane; of a bulk copy, by the thread that issued it.
    pub(super) fn new(access: &Access<'_>, cta: u32, lane: usize) -> Self {
        let Access { pc, kind, bytes, condition: side, .. } = *access;
        let address = access.addresses.bits_of(lane);
        let (warp, lane) = access.thread(lane);
        let lane = u8::try_from(lane).expect("a warp has 32 lanes");
        Self { pc, kind, cta, warp, lane, address, bytes, condition: side }
    }
}

/// Racing pairs of lanes of two accesses: for each lane of the second access, the lanes of the first that it races
/// with.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Threads {
    pub(super) of: [LaneMask; WARP],
}

impl Threads {
    /// The set of one pair.
    pub(super) fn one(first: u8, second: u8) -> Self {
        let mut threads = Self::default();
        threads.of[usize::from(second) % WARP] = 1 << first;
        threads
    }

    /// Iterates over the pairs: lane of the first and lane of the second access.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        let of = |(second, first): (usize, &LaneMask)| {
            lanes(*first).map(move |first_lane| (first_lane, second))
        };
        self.of.iter().enumerate().flat_map(of)
    }

    /// The pairs of the threads to which the lanes belong: all lanes of a bulk copy belong to the one that issued it.
    pub(super) fn issued(&self, first: Option<u8>, second: Option<u8>) -> Self {
        let mut threads = Self::default();
        for (own, lane) in self.iter() {
            let (own, lane) = (first.map_or(own, usize::from), second.map_or(lane, usize::from));
            threads.of[lane] |= 1 << own;
        }
        threads
    }

    /// The same pairs, with the two accesses exchanged.
    fn turned(&self) -> [LaneMask; WARP] {
        let (mut rows, mut width, mut low) = (self.of, WARP / 2, LaneMask::MAX >> (WARP / 2));
        // Exchanges two of the four quarters of each block, and halves the blocks.
        while width > 0 {
            for row in (0..WARP).filter(|row| row & width == 0) {
                let moved = (rows[row] >> width ^ rows[row + width]) & low;
                rows[row] ^= moved << width;
                rows[row + width] ^= moved;
            }
            width /= 2;
            low ^= low << width;
        }
        rows
    }

    /// The pairs without an order: the lower lane is the first one.
    fn joined(&self) -> [LaneMask; WARP] {
        let turned = self.turned();
        std::array::from_fn(|lane| {
            (self.of[lane] | turned[lane]) & (LaneMask::MAX >> (WARP - 1 - lane))
        })
    }

    /// One of the pairs, if there is any.
    pub(super) fn first(&self) -> Option<(usize, usize)> {
        let second = self.of.iter().position(|first| *first != 0)?;
        Some((self.of[second].trailing_zeros() as usize, second))
    }
}

/// A concrete race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// The access that came first in the run.
    pub first: RacingAccess,
    /// The one that came second.
    pub second: RacingAccess,
}

/// The bytes of a page on which two accesses race.
#[derive(Clone, Copy, Debug)]
pub(super) struct Met {
    pub(super) space: Space,
    pub(super) page: u64,
    pub(super) bytes: Bytes,
}

/// What is known about a racing pair of instructions.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The worst conflict.
    pub conflict: Conflict,
    /// Whether all its races are between writes that provably store the same value.
    pub is_benign: bool,
    /// The first race found.
    pub example: Example,
    /// Number of racing pairs of threads of one warp.
    pub within_warps: u64,
    /// Number of racing pairs of threads of different warps of a cta.
    pub between_warps: u64,
    /// Lower bound for the number of racing pairs of threads of different ctas: of threads that do the same to a
    /// location, one of each of two ctas is counted.
    pub between_ctas: u64,
    /// For each page: the bytes that the instructions race on.
    pages: HashMap<u64, Bytes, RandomState>,
    /// For each pair of warps of which one is of the running cta: the pairs of lanes that were counted, as in [`Threads`].
    seen: HashMap<(u64, u64), Box<[LaneMask; WARP]>, RandomState>,
}

/// Racing pairs of instructions, by state space.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    all: BTreeMap<(bool, Pc, Pc), Pair>,
    /// Number of comparisons of accesses that are left.
    left: u64,
    /// Number of entries in `Pair::seen` and `Pair::pages` of all pairs, and their limit.
    listed: u64,
    most: u64,
    is_cut: bool,
    /// Number of warps of a cta, if there are several ctas in a cluster.
    of_cta: Option<usize>,
}

/// Most pairs of instructions that are recorded.
pub const MAX_PAIRS: usize = 1024;

/// The most comparisons of two accesses of a byte, each by up to 32 lanes, after which no more pairs are recorded.
const MAX_COMPARED: u64 = 1 << 27;

/// The comparisons that cost about as much as an instruction of a warp.
const COMPARED_BY_INSTRUCTION: u64 = 2;

/// Bytes that the pairs of lanes of two warps take.
const PAIR_BYTES: u64 = 2 * (size_of::<[LaneMask; WARP]>() as u64 + 4 * size_of::<u64>() as u64);

impl Pairs {
    /// No pairs yet; they can take `memory` bytes, and comparisons about as long as so many instructions of a warp.
    pub fn within(memory: u64, instructions: u64) -> Self {
        let left = instructions.saturating_mul(COMPARED_BY_INSTRUCTION).min(MAX_COMPARED);
        Self {
            all: BTreeMap::new(),
            left,
            listed: 0,
            most: memory / PAIR_BYTES,
            is_cut: false,
            of_cta: None,
        }
    }

    /// The same, in clusters of several ctas of so many warps.
    #[must_use]
    pub fn in_clusters(self, warps: usize) -> Self {
        Self { of_cta: Some(warps), ..self }
    }

    /// Records that some pairs, or some of their details, are left out.
    pub(super) const fn cut(&mut self) {
        self.is_cut = true;
    }

    /// Whether there might be more pairs than are recorded, or more details of those that are.
    pub const fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Ends the run of a cta: no later access is one of its accesses again, so pairs of threads that it is part of are not
    /// met again.
    pub fn end_cta(&mut self) {
        for pair in self.all.values_mut() {
            self.listed -= pair.seen.len() as u64;
            pair.seen.clear();
        }
    }

    /// Counts comparisons. Returns false if there were too many.
    pub(super) fn compare(&mut self, count: usize) -> bool {
        let left = self.left.checked_sub(count as u64);
        self.is_cut |= left.is_none();
        self.left = left.unwrap_or(0);
        left.is_some()
    }

    /// Whether there are no racing pairs.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Iterates over all pairs with their state spaces, in the order of their instructions.
    pub fn iter(&self) -> impl Iterator<Item = (Space, &Pair)> {
        self.all.iter().map(|((is_global, ..), pair)| {
            (if *is_global { Space::Global } else { Space::Shared }, pair)
        })
    }

    /// Takes over which pairs are benign from another pass, which compared the values of stores.
    pub fn take_values(&mut self, valued: &Self) {
        for (key, pair) in &mut self.all {
            if let Some(stored) = valued.all.get(key) {
                pair.is_benign = stored.is_benign;
            }
        }
    }

    /// Takes over the races of another pass that are worse than what this pass found for the same instructions. In that
    /// pass, loads of racing bytes had the values of one schedule, so these races happen in some run.
    pub fn take_worse(&mut self, other: &Self) {
        for (key, pair) in &other.all {
            let is_worse = |known: &Pair| pair.conflict > known.conflict;
            let counts = pair.conflict.is_race() && !pair.leaves_the_same();
            if counts && self.all.get(key).is_none_or(is_worse) {
                self.all.insert(*key, pair.clone());
            }
        }
    }

    /// The bytes on which something races so that their contents depend on the schedule, by state space (whether it is
    /// global) and page number.
    pub fn harmful(&self) -> HashMap<(bool, u64), Bytes, RandomState> {
        let mut harmful = HashMap::<_, Bytes, _>::default();
        for ((is_global, ..), pair) in self.all.iter().filter(|(_, own)| !own.leaves_the_same()) {
            #[allow(clippy::iter_over_hash_type, reason = "a union does not depend on the order")]
            for (page, bytes) in &pair.pages {
                // What is known of shared memory holds for that of every cta.
                let within =
                    if *is_global { *page } else { CtaRank::of_address(page * PAGE).1 / PAGE };
                *harmful.entry((*is_global, within)).or_default() |= bytes;
            }
        }
        harmful
    }

    /// Drops the pairs that do not race.
    pub fn keep_races(&mut self) {
        self.all.retain(|_, pair| pair.conflict.is_race());
    }

    /// Whether a pair of instructions is recorded, or can be.
    pub(super) fn takes(&self, space: Space, a: Pc, b: Pc) -> bool {
        let key = (space == Space::Global, a.min(b), a.max(b));
        self.all.len() < MAX_PAIRS || self.all.contains_key(&key)
    }

    /// Whether a pair of instructions is already known to race with this conflict or a worse one, and not to be benign.
    pub(super) fn is_settled(&self, space: Space, a: Pc, b: Pc, conflict: Conflict) -> bool {
        let pair = self.all.get(&(space == Space::Global, a.min(b), a.max(b)));
        pair.is_some_and(|pair| !pair.is_benign && pair.conflict >= conflict)
    }

    /// Adds races of lanes of two accesses. `first` and `second`: one of the racing pairs of lanes. `is_benign` is
    /// called only while all races of the two instructions are benign.
    pub(super) fn add(
        &mut self,
        met: Met,
        first: &RacingAccess,
        second: &RacingAccess,
        threads: &Threads,
        conflict: Conflict,
        is_benign: impl FnOnce() -> bool,
    ) {
        let example = Example { first: *first, second: *second };
        let key = (met.space == Space::Global, first.pc.min(second.pc), first.pc.max(second.pc));
        if !self.takes(met.space, first.pc, second.pc) {
            self.is_cut = true;
            return;
        }
        let pair = self.all.entry(key).or_insert_with(|| Pair {
            conflict,
            is_benign: true,
            example,
            within_warps: 0,
            between_warps: 0,
            between_ctas: 0,
            pages: HashMap::default(),
            seen: HashMap::default(),
        });
        if conflict > pair.conflict {
            (pair.conflict, pair.example) = (conflict, example);
        }
        pair.is_benign = pair.is_benign && is_benign();
        if self.listed < self.most {
            let before = pair.seen.len() + pair.pages.len();
            *pair.pages.entry(met.page).or_default() |= met.bytes;
            pair.count(first, second, threads, self.of_cta);
            self.listed += (pair.seen.len() + pair.pages.len() - before) as u64;
        } else {
            self.is_cut = true;
        }
    }
}

impl Pair {
    /// Whether all races are between equal stores, so that memory holds the same whichever store comes last.
    fn leaves_the_same(&self) -> bool {
        self.is_benign && self.conflict == Conflict::Race
    }

    /// Counts the pairs of threads that were not counted before.
    fn count(
        &mut self,
        first: &RacingAccess,
        second: &RacingAccess,
        threads: &Threads,
        of_cta: Option<usize>,
    ) {
        let warp =
            |side: &RacingAccess| u64::from(side.cta) << u16::BITS | side.warp.index() as u64;
        let (a, b) = (warp(first), warp(second));
        let is_turned = (first.pc, a) > (second.pc, b);
        let key = if is_turned { (b, a) } else { (a, b) };
        let seen = self.seen.entry(key).or_insert_with(|| Box::new([0; WARP]));
        // Within one instruction and warp, a pair of lanes has no order: the lower lane counts as the first.
        let of = match () {
            () if (first.pc, a) == (second.pc, b) => threads.joined(),
            () if is_turned => threads.turned(),
            () => threads.of,
        };
        let mut new = 0;
        for (known, lanes) in seen.iter_mut().zip(of) {
            new += u64::from((lanes & !*known).count_ones());
            *known |= lanes;
        }
        let rank = |side: &RacingAccess| of_cta.map(|warps| side.warp.index() / warps);
        let is_one_cta = first.cta == second.cta && rank(first) == rank(second);
        let count = match (is_one_cta, first.warp == second.warp) {
            (true, true) => &mut self.within_warps,
            (true, false) => &mut self.between_warps,
            (false, _) => &mut self.between_ctas,
        };
        *count += new;
    }
}
