//! Brute force: compares what a shadow finds with every pair of lanes at every byte.

use super::*;
use crate::emulate::{LaneMask, Nearness, Value};
use crate::race::random::{Random, Touch, access, order, synchronize};

/// Compares every pair of accesses of a byte, one by one.
#[derive(Default)]
struct LanePairs {
    touched: BTreeMap<u64, Vec<Touch>>,
    /// For each byte at which accesses conflict, the worst conflict.
    met: BTreeMap<u64, Conflict>,
}

impl LanePairs {
    fn access(&mut self, access: &Access<'_>, order: &Order) {
        let (warp, kind) = (access.warp, access.kind);
        for lane in lanes(access.lanes) {
            let first = access.addresses.bits_of(lane);
            for byte in first..first + u64::from(access.bytes) {
                let touches = self.touched.entry(byte).or_default();
                for old in touches.iter().filter(|old| !old.is_before(warp, lane, order)) {
                    if let Some(conflict) = conflict(old.kind, kind, Nearness::Cta) {
                        let known = self.met.entry(byte).or_insert(conflict);
                        *known = (*known).max(conflict);
                    }
                }
                touches.push(Touch { warp, lane, when: order.now(warp), kind });
            }
        }
    }
}

/// Compares for random accesses, of which `writes` in ten write; after `meets` in ten, some threads synchronize.
fn compare(seed: u64, accesses: u32, writes: u64, meets: u64) {
    let mut random = Random::new(seed);
    let mut order = order();
    let (mut shadow, mut pairs) = (Shadow::within(u64::MAX), LanePairs::default());
    let mut last = (4, Value::uniform(0));
    for _ in 0..accesses {
        // Some accesses go where the one before went.
        if random.below(4) > 0 {
            let bytes = 1 << random.below(4);
            last = (bytes, random.addresses(bytes));
        }
        let ((bytes, addresses), warp) = (last.clone(), random.warp());
        let kind = random.kind(writes, bytes);
        let bytes = u32::try_from(bytes).unwrap_or(1);
        let access = access(warp, random.mask(warp), &addresses, bytes, kind);
        shadow.access(&access, &order);
        pairs.access(&access, &order);
        if random.below(10) < meets {
            synchronize(&mut random, &mut order);
        }
    }
    let unsteady = shadow
        .unsteady()
        .flat_map(|(page, bytes)| places(bytes).map(move |at| (page * PAGE + at, Conflict::Value)));
    let mut met: BTreeMap<u64, Conflict> = shadow.racing.clone();
    assert!(met.values().all(|conflict| conflict.is_race()), "seed {seed}");
    met.extend(unsteady);
    assert_eq!(met, pairs.met, "seed {seed}");
}

#[test]
fn the_bytes_that_race_are_those_of_all_pairs() {
    for seed in 0..400 {
        compare(seed, 12, 3, 4);
    }
    for seed in 0..40 {
        compare(seed, 80, 1, 6);
    }
}

/// What lanes did to bytes, one by one.
fn emitted(past: &[Past]) -> Vec<(u64, usize, WarpId, Epoch)> {
    let mut emitted = Vec::new();
    for entry in past {
        for lane in lanes(entry.row.lanes) {
            let bytes = places(entry.row.bytes_of(lane));
            emitted.extend(bytes.map(|at| (at, lane, entry.warp, entry.when)));
        }
    }
    emitted.sort_unstable();
    emitted.dedup();
    emitted
}

#[test]
fn told_byte_by_byte_a_page_says_the_same() {
    let mut random = Random::new(0);
    for _ in 0..200 {
        let mut past = Vec::new();
        for _ in 0..random.below(30) {
            let (warp, addresses) = (random.warp(), random.addresses(4));
            let when = Epoch::after(u32::from(random.below(3) == 0));
            let access = access(warp, random.mask(warp), &addresses, 4, AccessKind::default());
            rows(&access, &mut KnownRows::default(), |number, row| {
                if number == 0 {
                    past.push(Past { row, when, warp, kind: access.kind });
                }
            });
        }
        assert_eq!(emitted(&settled(&past)), emitted(&past));
    }
}

/// Two stores look alike as rows, but in each another lane stores to the first word.
#[test]
fn lanes_that_change_places_race() {
    let order = Order::new(&[LaneMask::MAX].into_iter().collect());
    let place = |first: usize| {
        Value::each(std::array::from_fn(|lane| if lane == first { 0 } else { lane as u64 * 4 }))
    };
    let kind = AccessKind { element: 4, writes: true, ..AccessKind::default() };
    let mut shadow = Shadow::within(u64::MAX);
    for lanes in [[1, 3], [1, 5], [1, 3]] {
        let (addresses, mask) = (place(lanes[1]), 1 << lanes[0] | 1 << lanes[1]);
        shadow.access(&access(WarpId::new(0), mask, &addresses, 4, kind), &order);
    }
    assert!(shadow.racing.keys().eq(&[0, 1, 2, 3]), "{:?}", shadow.racing);
}
