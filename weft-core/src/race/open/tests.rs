//! Brute force: compares what the second analysis finds on accesses at open addresses with every pair of threads.

use super::*;
use crate::emulate::{AccessManner, MemoryOrder, MemoryScope, Nearness, Ordering, Value};
use crate::flow::Pc;
use crate::race::random::{READ, Random, Touch, access, order, synchronize};

/// An access of one thread, at an open or a known address.
#[derive(Clone, Copy, Debug)]
struct One {
    touch: Touch,
    region: MemoryRegion,
    class: Option<AliasClass>,
    decides: bool,
    open: Option<OpenAccess>,
}

/// Compares every pair of threads whose accesses might be in one region.
#[derive(Default)]
struct CellPairs {
    all: Vec<One>,
    doubtful: BTreeSet<OpenAccess>,
    unsettled: BTreeSet<MemoryRegion>,
}

impl CellPairs {
    fn add(&mut self, new: &[One], order: &Order) {
        for (at, own) in new.iter().enumerate() {
            let Touch { warp, lane, .. } = own.touch;
            let is_unordered = |old: &&One| {
                (old.touch.warp, old.touch.lane) != (warp, lane)
                    && !old.touch.is_before(warp, lane, order)
            };
            // Lanes of one instruction can access the same address too.
            let unordered: Vec<One> =
                self.all.iter().filter(is_unordered).chain(&new[..at]).copied().collect();
            for old in unordered {
                self.meet(old, *own);
            }
        }
        self.all.extend(new);
    }

    fn meet(&mut self, a: One, b: One) {
        let is_open = a.open.is_some() || b.open.is_some();
        let conflict = conflict(a.touch.kind, b.touch.kind, Nearness::Cta);
        let Some(conflict) = conflict.filter(|_| is_open && a.region.may_overlap(b.region)) else {
            return;
        };
        for (store, load) in [(a, b), (b, a)] {
            if store.open.is_some() && store.touch.kind.writes && load.decides {
                self.unsettled.insert(store.region);
            }
        }
        let is_mixed = a.touch.kind.writes && b.touch.kind.writes;
        let is_apart = a.region != b.region || a.class.is_none() || a.class != b.class;
        let open = || a.open.into_iter().chain(b.open);
        if is_apart && is_mixed && !conflict.is_race() {
            self.unsettled.extend(open().filter(|own| own.kind.writes).map(|own| own.region));
        }
        if is_apart && conflict.is_race() {
            self.doubtful.extend(open());
        }
    }
}

/// A variable of shared memory, or none.
fn variable(random: &mut Random) -> Option<usize> {
    [None, Some(0), Some(0), Some(1)][usize::try_from(random.below(4)).unwrap_or(0)]
}

/// Compares for `count` random accesses. `are_alike`: they are of few kinds in one region, so that most replace another
/// or merge with it.
fn compare(seed: u64, count: u32, are_alike: bool) -> (usize, usize) {
    let mut random = Random::new(seed);
    let mut order = order();
    let mut accesses = OpenAccesses::default().ordered();
    let mut pairs = CellPairs::default();
    for at in 0..count {
        let warp = random.warp();
        let mask = random.mask(warp);
        let mut kind = random.kind(5, 4);
        kind.is_shadow_copy = false;
        let mut region = MemoryRegion { is_global: false, base: variable(&mut random) };
        if are_alike {
            let is_strong = random.below(4) == 0;
            let ordering = if is_strong { Ordering::Relaxed } else { Ordering::Weak };
            let order = MemoryOrder::new(ordering, MemoryScope::Gpu);
            kind = AccessKind { writes: kind.writes, order, ..READ };
            region.base = Some(0);
        }
        let alias_class = (random.below(3) == 0).then(AliasClass::default);
        let mut one = One {
            touch: Touch { warp, lane: 0, when: order.now(warp), kind },
            region,
            class: alias_class,
            decides: false,
            open: None,
        };
        if random.below(if are_alike { 4 } else { 2 }) == 0 {
            let pc = Pc(if are_alike { 0 } else { at });
            let access =
                OpenAccess { pc, region, kind, origin: None, class: alias_class, index: None };
            one.open = Some(access);
            accesses.open(access, warp, mask, &order);
        } else {
            one.decides = random.below(2) == 0;
            let addresses = Value::affine(0, 4);
            let new_access = access(warp, mask, &addresses, 4, kind);
            let (variable, decides) = (region.base, one.decides);
            accesses.known(&Access { variable, class: alias_class, decides, ..new_access }, &order);
        }
        let of = |lane| One { touch: Touch { lane, ..one.touch }, ..one };
        let new: Vec<One> = lanes(mask).map(of).collect();
        pairs.add(&new, &order);
        (0..random.below(3)).for_each(|_| synchronize(&mut random, &mut order));
    }
    assert_eq!(accesses.doubtful, pairs.doubtful, "seed {seed}");
    assert_eq!(accesses.unsettled, pairs.unsettled, "seed {seed}");
    // One access for each instruction is reported.
    let said: BTreeSet<Pc> = accesses.doubtful(false).iter().map(|open| open.pc).collect();
    let doubtful: BTreeSet<Pc> = pairs.doubtful.iter().map(|open| open.pc).collect();
    assert_eq!(said, doubtful, "seed {seed}");
    assert_eq!(accesses.unsettled(false), pairs.unsettled, "seed {seed}");
    (pairs.doubtful.len(), pairs.unsettled.len())
}

