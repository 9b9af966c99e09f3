//! Brute force: compares what footprints show together with every pair of ctas at every byte.

use std::collections::BTreeMap;

use super::*;
use crate::emulate::{Nearness, Value, WarpId, lanes};
use crate::race::KnownRows;
use crate::race::random::{Random, access};

impl Random {
    /// Mostly all bytes of a page, so that adjacent pages are equal.
    fn bytes(&mut self) -> Bytes {
        [Bytes::MAX, Bytes::MAX, 0xff, 0xff00][usize::try_from(self.below(4)).unwrap_or(0)]
    }
}

type Accesses = Vec<(u32, AccessKind, u64, Bytes)>;

/// Bytes by their pages.
type PageBytes = BTreeMap<u64, Bytes>;

/// The bytes at which accesses of two ctas race, and those at which they conflict and do not race.
fn meetings(all: &Accesses) -> [PageBytes; 2] {
    let mut found = [PageBytes::new(), PageBytes::new()];
    for (at, a) in all.iter().enumerate() {
        for b in all[..at].iter().filter(|b| b.0 != a.0 && b.2 == a.2 && a.3 & b.3 != 0) {
            if let Some(conflict) = conflict(a.1, b.1, Nearness::Grid) {
                *found[usize::from(!conflict.is_race())].entry(a.2).or_default() |= a.3 & b.3;
            }
        }
    }
    found
}

fn by_page(bytes: impl Iterator<Item = u64>) -> PageBytes {
    let mut found = PageBytes::new();
    for byte in bytes {
        *found.entry(byte / PAGE).or_default() |= 1 << (byte % PAGE);
    }
    found
}

fn footprint(accesses: &[(u32, AccessKind, u64, Bytes)]) -> Footprint {
    let mut footprint = Footprint::within(u64::MAX);
    for (_, kind, page, bytes) in accesses {
        footprint.note(*page, (*kind, 0), *bytes);
    }
    footprint
}

#[test]
fn footprints_race_where_accesses_of_two_ctas_conflict() {
    let mut random = Random::new(0);
    let mut met = [0; 2];
    for _ in 0..2000 {
        let mut ctas = LaunchShadow::within(u64::MAX);
        let mut all = Accesses::new();
        for cta in 0..u32::try_from(2 + random.below(6)).unwrap_or(2) {
            let first = all.len();
            for _ in 0..=random.below(3) {
                let (kind, bytes) = (random.kind(3, 4), random.bytes());
                let start = random.below(12);
                let pages = start..start + 1 + random.below(6);
                all.extend(pages.map(|page| (cta, kind, page, bytes)));
            }
            ctas.add(cta, footprint(&all[first..]));
        }
        let found = [by_page(ctas.racing().iter().copied()), by_page(ctas.unsteady())];
        assert_eq!(found, meetings(&all), "{all:?}");
        for (count, own) in met.iter_mut().zip(&found) {
            *count += usize::from(!own.is_empty());
        }
        ctas.assert_whole();
    }
    assert!(met.iter().all(|count| (200..1900).contains(count)), "{met:?} of 2000");
}

impl LaunchShadow {
    /// Checks that runs do not overlap, that adjacent runs differ, and that page accesses are counted.
    fn assert_whole(&self) {
        let runs: Vec<_> = self.runs.iter().collect();
        for pair in runs.windows(2) {
            let ((_, a), (start, b)) = (pair[0], pair[1]);
            assert!(
                a.end < *start || a.end == *start && a.accesses != b.accesses,
                "{a:?} and {b:?}"
            );
        }
        assert!(runs.iter().all(|(start, run)| **start < run.end));
        let cases: usize = runs.iter().map(|(_, run)| run.accesses.len() - 1).sum();
        assert_eq!(cases, self.extra_accesses);
    }
}

#[test]
fn what_all_ctas_read_is_one_run() {
    let read = AccessKind { element: 4, ..AccessKind::default() };
    let write = AccessKind { writes: true, ..read };
    let mut ctas = LaunchShadow::within(u64::MAX);
    for cta in 0..1000 {
        let mut accesses: Accesses = (0..64).map(|page| (cta, read, page, Bytes::MAX)).collect();
        accesses
            .extend((0..8).map(|page| (cta, write, 1000 + u64::from(cta) * 8 + page, Bytes::MAX)));
        ctas.add(cta, footprint(&accesses));
    }
    assert!(ctas.racing().is_empty() && !ctas.is_full());
    assert_eq!(ctas.runs.len(), 1001);
}

