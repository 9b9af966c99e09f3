//! Brute force: what footprints say together, against every pair of ctas at every byte.

use std::collections::BTreeMap;

use super::*;

/// What looks random (xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    fn kind(&mut self) -> Kind {
        let kind = Kind { element: 4, ..Kind::default() };
        match self.below(8) {
            0..4 => kind,
            4 => Kind { is_strong: true, is_atomic: true, writes: true, ..kind },
            5 => Kind { is_strong: true, is_cta_scoped: true, ..kind },
            6 => Kind { is_maybe: true, writes: true, ..kind },
            _ => Kind { writes: true, ..kind },
        }
    }

    /// All bytes of a page mostly, so that neighbours are alike.
    fn bytes(&mut self) -> Bytes {
        [Bytes::MAX, Bytes::MAX, 0xff, 0xff00][usize::try_from(self.below(4)).unwrap_or(0)]
    }
}

type Accesses = Vec<(u32, Kind, u64, Bytes)>;

/// By page, the bytes at which accesses of two ctas conflict.
fn racing(all: &Accesses) -> BTreeMap<u64, Bytes> {
    let mut racing = BTreeMap::new();
    for (at, a) in all.iter().enumerate() {
        for b in all[..at].iter().filter(|b| b.0 != a.0 && b.2 == a.2) {
            if conflict(a.1, b.1, false).is_some() && a.3 & b.3 != 0 {
                *racing.entry(a.2).or_default() |= a.3 & b.3;
            }
        }
    }
    racing
}

fn footprint(own: &[(u32, Kind, u64, Bytes)]) -> Footprint {
    let mut footprint = Footprint::within(u64::MAX);
    for (_, kind, page, bytes) in own {
        footprint.note(*page, *kind, *bytes);
    }
    footprint
}

#[test]
fn footprints_race_where_accesses_of_two_ctas_conflict() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut raced = 0;
    for _ in 0..2000 {
        let mut ctas = Ctas::within(u64::MAX);
        let mut all = Accesses::new();
        for cta in 0..u32::try_from(2 + random.below(6)).unwrap_or(2) {
            let first = all.len();
            for _ in 0..=random.below(3) {
                let (kind, bytes) = (random.kind(), random.bytes());
                let start = random.below(12);
                let pages = start..start + 1 + random.below(6);
                all.extend(pages.map(|page| (cta, kind, page, bytes)));
            }
            ctas.add(cta, footprint(&all[first..]));
        }
        let mut found: BTreeMap<u64, Bytes> = BTreeMap::new();
        for byte in ctas.racing() {
            *found.entry(byte / PAGE).or_default() |= 1 << (byte % PAGE);
        }
        assert_eq!(found, racing(&all), "{all:?}");
        raced += usize::from(!found.is_empty());
        ctas.assert_whole();
    }
    assert!((500..1900).contains(&raced), "{raced} of 2000 race");
}

impl Ctas {
    /// Runs are apart, none goes on with what the one before holds, and ways are counted.
    fn assert_whole(&self) {
        let runs: Vec<_> = self.runs.iter().collect();
        for pair in runs.windows(2) {
            let ((_, a), (start, b)) = (pair[0], pair[1]);
            assert!(a.end < *start || a.end == *start && a.ways != b.ways, "{a:?} and {b:?}");
        }
        assert!(runs.iter().all(|(start, run)| **start < run.end));
        let ways: usize = runs.iter().map(|(_, run)| run.ways.len() - 1).sum();
        assert_eq!(ways, self.ways);
    }
}

#[test]
fn what_all_ctas_read_is_one_run() {
    let read = Kind { element: 4, ..Kind::default() };
    let write = Kind { writes: true, ..read };
    let mut ctas = Ctas::within(u64::MAX);
    for cta in 0..1000 {
        let mut own: Accesses = (0..64).map(|page| (cta, read, page, Bytes::MAX)).collect();
        own.extend((0..8).map(|page| (cta, write, 1000 + u64::from(cta) * 8 + page, Bytes::MAX)));
        ctas.add(cta, footprint(&own));
    }
    assert!(ctas.racing().is_empty() && !ctas.is_full());
    assert_eq!(ctas.runs.len(), 1001);
}

#[test]
fn what_takes_more_memory_than_there_is_is_told() {
    let write = Kind { writes: true, element: 4, ..Kind::default() };
    let mut ctas = Ctas::within(100 * RUN as u64);
    for cta in 0..101_u32 {
        assert!(!ctas.is_full(), "after {cta}");
        ctas.add(cta, footprint(&[(cta, write, u64::from(cta), 1)]));
    }
    assert!(ctas.is_full());
    let mut footprint = Footprint::within(1000);
    (0..100).for_each(|page| footprint.note(page, write, 1));
    assert!(footprint.is_full());
}
