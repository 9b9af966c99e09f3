//! Racing pairs of instructions, with every racing pair of threads counted once.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use super::entry::Conflict;
use crate::emulate::memory::bytes::Bytes;
use crate::emulate::{Access, AccessKind, LaneMask, Origin, WARP, WarpId, lanes};
use crate::flow::Pc;
use crate::ptx::Space;

/// One access of a racing pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RacingAccess {
    /// The instruction.
    pub pc: Pc,
    /// How it accesses.
    pub kind: AccessKind,
    /// Linear index of the cta.
    pub cta: u32,
    /// Warp in the cta.
    pub warp: WarpId,
    /// Lane in the warp.
    pub lane: u8,
    /// First byte in the space.
    pub address: u64,
    /// Bytes.
    pub bytes: u32,
    /// Where the open condition that it lies under comes from.
    pub condition: Option<Origin>,
}

impl RacingAccess {
    /// What a lane does.
    pub(super) fn new(access: &Access<'_>, cta: u32, lane: usize) -> Self {
        let Access { pc, kind, bytes, condition: side, .. } = *access;
        let (warp, address) = (access.warp, access.addresses.lane(lane));
        let lane = u8::try_from(lane).expect("a warp has 32 lanes");
        Self { pc, kind, cta, warp, lane, address, bytes, condition: side }
    }
}

/// Racing pairs of the lanes of two accesses: by lane of the second those of the first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Threads {
    pub(super) of: [LaneMask; WARP],
}

impl Threads {
    /// One pair.
    pub(super) fn one(first: u8, second: u8) -> Self {
        let mut threads = Self::default();
        threads.of[usize::from(second) % WARP] = 1 << first;
        threads
    }

    /// Lanes of the first and the second.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        let of = |(second, first): (usize, &LaneMask)| {
            lanes(*first).map(move |first_lane| (first_lane, second))
        };
        self.of.iter().enumerate().flat_map(of)
    }

    /// A pair, if there is one.
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

/// Where two accesses race: bytes of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Met {
    pub(super) space: Space,
    pub(super) page: u64,
    pub(super) bytes: Bytes,
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
    /// By page: the bytes that they race on.
    pages: HashMap<u64, Bytes, RandomState>,
    /// By pair of warps of the launch: a bit for each pair of lanes.
    seen: HashMap<(u64, u64), Box<[LaneMask; WARP]>, RandomState>,
}

/// Racing pairs of instructions by space.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    all: BTreeMap<(bool, Pc, Pc), Pair>,
    /// Accesses compared.
    compared: u64,
    /// Pairs of warps whose pairs of threads are told apart, and pages that races are known to be on; how many of these
    /// there may be.
    listed: u64,
    most: u64,
    is_cut: bool,
}

/// Pairs of instructions that are named.
pub const MAX_PAIRS: usize = 1024;

/// Comparisons of two accesses of a byte, each by up to 32 lanes, before the pass that explains names no more pairs.
const MAX_COMPARED: u64 = 1 << 27;

/// Bytes that the pairs of threads of two warps take.
const TOLD: u64 = 2 * (size_of::<[LaneMask; WARP]>() as u64 + 4 * size_of::<u64>() as u64);

impl Pairs {
    /// None yet. `memory`: bytes that they may take.
    pub const fn within(memory: u64) -> Self {
        Self { all: BTreeMap::new(), compared: 0, listed: 0, most: memory / TOLD, is_cut: false }
    }

    /// There is more to say than can be kept.
    pub(super) const fn cut(&mut self) {
        self.is_cut = true;
    }

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

    /// Whether nothing races.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// All pairs: whether of global memory, and what is known, by instruction.
    pub fn iter(&self) -> impl Iterator<Item = (Space, &Pair)> {
        self.all.iter().map(|((is_global, ..), pair)| {
            (if *is_global { Space::Global } else { Space::Shared }, pair)
        })
    }

