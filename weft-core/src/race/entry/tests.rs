//! When two accesses conflict, case by case; and that an access which is dropped loses no conflict, because of the one
//! that covers it.

use super::*;
use crate::emulate::{AccessManner, MemoryOrder, MemoryScope, Nearness, Ordering};
use crate::race::random::{READ, Random, Touch, order, synchronize};

const WRITE: AccessKind = AccessKind { writes: true, ..READ };
const STRONG_READ: AccessKind =
    AccessKind { order: MemoryOrder::new(Ordering::Relaxed, MemoryScope::Gpu), ..READ };
const STRONG_WRITE: AccessKind =
    AccessKind { order: MemoryOrder::new(Ordering::Relaxed, MemoryScope::Gpu), ..WRITE };
const ATOMIC: AccessKind = AccessKind { manner: AccessManner::Atomic, ..STRONG_WRITE };

const fn cta(kind: AccessKind) -> AccessKind {
    AccessKind { order: kind.order.within(MemoryScope::Cta), ..kind }
}

const fn volatile(kind: AccessKind) -> AccessKind {
    AccessKind { order: MemoryOrder::new(Ordering::Volatile, MemoryScope::Gpu), ..kind }
}

const fn apart(kind: AccessKind) -> AccessKind {
    AccessKind { manner: AccessManner::AtomicApart, ..kind }
}

const fn side(kind: AccessKind) -> AccessKind {
    AccessKind { may_execute: true, ..kind }
}

const fn copy(kind: AccessKind) -> AccessKind {
    AccessKind { is_shadow_copy: true, may_execute: true, ..kind }
}

const fn wide(kind: AccessKind) -> AccessKind {
    AccessKind { element: 8, ..kind }
}

/// Each case in both orders: within a cta, and between ctas.
#[test]
fn accesses_conflict() {
    use Conflict::{Possible, Race, Strong, Value};
    let cases = [
        (READ, READ, None, None),
        (STRONG_READ, READ, None, None),
        (READ, WRITE, Some(Race), Some(Race)),
        (WRITE, WRITE, Some(Race), Some(Race)),
        // One of the two is weak.
        (STRONG_READ, WRITE, Some(Race), Some(Race)),
        (ATOMIC, WRITE, Some(Race), Some(Race)),
        (ATOMIC, READ, Some(Race), Some(Race)),
        (STRONG_READ, STRONG_WRITE, Some(Value), Some(Value)),
        (STRONG_WRITE, STRONG_WRITE, Some(Value), Some(Value)),
        (STRONG_READ, ATOMIC, Some(Value), Some(Value)),
        (STRONG_WRITE, ATOMIC, Some(Value), Some(Value)),
        (ATOMIC, ATOMIC, None, None),
        // Volatile ones.
        (volatile(READ), volatile(WRITE), Some(Strong), Some(Strong)),
        (volatile(READ), STRONG_WRITE, Some(Strong), Some(Strong)),
        (STRONG_READ, volatile(WRITE), Some(Strong), Some(Strong)),
        (volatile(WRITE), ATOMIC, Some(Strong), Some(Strong)),
        (volatile(READ), ATOMIC, Some(Value), Some(Value)),
        (volatile(READ), WRITE, Some(Race), Some(Race)),
        (side(volatile(READ)), volatile(WRITE), Some(Possible), Some(Possible)),
        // What no load or store is meant to meet.
        (STRONG_READ, apart(ATOMIC), Some(Strong), Some(Strong)),
        (volatile(READ), apart(ATOMIC), Some(Strong), Some(Strong)),
        (apart(ATOMIC), ATOMIC, None, None),
        // A scope that does not include the other access.
        (cta(STRONG_READ), STRONG_WRITE, Some(Value), Some(Race)),
        (cta(ATOMIC), ATOMIC, None, Some(Race)),
        (cta(ATOMIC), cta(ATOMIC), None, Some(Race)),
        // Different sizes.
        (wide(STRONG_READ), STRONG_WRITE, Some(Race), Some(Race)),
        (wide(STRONG_WRITE), STRONG_WRITE, Some(Race), Some(Race)),
        (wide(ATOMIC), ATOMIC, Some(Race), Some(Race)),
        (wide(ATOMIC), wide(ATOMIC), None, None),
        (wide(READ), WRITE, Some(Race), Some(Race)),
        // Accesses that might not happen.
        (side(READ), WRITE, Some(Possible), Some(Possible)),
        (side(ATOMIC), ATOMIC, None, None),
        (side(STRONG_READ), ATOMIC, Some(Value), Some(Value)),
        (side(cta(STRONG_READ)), ATOMIC, Some(Value), Some(Possible)),
        (side(wide(ATOMIC)), ATOMIC, Some(Possible), Some(Possible)),
        (side(cta(ATOMIC)), ATOMIC, None, Some(Possible)),
        // Shadow copies conflict only with accesses that are not shadow copies themselves.
        (copy(WRITE), copy(WRITE), None, None),
        (copy(WRITE), side(WRITE), Some(Possible), Some(Possible)),
        (copy(READ), WRITE, Some(Possible), Some(Possible)),
    ];
    for (a, b, within, between) in cases {
        for (a, b) in [(a, b), (b, a)] {
            assert_eq!(conflict(a, b, Nearness::Cta), within, "{a:?} {b:?}");
            assert_eq!(conflict(a, b, Nearness::Grid), between, "{a:?} {b:?}");
        }
    }
}

