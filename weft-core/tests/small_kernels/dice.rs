//! Pseudo-random numbers from a seed.

/// Marsaglia's xorshift, multiplied by a constant.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        // Mixes the seed, so that seeds that differ in one bit give unrelated sequences.
        let mixed = (seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mut dice = Self((mixed ^ mixed >> 31) | 1);
        dice.roll(2);
        dice
    }

    /// Returns a number below `sides`.
    pub(crate) fn roll(&mut self, sides: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
        u32::try_from((high * u64::from(sides)) >> 32).expect("below `sides`")
    }

    /// Returns true in `percent` of 100 cases.
    pub(crate) fn chance(&mut self, percent: u32) -> bool {
        self.roll(100) < percent
    }

    /// Returns one of `all`.
    pub(crate) fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        let sides = u32::try_from(all.len()).expect("few");
        all[self.roll(sides) as usize]
    }
}
