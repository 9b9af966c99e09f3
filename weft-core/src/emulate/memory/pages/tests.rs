//! What a memory returns after stores, after writes at open addresses, and beyond its limits.
use std::sync::Arc;

use super::*;
use crate::flow::Pc;

const NOWHERE: View<'_> = View { unwritten: Origin::Unwritten(Pc(0)), guards: None };

#[test]
fn reads_back_what_was_written_byte_by_byte() {
    let mut symbolics = Symbolics::default();
    let mut memory = Memory::default();
    memory.store(124, 8, Lane::known(0x1122_3344_5566_7788));
    assert_eq!(memory.load(126, 4, NOWHERE, &mut symbolics), Lane::known(0x3344_5566));
    memory.store(127, 1, Lane::known(0xaa));
    assert_eq!(memory.load(124, 8, NOWHERE, &mut symbolics), Lane::known(0x1122_3344_aa66_7788));
}

#[test]
fn an_open_value_is_itself_only_when_read_whole() {
    let mut symbolics = Symbolics::default();
    let stored = Lane { bits: 7, symbol: Some(symbolics.initial(Origin::Argument(2), 0, 4)) };
    let mut memory = Memory::default();
    memory.store(16, 4, stored);
    assert_eq!(memory.load(16, 4, NOWHERE, &mut symbolics), stored);
    let half = memory.load(16, 2, NOWHERE, &mut symbolics).symbol.unwrap();
    assert!(!symbolics.is_stable(half));
    assert_eq!(symbolics.origin(half), Some(Origin::Argument(2)));
    memory.store(18, 1, Lane::known(0));
    let mixed = memory.load(16, 4, NOWHERE, &mut symbolics).symbol.unwrap();
    assert!(!symbolics.is_stable(mixed));
}

#[test]
fn memories_that_hold_the_same_are_equal() {
    let mut symbolics = Symbolics::default();
    let open = Lane::open(symbolics.initial(Origin::Argument(2), 0, 4));
    let (mut one, mut other) = (Memory::default(), Memory::default());
    one.store(8, 4, open);
    one.store(16, 4, Lane::known(3));
    other.store(16, 8, open);
    assert_ne!(one, other);
    one.store(20, 4, Lane::known(0));
    one.store(8, 4, Lane::known(5));
    other.store(8, 4, Lane::known(5));
    other.store(16, 8, Lane::known(3));
    assert_eq!(one, other);
    other.store(8, 4, open);
    assert_ne!(one, other);
}

#[test]
fn the_address_space_has_an_end() {
    let mut symbolics = Symbolics::default();
    let open = Lane { bits: 0, symbol: Some(symbolics.initial(Origin::Argument(2), 0, 8)) };
    let mut memory = Memory::default();
    memory.store(u64::MAX - 7, 8, open);
    memory.store(u64::MAX - 3, 4, Lane::known(9));
    assert_eq!(memory.load(u64::MAX - 3, 4, NOWHERE, &mut symbolics), Lane::known(9));
    assert_ne!(memory.load(u64::MAX - 7, 8, NOWHERE, &mut symbolics), open);
}

#[test]
fn what_is_not_kept_is_open() {
    let mut symbolics = Symbolics::default();
    let mut memory = Memory::default();
    for page in 0..2 * MAX_OWN as u64 {
        memory.store(page * PAGE, 4, Lane::known(page));
    }
    assert!(memory.held().pages <= MAX_OWN);
    assert_eq!(
        memory.load((2 * MAX_OWN as u64 - 1) * PAGE, 4, NOWHERE, &mut symbolics).symbol,
        None
    );
    let lost = memory.load(0, 4, NOWHERE, &mut symbolics).symbol.unwrap();
    assert_eq!(symbolics.origin(lost), Some(Origin::Unkept));
}

#[test]
fn initial_contents_are_one_value() {
    let mut symbolics = Symbolics::default();
    let segment = Segment {
        start: 0x1000,
        size: 64,
        contents: [1, 2, 3, 4].into(),
        gaps: Arc::default(),
        zeros_follow: false,
        origin: Origin::Contents(0),
    };
    let memory = Memory::new(vec![segment]);
    assert_eq!(memory.load(0x1000, 4, NOWHERE, &mut symbolics), Lane::known(0x0403_0201));
    let (a, b) = (
        memory.load(0x1008, 4, NOWHERE, &mut symbolics),
        memory.load(0x1008, 4, NOWHERE, &mut symbolics),
    );
    assert_eq!(a, b);
    assert!(a.symbol.is_some_and(|symbol| symbolics.is_stable(symbol)));
}

const ELSEWHERE: Origin = Origin::Argument(7);

fn known(memory: &Memory, address: u64, size: u32, symbolics: &mut Symbolics) -> Option<u64> {
    let lane = memory.load(address, size, NOWHERE, symbolics);
    lane.symbol.is_none().then_some(lane.bits)
}