#[test]
fn what_takes_more_memory_than_there_is_is_told() {
    let write = AccessKind { writes: true, element: 4, ..AccessKind::default() };
    let mut ctas = LaunchShadow::within(100 * RUN as u64);
    for cta in 0..101_u32 {
        assert!(!ctas.is_full(), "after {cta}");
        ctas.add(cta, footprint(&[(cta, write, u64::from(cta), 1)]));
    }
    assert!(ctas.is_full());
    let mut footprint = Footprint::within(1000);
    (0..100).for_each(|page| footprint.note(page, (write, 0), 1));
    assert!(footprint.is_full());
}

/// Compares the bytes at which accesses of two ctas conflict, lane by lane. Some accesses go where the one before went,
/// or near it, in another cta.
fn compare(seed: u64, count: u32, writes: u64) {
    let mut random = Random::new(seed);
    let mut ctas = LaunchShadow::within(u64::MAX);
    let mut touched: BTreeMap<u64, Vec<(u32, AccessKind)>> = BTreeMap::new();
    let mut met = [BTreeSet::new(), BTreeSet::new()];
    let mut last = (4, Value::uniform(0));
    let (mut cta, mut footprint) = (0, Footprint::within(u64::MAX));
    for _ in 0..count {
        if random.below(3) == 0 {
            ctas.add(cta, std::mem::replace(&mut footprint, Footprint::within(u64::MAX)));
            cta += 1;
        }
        last = match random.below(4) {
            0 => last,
            1 => (last.0, last.1.plus(random.below(5), 64)),
            _ => {
                let bytes = 1 << random.below(5);
                (bytes, random.addresses(bytes))
            }
        };
        let (bytes, addresses) = &last;
        let kind = random.kind(writes, *bytes);
        let bytes = u32::try_from(*bytes).unwrap_or(1);
        let warp = random.warp();
        let access = access(warp, random.mask(warp), addresses, bytes, kind);
        footprint.access(&access, 0, &mut KnownRows::default());
        for lane in lanes(access.lanes) {
            let first = access.addresses.bits_of(lane);
            for byte in first..first + u64::from(access.bytes) {
                let touches = touched.entry(byte).or_default();
                let others = touches.iter().filter(|(other, _)| *other != cta);
                for conflict in others.filter_map(|(_, own)| conflict(*own, kind, Nearness::Grid)) {
                    met[usize::from(!conflict.is_race())].insert(byte);
                }
                touches.push((cta, access.kind));
            }
        }
    }
    ctas.add(cta, footprint);
    assert_eq!([ctas.racing().clone(), ctas.unsteady().collect()], met, "seed {seed}");
    ctas.assert_whole();
}

#[test]
fn accesses_race_where_lanes_of_two_ctas_conflict() {
    for seed in 0..600 {
        compare(seed, 6, 4);
    }
    for seed in 0..60 {
        compare(seed, 60, 2);
    }
}

/// The bytes that race if each of these stores is by another cta.
fn stores(all: &[(u64, u32, AccessKind)]) -> Vec<u64> {
    let mut ctas = LaunchShadow::within(u64::MAX);
    for (cta, (from, bytes, kind)) in (0..).zip(all) {
        let (addresses, mut footprint) = (Value::uniform(*from), Footprint::within(u64::MAX));
        let kind = AccessKind { writes: true, element: 1, ..*kind };
        footprint.access(
            &access(WarpId::new(0), 1, &addresses, *bytes, kind),
            0,
            &mut KnownRows::default(),
        );
        ctas.add(cta, footprint);
    }
    ctas.racing().iter().copied().collect()
}

#[test]
fn an_access_may_race_with_two_ctas_at_different_bytes() {
    let plain = AccessKind::default();
    assert_eq!(stores(&[(124, 2, plain), (130, 2, plain)]), [0_u64; 0]);
    assert_eq!(stores(&[(124, 2, plain), (130, 2, plain), (120, 16, plain)]), [124, 125, 130, 131]);
}

#[test]
fn the_first_byte_of_a_page_races() {
    assert_eq!(stores(&[(128, 1, AccessKind::default()), (125, 4, AccessKind::default())]), [128]);
}

/// A shadow copy conflicts only with accesses that are not shadow copies themselves, among them accesses at congruent
/// addresses.
#[test]
fn shadow_copies_are_compared_with_congruent_accesses() {
    let congruent = AccessKind { may_execute: true, ..AccessKind::default() };
    let copy = AccessKind { is_shadow_copy: true, ..congruent };
    for (first, second, races) in [
        (congruent, copy, true),
        (copy, congruent, true),
        (congruent, congruent, true),
        (copy, copy, false),
    ] {
        let racing = stores(&[(0, 4, first), (0, 4, second)]);
        assert_eq!(racing.len(), if races { 4 } else { 0 }, "{first:?} {second:?}");
    }
}
