//! Bits of a stream, forwards from its first byte, and backwards from its last.

/// Reads bits forwards, the lowest of a byte first.
#[derive(Debug)]
pub(super) struct Forwards<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Forwards<'b> {
    /// Starts at the first byte.
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Forwards { bytes, at: 0 }
    }

    /// Returns the next `count` bits without passing them; those behind the end are zeros.
    pub(super) fn peek(&self, count: u32) -> u32 {
        (0..count).fold(0, |value, bit| value | bit_at(self.bytes, self.at + bit as usize) << bit)
    }

    /// Passes bits; `None` behind the end.
    pub(super) fn pass(&mut self, count: u32) -> Option<()> {
        self.at += count as usize;
        (self.at <= self.bytes.len() * 8).then_some(())
    }

    /// Returns the number of bytes of which bits were passed.
    pub(super) fn bytes(&self) -> usize {
        self.at.div_ceil(8)
    }
}

fn bit_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at / 8).map_or(0, |byte| u32::from(byte >> (at % 8) & 1))
}

/// Reads bits backwards: the highest set bit of the last byte marks the end, the bits before it come first.
#[derive(Debug)]
pub(super) struct Backwards<'b> {
    bytes: &'b [u8],
    /// Number of bits that are left; less than 0 once more were read than there are.
    left: i64,
}

impl<'b> Backwards<'b> {
    /// Starts at the mark; `None` if there is none.
    pub(super) fn new(bytes: &'b [u8]) -> Option<Self> {
        let last = bytes.last().filter(|byte| **byte != 0)?;
        let left = i64::try_from(bytes.len()).ok()? * 8 - i64::from(last.leading_zeros()) - 1;
        Some(Backwards { bytes, left })
    }

    /// Returns the next `count` bits, at most 32, without passing them; those in front of the start are zeros.
    pub(super) fn peek(&self, count: u32) -> u32 {
        let first = self.left - i64::from(count);
        (0..count).fold(0, |value, bit| {
            let at = usize::try_from(first + i64::from(bit));
            value | at.map_or(0, |at| bit_at(self.bytes, at)) << bit
        })
    }

    /// Passes bits.
    pub(super) fn pass(&mut self, count: u32) {
        self.left -= i64::from(count);
    }

    /// Returns the next `count` bits and passes them.
    pub(super) fn read(&mut self, count: u32) -> u32 {
        let value = self.peek(count);
        self.pass(count);
        value
    }

    /// Returns how many bits are left; less than 0 if more were passed than there are.
    pub(super) fn left(&self) -> i64 {
        self.left
    }
}
