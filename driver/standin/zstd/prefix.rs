//! Huffman codes (RFC 8878, section 4.2).

use super::bits::Backwards;
use super::states::States;
use super::take;

/// A code: for each pattern of its longest length, a symbol and how many bits it has.
#[derive(Debug, Clone)]
pub(super) struct Prefix {
    rows: Vec<(u8, u32)>,
    longest: u32,
}

/// Longest code that the format allows.
const LONGEST: u32 = 11;

impl Prefix {
    /// Reads the description of a code from the front of bytes.
    pub(super) fn read(rest: &mut &[u8]) -> Option<Self> {
        let header = usize::from(take(rest, 1)?[0]);
        let weights = if header < 128 {
            compressed_weights(take(rest, header)?)?
        } else {
            let count = header - 127;
            let bytes = take(rest, count.div_ceil(2))?;
            let nibbles = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
            nibbles.take(count).collect()
        };
        Prefix::new(weights)
    }

    /// Builds the code of symbols with these weights; that of the last symbol follows from the others.
    fn new(mut weights: Vec<u8>) -> Option<Self> {
        let share = |weight: u8| if weight == 0 { 0 } else { 1_u32 << (weight - 1) };
        if weights.len() > 255 || weights.iter().any(|weight| u32::from(*weight) > LONGEST) {
            return None;
        }
        let sum: u32 = weights.iter().copied().map(share).sum();
        let longest = sum.checked_ilog2()? + 1;
        let left = (1 << longest) - sum;
        if longest > LONGEST || !left.is_power_of_two() {
            return None;
        }
        weights.push(u8::try_from(left.ilog2() + 1).ok()?);
        // Symbols of the longest codes come first, those of one length in their own order.
        let mut rows = Vec::new();
        for weight in 1..=u8::try_from(longest).ok()? {
            for (symbol, _) in weights.iter().enumerate().filter(|(_, own)| **own == weight) {
                let row = (u8::try_from(symbol).ok()?, longest + 1 - u32::from(weight));
                rows.extend(vec![row; share(weight) as usize]);
            }
        }
        (rows.len() == 1 << longest).then_some(Prefix { rows, longest })
    }

    /// Decodes `count` symbols that fill a stream.
    pub(super) fn decode(&self, stream: &[u8], count: usize, out: &mut Vec<u8>) -> Option<()> {
        let mut bits = Backwards::new(stream)?;
        for _ in 0..count {
            let (symbol, length) = self.rows[bits.peek(self.longest) as usize];
            bits.pass(length);
            out.push(symbol);
        }
        (bits.left() == 0).then_some(())
    }
}

/// Reads weights that two alternating states give, until the stream ends.
fn compressed_weights(bytes: &[u8]) -> Option<Vec<u8>> {
    let (table, length) = States::read(bytes, 6)?;
    let mut bits = Backwards::new(bytes.get(length..)?)?;
    let (mut one, mut other) = (table.first(&mut bits), table.first(&mut bits));
    let mut weights = Vec::new();
    while weights.len() < 255 {
        weights.push(table.symbol(one)?);
        one = table.next(one, &mut bits)?;
        if bits.left() < 0 {
            weights.push(table.symbol(other)?);
            return Some(weights);
        }
        std::mem::swap(&mut one, &mut other);
    }
    None
}
