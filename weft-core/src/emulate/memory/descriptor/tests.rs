//! Compares the bytes of matrices with those of the canonical layouts, element by element: a coordinate of each element is
//! split into digits, each digit has a stride, and the swizzle moves the bits of the element's address.

use std::collections::BTreeSet;

use super::{MatrixExtent, units};

/// A mode of a layout: the number of values of each digit of a coordinate, lowest first, and how far each goes, in bits.
type Mode = Vec<(u64, u64)>;

/// The fields of a descriptor as they are written, offsets in bytes.
#[derive(Clone, Copy, Debug)]
struct Written {
    start: u64,
    leading: u64,
    stride: u64,
    swizzle: u64,
}

impl Written {
    fn bits(self) -> u64 {
        self.start >> 4 | self.leading >> 4 << 16 | self.stride >> 4 << 32 | self.swizzle << 62
    }

    /// log2 of the number of 16-byte units that a swizzle permutes.
    fn power(self) -> u32 {
        [0, 3, 2, 1][usize::try_from(self.swizzle).unwrap()]
    }
}

fn place(mode: &Mode, mut coordinate: u64) -> u64 {
    let mut bits = 0;
    for (values, stride) in mode {
        bits += coordinate % values * stride;
        coordinate /= values;
    }
    assert_eq!(coordinate, 0, "the mode has too few digits");
    bits
}

/// The modes of lines and of elements within a line, of elements with `size` bits: the table of canonical layouts (PTX ISA
/// §9.7.15.5.1.2).
fn modes(own: Written, size: u64, is_transposed: bool) -> (Mode, Mode) {
    const MANY: u64 = 1 << 20;
    let of_unit = 128 / size;
    let (lead, stride, unit) = (own.leading * 8, own.stride * 8, 128);
    let wide = 1 << own.power();
    match (is_transposed, own.power()) {
        (false, 0) => (vec![(8, unit), (MANY, stride)], vec![(of_unit, size), (2, lead)]),
        (false, _) => (vec![(8, wide * unit), (MANY, stride)], vec![(of_unit, size), (MANY, unit)]),
        (true, 0) => (vec![(of_unit, size), (MANY, stride)], vec![(8, unit), (MANY, lead)]),
        (true, _) => {
            let across = vec![(of_unit, size), (wide, unit), (MANY, lead)];
            (across, vec![(8, wide * unit), (MANY, stride)])
        }
    }
}

/// All bytes of a matrix of this many lines and elements in a line.
fn bytes(
    own: Written,
    size: u64,
    (lines, elements): (u64, u64),
    is_transposed: bool,
) -> BTreeSet<u64> {
    let (across, along) = modes(own, size, is_transposed);
    let mut all = BTreeSet::new();
    for line in 0..lines {
        for element in 0..elements {
            let bit = own.start * 8 + place(&across, line) + place(&along, element);
            let mut byte = bit / 8;
            for at in 0..own.power() {
                byte ^= (byte >> (7 + at) & 1) << (4 + at);
            }
            let count = (size / 8).max(1);
            all.extend(byte..byte + count);
        }
    }
    all
}

fn found(own: Written, extent: MatrixExtent) -> Option<BTreeSet<u64>> {
    let all = units(own.bits(), extent)?;
    assert!(all.is_sorted_by(|a, b| a < b));
    Some(all.into_iter().flat_map(|unit| unit..unit + 16).collect())
}

#[test]
fn a_matrix_has_the_bytes_of_its_elements() {
    let mut compared = 0;
    let offsets = [16, 128, 1024, 4096 + 128];
    for (swizzle, leading, stride) in (0..4)
        .flat_map(|swizzle| offsets.map(|leading| (swizzle, leading)))
        .flat_map(|(swizzle, leading)| offsets.map(|stride| (swizzle, leading, stride)))
    {
        for start in [0, 16, 32, 64, 96, 128, 1024, 1024 + 64, 8192 + 128 + 32] {
            let own = Written { start, leading, stride, swizzle };
            for (size, elements) in [(16, 16), (16, 32), (32, 8), (8, 64)] {
                for lines in [8, 72] {
                    for is_transposed in [false, true] {
                        let is_possible = !is_transposed || size == 16;
                        let bytes_of_line = elements * size / 8;
                        let extent = MatrixExtent { lines, bytes: bytes_of_line, is_transposed };
                        let Some(found) = found(own, extent).filter(|_| is_possible) else {
                            continue;
                        };
                        compared += 1;
                        let expected = bytes(own, size, (lines, elements), is_transposed);
                        assert_eq!(found, expected, "{own:?} {extent:?} of {size} bits");
                    }
                }
            }
        }
    }
    assert!(compared > 1_000, "{compared}");
}

#[test]
fn steps_along_a_tile_cover_it_once() {
    // 64 lines of 64 16-bit elements, swizzled by 128 bytes: four steps of 32 bytes.
    let mut left: BTreeSet<u64> = (2048..2048 + 64 * 128).collect();
    for step in 0..4 {
        let own = Written { start: 2048 + 32 * step, leading: 16, stride: 1024, swizzle: 1 };
        let extent = MatrixExtent { lines: 64, bytes: 32, is_transposed: false };
        for byte in found(own, extent).expect("a step stays in its row") {
            assert!(left.remove(&byte), "{byte} is read twice or not in the tile");
        }
    }
    assert!(left.is_empty());
}

#[test]
fn what_the_manual_does_not_say_is_not_known() {
    let own = Written { start: 1024, leading: 128, stride: 1024, swizzle: 1 };
    let extent = MatrixExtent { lines: 64, bytes: 32, is_transposed: false };
    assert!(units(own.bits(), extent).is_some());
    assert!(units(own.bits() | 1 << 49, extent).is_none(), "a base offset");
    let past = Written { start: 1024 + 112, ..own };
    assert!(units(past.bits(), extent).is_none(), "past the row of the swizzle");
    let long = MatrixExtent { bytes: 64, ..extent };
    assert!(units(Written { swizzle: 0, ..own }.bits(), long).is_none(), "no swizzle");
    assert!(units(Written { swizzle: 3, ..own }.bits(), long).is_none(), "rows of 32 bytes");
    assert!(units(Written { swizzle: 2, ..own }.bits(), long).is_some(), "rows of 64 bytes");
}
