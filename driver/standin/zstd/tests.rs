//! Frames that were written out by hand, and one of the `zstd` program (1.5.4, `-19 --no-check`), whose contents are known.

use std::fmt::Write;

use super::decompress;

/// A frame whose header says nothing but that it has one byte for the size of its contents.
fn frame(size: u8, blocks: &[&[u8]]) -> Vec<u8> {
    let mut bytes = vec![0x28, 0xb5, 0x2f, 0xfd, 0x20, size];
    bytes.extend(blocks.concat());
    bytes
}

#[test]
fn plain_and_repeated_blocks_are_read() {
    // Three bytes as they are, not the last block: size 3, kind 0. Then five times `x`, the last: size 5, kind 1.
    let bytes = frame(8, &[&[3 << 3, 0, 0], b"abc", &[5 << 3 | 1 << 1 | 1, 0, 0], b"x"]);
    assert_eq!(decompress(&bytes, 8), Some(b"abcxxxxx".to_vec()));
    assert_eq!(decompress(&bytes, 7), None);
    for end in 0..bytes.len() {
        assert_eq!(decompress(&bytes[..end], 8), None, "{end}");
    }
}

#[test]
fn a_block_of_literals_and_one_sequence_is_read() {
    // A compressed block: two literals as they are (`2 << 3`), one sequence, each table of one symbol: literals 2, distance code 2
    // (values from 4 to 7), match code 3 (6 bytes).
    // Distance value 5 means 2 bytes back: extra bits 01. The mark, then these bits: 0b101.
    let block = [2 << 3, b'a', b'b', 1, 0b0101_0100, 2, 2, 3, 0b101];
    let header = [u8::try_from(block.len()).unwrap() << 3 | 2 << 1 | 1, 0, 0];
    assert_eq!(decompress(&frame(8, &[&header, &block]), 8), Some(b"abababab".to_vec()));
    // One bit more than are used, and a distance of 3 from two bytes on.
    let longer = [2 << 3, b'a', b'b', 1, 0b0101_0100, 2, 2, 3, 0b1101];
    assert_eq!(decompress(&frame(8, &[&header, &longer]), 8), None);
    let far = [2 << 3, b'a', b'b', 1, 0b0101_0100, 2, 2, 3, 0b110];
    assert_eq!(decompress(&frame(8, &[&header, &far]), 8), None);
}

#[test]
fn a_frame_of_the_program_is_read_and_damage_is_noticed() {
    let mut lines = String::new();
    for i in 0..400 {
        let (other, number, third) = (i * i % 97, i * 7919 % 1000, i / 3);
        let _ = writeln!(lines, "    mad.lo.s32 %r{i}, %r{other}, {number}, %rd{third};");
    }
    let bytes = include_bytes!("lines.zst");
    assert_eq!(decompress(bytes, lines.len()).as_deref(), Some(lines.as_bytes()));
    assert_eq!(decompress(bytes, lines.len() - 1), None);
    for end in (0..bytes.len()).step_by(7) {
        assert_eq!(decompress(&bytes[..end], lines.len()), None, "{end}");
    }
    // What changes the size or leaves bits is noticed; other changes cannot be without a checksum, but never make a panic.
    for at in (0..bytes.len()).step_by(23) {
        for bit in [0, 3, 7] {
            let mut changed = bytes.to_vec();
            changed[at] ^= 1 << bit;
            let _ = decompress(&changed, lines.len());
        }
    }
}