/// Every extent around the ends of pages: bytes in it are open, other bytes are as before, and what is written later is
/// known.
#[test]
fn a_piece_is_forgotten_to_the_byte() {
    let edges = [0, 1, 7, 120, 127, 128, 129, 135, 255, 256, 300];
    let ends = edges.iter().flat_map(|first| edges.iter().map(move |last| (*first, *last)));
    for extent in ends.filter(|(first, last)| first <= last) {
        let mut symbolics = Symbolics::default();
        let mut memory = Memory::default();
        (0..320).for_each(|at| memory.store(at, 1, Lane::known(at & 0xff)));
        memory.forget(extent, ELSEWHERE, &symbolics);
        memory.store(200, 1, Lane::known(1));
        let is_open = |at: u64| (extent.0..=extent.1).contains(&at) && at != 200;
        for at in 0..320 {
            let expected = if at == 200 { 1 } else { at & 0xff };
            let read = known(&memory, at, 1, &mut symbolics);
            assert_eq!(read, (!is_open(at)).then_some(expected), "{extent:?} {at}");
            let wide = (at..at + 4).any(|at| is_open(at) || at >= 320);
            assert_eq!(known(&memory, at, 4, &mut symbolics).is_none(), wide, "{extent:?} {at}");
        }
        memory.forget(extent, ELSEWHERE, &symbolics);
        let is_in = (extent.0..=extent.1).contains(&200);
        assert_eq!(known(&memory, 200, 1, &mut symbolics), (!is_in).then_some(1), "{extent:?}");
    }
}

/// Contents that the launch gives are forgotten as stored ones are.
#[test]
fn contents_are_forgotten_piece_by_piece() {
    let segment = |start: u64| Segment {
        start,
        size: 64,
        contents: Arc::from([5; 64]),
        gaps: Arc::default(),
        zeros_follow: false,
        origin: Origin::Contents(0),
    };
    let mut symbolics = Symbolics::default();
    let mut memory = Memory::new(vec![segment(0x1000), segment(0x2000)]);
    memory.forget((0x1010, 0x1017), ELSEWHERE, &symbolics);
    assert_eq!(known(&memory, 0x100f, 1, &mut symbolics), Some(5));
    assert_eq!(known(&memory, 0x1010, 1, &mut symbolics), None);
    assert_eq!(known(&memory, 0x1017, 1, &mut symbolics), None);
    assert_eq!(known(&memory, 0x1018, 8, &mut symbolics), Some(0x0505_0505_0505_0505));
    assert_eq!(known(&memory, 0x100c, 8, &mut symbolics), None);
    assert_eq!(known(&memory, 0x2000, 4, &mut symbolics), Some(0x0505_0505));
    let lost = memory.load(0x1010, 4, NOWHERE, &mut symbolics).symbol.unwrap();
    assert_eq!(symbolics.origin(lost), Some(ELSEWHERE));
    memory.forget(ALL, Origin::Register, &symbolics);
    assert_eq!(known(&memory, 0x2000, 4, &mut symbolics), None);
}

/// An open value of which some bytes were forgotten is no longer the stored value.
#[test]
fn parts_of_open_values_are_forgotten() {
    for (at, extent) in [(124, (128, 200)), (120, (124, 127)), (124, (0, 127)), (64, (71, 71))] {
        let mut symbolics = Symbolics::default();
        let open = Lane::open(symbolics.initial(Origin::Argument(2), 0, 8));
        let mut memory = Memory::default();
        memory.store(at, 8, open);
        assert_eq!(memory.load(at, 8, NOWHERE, &mut symbolics), open);
        memory.forget(extent, ELSEWHERE, &symbolics);
        assert_ne!(memory.load(at, 8, NOWHERE, &mut symbolics), open, "{at} {extent:?}");
    }
}

/// A piece stays forgotten when others are forgotten too: neighbours, parts of it, and pieces that contain it.
#[test]
fn pieces_add_up() {
    let extents = [(0, 63), (64, 127), (32, 95), (128, 200), (10, 20), (0, 300)];
    for (first, second) in extents.iter().flat_map(|a| extents.iter().map(move |b| (*a, *b))) {
        let mut symbolics = Symbolics::default();
        let mut memory = Memory::default();
        (0..320).for_each(|at| memory.store(at, 1, Lane::known(at & 0xff)));
        memory.forget(first, ELSEWHERE, &symbolics);
        memory.forget(second, Origin::Register, &symbolics);
        for at in 0..320 {
            let is_in = |(first, last): Extent| (first..=last).contains(&at);
            let is_open = known(&memory, at, 1, &mut symbolics).is_none();
            assert_eq!(is_open, is_in(first) || is_in(second), "{first:?} {second:?} {at}");
        }
    }
}