fn kinds() -> Vec<AccessKind> {
    let strong = [STRONG_READ, STRONG_WRITE, ATOMIC, apart(ATOMIC)];
    let plain = [READ, WRITE, volatile(READ), volatile(WRITE)].into_iter().chain(strong);
    let scoped = plain.flat_map(|kind| [kind, cta(kind)]);
    let sized = scoped.flat_map(|kind| [kind, wide(kind)]);
    sized.flat_map(|kind| [kind, side(kind), copy(kind)]).collect()
}

/// Whatever conflicts with a covered access conflicts at least as badly with the one that covers it, in one cta or in
/// two.
#[test]
fn what_is_covered_is_not_missed() {
    let (kinds, mut covered) = (kinds(), 0);
    for (a, b) in kinds.iter().flat_map(|a| kinds.iter().map(move |b| (*a, *b))) {
        if !covers(b, a) {
            continue;
        }
        covered += 1;
        for other in &kinds {
            for nearness in [Nearness::Cta, Nearness::Cluster, Nearness::Grid] {
                let (left, stays) = (conflict(a, *other, nearness), conflict(b, *other, nearness));
                assert!(
                    left <= stays,
                    "{a:?} covered by {b:?} against {other:?}: {left:?} {stays:?}"
                );
            }
        }
    }
    assert!(covered > kinds.len(), "{covered}");
    // Most accesses are repeated, or followed by a plain store.
    assert!(kinds.iter().all(|kind| covers(*kind, *kind) && covers(WRITE, *kind)));
    assert!(!covers(READ, WRITE) && covers(READ, STRONG_READ) && covers(cta(ATOMIC), ATOMIC));
}

/// An entry is dropped only if each of its lanes is ordered before all that the lanes of the later one did.
#[test]
fn entries_cover_what_every_lane_of_theirs_comes_after() {
    let (mut forgotten, mut kept) = (0, 0);
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let mut order = order();
        let (a, b) = (random.kind(7, 4), random.kind(7, 4));
        let warp = random.warp();
        let old = RegionEntry::new(warp, random.mask(warp), a, &order);
        (0..random.below(3)).for_each(|_| synchronize(&mut random, &mut order));
        let warp = random.warp();
        let later = RegionEntry::new(warp, random.mask(warp), b, &order);
        let is_covered = old.is_covered(&later, &order);
        (0..random.below(3)).for_each(|_| synchronize(&mut random, &mut order));
        let touches = |entry: &RegionEntry| {
            let (warp, when, kind) = (entry.warp, entry.when, entry.kind);
            lanes(entry.lanes).map(move |lane| Touch { warp, lane, when, kind }).collect::<Vec<_>>()
        };
        // Every thread that now comes unordered after the old entry is unordered after the later one too.
        let threads =
            (0..3).map(WarpId::new).flat_map(|warp| (0..20).map(move |lane| (warp, lane)));
        let is_missed = |(warp, lane): (WarpId, usize)| {
            let races = |touch: &Touch| {
                (touch.warp, touch.lane) != (warp, lane) && !touch.is_before(warp, lane, &order)
            };
            touches(&old).iter().any(races) && !touches(&later).iter().any(races)
        };
        if is_covered {
            forgotten += 1;
            let missed: Vec<_> = threads.filter(|thread| is_missed(*thread)).collect();
            // A lane that does both accesses itself misses nothing: program order.
            let others = missed
                .iter()
                .filter(|(warp, lane)| later.warp != *warp || later.lanes >> lane & 1 == 0);
            assert_eq!(others.count(), 0, "seed {seed}: {old:?} {later:?} {missed:?}");
        } else {
            kept += 1;
        }
    }
    assert!(forgotten > 100 && kept > 500, "{forgotten} {kept}");
}

#[test]
fn lanes_at_one_moment_are_one_entry() {
    let [first_warp, second_warp] = [0, 1].map(WarpId::new);
    let mut order = order();
    let first = RegionEntry::new(first_warp, 1, READ, &order);
    assert!(first.is_alike(&RegionEntry::new(first_warp, 2, READ, &order)));
    assert!(!first.is_alike(&RegionEntry::new(first_warp, 2, WRITE, &order)));
    assert!(!first.is_alike(&RegionEntry::new(second_warp, 2, READ, &order)));
    order.converge(first_warp, 3);
    assert!(!first.is_alike(&RegionEntry::new(first_warp, 2, READ, &order)));
}
