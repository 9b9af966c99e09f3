//! FNV-1a of 128 bits, by which modules and contents are named.

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

#[cfg(test)]
mod tests {
    use super::name;

    /// The values of the authors' own test suite (`test_fnv.c`) for the empty text and for "a", "foobar".
    #[test]
    fn hashes_are_those_of_the_definition() {
        assert_eq!(name(b""), "6c62272e07bb014262b821756295c58d");
        assert_eq!(name(b"a"), "d228cb696f1a8caf78912b704e4a8964");
        assert_eq!(name(b"foobar"), "343e1662793c64bf6f0d3597ba446f18");
    }
}
