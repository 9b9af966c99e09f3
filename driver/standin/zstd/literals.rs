//! Literals of a block (RFC 8878, section 3.1.1.3.1).

use super::prefix::Prefix;
use super::{BLOCK, take};

/// What later blocks need of earlier ones.
#[derive(Debug, Default)]
pub(super) struct Literals {
    code: Option<Prefix>,
}

impl Literals {
    /// Reads the literals from the front of a block.
    pub(super) fn read(&mut self, block: &mut &[u8]) -> Option<Vec<u8>> {
        let first = *block.first()?;
        let (kind, format) = (first & 3, first >> 2 & 3);
        if kind < 2 {
            // The size has 5, 12 or 20 bits.
            let (bytes, skipped) = [(1, 3), (2, 4), (1, 3), (3, 4)][usize::from(format)];
            let size = usize::try_from(number(take(block, bytes)?) >> skipped).ok()?;
            return match kind {
                0 => take(block, size).map(<[u8]>::to_vec),
                _ => Some(vec![take(block, 1)?[0]; Some(size).filter(|size| *size <= BLOCK)?]),
            };
        }
        let (bytes, width) = [(3, 10), (3, 10), (4, 14), (5, 18)][usize::from(format)];
        let sizes = number(take(block, bytes)?) >> 4;
        let mask = (1 << width) - 1;
        let size = usize::try_from(sizes & mask).ok().filter(|size| *size <= BLOCK)?;
        let mut streams = take(block, usize::try_from(sizes >> width & mask).ok()?)?;
        if kind == 2 {
            self.code = Some(Prefix::read(&mut streams)?);
        }
        let code = self.code.as_ref()?;
        let mut out = Vec::new();
        if format == 0 {
            code.decode(streams, size, &mut out)?;
            return Some(out);
        }
        // Four streams: the lengths of three, then all of them.
        let lengths = take(&mut streams, 6)?;
        let each = size.div_ceil(4);
        for length in lengths.chunks_exact(2) {
            let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
            code.decode(take(&mut streams, length)?, each, &mut out)?;
        }
        code.decode(streams, size.checked_sub(3 * each)?, &mut out)?;
        Some(out)
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
