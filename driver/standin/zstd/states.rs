//! Tables of finite state entropy (RFC 8878, section 4.1).

use super::bits::{Backwards, Forwards};

/// What a state gives, and how the next one is found.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    symbol: u8,
    bits: u32,
    base: u32,
}

/// A table: a row for each state.
#[derive(Debug, Clone)]
pub(super) struct States {
    rows: Vec<Row>,
    log: u32,
}

impl States {
    /// A table that always gives one symbol.
    pub(super) fn single(symbol: u8) -> Self {
        States { rows: vec![Row { symbol, bits: 0, base: 0 }], log: 0 }
    }

    /// Reads the description of a table of at most 2^`most` states from the front of bytes, and returns its length too.
    pub(super) fn read(bytes: &[u8], most: u32) -> Option<(Self, usize)> {
        let mut bits = Forwards::new(bytes);
        let log = bits.peek(4) + 5;
        bits.pass(4)?;
        if log > most {
            return None;
        }
        let (mut left, mut counts) = (1_u32 << log, Vec::new());
        while left > 0 {
            let width = u32::BITS - (left + 1).leading_zeros();
            let (value, half) = (bits.peek(width), (1 << (width - 1)) - 1);
            // Small values are one bit shorter: as many as there are numbers of `width` bits that are not needed.
            let short = (1 << width) - 1 - (left + 1);
            let value = if value & half < short {
                bits.pass(width - 1)?;
                value & half
            } else {
                bits.pass(width)?;
                if value > half { value - short } else { value }
            };
            // One less than the value: -1 stands for less than one state in the table.
            let count = i32::try_from(value).ok()? - 1;
            left = left.checked_sub(count.unsigned_abs())?;
            counts.push(count);
            // Behind a symbol that does not occur: how many more do not.
            let mut more = if count == 0 { 3 } else { 0 };
            while more == 3 {
                more = bits.peek(2);
                bits.pass(2)?;
                counts.extend(vec![0; more as usize]);
            }
            if counts.len() > 256 {
                return None;
            }
        }
        Some((States::new(&counts, log)?, bits.bytes()))
    }

    /// Builds the table of symbols with these numbers of states among 2^`log`.
    pub(super) fn new(counts: &[i32], log: u32) -> Option<Self> {
        let size = 1_usize << log;
        let mut symbols = vec![0_u8; size];
        let (mut next, mut high) = (Vec::new(), size);
        for (symbol, count) in counts.iter().enumerate() {
            next.push(u32::try_from(*count).unwrap_or(1));
            if *count == -1 {
                high = high.checked_sub(1)?;
                symbols[high] = u8::try_from(symbol).ok()?;
            }
        }
        let (step, mut at) = ((size >> 1) + (size >> 3) + 3, 0);
        for (symbol, count) in counts.iter().enumerate() {
            for _ in 0..*count {
                symbols[at] = u8::try_from(symbol).ok()?;
                at = (at + step) & (size - 1);
                while at >= high && high > 0 {
                    at = (at + step) & (size - 1);
                }
            }
        }
        let row = |symbol: u8| {
            let own = next.get_mut(usize::from(symbol))?;
            let value = *own;
            *own += 1;
            let bits = log.checked_sub(value.checked_ilog2()?)?;
            let base = (value << bits).checked_sub(1 << log)?;
            Some(Row { symbol, bits, base })
        };
        Some(States { rows: symbols.into_iter().map(row).collect::<Option<_>>()?, log })
    }

    /// Reads the first state.
    pub(super) fn first(&self, bits: &mut Backwards) -> u32 {
        bits.read(self.log)
    }

    /// Returns the symbol of a state.
    pub(super) fn symbol(&self, state: u32) -> Option<u8> {
        self.rows.get(state as usize).map(|row| row.symbol)
    }

    /// Reads the state after this one.
    pub(super) fn next(&self, state: u32, bits: &mut Backwards) -> Option<u32> {
        let row = self.rows.get(state as usize)?;
        Some(row.base + bits.read(row.bits))
    }
}
