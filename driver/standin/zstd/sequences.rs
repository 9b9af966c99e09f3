//! Sequences of a block: literals to take, and bytes to copy from what was decompressed before (RFC 8878, sections 3.1.1.3.2 to
//! 3.1.1.5).

use super::bits::Backwards;
use super::states::States;
use super::{BLOCK, take};

/// What later blocks need of earlier ones.
#[derive(Debug)]
pub(super) struct Sequences {
    tables: [Option<States>; 3],
    /// The last three distances.
    recent: [usize; 3],
}

impl Default for Sequences {
    fn default() -> Self {
        Sequences { tables: [None, None, None], recent: [1, 4, 8] }
    }
}

/// The three kinds of codes, in the order of their tables: most states, states of the predefined table, its counts.
const KINDS: [(u32, u32, &[i32]); 3] = [(9, 6, &LITERALS), (8, 5, &DISTANCES), (9, 6, &MATCHES)];

const LITERALS: [i32; 36] = [
    4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1,
    -1, -1, -1, -1,
];
const DISTANCES: [i32; 29] =
    [1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1];
const MATCHES: [i32; 53] = [
    1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
];
/// Extra bits of the codes of literals from 16 on, whose values follow each other.
const LITERAL_BITS: [u32; 20] = [1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
/// Extra bits of the codes of matches from 32 on.
const MATCH_BITS: [u32; 21] =
    [1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];

/// Returns the first value of a code, and its extra bits: codes up to `plain` stand for themselves.
fn value(code: u8, plain: u8, first: usize, bits: &[u32]) -> Option<(usize, u32)> {
    let Some(index) = code.checked_sub(plain) else { return Some((first + usize::from(code), 0)) };
    let (before, own) = (bits.get(..usize::from(index))?, *bits.get(usize::from(index))?);
    let sum: usize = before.iter().map(|bits| 1 << bits).sum();
    Some((first + usize::from(plain) + sum, own))
}

impl Sequences {
    /// Executes the sequences that follow the literals of a block, up to `most` bytes of output.
    pub(super) fn execute(
        &mut self,
        mut rest: &[u8],
        literals: &[u8],
        out: &mut Vec<u8>,
        most: usize,
    ) -> Option<()> {
        let count = count(&mut rest)?;
        if count == 0 {
            out.extend_from_slice(literals);
            return rest.is_empty().then_some(());
        }
        self.read_tables(&mut rest)?;
        let [Some(of_literals), Some(of_distances), Some(of_matches)] = &self.tables else {
            return None;
        };
        let mut bits = Backwards::new(rest)?;
        let (mut literal, mut distance, mut copy) = (
            of_literals.first(&mut bits),
            of_distances.first(&mut bits),
            of_matches.first(&mut bits),
        );
        let (mut left, most) = (literals, most.min(out.len() + BLOCK));
        for index in 0..count {
            let code = of_distances.symbol(distance)?;
            let offset =
                (1_usize << u32::from(code).min(31)) + bits.read(u32::from(code).min(31)) as usize;
            let (base, extra) = value(of_matches.symbol(copy)?, 32, 3, &MATCH_BITS)?;
            let length = base + bits.read(extra) as usize;
            let (base, extra) = value(of_literals.symbol(literal)?, 16, 0, &LITERAL_BITS)?;
            let run = base + bits.read(extra) as usize;
            if index + 1 < count {
                literal = of_literals.next(literal, &mut bits)?;
                copy = of_matches.next(copy, &mut bits)?;
                distance = of_distances.next(distance, &mut bits)?;
            }
            out.extend_from_slice(take(&mut left, run)?);
            let back = distance_of(&mut self.recent, offset, run)?;
            let from = out.len().checked_sub(back).filter(|_| back > 0)?;
            if bits.left() < 0 || out.len() + length > most {
                return None;
            }
            // The copy might overlap what it makes.
            for at in from..from + length {
                out.push(out[at]);
            }
        }
        out.extend_from_slice(left);
        (bits.left() == 0).then_some(())
    }

    fn read_tables(&mut self, rest: &mut &[u8]) -> Option<()> {
        let modes = take(rest, 1)?[0];
        for (index, (most, log, counts)) in KINDS.into_iter().enumerate() {
            match modes >> (6 - 2 * index) & 3 {
                0 => self.tables[index] = States::new(counts, log),
                1 => self.tables[index] = Some(States::single(take(rest, 1)?[0])),
                2 => {
                    let (table, length) = States::read(rest, most)?;
                    take(rest, length)?;
                    self.tables[index] = Some(table);
                }
                // The table of the block before.
                _ => {}
            }
        }
        Some(())
    }
}

/// Reads the number of sequences.
fn count(rest: &mut &[u8]) -> Option<usize> {
    let first = usize::from(take(rest, 1)?[0]);
    Some(match first {
        0..128 => first,
        128..255 => (first - 128) << 8 | usize::from(take(rest, 1)?[0]),
        _ => {
            let more = take(rest, 2)?;
            usize::from(u16::from_le_bytes([more[0], more[1]])) + 0x7f00
        }
    })
}

/// Returns the distance that a value stands for: the first three are recent distances, others among them if no literal comes before.
fn distance_of(recent: &mut [usize; 3], value: usize, literals: usize) -> Option<usize> {
    let [first, second, third] = *recent;
    let shift = usize::from(literals == 0);
    let (distance, next) = match (value, value + shift) {
        (4.., _) => (value - 3, [value - 3, first, second]),
        (_, 1) => (first, [first, second, third]),
        (_, 2) => (second, [second, first, third]),
        (_, 3) => (third, [third, first, second]),
        _ => {
            let before = first.checked_sub(1)?;
            (before, [before, first, second])
        }
    };
    *recent = next;
    Some(distance)
}
