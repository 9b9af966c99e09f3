//! Random numbers for laws.

use crate::emulate::truncate;

/// A generator of random numbers, splitmix64.
pub(super) struct SplitMix(pub(super) u64);

impl SplitMix {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub(super) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.below(all.len() as u64)).unwrap()]
    }

    /// Small numbers, powers of two and numbers next to them, and any.
    pub(super) fn number(&mut self, bits: u32) -> u64 {
        let power = 1u64 << self.below(u64::from(bits));
        let number = match self.below(6) {
            0 => self.below(5),
            1 => power,
            2 => power.wrapping_neg(),
            3 => power.wrapping_sub(1),
            4 => self.below(5).wrapping_neg(),
            _ => self.next(),
        };
        truncate(number, bits)
    }
}
