//! Brute force: what a shadow says, against every pair of lanes at every byte.

use super::*;
use crate::emulate::{Arrival, LaneMask, Value};

const WARPS: usize = 3;

/// Accesses that look random (xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    fn warp(&mut self) -> usize {
        usize::try_from(self.below(WARPS as u64)).unwrap_or(0)
    }

    fn mask(&mut self) -> LaneMask {
        let bits = LaneMask::try_from(self.below(1 << 32)).unwrap_or(1);
        let mask = [LaneMask::MAX, bits, bits & (bits >> 7) & (bits >> 13), 1 << (bits % 32)]
            [usize::try_from(self.below(4)).unwrap_or(0)];
        mask.max(1)
    }

    /// Uniform, in a row, a row in another order, and in no order, on three pages.
    fn addresses(&mut self, bytes: u64) -> Value {
        match self.below(5) {
            0 => Value::uniform(self.below(300)),
            1 => Value::affine(self.below(200), bytes),
            2 => Value::affine(self.below(100), self.below(9)),
            3 => {
                let (start, turn) = (self.below(3) * 64, self.below(2) * 31);
                Value::each(std::array::from_fn(|lane| start + (lane as u64 ^ turn ^ 5) * bytes))
            }
            _ => Value::each(std::array::from_fn(|_| self.below(300))),
        }
    }

    fn kind(&mut self, writes: u64) -> Kind {
        let kind = Kind { element: 4, writes: self.below(10) < writes, ..Kind::default() };
        match self.below(8) {
            0 => Kind { is_strong: true, ..kind },
            1 => Kind { is_strong: true, is_cta_scoped: true, ..kind },
            2 => Kind { is_strong: true, is_atomic: true, writes: true, ..kind },
            3 => Kind { is_maybe: true, ..kind },
            _ => kind,
        }
    }
}

fn access(warp: usize, lanes: LaneMask, addresses: &Value, bytes: u32, kind: Kind) -> Access<'_> {
    let reads = !kind.writes;
    Access {
        warp,
        lanes,
        pc: Pc(0),
        space: Space::Shared,
        addresses,
        bytes,
        kind,
        reads,
        stored: &[],
        maybe: None,
        variable: None,
        is_anchored: false,
        root: None,
    }
}

/// What a lane did to a byte.
struct Touch {
    warp: usize,
    lane: usize,
    when: Moment,
    kind: Kind,
}

impl Touch {
    fn is_before(&self, warp: usize, lane: usize, order: &Order) -> bool {
        if self.warp == warp {
            return order.unordered_lanes(warp, self.when, 1 << self.lane, lane) == 0;
        }
        order.is_before(self.warp, self.when, 1 << self.lane, warp)
    }
}

/// Every pair of touches of a byte, one by one.
#[derive(Default)]
struct Pairs {
    touched: BTreeMap<u64, Vec<Touch>>,
    racing: BTreeMap<u64, Conflict>,
}

impl Pairs {
    fn access(&mut self, access: &Access<'_>, order: &Order) {
        let (warp, kind) = (access.warp, access.kind);
        for lane in lanes(access.lanes) {
            let first = access.addresses.lane(lane);
            for byte in first..first + u64::from(access.bytes) {
                let touches = self.touched.entry(byte).or_default();
                for old in touches.iter().filter(|old| !old.is_before(warp, lane, order)) {
                    if let Some(conflict) = conflict(old.kind, kind, true) {
                        let known = self.racing.entry(byte).or_insert(conflict);
                        *known = (*known).max(conflict);
                    }
                }
                touches.push(Touch { warp, lane, when: order.now(warp), kind });
            }
        }
    }
}

/// All warps, or two of them, meet at a barrier; or lanes of one meet.
fn synchronize(random: &mut Random, order: &mut Order) {
    let left = random.warp();
    match random.below(10) {
        0 => {}
        1 => {
            for warp in (0..WARPS).filter(|warp| *warp != left) {
                let waits = random.below(3) > 0;
                order.arrive(Arrival { warp, barrier: 1, waits, pc: Pc(0) });
            }
            return order.complete(1);
        }
        _ => return order.converge(left, random.mask()),
    }
    for warp in 0..WARPS {
        order.arrive(Arrival { warp, barrier: 0, waits: true, pc: Pc(0) });
    }
    order.complete(0);
}

/// Of ten accesses so many write, and after so many of ten some threads synchronize.
fn compare(seed: u64, accesses: u32, writes: u64, meets: u64) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ seed << 32);
    let mut order = Order::new(vec![LaneMask::MAX, LaneMask::MAX, 0x000f_ffff]);
    let (mut shadow, mut pairs) = (Shadow::within(u64::MAX), Pairs::default());
    let mut last = (4, Value::uniform(0));
    for _ in 0..accesses {
        // Some access where the one before did.
        if random.below(4) > 0 {
            let bytes = 1 << random.below(4);
            last = (bytes, random.addresses(bytes));
        }
        let ((bytes, addresses), warp) = (last.clone(), random.warp());
        let kind = random.kind(writes);
        let bytes = u32::try_from(bytes).unwrap_or(1);
        let access = access(warp, random.mask(), &addresses, bytes, kind);
        shadow.access(&access, &order);
        pairs.access(&access, &order);
        if random.below(10) < meets {
            synchronize(&mut random, &mut order);
        }
    }
    assert_eq!(shadow.racing, pairs.racing, "seed {seed}");
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
fn told(past: &[Past]) -> Vec<(u64, usize, u8, u32)> {
    let mut told = Vec::new();
    for own in past {
        for lane in lanes(own.row.lanes) {
            let bytes = places(own.row.bytes_of(lane));
            told.extend(bytes.map(|at| (at, lane, own.warp, own.when.meetings)));
        }
    }
    told.sort_unstable();
    told.dedup();
    told
}

#[test]
fn told_byte_by_byte_a_page_says_the_same() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..200 {
        let mut past = Vec::new();
        for _ in 0..random.below(30) {
            let (warp, addresses) = (random.warp(), random.addresses(4));
            let when = Moment { arrivals: 0, meetings: u32::from(random.below(3) == 0) };
            let own = access(warp, random.mask(), &addresses, 4, Kind::default());
            rows(&own, |number, row| {
                let warp = u8::try_from(warp).unwrap_or(0);
                if number == 0 {
                    past.push(Past { row, when, warp, kind: own.kind });
                }
            });
        }
        assert_eq!(told(&settled(&past)), told(&past));
    }
}

/// Two stores look alike as rows, but another lane of each stores to the first word.
#[test]
fn lanes_that_change_places_race() {
    let order = Order::new(vec![LaneMask::MAX]);
    let place = |first: usize| {
        Value::each(std::array::from_fn(|lane| if lane == first { 0 } else { lane as u64 * 4 }))
    };
    let kind = Kind { element: 4, writes: true, ..Kind::default() };
    let mut shadow = Shadow::within(u64::MAX);
    for lanes in [[1, 3], [1, 5], [1, 3]] {
        let (addresses, mask) = (place(lanes[1]), 1 << lanes[0] | 1 << lanes[1]);
        shadow.access(&access(0, mask, &addresses, 4, kind), &order);
    }
    assert!(shadow.racing.keys().eq(&[0, 1, 2, 3]), "{:?}", shadow.racing);
}
