//! Generates operands: corner cases of every width and format, and random values of every magnitude.

use super::{COUNT, OPERANDS};

/// Integers at which the behaviour of some operation changes.
const CORNERS: [u64; 24] = [
    0,
    1,
    2,
    3,
    7,
    8,
    15,
    16,
    31,
    32,
    33,
    63,
    64,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
];

/// Floating-point numbers at which the behaviour of some operation changes, besides whole and half numbers.
const NUMBERS: [f64; 16] = [
    0.25,
    0.75,
    0.999_999_999,
    1.000_000_001,
    65504.0,
    65519.0,
    65520.0,
    2_147_483_647.5,
    4_294_967_295.5,
    9.3e18,
    1.9e19,
    3.4e38,
    6e-8,
    6e-5,
    1.18e-38,
    1e-310,
];

struct Random(u64);

impl Random {
    /// Marsaglia's xorshift.
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() >> 33).expect("31 bits") % bound
    }
}

/// Returns the operands for one run of every operation.
pub(crate) fn round(seed: u64) -> Vec<[u64; OPERANDS]> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (seed + 1).wrapping_mul(0xd134_2543_de82_ef95));
    (0..COUNT).map(|_| std::array::from_fn(|_| operand(&mut random))).collect()
}

fn operand(random: &mut Random) -> u64 {
    let kind = random.below(10);
    let bits = random.next();
    match kind {
        0 => bits,
        // Random bits of random length.
        1 => bits >> random.below(64),
        2 => (bits >> random.below(64)).wrapping_neg(),
        3 => CORNERS[random.below(CORNERS.len())]
            .wrapping_add(random.below(3) as u64)
            .wrapping_sub(1),
        4 => u64::from_ne_bytes([0; 8]) | CORNERS[random.below(CORNERS.len())].wrapping_neg(),
        // Floating-point numbers of each format, single or repeated in the vector formats.
        5 => repeated(special(bits, 16, 10), 16) ^ (bits & 1),
        6 => repeated(special(bits, 16, 7), 16),
        7 => repeated(special(bits, 32, 23), 32),
        8 => special(bits, 64, 52),
        _ => number(random),
    }
}

/// Repeats the low `width` bits of a value.
fn repeated(value: u64, width: u32) -> u64 {
    (0..64).step_by(width as usize).fold(0, |all, at| all | (value & ((1 << width) - 1)) << at)
}

/// Returns a floating-point number whose exponent or fraction is often extreme.
fn special(bits: u64, width: u32, fraction_bits: u32) -> u64 {
    let exponent_bits = width - fraction_bits - 1;
    let (all, half) = ((1 << exponent_bits) - 1, (1 << (exponent_bits - 1)) - 1);
    let exponent = match bits & 7 {
        0 => 0,
        1 => 1,
        2 => all,
        3 => all - 1,
        4 | 5 => half + (bits >> 8 & 31),
        _ => bits >> 8 & all,
    };
    let mask = (1_u64 << fraction_bits) - 1;
    let fraction = match bits >> 3 & 7 {
        0 => 0,
        1 => 1,
        2 => mask,
        3 => (mask >> 1) + 1,
        _ => bits >> 12 & mask,
    };
    (bits >> 6 & 1) << (width - 1) | exponent.min(all) << fraction_bits | fraction
}

/// Returns a number in one of the formats: whole, half, or one of [`NUMBERS`], with random sign.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "any number does")]
fn number(random: &mut Random) -> u64 {
    let magnitude = match random.below(3) {
        0 => NUMBERS[random.below(NUMBERS.len())],
        1 => (random.next() >> random.below(64)) as f64,
        _ => (random.next() >> (random.below(40) + 20)) as f64 + 0.5,
    };
    let value = if random.below(2) == 0 { magnitude } else { -magnitude };
    match random.below(3) {
        0 => value.to_bits(),
        1 => repeated(u64::from((value as f32).to_bits()), 32),
        // A bf16 is the upper half of an f32.
        _ => repeated(u64::from((value as f32).to_bits() >> 16), 16),
    }
}