#[test]
fn the_second_look_says_what_all_pairs_say() {
    let mut found = (0, 0);
    for seed in 0..1500 {
        let (doubtful, unsettled) = compare(seed, 4, false);
        found = (found.0 + doubtful, found.1 + unsettled);
    }
    for seed in 0..150 {
        compare(seed, 16, false);
    }
    for seed in 0..3000 {
        compare(seed, 4 + u32::try_from(seed % 4).unwrap_or(0), true);
    }
    assert!(found.0 > 500 && found.1 > 50, "{found:?}");
}

const ATOMIC: AccessKind = AccessKind {
    writes: true,
    manner: AccessManner::Atomic,
    order: MemoryOrder::new(Ordering::Relaxed, MemoryScope::Gpu),
    ..READ
};

/// An address of shared memory and the same number in global memory are different.
#[test]
fn spaces_are_separate() {
    let order = order();
    for (is_global, expected) in [(true, false), (false, true)] {
        let mut accesses = OpenAccesses::default();
        let (pc, region, kind) = (Pc(0), MemoryRegion { is_global, base: Some(0) }, READ);
        let open = OpenAccess { pc, region, kind, origin: None, class: None, index: None };
        accesses.open(open, WarpId::new(0), 1, &order);
        let addresses = Value::uniform(0);
        let access = access(WarpId::new(1), 1, &addresses, 4, AccessKind { writes: true, ..READ });
        accesses.known(&Access { variable: Some(0), ..access }, &order);
        assert_eq!(!accesses.doubtful(false).is_empty(), expected, "{is_global}");
    }
}

/// Whether an access of a lane to a buffer at an open address might conflict with the same access in another cta.
fn doubtful_between_ctas(kind: AccessKind, with: Option<(AccessKind, bool)>) -> (bool, bool) {
    let order = order();
    let open = OpenAccess {
        pc: Pc(0),
        region: MemoryRegion { is_global: true, base: Some(0) },
        kind,
        origin: None,
        class: None,
        index: None,
    };
    // The answers of the first and of the second analysis.
    [OpenAccesses::default(), OpenAccesses::default().ordered()]
        .map(|mut accesses| {
            accesses.open(open, WarpId::new(0), 1, &order);
            if let Some((kind, decides)) = with {
                let addresses = Value::uniform(0x5000_0000_0000_0000 + (1 << 42));
                assert_eq!(argument_of(addresses.bits_of(0)), Some(0));
                let access = access(WarpId::new(0), 1, &addresses, 4, kind);
                accesses.known(&Access { space: Space::Global, decides, ..access }, &order);
            }
            (!accesses.doubtful(true).is_empty(), !accesses.unsettled(true).is_empty())
        })
        .into_iter()
        .reduce(|one, other| {
            assert_eq!(one, other);
            one
        })
        .unwrap_or_default()
}

/// Nothing orders ctas, and a scope of a cta includes no other cta.
#[test]
fn accesses_at_open_addresses_meet_those_of_other_ctas() {
    let cta = |kind: AccessKind| AccessKind { order: kind.order.within(MemoryScope::Cta), ..kind };
    let (reads, writes) = (READ, AccessKind { writes: true, ..READ });
    for (kind, with, expected) in [
        (ATOMIC, None, (false, false)),
        (cta(ATOMIC), None, (true, false)),
        (reads, None, (false, false)),
        (writes, None, (true, false)),
        (ATOMIC, Some((ATOMIC, false)), (false, false)),
        (ATOMIC, Some((cta(ATOMIC), false)), (true, false)),
        (ATOMIC, Some((AccessKind { element: 8, ..ATOMIC }, false)), (true, false)),
        (reads, Some((reads, true)), (false, false)),
        (reads, Some((writes, false)), (true, false)),
        (ATOMIC, Some((reads, false)), (true, false)),
        (ATOMIC, Some((reads, true)), (true, true)),
    ] {
        assert_eq!(doubtful_between_ctas(kind, with), expected, "{kind:?} {with:?}");
    }
}
