//! Hashes of 128 bits: FNV-1a, by which modules are named and lines told apart, and one that reads 8 bytes at once, by which contents are
//! named: a program might upload megabytes before each launch.

const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

/// Returns the FNV-1a hash of these bytes.
pub(crate) fn fnv1a(bytes: &[u8]) -> u128 {
    bytes.iter().fold(BASIS, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
}

/// Returns the name of these bytes: their hash as 32 hexadecimal digits.
pub(crate) fn name(bytes: &[u8]) -> String {
    format!("{:032x}", fnv1a(bytes))
}

/// The multiplier of M. E. O'Neill's generator of 128 bits (PCG, 2014): odd, with no pattern in its digits.
const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

/// A hash of words: each is combined with the low half of the state by `xor`, the state is multiplied and its halves change places. All three
/// can be undone, so that two lists of words which differ in one place, or in two neighbouring ones, never have one hash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WordHash(u128);

impl WordHash {
    pub(crate) fn new() -> Self {
        WordHash(BASIS)
    }

    pub(crate) fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ u128::from(word)).wrapping_mul(MULTIPLIER).rotate_left(64);
    }

    /// Adds bytes as words, little-endian, the last one filled with zeros, then their number.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last));
        self.word(bytes.len() as u64);
    }

    pub(crate) fn finish(self) -> u128 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::{WordHash, name};

    /// The values of the authors' own test suite (`test_fnv.c`) for the empty text and for "a", "foobar".
    #[test]
    fn hashes_are_those_of_the_definition() {
        assert_eq!(name(b""), "6c62272e07bb014262b821756295c58d");
        assert_eq!(name(b"a"), "d228cb696f1a8caf78912b704e4a8964");
        assert_eq!(name(b"foobar"), "343e1662793c64bf6f0d3597ba446f18");
    }

    /// Contents that differ in a bit, in their length, or in where a zero stands have other names.
    #[test]
    fn hashes_of_words_differ() {
        let hash = |bytes: &[u8]| {
            let mut hash = WordHash::new();
            hash.bytes(bytes);
            hash.finish()
        };
        let mut all = std::collections::HashSet::new();
        for length in 0..40 {
            let mut bytes = vec![0_u8; length];
            assert!(all.insert(hash(&bytes)), "{length} zeros");
            for bit in 0..length * 8 {
                bytes[bit / 8] ^= 1 << (bit % 8);
                assert!(all.insert(hash(&bytes)), "bit {bit} of {length} bytes");
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}
