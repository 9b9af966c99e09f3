//! Brute force: what a shadow across ctas says, against every pair of accesses of every byte.

use super::*;
use crate::emulate::{Value, lanes};
use crate::race::random::{Random, access};
use std::collections::BTreeMap;

/// Every access of a byte, by cta.
#[derive(Default)]
struct Pairs {
    touched: BTreeMap<u64, Vec<(u32, Kind)>>,
    racing: BTreeSet<u64>,
}

impl Pairs {
    fn access(&mut self, access: &Access<'_>, cta: u32) {
        for lane in lanes(access.lanes) {
            let first = access.addresses.lane(lane);
            for byte in first..first + u64::from(access.bytes) {
                let touches = self.touched.entry(byte).or_default();
                let races = |(other, kind): &(u32, Kind)| {
                    *other != cta && conflict(*kind, access.kind, false).is_some()
                };
                if touches.iter().any(races) {
                    self.racing.insert(byte);
                }
                touches.push((cta, access.kind));
            }
        }
    }
}

/// Some accesses go where the one before went, or near, by another cta.
fn compare(seed: u64, count: u32, writes: u64) {
    let mut random = Random::new(seed);
    let (mut ctas, mut pairs) = (Ctas::new(), Pairs::default());
    let mut alone: BTreeMap<u32, Ctas> = BTreeMap::new();
    let mut last = (4, Value::uniform(0));
    // Ctas run one after another.
    let mut cta = 0;
    for _ in 0..count {
        cta += u32::from(random.below(3) == 0);
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
        let access = access(random.warp(), random.mask(), addresses, bytes, kind);
        ctas.access(&access, cta);
        pairs.access(&access, cta);
        alone.entry(cta).or_default().access(&access, cta);
    }
    assert_eq!(ctas.racing(), &pairs.racing, "seed {seed}");
    let mut joined = Ctas::new();
    alone.into_values().for_each(|cta| joined.take_in(cta));
    assert_eq!(joined.racing(), &pairs.racing, "seed {seed}, side by side");
}

#[test]
fn the_bytes_that_race_are_those_of_all_pairs() {
    for seed in 0..600 {
        compare(seed, 6, 4);
    }
    for seed in 0..60 {
        compare(seed, 60, 2);
    }
}

fn store(ctas: &mut Ctas, cta: u32, from: u64, bytes: u32, kind: Kind) {
    let addresses = Value::uniform(from);
    ctas.access(&access(0, 1, &addresses, bytes, Kind { writes: true, element: 1, ..kind }), cta);
}

#[test]
fn an_access_may_race_with_two_ctas_at_different_bytes() {
    let mut ctas = Ctas::new();
    store(&mut ctas, 0, 124, 2, Kind::default());
    store(&mut ctas, 1, 130, 2, Kind::default());
    assert!(ctas.racing().is_empty());
    store(&mut ctas, 2, 120, 16, Kind::default());
    assert!(ctas.racing().iter().eq(&[124, 125, 130, 131]), "{:?}", ctas.racing());
}

#[test]
fn the_first_byte_of_a_page_races() {
    let mut ctas = Ctas::new();
    store(&mut ctas, 0, 128, 1, Kind::default());
    store(&mut ctas, 1, 125, 4, Kind::default());
    assert!(ctas.racing().iter().eq(&[128]), "{:?}", ctas.racing());
}

/// An access that stands elsewhere for another one meets only those that are there themselves, drifting ones included.
#[test]
fn mirrored_accesses_meet_those_that_drift() {
    let drifting = Kind { is_maybe: true, ..Kind::default() };
    let mirrored = Kind { is_mirror: true, ..drifting };
    for (first, second, races) in [
        (drifting, mirrored, true),
        (mirrored, drifting, true),
        (drifting, drifting, true),
        (mirrored, mirrored, false),
    ] {
        let mut ctas = Ctas::new();
        store(&mut ctas, 0, 0, 4, first);
        store(&mut ctas, 1, 0, 4, second);
        assert_eq!(ctas.racing().len(), if races { 4 } else { 0 }, "{first:?} {second:?}");
    }
}

#[test]
fn a_cta_does_not_race_with_itself() {
    let mut ctas = Ctas::new();
    for from in [0, 2, 0] {
        store(&mut ctas, 3, from, 4, Kind::default());
    }
    assert!(ctas.racing().is_empty());
    store(&mut ctas, 4, 5, 1, Kind { is_strong: true, ..Kind::default() });
    store(&mut ctas, 3, 0, 1, Kind::default());
    assert!(ctas.racing().iter().eq(&[5]), "{:?}", ctas.racing());
}
