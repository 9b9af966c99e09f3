//! The block format of LZ4, in which fat binaries keep compressed entries (lz4 project, `doc/lz4_Block_format.md`).

/// Decompresses a block that holds exactly `size` bytes; `None` if it is damaged, or holds another number of bytes.
pub(crate) fn decompress(block: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(size.min(block.len().saturating_mul(255)));
    let mut rest = block.iter().copied();
    loop {
        let token = rest.next()?;
        let literals = length(&mut rest, token >> 4)?;
        let run = rest.as_slice_of(literals)?;
        out.extend_from_slice(&run);
        if out.len() > size {
            return None;
        }
        let Some(low) = rest.next() else {
            // The last sequence has no match.
            return (out.len() == size).then_some(out);
        };
        let distance = usize::from(u16::from_le_bytes([low, rest.next()?]));
        let count = length(&mut rest, token & 15)?.checked_add(4)?;
        let from = out.len().checked_sub(distance).filter(|_| distance > 0)?;
        if out.len().checked_add(count)? > size {
            return None;
        }
        // A match might overlap what it makes: it is copied byte by byte.
        for at in from..from + count {
            out.push(out[at]);
        }
    }
}

/// Reads the rest of a length of which a token has the first four bits: 15 means that bytes follow.
fn length(rest: &mut impl Iterator<Item = u8>, first: u8) -> Option<usize> {
    let mut sum = usize::from(first);
    if first == 15 {
        loop {
            let more = rest.next()?;
            sum = sum.checked_add(usize::from(more))?;
            if more < 255 {
                break;
            }
        }
    }
    Some(sum)
}

/// Literals are taken as a whole.
trait Run {
    fn as_slice_of(&mut self, count: usize) -> Option<Vec<u8>>;
}

impl<I: Iterator<Item = u8>> Run for I {
    fn as_slice_of(&mut self, count: usize) -> Option<Vec<u8>> {
        let run: Vec<u8> = self.take(count).collect();
        (run.len() == count).then_some(run)
    }
}

#[cfg(test)]
mod tests {
    use super::decompress;

    /// Vectors written out by hand from the format.
    #[test]
    fn blocks_are_decompressed() {
        // No byte at all: a token without literals, and no match.
        assert_eq!(decompress(&[0x00], 0), Some(Vec::new()));
        assert_eq!(decompress(b"\x30abc", 3), Some(b"abc".to_vec()));
        // "ab", then 4 + 2 bytes from two back, then "cd".
        assert_eq!(decompress(b"\x22ab\x02\x00\x20cd", 10), Some(b"ababababcd".to_vec()));
        // 15 + 255 + 2 literals, and a match of 4 + 15 + 1 from one back.
        let mut block = vec![0xff, 255, 2];
        block.extend([b'x'; 272]);
        block.extend([1, 0, 1, 0x10, b'y']);
        let mut expected = vec![b'x'; 292];
        expected.push(b'y');
        assert_eq!(decompress(&block, 293), Some(expected));
    }

    #[test]
    fn damage_is_refused() {
        for (block, size) in [
            (&b""[..], 0),               // no token
            (b"\x30ab", 3),              // literals missing
            (b"\x30abc", 4),             // fewer bytes than stated
            (b"\x30abc", 2),             // more bytes than stated
            (b"\x10a\x00\x00\x10b", 6),  // distance 0
            (b"\x10a\x02\x00\x10b", 6),  // further back than the start
            (b"\x10a\x01", 6),           // half a distance
            (b"\x1fa\x01\x00\xff", 300), // a length that does not end
        ] {
            assert_eq!(decompress(block, size), None, "{block:?}");
        }
    }

    /// A compressor of the plainest kind: every repetition of four bytes or more becomes a match.
    fn compress(data: &[u8]) -> Vec<u8> {
        let (mut block, mut start, mut at) = (Vec::new(), 0, 0);
        let sequence = |block: &mut Vec<u8>, literals: &[u8], found: Option<(usize, usize)>| {
            let nibble = |n: usize| u8::try_from(n.min(15)).unwrap();
            let more = found.map_or(0, |(_, count)| count - 4);
            block.push(nibble(literals.len()) << 4 | nibble(more));
            let tail = |block: &mut Vec<u8>, n: usize| {
                if n >= 15 {
                    block.extend(vec![255; (n - 15) / 255]);
                    block.push(u8::try_from((n - 15) % 255).unwrap());
                }
            };
            tail(block, literals.len());
            block.extend_from_slice(literals);
            if let Some((distance, _)) = found {
                block.extend(u16::try_from(distance).unwrap().to_le_bytes());
                tail(block, more);
            }
        };
        while at < data.len() {
            let length = |from: usize| {
                (at..data.len()).take_while(|to| data[*to] == data[*to - at + from]).count()
            };
            let best = (at.saturating_sub(300)..at)
                .map(|from| (at - from, length(from)))
                .max_by_key(|(_, n)| *n);
            match best.filter(|(_, count)| *count >= 4) {
                Some((distance, count)) => {
                    sequence(&mut block, &data[start..at], Some((distance, count)));
                    at += count;
                    start = at;
                }
                None => at += 1,
            }
        }
        sequence(&mut block, &data[start..], None);
        block
    }

    #[test]
    fn what_was_compressed_comes_back() {
        let mut random = 7_u64;
        let mut next = move |bound: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % bound
        };
        for _ in 0..300 {
            let letters = 1 + next(4);
            let data: Vec<u8> =
                (0..next(900)).map(|_| u8::try_from(next(letters)).unwrap()).collect();
            let block = compress(&data);
            assert_eq!(decompress(&block, data.len()), Some(data.clone()));
            // Every shorter block is damaged, and damage never makes a panic.
            for end in 0..block.len() {
                let _ = decompress(&block[..end], data.len());
            }
        }
    }
}