    /// Takes over which races are benign, from another pass that compared the values of stores.
    pub fn take_values(&mut self, valued: &Self) {
        for (key, pair) in &mut self.all {
            if let Some(stored) = valued.all.get(key) {
                pair.is_benign = stored.is_benign;
            }
        }
    }

    /// Takes over what another pass found to race, where this one found nothing as bad: the values that loads of racing
    /// bytes had there were those of one schedule, so that it is so in some run.
    pub fn take_worse(&mut self, other: &Self) {
        for (key, pair) in &other.all {
            let is_worse = |known: &Pair| pair.conflict > known.conflict;
            if !pair.leaves_the_same() && self.all.get(key).is_none_or(is_worse) {
                self.all.insert(*key, pair.clone());
            }
        }
    }

    /// The bytes of a page on which something races that leaves it to the schedule what they hold, by page: whether it is
    /// global, and its number.
    pub fn harmful(&self) -> HashMap<(bool, u64), Bytes, RandomState> {
        let mut harmful = HashMap::<_, Bytes, _>::default();
        for ((is_global, ..), pair) in self.all.iter().filter(|(_, own)| !own.leaves_the_same()) {
            #[allow(clippy::iter_over_hash_type, reason = "a union does not depend on the order")]
            for (page, bytes) in &pair.pages {
                *harmful.entry((*is_global, *page)).or_default() |= bytes;
            }
        }
        harmful
    }

    /// Whether a pair of instructions is known to race in this way, and not to be benign.
    pub(super) fn is_settled(&self, space: Space, a: Pc, b: Pc, conflict: Conflict) -> bool {
        let pair = self.all.get(&(space == Space::Global, a.min(b), a.max(b)));
        pair.is_some_and(|pair| !pair.is_benign && pair.conflict >= conflict)
    }

    /// Adds races of lanes of two accesses; `first` and `second`: of one of these pairs. Whether they are benign is asked
    /// only while all others of the instructions are.
    pub(super) fn add(
        &mut self,
        synchronized: Met,
        first: &RacingAccess,
        second: &RacingAccess,
        threads: &Threads,
        conflict: Conflict,
        is_benign: impl FnOnce() -> bool,
    ) {
        let example = Example { first: *first, second: *second };
        let key =
            (synchronized.space == Space::Global, first.pc.min(second.pc), first.pc.max(second.pc));
        if self.all.len() >= MAX_PAIRS && !self.all.contains_key(&key) {
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
            *pair.pages.entry(synchronized.page).or_default() |= synchronized.bytes;
            pair.count(first, second, threads);
            self.listed += (pair.seen.len() + pair.pages.len() - before) as u64;
        } else {
            self.is_cut = true;
        }
    }
}

impl Pair {
    /// Whether nothing but equal stores meet: whoever comes last leaves the same.
    fn leaves_the_same(&self) -> bool {
        self.is_benign && self.conflict == Conflict::Race
    }

    /// Counts pairs of threads that were not counted before.
    fn count(&mut self, first: &RacingAccess, second: &RacingAccess, threads: &Threads) {
        let warp =
            |side: &RacingAccess| u64::from(side.cta) << u16::BITS | side.warp.index() as u64;
        let (a, b) = (warp(first), warp(second));
        let is_turned = (first.pc, a) > (second.pc, b);
        let key = if is_turned { (b, a) } else { (a, b) };
        let seen = self.seen.entry(key).or_insert_with(|| Box::new([0; WARP]));
        let is_one = (first.pc, a) == (second.pc, b);
        let mut new = 0;
        for (before, after) in threads.iter() {
            let (row, lane) = match () {
                // Within one instruction and warp a pair has no first: the lower lane stands for it.
                () if is_one => (before.min(after), before.max(after)),
                () if is_turned => (after, before),
                () => (before, after),
            };
            new += u64::from(seen[row] >> lane & 1 == 0);
            seen[row] |= 1 << lane;
        }
        let count = match (first.cta == second.cta, first.warp == second.warp) {
            (true, true) => &mut self.within_warps,
            (true, false) => &mut self.between_warps,
            (false, _) => &mut self.between_ctas,
        };
        *count += new;
    }
}
